"""A stream gives the rows of a batch, however its events come and whenever its state rests.

`make fuzz` (TRENDLOOM_FUZZ=1) tries many times more cases.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from live_streams import END, Arrival, Scanned, arrivals, play, rested, scanned_case

from against_oracle import EACH, examples, is_folded
from trendloom.engine.layout import Numbers
from trendloom.engine.live import Mode
from trendloom.engine.live.vectors import Vectors
from trendloom.language import Semantics, to_text
from trendloom.language.nodes import Aggregate, Function
from trendloom.testing import same_rows
from trendloom.testing.strategies import Case, cases, conjunctions, patterns, queries

EXTREMES = (Function.MIN, Function.MAX)
TIMED = ("time", "time", "change")

VECTORS = {
    "allow_adjacent": False,
    "allow_anchored": False,
    "allow_distinct": False,
    "allow_conjunction": False,
    "window_kinds": ("time",),
}


def compare(case: Case, arrival: Arrival, numbers: Numbers = Numbers.AUTO) -> None:
    """All rows of a stream are those of the oracle, each once."""
    if not case.events:
        return
    scan = scanned_case(case, numbers)
    live, steps = play(scan, arrival)
    rows = scan.rows(*(step.rows for _, step in steps))
    difference = same_rows(case.expected, rows, keys=case.keys)
    assert difference is None, f"{to_text(case.query)}\n{case.events}\n{arrival}\n{difference}"
    assert sum(step.late_events for _, step in steps) == 0
    assert live.is_empty
    assert live.deadline is None


def compare_updates(case: Case, arrival: Arrival) -> None:
    """Every row is of the events that the watermark has passed, and the last one is final."""
    if not case.events:
        return
    scan = scanned_case(case)
    _, steps = play(scan, arrival, Mode.UPDATE)
    names = ("window_start", "window_end", *case.keys)
    last: dict[tuple[Any, ...], dict[str, Any]] = {}
    told = f"{to_text(case.query)}\n{case.events}\n{arrival}"
    for watermark, step in steps:
        passed = scan.table.filter(pa.array(scan.time < watermark))
        now = {tuple(r[n] for n in names): r for r in scan.rows(scan.batch(passed))}
        for row in scan.rows(step.rows):
            key = tuple(row[name] for name in names)
            if key in now:
                last[key] = row
                difference = same_rows([now[key]], [row], keys=case.keys)
                assert difference is None, f"{told}\n{difference}"
            else:
                assert is_blank(case, row), f"{told}\n{row} at {watermark}"
                assert last.pop(key, None) is not None, f"{told}\n{row} at {watermark}"
    difference = same_rows(case.expected, list(last.values()), keys=case.keys)
    assert difference is None, f"{told}\n{difference}"


def is_blank(case: Case, row: dict[str, Any]) -> bool:
    """Whether the row says that there are no trends (any more)."""
    for item in case.query.returns:
        if isinstance(item.value, Aggregate):
            counts = item.value.function is Function.COUNT and not item.value.log2
            if row[item.name] != (0 if counts else None):
                return False
    return True


@EACH
def test_vectors(semantics: Semantics) -> None:
    @examples(90)
    @given(cases(semantics=(semantics,), timestamps=None, **VECTORS), arrivals())
    def check(case: Case, arrival: Arrival) -> None:
        compare(case, arrival)

    check()


@EACH
def test_vectors_of_extremes(semantics: Semantics) -> None:
    asked = queries(semantics=(semantics,), functions=EXTREMES, **VECTORS).filter(is_folded)

    @examples(90)
    @given(cases(query=asked), arrivals())
    def check(case: Case, arrival: Arrival) -> None:
        if case.events:
            assert isinstance(scanned_case(case).live()._keeper, Vectors)
        compare(case, arrival)

    check()


@EACH
def test_updates_of_extremes(semantics: Semantics) -> None:
    asked = queries(
        semantics=(semantics,), functions=EXTREMES, allow_having=False, **VECTORS
    ).filter(is_folded)

    @examples(70)
    @given(cases(query=asked), arrivals())
    def check(case: Case, arrival: Arrival) -> None:
        compare_updates(case, arrival)

    check()


@EACH
def test_events_of_everything_else(semantics: Semantics) -> None:
    @examples(90)
    @given(cases(semantics=(semantics,), window_kinds=("time",)), arrivals())
    def check(case: Case, arrival: Arrival) -> None:
        compare(case, arrival)

    check()


@EACH
def test_rows_at_every_change(semantics: Semantics) -> None:
    @examples(90)
    @given(cases(semantics=(semantics,), window_kinds=("change",)), arrivals())
    def check(case: Case, arrival: Arrival) -> None:
        compare(case, arrival)

    check()


@EACH
def test_guards(semantics: Semantics) -> None:
    @examples(60, several=1 / 6)
    @given(
        cases(
            semantics=(semantics,),
            pattern=patterns(need_negation=True),
            window_kinds=TIMED,
        ),
        arrivals(),
    )
    def check(case: Case, arrival: Arrival) -> None:
        compare(case, arrival)

    check()


@EACH
def test_adjacent_predicates(semantics: Semantics) -> None:
    @examples(60)
    @given(
        cases(semantics=(semantics,), window_kinds=TIMED, need_adjacent=True),
        arrivals(),
    )
    def check(case: Case, arrival: Arrival) -> None:
        compare(case, arrival)

    check()


@EACH
def test_conjunction(semantics: Semantics) -> None:
    @examples(50)
    @given(
        cases(
            semantics=(semantics,),
            pattern=conjunctions(),
            allow_anchored=False,
            window_kinds=TIMED,
        ),
        arrivals(),
    )
    def check(case: Case, arrival: Arrival) -> None:
        compare(case, arrival)

    check()


@EACH
def test_exact_integers(semantics: Semantics) -> None:
    @examples(60)
    @given(cases(semantics=(semantics,), window_kinds=TIMED), arrivals())
    def check(case: Case, arrival: Arrival) -> None:
        compare(case, arrival, Numbers.EXACT)

    check()


@EACH
def test_updates_of_vectors(semantics: Semantics) -> None:
    @examples(70)
    @given(cases(semantics=(semantics,), allow_having=False, **VECTORS), arrivals())
    def check(case: Case, arrival: Arrival) -> None:
        compare_updates(case, arrival)

    check()


@EACH
def test_updates_of_everything_else(semantics: Semantics) -> None:
    @examples(90)
    @given(
        cases(semantics=(semantics,), allow_having=False, window_kinds=("time",)),
        arrivals(),
    )
    def check(case: Case, arrival: Arrival) -> None:
        compare_updates(case, arrival)

    check()


@EACH
def test_updates_with_guards(semantics: Semantics) -> None:
    @examples(90)
    @given(
        cases(
            semantics=(semantics,),
            pattern=patterns(need_negation=True),
            allow_having=False,
            window_kinds=("time",),
        ),
        arrivals(),
    )
    def check(case: Case, arrival: Arrival) -> None:
        compare_updates(case, arrival)

    check()


@pytest.mark.parametrize("mode", list(Mode), ids=lambda mode: mode.value)
def test_nothing_happens_before_the_deadline(mode: Mode) -> None:
    @examples(120)
    @given(cases(window_kinds=TIMED, allow_having=mode is Mode.APPEND), arrivals())
    def check(case: Case, arrival: Arrival) -> None:
        assume(case.events)
        scan = scanned_case(case)
        live, steps = play(scan, arrival, mode, end=False)
        tables = [step.rows for _, step in steps]
        while (due := live.deadline) is not None:
            if live.watermark is not None:
                assert due > live.watermark
            early = live.advance(None, due - 1)
            assert early.matches == 0
            # Events that led to nothing may be gone.
            assert live.deadline is None or live.deadline >= due
            step = live.advance(None, due)
            tables.append(step.rows)
            live = rested(scan, live)
        assert live.is_empty
        if mode is Mode.APPEND:
            difference = same_rows(case.expected, scan.rows(*tables), keys=case.keys)
            assert difference is None, f"{to_text(case.query)}\n{case.events}\n{difference}"

    check()


@EACH
def test_late_events_are_handed_back_and_change_nothing(semantics: Semantics) -> None:
    @examples(80)
    @given(
        cases(semantics=(semantics,), window_kinds=TIMED),
        st.lists(st.integers(1, 3), min_size=1, max_size=3),
        st.randoms(use_true_random=False),
    )
    def check(case: Case, sizes: list[int], chance: Any) -> None:
        assume(case.events)
        scan = scanned_case(case)
        order = list(range(scan.table.num_rows))
        chance.shuffle(order)
        came = scan.table.take(pa.array(order, pa.int64()))
        live = scan.live()
        tables, late, used = [], [], []
        at, turn, watermark = 0, 0, None
        while at < came.num_rows:
            batch = came.slice(at, sizes[turn % len(sizes)])
            step = live.advance(batch, watermark)
            tables.append(step.rows)
            is_late = [watermark is not None and t < watermark for t in column(batch, "time")]
            assert step.late.to_pylist() == batch.filter(pa.array(is_late)).to_pylist()
            assert step.events + step.late_events == batch.num_rows
            used.append(batch.filter(pa.array([not late_ for late_ in is_late])))
            late.append(step.late)
            live = rested(scan, live)
            # No delay is granted: whatever comes behind the latest event is late.
            watermark = max([*column(batch, "time"), *([] if watermark is None else [watermark])])
            at, turn = at + batch.num_rows, turn + 1
        tables.append(live.advance(None, END).rows)
        assert live.late_events == sum(table.num_rows for table in late)
        assert live.events == sum(table.num_rows for table in used)
        assert live.rows == sum(table.num_rows for table in tables)
        wanted = scan.rows(batch_of(scan, used))
        difference = same_rows(wanted, scan.rows(*tables), keys=case.keys)
        assert difference is None, f"{to_text(case.query)}\n{case.events}\n{difference}"

    check()


def column(table: pa.Table, name: str) -> list[Any]:
    return list(table.column(name).to_pylist())


def batch_of(scan: Scanned, tables: list[pa.Table]) -> pa.Table:
    table = pa.concat_tables([scan.table.slice(0, 0), *tables])
    keys = [n for n in table.schema.names if n.startswith("p") or n in ("time", "tie")]
    return scan.batch(table.sort_by([(name, "ascending") for name in keys]))
