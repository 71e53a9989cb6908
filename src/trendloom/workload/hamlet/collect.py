"""Slots of a group's queries → each query's result table, as a run of it alone gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.engine.groups import Groups
from trendloom.engine.table import part_rows, put_together, result_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from trendloom.engine.chunk import Chunk
    from trendloom.workload.hamlet.execute import Evaluated, Sharing


def result_tables(
    sharing: Sharing, chunk: Chunk, evaluated: Evaluated, partition_types: Sequence[pa.DataType]
) -> list[pa.Table]:
    """Per query of the group, from the only chunk there is."""
    tables: list[pa.Table] = []
    for number, (runs, slots) in enumerate(zip(evaluated.runs, evaluated.slots, strict=True)):
        setting = sharing.setting(number, partition_types)
        groups = Groups(setting.plan.plain_groups, list(partition_types))
        partitions = groups.number(chunk)
        evaluators, harvests = setting.evaluators(), setting.harvests()
        harvests[0].add(slots.with_trends(), partitions.group[runs.partition], runs.window)
        rows = put_together(setting.plan, part_rows(setting.plan, evaluators, harvests, {}, []))
        tables.append(
            result_table(setting.plan, setting.windows, evaluators, harvests, groups, rows)
        )
    return tables
