"""Conditions looked up by value, row by row of a stream: vectors, and entries that keep arriving.

As vectors are kept for type grain, with the single entries of each beside them (`arriving.py`).
It is for update mode: where a window's row comes once, its events are a known batch at its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import from_numpy, to_numpy
from trendloom.engine.live.arriving import Arriving, can_arrive
from trendloom.engine.live.tables import (
    check_extremes,
    columns_of,
    exponents,
    to_lists,
    to_rows,
    within,
)
from trendloom.engine.live.vectors import Vectors
from trendloom.kernels.extreme import ABSENT
from trendloom.kernels.layers import Sums
from trendloom.plan.distribution import overlaps_little

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.live.mode import Mode
    from trendloom.engine.setting import Setting

    Ints = NDArray[np.int64]


def can_keep_entries(setting: Setting, evaluators: Sequence[Evaluator]) -> bool:
    """Whether every part has vectors, and some have entries, each in few windows."""
    return (
        overlaps_little(setting.plan)
        and any(not one.folds for one in evaluators)
        and all(one.folds or can_arrive(one) for one in evaluators)
    )


class Entries(Vectors):
    """The shard's vectors and entries, and the events that the watermark has not passed."""

    NAME = "entries"

    def __init__(self, setting: Setting, evaluators: list[Evaluator], mode: Mode) -> None:
        both = [one if one.folds else Arriving.of(one) for one in evaluators]
        super().__init__(setting, both, mode)

    def fold(self, ready: pa.Table | None, now: int | None) -> pa.Table | None:
        table = super().fold(ready, now)
        for _, arriving, shelf in self._arriving():
            arriving.shelves.keep(shelf)
        return table

    def _arriving(self) -> Iterator[tuple[int, Arriving, Ints]]:
        """The parts with entries, and where each vector has its own."""
        for k, (one, state) in enumerate(zip(self.evaluators, self.kept.states, strict=True)):
            if isinstance(one, Arriving) and state.shelf is not None:
                yield k, one, state.shelf

    # ── at rest ──────────────────────────────────────────────────────────────────────────────

    def shape_of(self, evaluator: Evaluator) -> object:
        if not isinstance(evaluator, Arriving):
            return super().shape_of(evaluator)
        automaton = evaluator.part.automaton
        arrows = [[a.source, a.variable, a.target] for a in automaton.arrows]
        orders = [
            [
                one.earlier,
                one.later,
                [[c.left, c.right] for c in one.equalities],
                None if one.op is None else one.op.name,
                one.left,
                one.right,
            ]
            for one in evaluator.rankings
        ]
        return [list(automaton.variables), arrows, orders, self.lanes_of(evaluator)]

    def tables(self) -> dict[str, pa.Table]:
        tables = super().tables()
        for k, arriving, shelf in self._arriving():
            group, key, own = arriving.shelves.entries()
            if not len(group):
                continue
            of, index = np.divmod(group, arriving.shelves.indexes)
            order = np.argsort(shelf)
            columns = {
                "row": from_numpy(order[np.searchsorted(shelf, of, sorter=order)]),
                "index": from_numpy(index),
                "key": to_lists(key),
                "m": to_lists(own.m),
            }
            if own.e.any():
                columns["e"] = to_lists(own.e)
            if own.k.shape[1]:
                columns["x"] = to_lists(own.k)
            tables[f"entries{k}"] = pa.table(columns)
        return tables

    def load(self, tables: dict[str, pa.Table], watermark: int) -> None:
        super().load(tables, watermark)
        for k, arriving, shelf in self._arriving():
            shelves = arriving.shelves
            shelf[:] = shelves.number(len(shelf))
            shelves.keep(shelf)
            table = tables.get(f"entries{k}")
            if table is None:
                continue
            columns = columns_of(
                table,
                {
                    "row": pa.int64(),
                    "index": pa.int64(),
                    "key": pa.list_(pa.int64(), shelves.columns),
                    "m": pa.list_(pa.float64(), shelves.lanes),
                },
                {
                    "e": pa.list_(pa.int64(), shelves.lanes),
                    "x": pa.list_(pa.int64(), shelves.extremes),
                },
            )
            of = shelf[within("rows", to_numpy(columns["row"]), 0, len(shelf) - 1)]
            index = within("indexes", to_numpy(columns["index"]), 0, shelves.indexes - 1)
            m = to_rows(columns["m"])
            own = Sums(
                m,
                exponents(columns["e"]) if "e" in columns else np.zeros(m.shape, np.int64),
                to_rows(columns["x"])
                if "x" in columns
                else np.full((len(m), shelves.extremes), ABSENT, np.int64),
            )
            check_extremes(arriving, own.k, shelves.extremes)
            shelves.add(of * shelves.indexes + index, to_rows(columns["key"]), own)

    def keys_of_cell(self, evaluator: Evaluator) -> int:
        own = len(evaluator.layout.extremes)
        return own if isinstance(evaluator, Arriving) else 1 + own

    @property
    def table_names(self) -> list[str]:
        entries = [f"entries{k}" for k, _, _ in self._arriving()]
        return [*super().table_names, *entries]
