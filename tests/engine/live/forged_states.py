"""States that somebody has forged, restored and gone on with.

    python tests/engine/live/forged_states.py SEED FIRST END FILE

prints how many were refused and how many were accepted, and whatever left as anything but an error
of ours. FILE always holds the number of the case at hand, so that a crash can be repeated: every
case is drawn from SEED and its own number.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import struct
import sys
import traceback
import zlib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from live_stories import STORIES

import trendloom as tl
from trendloom.engine import wire
from trendloom.engine.live import Live
from trendloom.errors import StateError, TrendloomError, WorkloadError
from trendloom.hosts.scan import duck

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb
    from live_streams import Scanned

Facts = dict[str, Any]
Tables = dict[str, pa.Table]
ODD = (0, 1, -1, 2, 7, 255, 1 << 15, 1 << 31, (1 << 31) - 1, -(1 << 31), 1 << 40, 1 << 62)
ENDS = (*ODD, (1 << 63) - 1, -(1 << 63))
WIDE = (pa.string(), pa.large_string(), pa.uint64(), pa.null())
TYPES = (*WIDE, pa.int32(), pa.float32(), pa.bool_())
VALUES = (None, True, -1, 0, 1, 1 << 62, 1 << 70, 0.5, float("inf"), float("nan"), "", "x", [], {})

# ── what is forged ───────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class State:
    """Bytes, and how to go on from them."""

    kind: str
    data: bytes
    go_on: Callable[[bytes], None]


@cache
def scan_of(name: str) -> Scanned:
    return STORIES[name].scan()


def live_state(name: str) -> State:
    story, scan = STORIES[name], scan_of(name)

    def go_on(data: bytes) -> None:
        live = Live.restore(scan.setting, story.mode, data)
        gone_on(lambda: (live.deadline, live.save(), story.ended(scan, live)))

    return State("live", story.begun(scan)[0].save(), go_on)


QUERIES = {
    "rises": "RETURN k, COUNT(*) AS n, MAX(A.x) AS s PATTERN SEQ(A+, B) GROUP-BY k "
    "WITHIN 6 s SLIDE 3 s",
    "pairs": "RETURN COUNT(*) AS n PATTERN SEQ(A, B) WHERE A.x < NEXT(B).x WITHIN 5 s",
}
FAILS = "RETURN SUM(A.y) AS n PATTERN A WITHIN 6 s SLIDE 3 s"
EVENTS = [
    {"time": t, "type": "AABABB"[t % 6], "x": t * 7 % 5, "y": 2**62, "k": "uv"[t % 2]}
    for t in range(30)
]


def workload_state(mode: str) -> State:
    """One that owes rows and late events of a push in which a query failed."""
    queries = tl.workload({**QUERIES, "fails": FAILS})
    options = {"time": "time", "type": "type", "watermark": "2 s", "mode": mode}
    live = queries.live(**options)
    live.push(EVENTS[:3])
    try:
        live.push([*EVENTS[:1], *EVENTS[3:20]])
    except WorkloadError:
        live.remove("fails")
    data = live.save()

    def go_on(forged: bytes) -> None:
        again = live.workload.live(**options, state=forged)
        gone_on(lambda: again.watermark, again.save, lambda: again.push(EVENTS[20:]), again.finish)

    return State("live workload", data, go_on)


def gone_on(*steps: Callable[[], object]) -> None:
    """What comes after a forgery was accepted may be wrong, and may be refused."""
    for step in steps:
        try:
            step()
        except TrendloomError:
            return


# ── how it is forged ─────────────────────────────────────────────────────────────────────────


def resealed(data: bytes) -> bytes:
    """With the checksum that the bytes should have."""
    magic, version, _, length = struct.unpack_from("<5sHII", data)
    crc = zlib.crc32(data[15:], zlib.crc32(struct.pack("<HI", version, length)))
    return struct.pack("<5sHII", magic, version, crc, length) + data[15:]


def flipped(draw: random.Random, state: State) -> bytes:
    data = bytearray(state.data)
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(data)


def cut(draw: random.Random, state: State) -> bytes:
    data = state.data[: draw.randrange(len(state.data))]
    return resealed(data) if len(data) > 15 and draw.random() < 0.5 else data


def flipped_with_checksum(draw: random.Random, state: State) -> bytes:
    data = bytearray(state.data)
    (length,) = struct.unpack_from("<I", data, 11)
    first = 11 if draw.random() < 0.2 else 15 + length
    for _ in range(draw.choice((1, 1, 2, 5))):
        data[draw.randrange(min(first, len(data) - 1), len(data))] ^= 1 << draw.randrange(8)
    return resealed(bytes(data))


def patched(draw: random.Random, state: State) -> bytes:
    """A word of Arrow's: an offset, a length, a count or a value."""
    data = bytearray(state.data)
    (length,) = struct.unpack_from("<I", data, 11)
    code, kind = draw.choice((("<i", np.int32), ("<q", np.int64)))
    size = np.dtype(kind).itemsize
    body = 15 + length
    at = body + size * draw.randrange(max(1, (len(data) - body) // size))
    if at + size > len(data):
        return flipped(draw, state)
    (before,) = struct.unpack_from(code, data, at)
    now = draw.choice((*ENDS, before + 1, before - 1, before * 2, before + 8, -before))
    struct.pack_into(
        code, data, at, (now + (1 << 8 * size - 1)) % (1 << 8 * size) - (1 << 8 * size - 1)
    )
    return resealed(bytes(data))


def with_facts(draw: random.Random, state: State) -> bytes:
    facts, tables = wire.unpack(state.kind, state.data)
    where: Any = facts
    while True:
        keys: list[Any] = list(where) if isinstance(where, dict) else list(range(len(where)))
        key = draw.choice(keys)
        if isinstance(where[key], dict | list) and where[key] and draw.random() < 0.7:
            where = where[key]
            continue
        break
    before = where[key]
    turn = draw.random()
    if turn < 0.15:
        del where[key]
    elif turn < 0.3 and isinstance(before, int):
        where[key] = before + draw.choice((1, -1, 1000, -1000))
    elif turn < 0.4 and isinstance(before, str):
        where[key] = before[: draw.randrange(1 + len(before))]
    elif turn < 0.5 and isinstance(where, dict):
        where["other"] = before
    else:
        where[key] = draw.choice(VALUES)
    return wire.pack(state.kind, facts, tables)


def with_tables(draw: random.Random, state: State) -> bytes:
    """Tables swapped, renamed, left out, or of another state."""
    facts, tables = wire.unpack(state.kind, state.data)
    other = wire.unpack((one := draw.choice(states())).kind, one.data)[1]
    names = list(tables)
    turn = draw.randrange(5)
    if not names or turn == 0:
        tables |= other
    elif turn == 1:
        tables[draw.choice(names)] = draw.choice([*other.values(), *tables.values()])
    elif turn == 2:
        del tables[draw.choice(names)]
    elif turn == 3:
        shuffled = draw.sample(names, len(names))
        tables = {name: tables[mixed] for name, mixed in zip(names, shuffled, strict=True)}
    else:
        tables[draw.choice((*other, "x", ""))] = tables.pop(draw.choice(names))
    return wire.pack(state.kind, facts, tables)


def with_other_facts(draw: random.Random, state: State) -> bytes:
    """The tables of another query's state under this one's facts."""
    facts, _ = wire.unpack(state.kind, state.data)
    other = draw.choice([one for one in states() if one.kind == state.kind])
    theirs, tables = wire.unpack(other.kind, other.data)
    if draw.random() < 0.5:
        facts |= {name: theirs[name] for name in draw.sample(list(theirs), 3)}
    return wire.pack(state.kind, facts, tables)


def of_another(draw: random.Random, _: State) -> bytes:
    return draw.choice(states()).data


def with_numbers(draw: random.Random, state: State) -> bytes:
    """Tables that are whole to Arrow, with other numbers, types, nulls or rows."""
    facts, tables = wire.unpack(state.kind, state.data)
    if not tables:
        return flipped(draw, state)
    name = draw.choice(list(tables))
    tables[name] = redrawn(draw, tables[name])
    return wire.pack(state.kind, facts, tables)


def inner_forged(draw: random.Random, state: State) -> bytes:
    """A live workload in which one query's own state is forged."""
    if state.kind == "live":
        return with_numbers(draw, state)
    facts, tables = wire.unpack(state.kind, state.data)
    inner = tables["states"].column("state").to_pylist()
    which = draw.randrange(len(inner))
    inner[which] = draw.choice(WAYS[:-1])(draw, State("live", inner[which], state.go_on))
    states_table = tables["states"].set_column(1, "state", pa.array(inner, pa.large_binary()))
    return wire.pack(state.kind, facts, {**tables, "states": states_table})


def redrawn(draw: random.Random, table: pa.Table) -> pa.Table:
    turn = draw.randrange(8)
    if turn == 0 and table.num_rows:
        rows = [
            draw.randrange(table.num_rows) for _ in range(draw.choice((0, 1, table.num_rows, 40)))
        ]
        return table.take(pa.array(rows, pa.int64()))
    if not table.num_columns:
        return pa.table({"window": pa.array([1])})
    at = draw.randrange(table.num_columns)
    name, column = table.schema.names[at], table.column(at).combine_chunks()
    if turn == 1:
        return table.remove_column(at)
    if turn == 2:
        return table.append_column(draw.choice((name, "p9", "other")), column)
    if turn == 3:
        return table.rename_columns([*table.schema.names[:at], "q", *table.schema.names[at + 1 :]])
    if turn == 4:
        kinds = (
            pa.string(),
            pa.int32(),
            pa.uint64(),
            pa.float32(),
            pa.null(),
            pa.bool_(),
            pa.large_string(),
        )
        kind = draw.choice(kinds)
        return table.set_column(at, name, pa.nulls(len(column), kind))
    if turn == 5 and len(column):
        holes = pa.array([draw.random() < 0.3 for _ in range(len(column))])
        values = [
            None if hole else one
            for one, hole in zip(column.to_pylist(), holes.to_pylist(), strict=True)
        ]
        return table.set_column(at, name, pa.array(values, column.type))
    return table.set_column(at, name, renumbered(draw, column))


def renumbered(draw: random.Random, column: pa.Array) -> pa.Array:
    if pa.types.is_fixed_size_list(column.type):
        values = renumbered(draw, column.flatten())
        size = column.type.list_size
        if draw.random() < 0.15 and len(values):
            size = draw.choice((1, max(1, size - 1), size + 1))
            rows = np.arange(len(column) * size) % len(values)
            values = values.take(pa.array(rows.tolist(), pa.int64()))
        return pa.FixedSizeListArray.from_arrays(values, size)
    if (
        not (pa.types.is_integer(column.type) or pa.types.is_float64(column.type))
        or column.null_count
    ):
        return column.take(pa.array(draw.sample(range(len(column)), len(column)), pa.int64()))
    kind = np.dtype(column.type.to_pandas_dtype())
    values = np.array(column.to_pylist(), kind)
    for _ in range(draw.choice((1, 1, 3)) if len(values) else 0):
        if kind.kind == "f":
            now: Any = draw.choice((0.0, -1.0, 1e300, 1e-300, np.inf, -np.inf, np.nan))
        else:
            now = (
                draw.choice(ENDS)
                if draw.random() < 0.5
                else int(values[0]) + draw.choice((-3, -1, 1, 2, 9))
            )
            now = int(np.clip(now, np.iinfo(kind).min, np.iinfo(kind).max))
        values[draw.randrange(len(values))] = now
    return pa.array(values.tolist(), column.type)


def clipped(number: int, kind: Any) -> int:
    return max(int(np.iinfo(kind).min), min(number, int(np.iinfo(kind).max)))


WAYS = (
    *(flipped, cut, of_another, with_facts, with_tables, with_other_facts),
    *(2 * [flipped_with_checksum]),
    *(3 * [patched]),
    *(3 * [with_numbers]),
    inner_forged,
)


@cache
def states() -> tuple[State, ...]:
    return (*map(live_state, STORIES), workload_state("append"), workload_state("update"))


WEIGHTS = {"live": 6, "live workload": 1}
"""To bind a workload's queries takes longer than all else of ten cases."""

# ── one after another ────────────────────────────────────────────────────────────────────────


def share_one_database() -> None:
    """As the tests of this folder do: to make one takes longer than a case."""
    shared = duck.connect()

    def connect(*_: object) -> duckdb.DuckDBPyConnection:
        own = shared.cursor()
        own.execute("SET TimeZone = 'UTC'")
        return own

    duck.connect = connect  # type: ignore[assignment]


def main(seed: int, first: int, end: int, file: str) -> None:
    faulthandler.enable()
    share_one_database()
    told: Counter[str] = Counter()
    escapes: list[str] = []
    at_hand = os.open(file, os.O_WRONLY | os.O_CREAT)
    for number in range(first, end):
        os.pwrite(at_hand, f"{seed} {number}\n".encode(), 0)
        draw = random.Random(f"{seed} {number}")
        (state,) = draw.choices(states(), [WEIGHTS[one.kind] for one in states()])
        way = draw.choice(WAYS)
        forged = way(draw, state)
        if forged == state.data:
            told["same"] += 1
            continue
        try:
            state.go_on(forged)
            told["accepted"] += 1
        except StateError:
            told["refused"] += 1
        except Exception:
            told["escaped"] += 1
            error = traceback.format_exc(limit=-4)
            escapes.append(f"case {seed} {number} {way.__name__}:\n{error}")
    sys.stdout.write(json.dumps({"told": told, "escapes": escapes[:20]}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
