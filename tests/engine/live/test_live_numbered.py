"""Windows of events on a stream: the rows of a batch, as soon as a window is full."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from live_streams import END, Arrival, Scanned, arrivals, play, rested, scanned, scanned_case
from test_live_against_oracle import compare_updates

from against_oracle import EACH, examples, plan_of
from trendloom.engine.layout import Numbers
from trendloom.engine.live import Mode
from trendloom.engine.live.numbered import Numbered
from trendloom.language import Semantics, to_text
from trendloom.plan.distribution import stream_keeps
from trendloom.testing import same_rows, stream
from trendloom.testing.strategies import Case, cases, patterns, queries

if TYPE_CHECKING:
    import pyarrow as pa

    from trendloom.language.nodes import Query

PLAIN = (
    "RETURN k, COUNT(*) AS n, SUM(A.x) AS s PATTERN A+ GROUP-BY k WITHIN {} EVENTS SLIDE {} EVENTS"
)


def asked(semantics: Semantics, **more: Any) -> st.SearchStrategy[Any]:
    drawn = queries(semantics=(semantics,), window_kinds=("count",), **more)
    return drawn.filter(_is_streamed)


def _is_streamed(query: Query) -> bool:
    plan = plan_of(query)
    return plan is not None and stream_keeps(plan) is not None


def full(scan: Scanned, rows: list[dict[str, Any]], table: pa.Table) -> list[dict[str, Any]]:
    """The rows of windows that have all their events."""
    groups = scan.setting.plan.scan.partition
    columns = [table.column(f"p{k}").to_pylist() for k in range(len(groups))]
    counts = Counter(zip(*columns, strict=True)) if groups else {(): table.num_rows}
    return [row for row in rows if row["window_end"] <= counts[tuple(row[g] for g in groups)]]


def in_order(case: Case, numbers: Numbers = Numbers.AUTO) -> Scanned:
    """Events of a partition that are told apart by time and tiebreak: a stream has no other."""
    assume(case.events)
    scan = scanned_case(case, numbers)
    names = [n for n in scan.table.schema.names if n.startswith("p") or n in ("time", "tie")]
    assume(scan.table.group_by(names).aggregate([]).num_rows == scan.table.num_rows)
    return scan


def compare(case: Case, arrival: Arrival, numbers: Numbers = Numbers.AUTO) -> None:
    scan = in_order(case, numbers)
    # Groups that are not returned have rows that look alike.
    assume(set(scan.setting.plan.scan.partition) <= set(case.keys))
    live, steps = play(scan, arrival)
    assert isinstance(live._keeper, Numbered)
    rows = scan.rows(*(step.rows for _, step in steps))
    wanted = full(scan, scan.rows(scan.batch(scan.table)), scan.table)
    told = f"{to_text(case.query)}\n{case.events}\n{arrival}"
    difference = same_rows(wanted, rows, keys=case.keys)
    assert difference is None, f"{told}\n{difference}"
    expected = full(scan, case.expected, scan.table)
    assert same_rows(expected, rows, keys=case.keys) is None, told
    assert live.deadline is None
    assert live.events == scan.table.num_rows


@EACH
def test_rows_of_full_windows(semantics: Semantics) -> None:
    @examples(90)
    @given(cases(query=asked(semantics)), arrivals())
    def check(case: Case, arrival: Arrival) -> None:
        compare(case, arrival)

    check()


@EACH
def test_exact_integers(semantics: Semantics) -> None:
    @examples(40)
    @given(cases(query=asked(semantics)), arrivals())
    def check(case: Case, arrival: Arrival) -> None:
        compare(case, arrival, Numbers.EXACT)

    check()


@EACH
def test_updates_come_to_all_rows_of_a_batch(semantics: Semantics) -> None:
    @examples(80)
    @given(
        cases(query=asked(semantics, pattern=patterns(), allow_having=False)),
        arrivals(),
    )
    def check(case: Case, arrival: Arrival) -> None:
        in_order(case)
        compare_updates(case, arrival)

    check()


@EACH
def test_updates_with_guards(semantics: Semantics) -> None:
    @examples(60)
    @given(
        cases(query=asked(semantics, pattern=patterns(need_negation=True), allow_having=False)),
        arrivals(),
    )
    def check(case: Case, arrival: Arrival) -> None:
        in_order(case)
        compare_updates(case, arrival)

    check()


@pytest.mark.parametrize(("within", "slide"), [(3, 1), (3, 2), (3, 3), (1, 1), (40, 1)])
def test_by_hand(within: int, slide: int) -> None:
    """Two keys, events out of order, a watermark that lies between them."""
    text = " ".join(f"{'ab'[n % 3 == 2]}{n + 1}:k={'uv'[n % 2]},x={n}" for n in range(23))
    scan = scanned(PLAIN.format(within, slide), stream(text))
    wanted = full(scan, scan.rows(scan.batch(scan.table)), scan.table)
    for seed in range(4):
        _, steps = play(scan, Arrival(3, (4, 1), seed))
        assert same_rows(wanted, scan.rows(*(s.rows for _, s in steps)), keys=["k"]) is None
    assert (len(wanted) > 2) is (within < 40)


@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
def test_no_window_is_full_yet(semantics: str) -> None:
    """Under conditions between events, too."""
    text = f"RETURN COUNT(*) AS n PATTERN A+ SEMANTICS {semantics} WHERE A.x < NEXT(A).x"
    scan = scanned(f"{text} WITHIN 3 EVENTS SLIDE 3 EVENTS", stream("a1:x=1 a2:x=2 a3:x=3 a4:x=4"))
    live = scan.live()
    assert live.advance(scan.table.slice(0, 2), None).matches == 0
    assert live.advance(None, 3 * scan.second).matches == 0
    assert live.advance(scan.table.slice(2), None).matches == 0
    (row,) = scan.rows(live.advance(None, 9 * scan.second).rows)
    assert (row["window_end"], row["n"]) == (3, 7 if semantics == "any" else 6)


def test_a_window_has_its_row_when_it_is_full_and_no_sooner() -> None:
    scan = scanned(PLAIN.format(2, 2), stream("a1:k=u,x=1 a2:k=u,x=2 a3:k=u,x=3 a9:k=u,x=4"))
    live = scan.live()
    second = scan.second
    assert live.advance(scan.table.slice(0, 3), None).matches == 0
    assert live.deadline == second + 1
    assert live.advance(None, 2 * second).matches == 0
    live = rested(scan, live)
    (row,) = scan.rows(live.advance(None, 3 * second).rows)
    assert (row["window_start"], row["window_end"], row["n"], row["s"]) == (0, 2, 3, 6)
    assert len(live._keeper.waiting) == 1
    # The third event waits for the fourth, however late it is.
    assert live.advance(None, 8 * second).matches == 0
    assert live.deadline is None
    live = rested(scan, live)
    assert live.advance(scan.table.slice(3, 1), 8 * second).matches == 0
    (row,) = scan.rows(live.advance(None, END).rows)
    assert (row["window_start"], row["window_end"], row["n"], row["s"]) == (2, 4, 3, 14)
    # Only the numbers stay.
    assert not len(live._keeper.waiting)
    assert not live.is_empty


def test_late_events_get_no_number() -> None:
    scan = scanned(PLAIN.format(2, 2), stream("a1:k=u,x=1 a2:k=u,x=2 a3:k=u,x=3 a4:k=u,x=4"))
    live = scan.live(Mode.APPEND)
    live.advance(scan.table.slice(0, 1), None)
    live.advance(scan.table.slice(2, 1), None)
    live.advance(None, 3 * scan.second)
    step = live.advance(scan.table.slice(1, 1), 3 * scan.second)
    assert step.late_events == 1
    (row,) = scan.rows(live.advance(None, END).rows)
    assert row["s"] == 8
