"""One projection for several queries of the same partitioning: every condition once per row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.engine.setting import Setting
from trendloom.hosts.scan.project import Projector
from trendloom.workloads.lens import Lens
from trendloom.workloads.scan import SharedScan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trendloom.engine.layout import Numbers
    from trendloom.hosts.scan.reading import Reading
    from trendloom.plan.plan import Plan


@dataclass(frozen=True)
class SharedProjector:
    """From tables of one schema to what each query would be sent if it were alone."""

    plans: Mapping[str, Plan]
    projector: Projector
    lenses: Mapping[str, Lens]

    @classmethod
    def of(cls, plans: Mapping[str, Plan], schema: pa.Schema, reading: Reading) -> SharedProjector:
        """`plans` agree on the partition attributes. What misfits the schema is told here."""
        shared = SharedScan.of(plans)
        projector = Projector(shared.scan, schema, reading)
        projector.bind()
        lenses = {name: Lens.of(shared, plan) for name, plan in plans.items()}
        return cls(plans, projector, lenses)

    @classmethod
    def each(
        cls, plans: Mapping[str, Plan], schema: pa.Schema, reading: Reading
    ) -> list[SharedProjector]:
        """One per partitioning."""
        groups: dict[tuple[str, ...], dict[str, Plan]] = {}
        for name, plan in plans.items():
            groups.setdefault(plan.scan.partition, {})[name] = plan
        return [cls.of(group, schema, reading) for group in groups.values()]

    def setting(self, name: str, numbers: Numbers, threads: int) -> Setting:
        projector, plan = self.projector, self.plans[name]
        kinds = [projector.operand_types[k] for k in self.lenses[name].operands]
        partition, nanoseconds = projector.partition_types, projector.axis.nanoseconds
        return Setting(plan, kinds, partition, nanoseconds, numbers, threads)

    def __call__(self, table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
        """Every query that any row is for, and its rows."""
        batches = self.projector(table).table.combine_chunks().to_batches()
        for name, lens in self.lenses.items():
            own = [lens(batch) for batch in batches]
            if any(batch.num_rows for batch in own):
                yield name, pa.Table.from_batches(own)
