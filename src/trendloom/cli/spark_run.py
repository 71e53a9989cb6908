"""Commands with `--host spark`: files in, rows in a directory or here."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trendloom.cli.options import FORMATS, misuse, words

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from trendloom.api import TrendQuery

TEXT = (".gz", ".zst")
"""After these, the suffix before them tells the format."""


@dataclass(frozen=True)
class SparkRun:
    """Files, and where the rows go that are made of them."""

    inputs: list[str]
    format: str
    output: str | None
    overwrite: bool

    def check(self) -> str:
        """The format of the inputs. Everything that can be refused is, before Spark starts."""
        kind = kind_of(self.inputs)
        self._check_output()
        return kind

    def run(
        self,
        wanted: dict[str, Any],
        rows_of: Callable[[Any, Any], Any],
        in_order: Callable[[pa.Table], pa.Table],
        *,
        strict: bool,
    ) -> None:
        """`rows_of` makes a DataFrame of events in a session; `in_order` is for what is shown."""
        kind = self.check()

        from trendloom.cli.output import note, refuse_warned, show_table, write_rows
        from trendloom.hosts.spark.jobs import Wanted, job_session

        with job_session(Wanted(**wanted)) as session:
            events = self._events(session, kind, remote=wanted["remote"] is not None)
            rows = rows_of(events, session)
            refuse_warned(strict=strict)
            if self.output is not None:
                self._write(rows)
                note(f"Wrote to the directory {self.output}.")
                return
            table = in_order(rows.toArrow())
        refuse_warned(strict=strict)
        if self.format == "table":
            show_table(table)
        elif self.format in ("csv", "jsonl"):
            write_rows(table, "csv" if self.format == "csv" else "jsonl")

    def _events(self, session: Any, kind: str, *, remote: bool) -> Any:
        from trendloom.hosts.spark.logs import read_parquet

        read = session.read
        if kind == "parquet":
            # Workers read plain files themselves; a Connect server may have them elsewhere.
            plain = not remote and not any(map(glob.has_magic, self.inputs))
            return self.inputs if plain else read_parquet(session, self.inputs)
        # Otherwise Spark fills up rows that are too short, cuts those that are too long, and takes
        # the first file's header for all.
        read = read.option("mode", "FAILFAST").option("enforceSchema", False)
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


def by_window(query: TrendQuery) -> Callable[[pa.Table], pa.Table]:
    """By window, then by group: Spark's rows come in any order."""
    from trendloom.language import GroupKey

    groups = [
        output.name
        for output in query.plan.outputs
        if isinstance(output.value, GroupKey) and not output.hidden
    ]
    keys = [(name, "ascending") for name in ("window_start", *groups)]
    return lambda table: table.sort_by(keys)


def spark_session(
    master: str | None,
    remote: str | None,
    packages: list[str] | None,
    jars: list[str] | None,
    log: str,
) -> dict[str, Any]:
    """What the options say of the session."""
    if master is not None and remote is not None:
        misuse("Give --master or --remote, not both.", "--remote")
    wanted = {"master": master, "remote": remote, "log": log}
    return wanted | {"packages": words(packages), "jars": words(jars)}
