"""`trendloom run --host spark`: files in, rows in a directory or here."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trendloom.cli.options import FORMATS, misuse

if TYPE_CHECKING:
    import pyarrow as pa

    from trendloom.api import TrendQuery

TEXT = (".gz", ".zst")
"""After these, the suffix before them tells the format."""


@dataclass(frozen=True)
class SparkRun:
    """A query, its files, and where the rows go."""

    text: str
    inputs: list[str]
    options: dict[str, Any]
    format: str
    output: str | None
    overwrite: bool

    def run(self, wanted: dict[str, Any]) -> None:
        """Everything that can be refused is refused before Spark starts."""
        kind = kind_of(self.inputs)
        self._check_output()

        from trendloom import api, spark
        from trendloom.cli.output import note, show_table, write_rows
        from trendloom.hosts.spark.jobs import Wanted, job_session

        query = api.aggregation(self.text)
        with job_session(Wanted(**wanted)) as session:
            events = self._events(session, kind, remote=wanted["remote"] is not None)
            rows = spark.run(query, events, session, **self.options)
            if self.output is not None:
                self._write(rows)
                note(f"Wrote to the directory {self.output}.")
                return
            table = in_order(query, rows.toArrow())
        if self.format == "table":
            show_table(table)
        elif self.format in ("csv", "jsonl"):
            write_rows(table, "csv" if self.format == "csv" else "jsonl")

    def _events(self, session: Any, kind: str, *, remote: bool) -> Any:
        read = session.read
        if kind == "parquet":
            # Workers read plain files themselves; a Connect server may have them elsewhere.
            plain = not remote and not any(map(glob.has_magic, self.inputs))
            return self.inputs if plain else read.parquet(*self.inputs)
        if kind == "csv":
            return read.csv(self.inputs, header=True, inferSchema=True)
        return read.option("inferTimestamp", True).json(self.inputs)

    def _write(self, rows: Any) -> None:
        writer = rows.write.mode("overwrite" if self.overwrite else "error")
        if self.format == "csv":
            writer.csv(self.output, header=True)
        elif self.format == "jsonl":
            writer.option("ignoreNullFields", False).json(self.output)
        else:
            writer.parquet(self.output)

    def _check_output(self) -> None:
        from trendloom.errors import OutputError

        if self.output is None or "://" in self.output:
            return
        if Path(self.output).exists() and not self.overwrite:
            raise OutputError(f"'{self.output}' exists.", remedy="Replace it with --overwrite.")


def kind_of(inputs: list[str]) -> str:
    """The one format of all inputs, by their names or by what lies in a directory."""
    from trendloom.errors import InputError

    if "-" in inputs:
        misuse("Spark reads files, not the standard input.", "--input")
    kinds = {_suffix(path) for path in inputs}
    if len(kinds) != 1:
        raise InputError(
            f"The inputs have different formats: {', '.join(sorted(kinds))}.",
            remedy="Name files of one format.",
        )
    return kinds.pop()


def _suffix(path: str) -> str:
    named = Path(path)
    if named.is_dir() and named.suffix.lower() not in FORMATS:
        inside = (_format(one) for one in sorted(named.rglob("*")) if one.is_file())
        return next((kind for kind in inside if kind is not None), "parquet")
    return _format(named) or "parquet"


def _format(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in TEXT:
        suffixes.pop()
    return FORMATS.get(suffixes[-1]) if suffixes else None


def in_order(query: TrendQuery, table: pa.Table) -> pa.Table:
    """By window, then by group: Spark's rows come in any order."""
    from trendloom.language import GroupKey

    groups = [
        output.name
        for output in query.plan.outputs
        if isinstance(output.value, GroupKey) and not output.hidden
    ]
    return table.sort_by([(name, "ascending") for name in ("window_start", *groups)])
