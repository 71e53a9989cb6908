"""What a stream has left on disk: how far its checkpoint is, and which files its sink counts."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq


def written_rows(sink: Path) -> list[dict[str, Any]]:
    """Every row of every file that the sink's log names."""
    return [row for path in committed(sink) for row in pq.ParquetFile(path).read().to_pylist()]


def last(log: Path) -> int:
    """The latest batch in one of a checkpoint's logs; -1 before the first."""
    return max((int(path.name) for path in log.glob("*") if path.name.isdigit()), default=-1)


def watermark(checkpoint: Path) -> datetime:
    """As of the last batch that was committed."""
    lines = (checkpoint / "offsets" / str(last(checkpoint / "commits"))).read_text().splitlines()
    return datetime(1970, 1, 1) + timedelta(milliseconds=json.loads(lines[1])["batchWatermarkMs"])


def committed(sink: Path) -> list[Path]:
    """The files that Spark counts as written: others are of batches that did not end."""
    log = [path for path in (sink / "_spark_metadata").iterdir() if path.name[0].isdigit()]
    whole = max((path for path in log if path.suffix), key=number, default=None)
    parts = [
        path for path in log if not path.suffix and (not whole or number(path) > number(whole))
    ]
    lines = [
        line
        for path in ([whole] if whole else []) + parts
        for line in path.read_text().splitlines()[1:]
    ]
    entries: list[dict[str, Any]] = [json.loads(line) for line in lines]
    assert all(entry["action"] == "add" for entry in entries)
    return [Path(unquote(urlparse(entry["path"]).path)) for entry in entries]


def number(path: Path) -> int:
    return int(path.name.partition(".")[0])
