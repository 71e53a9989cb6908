"""Updates of queries whose conditions are looked up by value: entries that keep arriving."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from live_streams import END, Arrival, arrivals, scanned, scanned_case
from test_live_against_oracle import compare_updates

from against_oracle import examples
from looked_up import NUMBERS, is_looked_up, looked_up
from trendloom.engine.columns import has_lasting_keys, lasting_keys
from trendloom.engine.live import Mode
from trendloom.engine.live.arriving import Arriving
from trendloom.engine.live.entries import Entries
from trendloom.engine.live.events import Events
from trendloom.engine.live.shelves import Shelves
from trendloom.engine.ranked import Ranked
from trendloom.kernels.layers import new_sums
from trendloom.kernels.ranks import LESS, LESS_OR_EQUAL
from trendloom.language import Semantics
from trendloom.testing import same_rows
from trendloom.testing.strategies import Case, cases

WINDOWS = {"window_kinds": ("time",), "allow_having": False}


def test_updates_are_those_of_the_oracle() -> None:
    kept = []

    @examples(250)
    @given(
        cases(query=looked_up(Semantics.ANY, sides=NUMBERS, **WINDOWS).filter(is_looked_up)),
        arrivals(),
    )
    def check(case: Case, arrival: Arrival) -> None:
        if case.events:
            kept.append(isinstance(scanned_case(case).live(Mode.UPDATE)._keeper, Entries))
        compare_updates(case, arrival)

    check()
    assert sum(kept) >= len(kept) / 2


def events(count: int, seed: int) -> list[dict[str, Any]]:
    """Every fifth at the time of the one before; values with gaps, ties and both signs."""
    rng = np.random.default_rng(seed)
    return [
        {
            "time": i - i % 5 // 4,
            "type": "AAB"[rng.integers(3)],
            "x": None if rng.random() < 0.03 else int(rng.integers(-500, 500)),
            "y": float(rng.normal()),
            "g": int(rng.integers(2)),
        }
        for i in range(count)
    ]


VALUES = "COUNT(*), SUM(A.x) AS s, VARIANCE(A.y) AS v, MIN(A.x) AS low, MAX(LENGTH(*)) AS long"


@pytest.mark.parametrize(
    "where",
    [
        "A.y < NEXT(A).y",
        "A.x >= NEXT(A).y AND A.y > NEXT(B).x",
        "A.x <> NEXT(A).x",
        "A.x = NEXT(B).x",
        "A.x % 7 = NEXT(A).x % 7 AND A.y <= NEXT(A).y",
    ],
)
@pytest.mark.parametrize("windows", ["WITHIN 1 hour SLIDE 1 hour", "WITHIN 200 s SLIDE 50 s"])
def test_many_steps_of_one_stream(
    where: str, windows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Layers merge, windows close and are forgotten; a state goes on in the middle."""
    text = f"RETURN g, {VALUES} PATTERN SEQ(A+, B) WHERE {where} GROUP-BY g {windows}"
    rows = events(700, 3)
    scan = scanned(text, rows)
    live = scan.live(Mode.UPDATE)
    assert isinstance(live._keeper, Entries)
    expected = scan.rows(scan.batch(scan.table))
    monkeypatch.setattr(Ranked, "__init__", never)
    tables = []
    for end in [*range(0, 700, 23), END]:
        before = live.watermark
        new = scan.time < end
        if before is not None:
            new &= scan.time >= before
        tables.append(live.advance(scan.table.filter(pa.array(new)), before).rows)
        tables.append(live.advance(None, end).rows)
        if end == 299:
            live = type(live).restore(scan.setting, Mode.UPDATE, live.save())
    assert live.is_empty
    last = {(row["window_start"], row["g"]): row for row in scan.rows(*tables)}
    difference = same_rows(expected, list(last.values()), keys=("g",))
    assert difference is None, difference


def never(*_: object) -> None:
    raise AssertionError("evaluated from nothing")


def test_few_layers_hold_many_entries() -> None:
    shelves = Shelves(1, 1, 1, 0)
    rng = np.random.default_rng(5)
    shelf = shelves.number(1)
    value = rng.integers(0, 900, 4_000)
    for at in range(0, 4_000, 10):
        own = new_sums(10, 1, 0)
        own.m[:] = 1.0
        shelves.add(np.repeat(shelf, 10), value[at : at + 10, None], own)
        shelves.keep(shelf)
    assert len(shelves.layers) <= 9
    for which, side in ((LESS, "left"), (LESS_OR_EQUAL, "right")):
        asked = rng.integers(-1, 902, 50)
        found = shelves.look_up(
            np.zeros(50, np.int64), asked[:, None], np.full(50, which, np.int64)
        )
        counted = np.searchsorted(np.sort(value), asked, side=side)
        assert found.m[:, 0].tolist() == counted.tolist()
    none = shelves.look_up(np.full(1, -1), np.zeros((1, 1), np.int64), np.zeros(1, np.int64))
    assert none.m[0, 0] == 0.0


def test_what_is_over_is_forgotten() -> None:
    shelves = Shelves(1, 1, 1, 0)
    numbers = shelves.number(4)
    for number in numbers:
        own = new_sums(3, 1, 0)
        own.m[:] = 1.0
        shelves.add(np.repeat(number, 3), np.arange(3)[:, None], own)
        shelves.keep(numbers[: number + 1])
    shelves.keep(numbers[3:])
    assert sum(len(layer.group) for layer in shelves.layers) == 3
    shelves.keep(numbers[:0])
    assert shelves.layers == []


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("PATTERN A+ WHERE A.k < NEXT(A).k", "text has no number of its own"),
        ("PATTERN SEQ(A, B) WHERE A.x < NEXT(B).x", "integers are checked"),
        ("PATTERN A+ WHERE A.x < NEXT(A).x AND A.y < NEXT(A).y", "two comparisons"),
        ("PATTERN A+ SEMANTICS skip-till-next-match WHERE A.x < NEXT(A).x", "entries are consumed"),
        ("PATTERN A+ WHERE A.x < NEXT(A).x WITHIN 9 s SLIDE 1 s", "an event has nine entries"),
    ],
)
def test_others_keep_events(query: str, why: str) -> None:
    rows = [{**row, "k": "uv"[row["y"] > 0]} for row in events(4, 1)]
    text = f"RETURN COUNT(*) {query}"
    text += "" if "WITHIN" in query else " WITHIN 9 s SLIDE 9 s"
    assert isinstance(scanned(text, rows).live(Mode.UPDATE)._keeper, Events), why


DOUBLES = st.floats(allow_nan=True, allow_infinity=True, width=64)
WHOLE = st.integers(-(2**63) + 1, 2**63 - 2)


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        (DOUBLES, (pa.float64(), pa.float64())),
        (WHOLE, (pa.int64(), pa.int64())),
        (st.integers(-(2**31), 2**31 - 1), (pa.int32(), pa.float64())),
        (st.booleans(), (pa.bool_(), pa.int8())),
    ],
    ids=["doubles", "integers", "both", "booleans"],
)
def test_keys_compare_as_values_do(values: Any, kinds: tuple[pa.DataType, pa.DataType]) -> None:
    assert has_lasting_keys(*kinds)

    @examples(150)
    @given(st.none() | values, st.none() | values)
    def check(one: Any, two: Any) -> None:
        left, right = (pa.array([v]).cast(kind) if v is not None else pa.nulls(1, kind)
                       for v, kind in zip((one, two), kinds, strict=True))  # fmt: skip
        (a,), (here,) = lasting_keys(left, kinds[1])
        (b,), (there,) = lasting_keys(right, kinds[0])
        assert here == (one is not None and one == one)
        assert there == (two is not None and two == two)
        if here and there:
            assert (a < b, a == b) == (one < two, one == two)

    check()


def test_text_and_unsigned_words_have_no_lasting_keys() -> None:
    assert not has_lasting_keys(pa.string(), pa.string())
    assert not has_lasting_keys(pa.uint64(), pa.int64())
    assert not has_lasting_keys(pa.timestamp("us"), pa.date32())
    assert has_lasting_keys(pa.timestamp("us"), pa.timestamp("us"))


def test_an_evaluator_of_its_own_shares_the_centres() -> None:
    scan = scanned("RETURN COUNT(*) PATTERN A+ WHERE A.y < NEXT(A).y WITHIN 9 s SLIDE 9 s",
                   events(4, 1))  # fmt: skip
    (one,) = scan.setting.evaluators()
    assert Arriving.of(one).centres is one.centres
