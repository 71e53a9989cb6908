"""What sharing did: counted while the bursts were evaluated."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from trendloom.workloads.hamlet.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Metrics:
    """Counts of one run, or of several added up. A side of AND counts as a query of its own."""

    bursts: int = 0
    """Bursts that two queries or more could share."""
    shared: int = 0
    """Of these, how many some queries did share,"""
    partly_shared: int = 0
    """and of these, how many not all that could."""
    split: int = 0
    """Classes of queries that left, from a burst of the type to its next (§4.2),"""
    merged: int = 0
    """and that joined them."""
    snapshots: int = 0
    """Values kept per query: at the begin of shared graphlets, and at single events."""
    event_snapshots: int = 0
    """Those at single events, which some of the sharing queries match and others do not."""
    events_once: int = 0
    """Events of shared bursts, each processed once for all who share."""
    events_per_query: int = 0
    """Events times the queries (and open windows) that each was processed for on its own."""
    fallbacks: int = 0
    """Windows of queries whose counts were too large for expressions and went alone."""
    decision_seconds: float = 0.0
    seconds: float = 0.0
    trace: Trace = field(default_factory=Trace, repr=False, compare=False)
    """Burst by burst."""

    def __add__(self, other: Metrics) -> Metrics:
        return Metrics(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def timed(self, to_time: Callable[[pa.Array], pa.Array]) -> Metrics:
        """With times as the caller has them instead of ticks."""
        return replace(self, trace=self.trace.timed(to_time))

    def as_dict(self) -> dict[str, float]:
        """The numbers, by name."""
        names = [f.name for f in fields(self) if f.name != "trace"]
        found = {name: getattr(self, name) for name in names}
        return found | {"decision_share": self.decision_share}

    @property
    def decision_share(self) -> float:
        return self.decision_seconds / self.seconds if self.seconds else 0.0
