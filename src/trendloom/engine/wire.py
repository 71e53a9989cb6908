"""Versioned bytes: Arrow tables and a small header, as they rest in a state store or travel.

    b"TLOOM" · version (2 bytes) · CRC-32 of all else · length of the header · header (JSON, UTF-8)
    · the tables' Arrow IPC streams, one after another, in the header's order

All integers are little-endian. Nothing in it is code: reading foreign bytes is safe, and bytes that
are cut, changed or newer than this reader are refused.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from trendloom.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAGIC = b"TLOOM"
VERSION = 1
_HEAD = struct.Struct("<5sHII")
_CHECKED = struct.Struct("<HI")
"""What the checksum covers of the head: version and length."""
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")
_PLAIN = pa.ipc.IpcWriteOptions()
_SMALL = 1 << 12
"""Below so many rows compression costs more than it saves."""


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
    view = memoryview(data)
    if len(view) < _HEAD.size or bytes(view[:5]) != MAGIC:
        raise _damaged("they do not begin as Trendloom's bytes do")
    _, version, crc, length = _HEAD.unpack_from(view)
    if version > VERSION:
        raise StateError(
            f"The state was written by a newer Trendloom (format {version}; this one reads "
            f"up to {VERSION}).",
            remedy="Run the version that wrote it, or a later one.",
        )
    if zlib.crc32(view[_HEAD.size :], zlib.crc32(_CHECKED.pack(version, length))) != crc:
        raise _damaged("their checksum is wrong")
    header = json.loads(bytes(view[_HEAD.size : _HEAD.size + length]))
    if header["kind"] != kind:
        raise _damaged(f"they hold '{header['kind']}' where '{kind}' is expected")
    tables: dict[str, pa.Table] = {}
    at = _HEAD.size + length
    for name, size in header["tables"].items():
        with pa.ipc.open_stream(pa.py_buffer(view[at : at + size])) as reader:
            tables[name] = reader.read_all()
        at += size
    return header["facts"], tables


def _table_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = _COMPRESSED if table.num_rows >= _SMALL else _PLAIN
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _damaged(why: str) -> StateError:
    return StateError(
        f"The state's bytes are damaged: {why}.",
        remedy="Restore the checkpoint from a copy, or start the stream with a new one.",
    )
