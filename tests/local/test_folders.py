"""Folders with a log: what the log says counts, and what it does not say is not read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from trendloom.errors import InputError
from trendloom.hosts.scan.folders import (
    committed_files,
    refuse_table,
    stream_log_of,
    table_kind,
)

if TYPE_CHECKING:
    from pathlib import Path


def batch(log: Path, name: str, *paths: Path, action: str = "add") -> None:
    log.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"path": path.as_uri(), "size": 1, "action": action}) for path in paths]
    (log / name).write_text("\n".join(["v1", *lines]))


@pytest.mark.parametrize(
    ("kind", "marker"),
    [
        ("Delta", "_delta_log/00000000000000000000.json"),
        ("Iceberg", "metadata/v1.metadata.json"),
        ("Hudi", ".hoodie/hoodie.properties"),
    ],
)
def test_a_table_is_refused_with_its_own_reader(kind: str, marker: str, tmp_path: Path) -> None:
    assert table_kind(tmp_path) is None
    refuse_table(tmp_path)
    path = tmp_path / marker
    path.parent.mkdir()
    path.write_text("{}")
    assert table_kind(tmp_path) == kind
    for folder in (tmp_path, tmp_path / "data", tmp_path / "data" / "day=1"):
        with pytest.raises(InputError, match=f"is a {kind} table") as caught:
            refuse_table(folder)
        assert "Read it by its" in str(caught.value.remedy)


def test_a_folder_beside_one_of_metadata_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "run.metadata.json").write_text("{}")
    refuse_table(tmp_path / "events")


def test_the_log_of_a_stream_names_its_files(tmp_path: Path) -> None:
    files = [tmp_path / f"part-{number} é.parquet" for number in range(5)]
    for file in files:
        file.write_bytes(b"x")
    assert stream_log_of(tmp_path) is None
    log = tmp_path / "_spark_metadata"
    batch(log, "0", files[0])
    batch(log, "1.compact", files[1], files[2])
    batch(log, "2", files[3])
    batch(log, "3", files[2], action="delete")
    (log / ".3.crc").write_bytes(b"x")
    assert stream_log_of(tmp_path / "day=1") == log
    assert committed_files(log) == [files[1], files[3]]


def test_a_folder_that_was_moved_still_has_its_files(tmp_path: Path) -> None:
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "a.parquet").write_bytes(b"x")
    log = tmp_path / "_spark_metadata"
    batch(log, "0", tmp_path.parent / "before" / "day=1" / "a.parquet")
    assert committed_files(log) == [tmp_path / "day=1" / "a.parquet"]
    batch(log, "1", tmp_path / "gone.parquet")
    with pytest.raises(InputError, match=r"names a file that is not there: .*gone\.parquet"):
        committed_files(log)


@pytest.mark.parametrize("text", ["v2\n{}", "v1\n{", 'v1\n{"size": 1}', "v1\n[]", ""])
def test_a_log_that_cannot_be_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "0").write_text(text)
    with pytest.raises(InputError, match="cannot be read") as caught:
        committed_files(tmp_path)
    assert "with Spark" in str(caught.value.remedy)
