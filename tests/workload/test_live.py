"""Live workloads as a user meets them: pushes, the watermark, changes, states, refusals."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import trendloom as tl
from trendloom.engine import wire
from trendloom.engine.wire import NEWER
from trendloom.errors import (
    InputError,
    NumberError,
    QueryMeaningError,
    StateError,
    TrendloomError,
    WorkloadError,
)
from trendloom.hosts.local.live_state import ANEW, CHANGE, FORMAT, KIND

if TYPE_CHECKING:
    from collections.abc import Callable

READ = {"time": "time", "type": "type"}
RISES = "RETURN k, COUNT(*) AS n, SUM(A.x) AS s PATTERN SEQ(A+, B) GROUP-BY k WITHIN 6 s SLIDE 3 s"
PAIRS = "RETURN COUNT(*) AS n PATTERN SEQ(A, B) WHERE A.x < NEXT(B).x WITHIN 5 s"
LOOPS = "RETURN COUNT(*) AS n PATTERN (SEQ(A, B))+ WITHIN 4 s SLIDE 4 s"
QUERIES = {"rises": RISES, "pairs": PAIRS}
EVENTS = [{"time": t, "type": "AABABB"[t % 6], "x": t * 7 % 5, "k": "uv"[t % 2]} for t in range(30)]
TABLE = pa.Table.from_pylist(EVENTS)


def begin(queries: Any = QUERIES, **options: Any) -> tl.LiveWorkload:
    return tl.workload(queries).live(**{**READ, "watermark": "2 s", **options})


def rows_of(live: tl.LiveWorkload, pushes: list[Any]) -> dict[str, list[dict[str, Any]]]:
    steps = [live.push(events) for events in pushes]
    steps.append(live.finish())
    return {name: [row for step in steps for row in step[name].rows()] for name in live.names}


def expected(queries: dict[str, str] = QUERIES, events: Any = TABLE) -> dict[str, Any]:
    return {name: tl.run(text, events, **READ).rows() for name, text in queries.items()}


# ── events ───────────────────────────────────────────────────────────────────────────────────


def test_all_pushes_together_have_the_rows_of_a_run() -> None:
    assert rows_of(begin(), [TABLE.slice(at, 7) for at in range(0, 30, 7)]) == expected()
    assert rows_of(begin(), [TABLE]) == expected()
    assert rows_of(begin(watermark=None), [TABLE.slice(0, 9), [], TABLE.slice(9)]) == expected()


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: rows,
        lambda rows: pa.Table.from_pylist(rows).to_batches()[0],
        lambda rows: pa.Table.from_pylist(rows).to_reader(),
        lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
        pd.DataFrame,
        pl.DataFrame,
        lambda rows: pl.DataFrame(rows).lazy(),
        lambda rows: pa.Table.from_pylist(rows).set_column(
            3, "k", pa.array([row["k"] for row in rows]).dictionary_encode()
        ),
    ],
    ids=["dicts", "batch", "reader", "lists", "pandas", "polars", "lazy", "dictionary"],
)
def test_events_of_any_kind(make: Callable[[Any], Any]) -> None:
    assert rows_of(begin(), [make(EVENTS[:11]), make(EVENTS[11:])]) == expected()


def test_a_push_returns_what_became_final_with_it() -> None:
    live = begin({"loops": LOOPS})
    assert live.watermark is None
    assert live.push(EVENTS[:6])["loops"].rows() == []
    assert live.watermark == 3
    results = live.push(EVENTS[6:7])
    assert live.watermark == 4
    assert results.rows() == [{"query": "loops", "window_start": 0, "window_end": 4, "n": 2.0}]
    assert (results.events, results["loops"].value_columns) == (1, ("n",))
    assert repr(live) == "LiveWorkload(loops; watermark 4)"


@pytest.mark.parametrize("cuts", [(), (7,), (1, 2, 3, 20), tuple(range(1, 30))])
@pytest.mark.parametrize("mode", ["append", "update"])
def test_windows_of_events_that_are_not_full_come_at_the_end(
    cuts: tuple[int, ...], mode: str
) -> None:
    asked = "RETURN k, COUNT(*) AS n PATTERN SEQ(A+, B) GROUP-BY k WITHIN 4 EVENTS SLIDE 3 EVENTS"
    told = tl.run(asked, EVENTS, **READ).rows()
    live = tl.workload({"n": asked}).live(**READ, watermark="2 s", mode=mode)
    ends = (0, *cuts, len(EVENTS))
    found = [live.push(EVENTS[lo:hi])["n"].rows() for lo, hi in pairwise(ends)]
    found.append(live.finish()["n"].rows())
    rows = {(row["k"], row["window_start"]): row for some in found for row in some}
    assert rows == {(row["k"], row["window_start"]): row for row in told}
    if mode == "append":
        assert sum(map(len, found)) == len(told)


def test_nothing_is_known_before_the_first_events() -> None:
    live = begin()
    results = live.push([])
    assert {name: len(one) for name, one in results.items()} == {"rises": 0, "pairs": 0}
    assert results.union.table.column_names[:3] == ["query", "window_start", "window_end"]
    restored = live.workload.live(**READ, watermark="2 s", state=live.save())
    assert rows_of(restored, [EVENTS]) == expected()
    assert [len(one) for one in begin().finish().values()] == [0, 0]


def test_late_events_are_counted_and_handed_back_whole() -> None:
    live = begin()
    live.push(TABLE.slice(10))
    assert live.watermark == 27
    results = live.push([*EVENTS[:2], {**EVENTS[29], "time": 27}])
    assert results.late.to_pylist() == EVENTS[:2]
    assert live.late_events == 2
    assert results.events == 3
    assert live.push(EVENTS[5:6]).late.num_rows == 1
    assert live.late_events == 3
    assert live.push([]).late.num_rows == 0
    run = expected(
        events=pa.concat_tables(
            [TABLE.slice(10), pa.Table.from_pylist([{**EVENTS[29], "time": 27}])]
        )
    )
    done = begin()
    assert rows_of(done, [TABLE.slice(10), [*EVENTS[:2], {**EVENTS[29], "time": 27}]]) == run


def test_events_that_no_query_looks_at_move_the_watermark() -> None:
    live = begin({"loops": LOOPS})
    live.push([{"time": 1, "type": "A"}, {"time": 2, "type": "B"}])
    assert live.push([{"time": 50, "type": "Z"}])["loops"].rows()[0]["n"] == 1
    assert live.watermark == 48


def test_a_watermark_that_is_told() -> None:
    live = begin({"loops": LOOPS}, watermark=None)
    assert len(live.push(EVENTS[:9])["loops"]) == 0
    assert live.watermark is None
    assert len(live.push([], watermark=8)["loops"]) == 1
    results = live.push(EVENTS[5:12], watermark=6)
    assert live.watermark == 8
    assert results.late.num_rows == 3
    at = datetime(2024, 1, 1, tzinfo=UTC)
    timed = [{**row, "time": at + timedelta(seconds=row["time"])} for row in EVENTS]
    live = begin({"loops": LOOPS})
    live.push(timed[:9], watermark=at + timedelta(seconds=8))
    assert live.watermark == at + timedelta(seconds=8)
    live.push(timed[8:], watermark="2024-01-01T00:00:20Z")
    assert live.watermark == at + timedelta(seconds=27)
    with pytest.raises(InputError, match="is no time of the column 'time'") as refused:
        live.push([], watermark=9)
    assert "an integer, or a datetime" in str(refused.value)
    with pytest.raises(InputError, match="it is double"):
        begin(schema=TABLE.schema).push([], watermark=1.5)
    with pytest.raises(InputError, match="No events have come yet") as refused:
        begin().push([], watermark=4)
    assert "schema=" in str(refused.value)


def test_times_before_0() -> None:
    """The greatest time is 0, which is a time like any other."""
    moved = [{**row, "time": row["time"] - 40} for row in EVENTS]
    assert rows_of(begin(), [moved[:8], moved[8:]]) == expected(events=moved)
    live = begin({"loops": LOOPS})
    live.push([{"time": 0, "type": "A"}])
    live.push([{"time": -1, "type": "B"}])
    assert live.watermark == -2


def test_update_mode_shows_windows_before_they_are_over() -> None:
    live = begin({"loops": LOOPS}, mode="update")
    first = live.push(
        [{"time": 0, "type": "A"}, {"time": 1, "type": "B"}, {"time": 3, "type": "A"}]
    )
    assert first["loops"].rows() == []
    second = live.push([{"time": 5, "type": "A"}])
    assert [row["n"] for row in second["loops"].rows()] == [1]
    assert [row["n"] for row in live.finish()["loops"].rows()][:1] == [1]


def test_more_letters_than_a_word_has() -> None:
    """Forty conditions on two types: the shared mask has three words, and rows may be in any."""
    queries = {
        f"q{n}": f"RETURN COUNT(*) AS n PATTERN SEQ(A, B) WHERE A.x >= {n % 5} AND B.x < {n / 8} "
        "WITHIN 6 s SLIDE 3 s"
        for n in range(20)
    }
    assert rows_of(begin(queries), [TABLE.slice(0, 13), TABLE.slice(13)]) == expected(queries)


def test_exact_integers_and_a_tiebreak() -> None:
    queries = {"many": "RETURN COUNT(*) AS n PATTERN A+ WITHIN 200 s SLIDE 200 s"}
    events = [{"time": 0, "type": "A", "rank": n} for n in range(90)]
    terms = {"numbers": "exact", "tiebreak": "rank"}
    rows = rows_of(begin(queries, **terms), [events[::-1][:40], events[::-1][40:]])
    assert rows["many"][-1]["n"] == 2**90 - 1


def test_rows_without_a_time() -> None:
    events = [*EVENTS[:5], {**EVENTS[5], "time": None}]
    live = begin()
    with pytest.raises(InputError, match="1 of 6 rows have no time"):
        live.push(events)
    assert rows_of(live, [EVENTS]) == expected()
    dropping = begin(bad_rows="drop")
    assert dropping.push(events).dropped_rows == 1
    assert dropping.push([{**EVENTS[5], "time": None}]).dropped_rows == 1


# ── types ────────────────────────────────────────────────────────────────────────────────────


def test_columns_keep_their_types() -> None:
    live = begin()
    live.push(EVENTS[:5])
    with pytest.raises(InputError) as refused:
        live.push([{**EVENTS[5], "x": 2.5}])
    assert str(refused.value) == (
        "The column 'x' was int64 in the first events, and is double now.\n"
        "Convert it before, or state the types from the beginning with schema=."
    )
    with pytest.raises(InputError, match="The events have no column 'k', and those before had one"):
        live.push([{"time": 5, "type": "B", "x": 1}])
    # Nulls alone have no type of their own, and a refused push has left nothing.
    live.push([{**EVENTS[5], "x": None}])
    live.push(EVENTS[6:7])


def test_types_can_be_stated() -> None:
    schema = TABLE.schema.set(2, pa.field("x", pa.float64()))
    live = begin(schema=schema)
    live.push(EVENTS[:5])
    live.push([{**EVENTS[5], "x": 2.5}])
    with pytest.raises(InputError, match="'x' is string and does not fit double, which the schema"):
        live.push([{**EVENTS[5], "x": "many"}])
    with pytest.raises(WorkloadError, match="rises: Unknown attribute 'k'"):
        begin(schema=schema.remove(3))


def test_a_column_that_nobody_reads_may_get_its_type_later() -> None:
    live = begin({"loops": LOOPS})
    live.push([{**EVENTS[0], "note": None}])
    live.push([{**EVENTS[1], "note": "seen", "more": 1}])
    live.add("noted", "RETURN COUNT(*) PATTERN A WHERE A.note = 'seen' WITHIN 4 s SLIDE 4 s")
    live.push([{**EVENTS[3], "note": "seen"}])
    assert len(live.finish()["noted"]) == 1


def test_columns_that_do_not_exist_are_told_of_all_queries_and_leave_nothing() -> None:
    live = begin()
    with pytest.raises(WorkloadError, match="2 of 2 queries are wrong") as refused:
        live.push([{"time": 1, "type": "A"}])
    assert refused.value.errors.keys() == {"rises", "pairs"}
    with pytest.raises(InputError, match="Unknown time column 'time'"):
        live.push([{"at": 1, "type": "A"}])
    assert rows_of(live, [EVENTS]) == expected()


# ── changes ──────────────────────────────────────────────────────────────────────────────────


def test_other_queries_keep_their_state() -> None:
    live = begin()
    first = live.push(TABLE.slice(0, 14))
    live.add("loops", LOOPS)
    live.replace("pairs", PAIRS.replace("5 s", "4 s"))
    assert live.names == ("rises", "pairs", "loops")
    second = live.push(TABLE.slice(14))
    third = live.finish()
    steps = (first, second, third)
    assert [row for step in steps for row in step["rises"].rows()] == expected()["rises"]
    later = {"pairs": PAIRS.replace("5 s", "4 s"), "loops": LOOPS}
    for name, rows in expected(later, TABLE.slice(14)).items():
        assert [row for step in (second, third) for row in step[name].rows()] == rows
    live = begin()
    live.remove("pairs")
    assert rows_of(live, [EVENTS]) == {"rises": expected()["rises"]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda live: live.add("rises", LOOPS), "There is a query 'rises' already"),
        (lambda live: live.replace("rise", LOOPS), "Did you mean 'rises'"),
        (lambda live: live.remove("x"), "There is no query 'x'"),
        (lambda live: live.add("new", "RETURN"), "new: The query ends too early"),
        (lambda live: live.add("new", "RETURN COUNT(*) PATTERN A"), "needs a WITHIN"),
        (
            lambda live: live.add(
                "new",
                LOOPS.replace("WITHIN 4 s SLIDE 4 s", "WHERE [k] WITHIN 9 EVENTS SLIDE 9 EVENTS"),
            ),
            "windows of events must be of groups",
        ),
        (
            lambda live: live.add("new", LOOPS.replace("WITHIN", "GROUP-BY z WITHIN")),
            "new: Unknown attribute 'z'",
        ),
        (lambda live: live.add("new", LOOPS.replace("4 s", "4 ms")), "tick"),
    ],
)
def test_changes_that_are_refused_change_nothing(
    change: Callable[[tl.LiveWorkload], None], words: str
) -> None:
    live = begin()
    first = live.push(TABLE.slice(0, 14))
    with pytest.raises(TrendloomError, match=words):
        change(live)
    assert live.names == ("rises", "pairs")
    rows = rows_of(live, [TABLE.slice(14)])
    for name, all_rows in expected().items():
        assert [*first[name].rows(), *rows[name]] == all_rows


def test_queries_that_cannot_be_live_are_refused_at_once() -> None:
    queries = {"whole": "RETURN COUNT(*) PATTERN A", "loops": LOOPS}
    with pytest.raises(WorkloadError, match="whole: A query over a stream needs a WITHIN") as wrong:
        begin(queries)
    assert isinstance(wrong.value.errors["whole"], QueryMeaningError)
    for options, words in (
        ({"watermark": "soon"}, "This is not an amount"),
        ({"watermark": "2 events"}, "A watermark is a time"),
        ({"mode": "complete"}, "Unknown mode 'complete'"),
        ({"numbers": "more"}, "Unknown numbers 'more'"),
        ({"threads": 0}, "cannot run on 0 threads"),
    ):
        with pytest.raises(TrendloomError, match=words):
            begin(**options)


def test_a_query_that_fails_is_named_and_the_others_go_on() -> None:
    queries = {"sums": "RETURN SUM(A.x) AS n PATTERN A WITHIN 6 s SLIDE 3 s", "loops": LOOPS}
    huge = [{**row, "x": 2**62} for row in EVENTS]
    live = begin(queries)
    with pytest.raises(WorkloadError, match="1 of 2 queries failed") as failed:
        live.push([*huge[:20], {**EVENTS[0], "time": 0}])
    assert isinstance(failed.value.errors["sums"], NumberError)
    for again in (lambda: live.push([]), live.save, live.finish):
        with pytest.raises(TrendloomError, match=r"(?s)'sums' failed .*Use remove\('sums'\)"):
            again()
    live.remove("sums")
    live = live.workload.live(**READ, watermark="2 s", state=live.save())
    run = tl.run(LOOPS, [*huge, {**EVENTS[0], "time": 0}], **READ)
    assert rows_of(live, [huge[20:]]) == {"loops": run.rows()}


def test_a_time_too_far_away_is_refused_before_any_query_has_seen_an_event() -> None:
    live = begin()
    with pytest.raises(InputError, match="too near the ends of the 64-bit range"):
        live.push([*EVENTS[:4], {**EVENTS[4], "time": 2**63 - 3}])
    assert rows_of(live, [EVENTS]) == expected()


def test_after_the_end_there_is_nothing() -> None:
    live = begin()
    live.finish()
    for again in (lambda: live.push(EVENTS), live.save, live.finish):
        with pytest.raises(TrendloomError, match=r"finish\(\) was called"):
            again()


def test_an_interrupted_push_is_not_gone_on_from(monkeypatch: pytest.MonkeyPatch) -> None:
    from trendloom.engine.live import Live

    live = begin()
    live.push(EVENTS[:5])
    data = live.save()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Live, "advance", interrupt)
        with pytest.raises(KeyboardInterrupt):
            live.push(EVENTS[5:])
    with pytest.raises(StateError, match="A push was interrupted"):
        live.push(EVENTS[5:])
    live = live.workload.live(**READ, watermark="2 s", state=data)
    live.push(EVENTS[5:])


# ── states ───────────────────────────────────────────────────────────────────────────────────


def saved(**options: Any) -> bytes:
    live = begin(**options)
    live.push(TABLE.slice(0, 14))
    return live.save()


def resumed(data: Any, queries: Any = QUERIES, **options: Any) -> tl.LiveWorkload:
    return begin(queries, state=data, **options)


def test_a_state_goes_on() -> None:
    live = begin()
    first = live.push(TABLE.slice(0, 14))
    late = live.push(EVENTS[:1])
    assert late.late.num_rows == 1
    data = live.save()
    again = resumed(data)
    assert again.save() == data
    assert (again.watermark, again.late_events) == (live.watermark, 1)
    rows = rows_of(again, [TABLE.slice(14)])
    for name, whole in expected().items():
        assert [*first[name].rows(), *rows[name]] == whole
    longer = resumed(data, watermark="10 s", bad_rows="drop")
    longer.push(EVENTS[14:15])
    assert longer.watermark == 11, "a watermark never goes back"
    with pytest.raises(InputError, match="The column 'x' was int64"):
        resumed(data).push([{**EVENTS[14], "x": 1.5}])


def refusal(data: Any, queries: Any = QUERIES, **options: Any) -> StateError:
    with pytest.raises(StateError) as refused:
        resumed(data, queries, **options)
    return refused.value


def test_other_queries_and_terms_are_refused() -> None:
    data = saved()
    for queries, words in (
        ({"rises": RISES}, "'pairs' is missing"),
        ({**QUERIES, "loops": LOOPS}, "'loops' is not in the state"),
        ({**QUERIES, "pairs": LOOPS}, "'pairs' is another query\nState: RETURN COUNT(*) AS n"),
    ):
        error = refusal(data, queries)
        assert words in error.cause
        assert error.remedy == CHANGE
    error = refusal(data, tick="ms", mode="update")
    assert error.cause == (
        "The state was kept under other terms: tick was 's' and is 'ms'; "
        "mode was 'append' and is 'update'."
    )
    schema = TABLE.schema.set(2, pa.field("x", pa.float64()))
    assert "other columns than schema= says" in refusal(data, schema=schema).cause


def test_bytes_that_are_damaged_or_newer_or_something_else_are_refused() -> None:
    data = saved()
    for at in range(0, len(data), 97):
        damaged = bytearray(data)
        damaged[at] ^= 0x10
        assert any(word in refusal(bytes(damaged)).cause for word in ("damaged", "newer"))
    for length in (0, 3, 14, 40, len(data) - 1):
        error = refusal(data[:length])
        assert "damaged" in error.cause
        assert error.remedy == ANEW
    assert "they hold 'live' where" in refusal(wire.pack("live", {}, {})).cause
    assert refusal("bytes").cause == "A state is bytes, as save() gives them, not str."
    newer = bytearray(data)
    struct.pack_into("<H", newer, 5, wire.VERSION + 1)
    assert refusal(bytes(newer)).remedy == NEWER
    facts, tables = wire.unpack(KIND, data)
    error = refusal(wire.pack(KIND, {**facts, "format": FORMAT + 1}, tables))
    assert "newer Trendloom (live workload 2; this one reads up to 1)" in error.cause
    assert error.remedy == NEWER


def test_a_query_whose_own_state_cannot_go_on_is_named() -> None:
    facts, tables = wire.unpack(KIND, saved())
    states = tables["states"].set_column(1, "state", pa.array([b"x", b"y"], pa.large_binary()))
    error = refusal(wire.pack(KIND, facts, {**tables, "states": states}))
    assert error.cause.startswith("Query 'rises': The state's bytes are damaged")
    assert error.remedy == ANEW


def test_a_key_signs_states() -> None:
    live = begin(state_key="secret")
    live.push(TABLE.slice(0, 14))
    data = live.save()
    again = resumed(data, state_key=b"secret")
    assert again.save() == data
    assert rows_of(again, [TABLE.slice(14)]) == rows_of(resumed(saved()), [TABLE.slice(14)])
    unsigned = saved()
    for wrong, key, said in (
        (data, None, "The state is signed, and no key was given."),
        (data, "Secret", "The state's signature is not of this key"),
        (unsigned, "secret", "The state is not signed, and a key was given."),
        (data[:-1] + bytes([data[-1] ^ 1]), "secret", "The state's signature is not of this key"),
        (data[:20], "secret", "The state's signature is not of this key"),
    ):
        error = refusal(wrong, state_key=key)
        assert said in error.cause
        assert error.remedy is not None
    for at in range(len(data)):
        changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        assert "sign" in refusal(changed, state_key="secret").cause


def test_a_state_can_be_signed_with_another_key_than_it_came_with() -> None:
    turned = resumed(saved()).save(state_key="new")
    assert resumed(turned, state_key="new").save() == turned
    for key in ("", b"", 7):
        with pytest.raises(TrendloomError, match="A state key is bytes or text"):
            begin(state_key=key)


def test_late_events_of_two_kinds_of_frames_are_owed_together() -> None:
    queries = {"sums": "RETURN SUM(A.x) AS n PATTERN A WITHIN 6 s SLIDE 3 s", "loops": LOOPS}
    huge = [{**row, "x": 2**62} for row in EVENTS]
    live = begin(queries)
    live.push(pl.DataFrame(EVENTS[:6]))
    with pytest.raises(WorkloadError):
        live.push(pl.DataFrame([*huge[:1], *huge[6:20]]))
    live.remove("sums")
    live = live.workload.live(**READ, watermark="2 s", state=live.save())
    late = live.push(pa.Table.from_pylist(huge[:2])).late
    assert late.column("k").to_pylist() == ["u", "u", "v"]
