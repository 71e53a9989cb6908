"""A state's bytes: read by later versions, refused when they are damaged or of something else."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from forged_states import resealed
from live_stories import END, STORIES, Story, path
from live_streams import Scanned, scanned

from trendloom.api import query
from trendloom.engine import wire
from trendloom.engine.layout import Numbers
from trendloom.engine.live import Live, Mode, check_streamable
from trendloom.engine.live.state import FORMAT
from trendloom.engine.live.vectors import Vectors
from trendloom.errors import InputError, QueryMeaningError, StateError
from trendloom.testing import same_rows, stream

if TYPE_CHECKING:
    from collections.abc import Callable

EACH = pytest.mark.parametrize("name", list(STORIES))
IN_TIME = [name for name in STORIES if name != "numbered"]
"""A window of events waits for them as long as the stream runs."""


def lasting(scan: Scanned, tables: list[pa.Table]) -> list[dict[str, Any]]:
    """The last row of every window and group, if it has trends."""
    names = ["window_start", "window_end", *[n for n in tables[0].column_names if n == "g"]]
    last = {tuple(row[n] for n in names): row for row in scan.rows(*tables)}
    return [row for row in last.values() if row["COUNT(*)"]]


# ── versions ─────────────────────────────────────────────────────────────────────────────────


@EACH
def test_a_state_of_version_1_goes_on_to_the_right_rows(name: str) -> None:
    story = STORIES[name]
    scan = story.scan()
    _, before = story.begun(scan)
    live = Live.restore(scan.setting, story.mode, path(name, 1).read_bytes())
    assert live.watermark == story.watermark
    assert not live.is_empty
    rows = [*before, *story.ended(scan, live)]
    shown = lasting(scan, rows) if story.mode is Mode.UPDATE else scan.rows(*rows)
    keys = ("g",) if "g" in rows[0].column_names else ()
    assert same_rows(scan.rows(scan.batch(scan.table)), shown, keys=keys) is None
    assert len(shown) >= 3


@EACH
def test_this_version_writes_what_version_1_wrote(name: str) -> None:
    story = STORIES[name]
    facts, tables = wire.unpack("live", path(name, 1).read_bytes())
    mine, my_tables = wire.unpack("live", story.begun(story.scan())[0].save())
    assert mine == facts
    assert my_tables == tables


@EACH
def test_equal_histories_leave_equal_bytes(name: str) -> None:
    story = STORIES[name]
    assert story.begun(story.scan())[0].save() == story.begun(story.scan())[0].save()


# ── refusals ─────────────────────────────────────────────────────────────────────────────────


@EACH
def test_damage_anywhere_is_noticed(name: str) -> None:
    story = STORIES[name]
    scan = story.scan()
    data = story.begun(scan)[0].save()
    step = max(1, len(data) // 400)
    for at in [*range(200), *range(200, len(data), step), len(data) - 1]:
        damaged = bytearray(data)
        damaged[at] ^= 0x10
        with pytest.raises(StateError, match=r"damaged|newer"):
            Live.restore(scan.setting, story.mode, bytes(damaged))
    for length in (0, 3, 14, 15, 40, len(data) // 2, len(data) - 1):
        with pytest.raises(StateError, match="damaged"):
            Live.restore(scan.setting, story.mode, data[:length])


def test_bytes_of_something_else_are_refused() -> None:
    scan = STORIES["events"].scan()
    with pytest.raises(StateError, match="they hold 'map' where 'live' is expected"):
        Live.restore(scan.setting, Mode.APPEND, wire.pack("map", {}, {}))


def test_a_newer_format_is_refused_by_its_number() -> None:
    scan = STORIES["events"].scan()
    data = bytearray(scan.live().save())
    struct.pack_into("<H", data, 5, wire.VERSION + 1)
    with pytest.raises(StateError) as refused:
        Live.restore(scan.setting, Mode.APPEND, bytes(data))
    assert "written by a newer Trendloom (format 2; this one reads up to 1)" in str(refused.value)
    assert "Run the version that wrote it, or a later one." in str(refused.value)


def test_newer_facts_are_refused_by_their_number() -> None:
    scan = STORIES["events"].scan()
    facts, tables = wire.unpack("live", scan.live().save())
    data = wire.pack("live", {**facts, "format": FORMAT + 1}, tables)
    with pytest.raises(StateError, match=rf"newer Trendloom \(live state {FORMAT + 1}"):
        Live.restore(scan.setting, Mode.APPEND, data)


def refusal(story: Story, setting: Any, mode: Mode = Mode.APPEND) -> str:
    data = story.begun(story.scan())[0].save()
    with pytest.raises(StateError) as refused:
        Live.restore(setting, mode, data)
    remedy = "Run what wrote the state, or start the stream with a new checkpoint."
    assert refused.value.remedy == remedy
    return str(refused.value).removesuffix(f"\n{remedy}")


def test_another_query_is_refused_with_both_texts() -> None:
    story = STORIES["vectors"]
    other = replace(story, query=story.query.replace("6 seconds", "9 seconds")).scan()
    cause = refusal(story, other.setting)
    assert cause.startswith("The state is of another query.\nState: RETURN g, COUNT(*)")
    before, now = cause.splitlines()[1:]
    assert before.endswith("WITHIN 6 seconds SLIDE 3 seconds")
    assert now.startswith("Now:   RETURN g, COUNT(*)")
    assert now.endswith("WITHIN 9 seconds SLIDE 3 seconds")


def test_the_same_query_in_other_words_goes_on() -> None:
    story = STORIES["vectors"]
    data = story.begun(story.scan())[0].save()
    spaced = replace(story, query=story.query.replace(" PATTERN", "\n  PATTERN"))
    assert Live.restore(spaced.scan().setting, Mode.APPEND, data).save() == data


def test_other_types_are_refused_by_name() -> None:
    story = STORIES["vectors"]
    setting = story.scan().setting
    types = [pa.float64() if t == pa.int64() else t for t in setting.operand_types]
    keys = [pa.int32() if k == 0 else t for k, t in enumerate(setting.partition_types)]
    cause = refusal(story, replace(setting, operand_types=types, partition_types=keys))
    assert cause == (
        "The events have other types than those of the state: partition attribute 1 was int64 and "
        "is int32; operand 1 was int64 and is double."
    )


def test_other_numbers_ticks_and_modes_are_refused() -> None:
    story = STORIES["events"]
    setting = story.scan().setting
    assert refusal(story, replace(setting, numbers=Numbers.EXACT)) == (
        'The state was kept with numbers="auto", and the query now asks for "exact".'
    )
    assert refusal(story, replace(setting, nanoseconds=1_000_000)) == (
        "A tick of the state's times is 1000000000 ns, and one of the events' is 1000000 ns."
    )
    assert refusal(story, setting, Mode.UPDATE) == (
        "The state is of a query in append mode, and it now runs in update mode."
    )


@pytest.mark.parametrize(
    ("name", "fact", "value", "said"),
    [
        (
            "changes",
            "keeps",
            "vectors",
            "The state keeps vectors; this version of Trendloom keeps events",
        ),
        ("vectors", "shape", 7, "The state's vectors are of another version's automaton"),
        ("vectors_guards", "shape", 7, "The state's vectors are of another version's automaton"),
    ],
)
def test_vectors_that_mean_something_else_are_refused(
    name: str, fact: str, value: Any, said: str
) -> None:
    scan = STORIES[name].scan()
    facts, tables = wire.unpack("live", scan.live().save())
    with pytest.raises(StateError, match=said):
        Live.restore(scan.setting, Mode.APPEND, wire.pack("live", {**facts, fact: value}, tables))


@pytest.mark.parametrize("name", ["vectors", "vectors_extremes", "vectors_guards"])
def test_a_state_that_kept_events_goes_on_with_them(name: str) -> None:
    """As a version left it that had no vectors for the query."""
    scan = STORIES[name].scan()
    earlier = replace(STORIES[name], keep_events=True)
    begun, before = earlier.begun(scan)
    live = Live.restore(scan.setting, earlier.mode, begun.save())
    assert live.save() == begun.save()
    rows = [*before, *earlier.ended(scan, live)]
    assert same_rows(scan.rows(scan.batch(scan.table)), scan.rows(*rows), keys=("g",)) is None


def test_another_tiebreak_than_the_waiting_events_have_is_refused() -> None:
    story = STORIES["events_exact"]
    scan = story.scan()
    live, _ = story.begun(scan)
    with pytest.raises(StateError) as refused:
        live.advance(scan.table.drop_columns("tie"), story.watermark)
    assert "The events' columns have changed" in str(refused.value)
    assert "tie string" in str(refused.value)


def test_the_checksum_covers_the_header_s_length() -> None:
    data = wire.pack("live", {}, {})
    magic, version, crc, length = struct.unpack_from("<5sHII", data)
    assert (magic, version) == (b"TLOOM", wire.VERSION)
    covered = struct.pack("<HI", version, length) + data[15:]
    assert zlib.crc32(covered) == crc


# ── forgeries ────────────────────────────────────────────────────────────────────────────────


def forged(name: str, change: Callable[[dict[str, Any], dict[str, pa.Table]], object]) -> str:
    """Why a state whose facts and tables were changed is refused."""
    story = STORIES[name]
    scan = story.scan()
    facts, tables = wire.unpack("live", story.begun(scan)[0].save())
    change(facts, tables)
    with pytest.raises(StateError, match="damaged") as refused:
        Live.restore(scan.setting, story.mode, wire.pack("live", facts, tables))
    assert refused.value.remedy == wire.COPY
    return refused.value.cause


def put(tables: dict[str, pa.Table], name: str, column: str, values: Any) -> None:
    """Other values in a column, or one for all rows."""
    table = tables[name]
    at = table.schema.get_field_index(column)
    if not isinstance(values, pa.Array):
        values = pa.array([values] * table.num_rows, table.schema.field(at).type)
    tables[name] = table.set_column(at, column, values)


@pytest.mark.parametrize(
    ("name", "table", "column", "value", "said"),
    [
        ("vectors", "pending", "mask", 7, "an event has the mask 0x7"),
        ("events", "events", "mask", 128, "an event has the mask 0x80"),
        ("events", "events", "mask", None, "the column 'mask' has nulls"),
        ("changes", "events", "time", 1 << 62, "too near the ends of the 64-bit range"),
        ("vectors", "vectors", "window", 1 << 62, "the windows reach from"),
        ("vectors_extremes", "vectors", "window", None, "the column 'window' has nulls"),
        ("entries", "entries0", "row", 1_000, "the rows reach from 1000"),
        ("entries", "entries0", "row", -1, "the rows reach from -1"),
        ("entries", "entries0", "index", 90, "the indexes reach from 90"),
        ("numbered", "counts", "passed", 1_000, "events of open windows are missing"),
        ("numbered", "counts", "passed", -4, "the counts reach from -4"),
        ("numbered", "counts", "p0", 1, "a partition is counted twice"),
    ],
)
def test_what_kernels_use_as_an_index_is_in_its_range(
    name: str, table: str, column: str, value: Any, said: str
) -> None:
    assert said in forged(name, lambda _, tables: put(tables, table, column, value))


@pytest.mark.parametrize(
    ("fact", "value", "said"),
    [
        ("watermark", 1 << 70, "'watermark' is 1180591620717411303424"),
        ("watermark", "noon", "'watermark' is 'noon'"),
        ("events", -1, "'events' is -1"),
        ("events", True, "'events' is True"),
        ("centres", [{"77": [0.0, 1.0]}], "there is a centre of operand 77"),
        ("centres", [{"0": [0.0, 0.0]}], "'centres' is 0.0"),
        ("centres", [{"0": [0.0]}], "'centres' is [0.0]"),
        ("centres", {}, "'centres' is {}"),
        ("types", None, "'types' is None"),
        ("format", "1", "'format' is '1'"),
    ],
)
def test_facts_have_the_shape_that_is_written_down(fact: str, value: Any, said: str) -> None:
    assert said in forged("vectors", lambda facts, _: facts.update({fact: value}))
    assert f"there is no '{fact}'" in forged("vectors", lambda facts, _: facts.pop(fact))


def test_tables_are_those_of_the_query_and_no_others() -> None:
    def swap(_: object, tables: dict[str, pa.Table]) -> None:
        tables["vectors"], tables["pending"] = tables["pending"], tables["vectors"]

    def narrow(_: object, tables: dict[str, pa.Table]) -> None:
        rows = tables["vectors"].num_rows
        put(tables, "vectors", "m0", pa.array([[1.0]] * rows, pa.list_(pa.float64(), 1)))

    assert "events have other columns" in forged("vectors", swap)
    assert "the column 'm0' is fixed_size_list" in forged("vectors", narrow)
    said = forged("events", lambda _, tables: tables.update(more=tables["events"]))
    assert "there is a table 'more', which the query has no use for" in said


def test_arrow_s_offsets_are_validated_before_anybody_follows_them() -> None:
    table = pa.table({"rows": ["one", "two", "three"]})
    whole = wire.pack("rows", {}, {"rows": table})
    offsets = struct.pack("<4i", 0, 3, 6, 11)
    assert whole.count(offsets) == 1
    for wrong in ((0, 3, 6, 1 << 30), (0, -3, 6, 11), (0, 9, 6, 11)):
        patched = whole.replace(offsets, struct.pack("<4i", *wrong))
        with pytest.raises(StateError, match="they cannot be read"):
            wire.unpack("rows", resealed(patched))


def test_forged_sizes_are_refused_before_memory_is_asked_for() -> None:
    nulls = pa.Array.from_buffers(pa.null(), (1 << 31) - 1, [None])
    many = pa.RecordBatch.from_arrays([nulls], ["rows"])
    with pytest.raises(StateError, match="has more rows than bytes for them"):
        wire.unpack("rows", wire.pack("rows", {}, {"rows": pa.Table.from_batches([many])}))
    compressed = wire.pack("rows", {}, {"rows": pa.table({"rows": [0] * wire._SMALL})})
    size = struct.pack("<q", 8 * wire._SMALL)
    for wrong in (1 << 40, 1 << 62, -5, 1):
        patched = compressed[::-1].replace(size[::-1], struct.pack("<q", wrong)[::-1], 1)[::-1]
        with pytest.raises(StateError, match="damaged"):
            wire.unpack("rows", resealed(patched))


@pytest.mark.parametrize("header", [b"", b"[]", b"{", b"[" * 100_000, b'{"kind": "live"}', b"\xff"])
def test_a_header_that_is_no_header_is_refused(header: bytes) -> None:
    data = struct.pack("<5sHII", b"TLOOM", 1, 0, len(header)) + header
    with pytest.raises(StateError, match="damaged"):
        wire.unpack("live", resealed(data))


# ── what has no answer on a stream ───────────────────────────────────────────────────────────


def test_a_query_without_a_window_is_refused() -> None:
    plan = query("RETURN COUNT(*) PATTERN A+").plan
    with pytest.raises(QueryMeaningError) as refused:
        check_streamable(plan)
    assert "A query over a stream needs a WITHIN" in str(refused.value)
    assert "Add a window, such as WITHIN 1 hour SLIDE 10 min." in str(refused.value)


def test_windows_of_events_of_partitions_that_are_no_groups_are_refused_where_they_stand() -> None:
    asked = "RETURN COUNT(*) PATTERN A+ WHERE [k] WITHIN 4 EVENTS SLIDE 2 EVENTS"
    scan = scanned(asked, stream("a1:k=u"))
    with pytest.raises(QueryMeaningError) as refused:
        scan.live()
    assert "On a stream, windows of events must be of groups" in str(refused.value)
    assert "(line 1, column" in str(refused.value)
    assert "^" in str(refused.value)
    assert "Name the attributes of [...] in GROUP-BY too" in str(refused.value)


@EACH
def test_a_time_at_the_end_of_the_range_is_refused_when_it_comes(name: str) -> None:
    scan = STORIES[name].scan()
    far = scan.table.slice(0, 1)
    at = far.schema.get_field_index("time")
    far = far.set_column(at, "time", pa.array([(1 << 63) - 1]))
    with pytest.raises(InputError, match="too near the ends of the 64-bit range"):
        scan.live(STORIES[name].mode).advance(far, None)


# ── bounds ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", IN_TIME)
def test_after_a_quiet_time_nothing_is_kept(name: str) -> None:
    story = STORIES[name]
    scan = story.scan()
    live, _ = story.begun(scan)
    story.ended(scan, live)
    assert live.is_empty
    assert live.deadline is None
    empty = scan.live(story.mode)
    empty.advance(None, END)
    assert len(live.save()) <= len(empty.save()) + 8
    again = Live.restore(scan.setting, story.mode, live.save())
    assert again.is_empty
    assert again.watermark == END


def repeated(scan: Scanned, times: int, mode: Mode, look: Callable[[Live], int]) -> list[int]:
    """The story again and again, 20 ticks later each time; what `look` sees in between."""
    live, seen = scan.live(mode), []
    at = scan.table.schema.get_field_index("time")
    for turn in range(times):
        later = pa.array((scan.time + 20 * turn).tolist(), pa.int64())
        live.advance(scan.table.set_column(at, "time", later), 20 * turn - 2)
        live = Live.restore(scan.setting, mode, live.save())
        seen.append(look(live))
    assert live.events == times * scan.table.num_rows
    assert live.late_events == 0
    return seen


@EACH
def test_a_long_stream_keeps_no_more_than_a_short_one(name: str) -> None:
    story = STORIES[name]
    sizes = repeated(story.scan(), 30, story.mode, lambda live: len(live.save()))
    assert max(sizes[5:]) <= max(sizes[:5]) + 16


@pytest.mark.parametrize("returned", ["COUNT(*)", "MAX(A.x), MIN(LENGTH(*))"])
def test_vectors_do_not_grow_with_events(returned: str) -> None:
    window = "WITHIN 1000 seconds SLIDE 1000 seconds"
    asked = f"RETURN {returned} PATTERN A+ SEMANTICS contiguous {window}"
    few = scanned(asked, stream(" ".join(f"a{t}:x={t}" for t in range(10))))
    many = scanned(asked, stream(" ".join(f"a{t}:x={t}" for t in range(900))))
    sizes = []
    for scan in (few, many):
        live = scan.live()
        live.advance(scan.table, None)
        live.advance(None, 950)
        assert not live.is_empty
        sizes.append(len(live.save()))
    assert sizes[1] <= sizes[0] + 8


def test_counts_beyond_doubles_rest_and_go_on() -> None:
    asked = "RETURN LOG2(COUNT(*)) AS bits PATTERN A+ WITHIN 4000 seconds SLIDE 4000 seconds"
    scan = scanned(asked, stream(" ".join(f"a{t}" for t in range(3000))))
    live = scan.live()
    for start in range(0, 3000, 700):
        live.advance(scan.table.slice(start, 700), start)
        live = Live.restore(scan.setting, Mode.APPEND, live.save())
    (row,) = scan.rows(live.advance(None, END).rows)
    assert row["bits"] == pytest.approx(3000, abs=1e-6)


# ── steps ────────────────────────────────────────────────────────────────────────────────────


def test_a_step_says_what_came_of_it() -> None:
    scan = scanned("RETURN COUNT(*) PATTERN A+ WITHIN 4 s SLIDE 4 s", stream("a1 a2 a5 a9 a3"))
    live = scan.live()
    assert (live.is_empty, live.deadline, live.watermark) == (True, None, None)
    first = live.advance(scan.table.slice(0, 2), None)
    assert (first.events, first.late_events, first.matches) == (2, 0, 0)
    assert live.deadline == 4
    # Times 3 and 5 are late for a watermark of 6, and 9 is not.
    second = live.advance(scan.table.slice(2), 6)
    assert (second.events, second.late_events, second.matches) == (1, 2, 1)
    assert second.late.column("time").to_pylist() == [3, 5]
    assert second.late.schema == scan.table.schema
    assert second.rows.to_pylist() == [{"window_start": 0, "window_end": 4, "COUNT(*)": 3.0}]
    assert live.deadline == 12


def test_a_watermark_never_moves_back() -> None:
    scan = scanned("RETURN COUNT(*) PATTERN A+ WITHIN 4 s SLIDE 4 s", stream("a1 a5"))
    live = scan.live()
    live.advance(None, 4)
    step = live.advance(scan.table, 2)
    assert (step.events, step.late_events) == (1, 1)
    assert live.watermark == 4
    live.advance(None, None)
    assert live.watermark == 4


def test_trends_that_a_trailing_not_takes_away_are_taken_back() -> None:
    scan = scanned(
        "RETURN COUNT(*) AS n, MAX(A.x) AS top PATTERN SEQ(A+, NOT C) WITHIN 8 s SLIDE 8 s",
        stream("a1:x=3 c3:x=0 a5:x=4"),
    )
    live = scan.live(Mode.UPDATE)
    live.advance(scan.table, None)
    said = [scan.rows(live.advance(None, w).rows) for w in (2, 4, 5, 6, 9)]
    window = {"window_start": 0, "window_end": 8}
    assert said == [
        [{**window, "n": 1.0, "top": 3}],
        [{**window, "n": 0.0, "top": None}],
        [],
        [{**window, "n": 2.0, "top": 4}],
        [],
    ]


def test_a_guard_before_the_first_event_is_remembered_without_any_trend() -> None:
    text = "RETURN COUNT(*) AS n PATTERN SEQ(NOT C, A) WITHIN 8 s SLIDE 4 s"
    scan = scanned(text, stream("c1 a5"))
    live = scan.live()
    assert isinstance(live._keeper, Vectors)
    said = [live.advance(scan.table.slice(k, 1), 1 + 4 * k).rows for k in range(2)]
    said.append(live.advance(None, END).rows)
    assert scan.rows(*said) == [{"window_start": 4, "window_end": 12, "n": 1}]


def test_a_step_at_which_no_trend_changes_has_no_rows() -> None:
    scan = scanned("RETURN COUNT(*) PATTERN SEQ(A A1, A A2) WITHIN 1 second", stream("a1"))
    live = scan.live()
    assert live.advance(scan.table, None).rows.num_rows == 0
    assert live.advance(None, END).rows.num_rows == 0
