"""Maps of events in order of time, all partitions at once: the rows that the oracle gives."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import EACH, examples
from engine.test_maps import CUTS, check_same, foldable, scanned
from trendloom.engine import numbering, strewn
from trendloom.engine.maps import make_maps
from trendloom.engine.product import Product
from trendloom.engine.sort import sort_events
from trendloom.engine.strewn import StrewnMaps, can_strew
from trendloom.errors import NumberError
from trendloom.language.nodes import Equivalence, Function, Query
from trendloom.testing.strategies import Case, cases

if TYPE_CHECKING:
    from trendloom.engine.setting import Setting
    from trendloom.language import Semantics


def by_partition(asked: Query) -> Query:
    return replace(asked, where=(*asked.where, Equivalence(("k",))))


def sums(semantics: Semantics) -> st.SearchStrategy[Query]:
    functions = (Function.COUNT, Function.SUM)
    found = foldable(semantics=(semantics,), functions=functions, allow_conjunction=False)
    return found.map(by_partition)


def reduced(setting: Setting, batches: list[pa.Table]) -> pa.Table:
    maps = StrewnMaps(setting)
    for batch in batches:
        maps.push(batch)
    return maps.finish()


def product(setting: Setting, *maps: pa.Table) -> pa.Table:
    whole = Product(setting)
    for table in maps:
        whole.add(table)
    rows, tangled = whole.finish()
    assert tangled.num_rows == 0
    return rows


@EACH
@pytest.mark.parametrize("pane_events", [0, 4], ids=["pane by pane", "small panes sorted"])
def test_events_in_order_of_time(
    semantics: Semantics, pane_events: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut anywhere, also within a time point."""
    monkeypatch.setattr(strewn, "PANE_EVENTS", pane_events)
    monkeypatch.setattr(strewn, "SPILLED", 2)
    met = []

    @examples(150)
    @given(cases(query=sums(semantics), allow_tiebreak=False), CUTS)
    def check(case: Case, cuts: list[int]) -> None:
        if not case.events:
            return
        scan = scanned(case.query, case.events)
        if not can_strew(scan.setting):
            return
        met.append(case)
        events = pa.Table.from_batches([sort_events(pa.Table.from_batches([scan.batch]), 0)])
        at = sorted({0, *(abs(cut) % (len(events) + 1) for cut in cuts), len(events)})
        pieces = [events.slice(lo, hi - lo) for lo, hi in pairwise(at)]
        check_same(case, scan.rows(product(scan.setting, reduced(scan.setting, pieces))), cuts)

    check()
    assert len(met) > 5


GROWING = [
    "RETURN k, COUNT(*) AS n PATTERN (SEQ(A+, B))+ GROUP-BY k",
    "RETURN k, COUNT(*) AS n, SUM(A.x) AS s PATTERN (SEQ(A+, B))+ GROUP-BY k",
    "RETURN k, COUNT(*) AS n, SUM(A.y) AS s PATTERN SEQ(A+, B+) GROUP-BY k",
    "RETURN k, COUNT(*) AS n, SUM(A.x) AS s PATTERN (SEQ(A+, B, C+, D))+ GROUP-BY k",
    "RETURN k, COUNT(*) AS n, SUM(A.x) AS s PATTERN (SEQ(A, (B OR C OR D)+))+ GROUP-BY k",
    "RETURN k, COUNT(*) AS n PATTERN SEQ(A, B) GROUP-BY k WITHIN 600 s SLIDE 200 s",
    "RETURN k, COUNT(*) AS n, SUM(A.y) AS s PATTERN A+ GROUP-BY k WITHIN 900 s SLIDE 300 s",
    "RETURN k, COUNT(*) AS n PATTERN SEQ(A+, B) SEMANTICS skip-till-next-match GROUP-BY k",
    "RETURN k, COUNT(*) AS n PATTERN SEQ(B, A+) SEMANTICS contiguous GROUP-BY k",
]


@pytest.mark.parametrize("asked", GROWING)
@pytest.mark.parametrize("steps", [(1,), (0, 0, 1, 2)], ids=["apart", "with ties"])
def test_thousands_of_events_as_the_sorted_way_has_them(
    asked: str, steps: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts grow past the radix, and a late B meets numbers that are large already."""
    monkeypatch.setattr(strewn, "PANE_EVENTS", 16)
    chance, odds = np.random.default_rng(5), (0.002, 0.3)
    time = np.cumsum(chance.choice(steps, 3000)).tolist()
    events = [
        {
            "time": now,
            "type": str(chance.choice(list("BBCD"))) if chance.random() < odds[n > 1500] else "A",
            "k": str(chance.choice(("u", "v", "w"))),
            "x": int(chance.integers(-3, 9)),
            "y": float(chance.random() - 0.4) * (2.0**300 if n == 2900 else 1.0),
        }
        for n, now in enumerate(time)
    ]
    scan = scanned(asked, events)
    assert can_strew(scan.setting)
    by_time = pa.Table.from_batches([sort_events(pa.Table.from_batches([scan.batch]), 0)])
    pieces = [by_time.slice(at, 700) for at in range(0, len(by_time), 700)]
    maps = reduced(scan.setting, pieces)
    try:
        theirs = scan.rows(product(scan.setting, make_maps(scan.setting, scan.batch)))
    except NumberError:
        with pytest.raises(NumberError):
            product(scan.setting, maps)
        return
    ours = scan.rows(product(scan.setting, maps))
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine == {
            name: pytest.approx(value, rel=1e-11) if isinstance(value, float) else value
            for name, value in other.items()
        }


@examples(30)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=60))
def test_too_many_open_maps_are_written_and_begun_anew(keys: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strewn, "MOST_OPEN", 3)
        patch.setattr(strewn, "PANE_EVENTS", 0)
        events = [{"time": n // 2, "type": "A", "g": key} for n, key in enumerate(keys)]
        scan = scanned("RETURN g, COUNT(*) AS n PATTERN A+ GROUP-BY g", events)
        by_time = pa.Table.from_batches([sort_events(pa.Table.from_batches([scan.batch]), 0)])
        pieces = [by_time.slice(at, 5) for at in range(0, len(by_time), 5)]
        ours = scan.rows(product(scan.setting, reduced(scan.setting, pieces)))
        theirs = scan.rows(product(scan.setting, make_maps(scan.setting, scan.batch)))
        assert ours == theirs


COLUMNS = st.sampled_from(
    (
        st.tuples(st.integers(-5, 60)),
        st.tuples(st.sampled_from((-(2**63), 2**63 - 1, 0, 7, 2**40))),
        st.tuples(st.text("ab", max_size=2)),
        st.tuples(st.integers(0, 3), st.text("ab", max_size=2)),
        st.tuples(st.sampled_from((0.5, -0.5, 1e300, 0.25)), st.booleans()),
    )
)


@examples(60)
@given(st.data())
def test_partitions_have_one_number_in_all_batches(data: st.DataObject) -> None:
    rows = data.draw(st.lists(data.draw(COLUMNS), min_size=1, max_size=40))
    cut = data.draw(st.integers(0, len(rows)))
    batches = [
        pa.RecordBatch.from_arrays([pa.array(column) for column in zip(*part, strict=True)], names)
        for part in (rows[:cut], rows[cut:])
        if part
        for names in [[f"p{k}" for k in range(len(rows[0]))]]
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "WIDEST", data.draw(st.sampled_from((1, 8, 1 << 20))))
        patch.setattr(numbering, "ROOM", 2)
        found = numbering.Numbering([column.type for column in batches[0].columns])
        numbers = np.concatenate([found.number(batch) for batch in batches]).tolist()
    distinct = list(dict.fromkeys(rows))
    assert numbers == [distinct.index(row) for row in rows]
    heads = found.heads(np.arange(found.count))
    assert list(zip(*(head.to_pylist() for head in heads), strict=True)) == distinct
