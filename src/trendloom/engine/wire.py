"""Versioned bytes: Arrow tables and a small header, as they rest in a state store or travel.

    b"TLOOM" · version (2 bytes) · CRC-32 of all else · length of the header · header (JSON, UTF-8)
    · the tables' Arrow IPC streams, one after another, in the header's order

All integers are little-endian. Nothing in it is code. Bytes that are cut, changed or newer than
this reader are refused, and so are forged ones that do not hold what their kind must (`formats`):
tables are validated by Arrow to the last offset before anybody looks at their numbers. That says
nothing about who wrote them; `signing` does.
"""

from __future__ import annotations

import json
import struct
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from trendloom.engine.formats import FORMATS, HEADER, misfit
from trendloom.errors import StateError, TrendloomError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trendloom.engine.formats import Format

MAGIC = b"TLOOM"
VERSION = 1
_HEAD = struct.Struct("<5sHII")
_CHECKED = struct.Struct("<HI")
"""What the checksum covers of the head: version and length."""
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")
_PLAIN = pa.ipc.IpcWriteOptions()
_ALIGNED = pa.ipc.IpcReadOptions(ensure_alignment=pa.ipc.Alignment.DataTypeSpecific)
"""Kernels are compiled for aligned numbers; tables lie wherever the header ends."""
_SMALL = 1 << 12
"""Below so many rows compression costs more than it saves."""
_ROWS_PER_BYTE = 8 * 255
"""A row of a table has a bit at least, and lz4 makes at most 255 bytes of one."""
COPY = "Restore the checkpoint from a copy, or start the stream with a new one."
NEWER = "Run the version that wrote it, or a later one."


def pack(kind: str, facts: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> bytes:
    """`kind` says what the bytes are; `facts` must be JSON."""
    bodies = [_table_bytes(table) for table in tables.values()]
    sizes = dict(zip(tables, map(len, bodies), strict=True))
    header = json.dumps({"kind": kind, "facts": dict(facts), "tables": sizes}).encode()
    crc = zlib.crc32(header, zlib.crc32(_CHECKED.pack(VERSION, len(header))))
    for body in bodies:
        crc = zlib.crc32(body, crc)
    return b"".join([_HEAD.pack(MAGIC, VERSION, crc, len(header)), header, *bodies])


def unpack(kind: str, data: bytes | memoryview) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """The facts and tables of bytes of this kind; a StateError if they are anything else."""
    with reading():
        return _unpacked(kind, FORMATS[kind], memoryview(data))


@contextmanager
def reading() -> Iterator[None]:
    """Makes a StateError of whatever goes wrong while bytes are read."""
    try:
        yield
    except StateError:
        raise
    except TrendloomError as error:
        raise damaged(error.cause) from error
    except Exception as error:
        told = str(error).strip().split("\n", 1)[0]
        raise damaged(f"they cannot be read ({type(error).__name__}: {told})") from error


def damaged(why: str) -> StateError:
    return StateError(
        f"The state's bytes are damaged: {why.removesuffix('.')}.",
        remedy=COPY,
    )


def _unpacked(
    kind: str, expected: Format, view: memoryview
) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    if len(view) < _HEAD.size or bytes(view[:5]) != MAGIC:
        raise damaged("they do not begin as Trendloom's bytes do")
    _, version, crc, length = _HEAD.unpack_from(view)
    if version > VERSION:
        raise _newer("format", version, VERSION)
    if zlib.crc32(view[_HEAD.size :], zlib.crc32(_CHECKED.pack(version, length))) != crc:
        raise damaged("their checksum is wrong")
    header = json.loads(bytes(view[_HEAD.size : _HEAD.size + length]))
    _check(header, HEADER, "header")
    if header["kind"] != kind:
        raise damaged(f"they hold '{header['kind']}' where '{kind}' is expected")
    facts, sizes = header["facts"], header["tables"]
    if expected.version:
        _check(facts, {"format": expected.facts["format"]}, "facts")
        if facts["format"] > expected.version:
            raise _newer(expected.name, facts["format"], expected.version)
    _check(facts, expected.facts, "facts")
    for name in expected.tables:
        if name not in sizes:
            raise damaged(f"there is no table '{name}'")
    at = _HEAD.size + length
    if at + sum(sizes.values()) != len(view):
        raise damaged("their tables are longer or shorter than they say")
    tables: dict[str, pa.Table] = {}
    for name, size in sizes.items():
        tables[name] = _table(name, view[at : at + size])
        at += size
    return facts, tables


def _check(value: object, shape: Any, name: str) -> None:
    wrong = misfit(value, shape, name)
    if wrong is not None:
        raise damaged(f"of their {name}, {wrong}")


def _table(name: str, body: memoryview) -> pa.Table:
    with pa.ipc.open_stream(pa.py_buffer(body), options=_ALIGNED) as reader:
        table = reader.read_all()
    table.validate(full=True)
    if table.num_rows > (_ROWS_PER_BYTE * len(body) if table.num_columns else 0):
        raise damaged(f"the table '{name}' has more rows than bytes for them")
    return table


def _table_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = _COMPRESSED if table.num_rows >= _SMALL else _PLAIN
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _newer(what: str, found: int, known: int) -> StateError:
    return StateError(
        f"The state was written by a newer Trendloom ({what} {found}; this one reads up to "
        f"{known}).",
        remedy=NEWER,
    )
