"""The options that commands have in common, and how they are read."""

from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer

QueryFile = Annotated[
    str | None,
    typer.Argument(metavar="QUERY", help="File that holds the query.", show_default=False),
]
QueryText = Annotated[
    str | None, typer.Option("--query", "-q", metavar="TEXT", help="The query itself, not a file.")
]
Inputs = Annotated[
    list[str],
    typer.Option(
        "--input",
        "-i",
        metavar="PATH",
        help="Events: a .parquet, .csv or .jsonl file, a folder or a glob; - is the standard "
        "input. May be repeated.",
    ),
]
Time = Annotated[
    str, typer.Option("--time", "-t", metavar="COLUMN", help="Column that holds the time.")
]
Type = Annotated[
    str | None,
    typer.Option("--type", metavar="COLUMN", help="Column that holds each event's type."),
]
EventType = Annotated[
    str | None,
    typer.Option(
        "--event-type", metavar="NAME", help="The one type of all events, instead of --type."
    ),
]
Tick = Annotated[
    str,
    typer.Option(
        "--tick",
        metavar="UNIT",
        help="What 1 means in a time column of integers: ns, us, ms, s, min, h or d.",
    ),
]
Tiebreak = Annotated[
    str | None,
    typer.Option(
        "--tiebreak",
        metavar="COLUMN",
        help="Column that orders events of the same time; @row: the order of the rows.",
    ),
]
BadRows = Annotated[
    Literal["error", "drop"],
    typer.Option("--bad-rows", help="What to do with rows that have no time."),
]
DateFormat = Annotated[
    str | None,
    typer.Option(
        "--date-format",
        metavar="FORMAT",
        help="How dates are written in text files, where that is not clear: '%d/%m/%Y'.",
    ),
]
HivePartitioning = Annotated[
    bool,
    typer.Option("--hive-partitioning", help="Folders name columns, as in day=2024-01-01/."),
]
Host = Annotated[str, typer.Option("--host", metavar="NAME", help="Where the query runs.")]
Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="Spark: where it runs; default: as spark-submit says, else local[*].",
    ),
]
Remote = Annotated[
    str | None,
    typer.Option("--remote", metavar="URL", help="Spark: a Connect server, sc://host:port."),
]
Packages = Annotated[
    list[str] | None,
    typer.Option("--packages", metavar="NAME", help="Spark: Maven packages to load."),
]
Jars = Annotated[
    list[str] | None,
    typer.Option("--jars", metavar="PATH", help="Spark: Java archives to load."),
]
SparkLog = Annotated[
    Literal["off", "error", "warn", "info"],
    typer.Option("--log", help="Spark: how much of its own log is shown."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Take warnings for errors: write nothing, exit with 1.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing output file.")]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]

NumbersKind = Annotated[
    Literal["auto", "exact"],
    typer.Option("--numbers", help="exact: counts as whole numbers of any size."),
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", metavar="N", min=1, help="Cores to use; default: all."),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        metavar="AMOUNT",
        help="What may be held at once, as in '512 MB'; default: for listings a fourth of what "
        "there is, else all.",
    ),
]
Format = Literal["table", "csv", "jsonl", "parquet"]
RowFormat = Annotated[
    Format | None,
    typer.Option("--format", "-f", help="Of the rows; default: by the output's name, else table."),
]

Suffix = Literal["csv", "jsonl", "parquet"]
FORMATS: dict[str, Suffix] = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def misuse(message: str, option: str | None = None) -> NoReturn:
    """Wrong usage: exit code 2."""
    raise typer.BadParameter(message, param_hint=option)


def refuse_spark_options(*given: object) -> None:
    """Options of a session that is not used."""
    if any(given):
        misuse("--master, --remote, --packages and --jars are for --host spark.", "--host")


def read_query(file: str | None, text: str | None) -> str:
    """The text of the query, from exactly one of the two places."""
    if (file is None) == (text is None):
        misuse("Give either a query file or the text with -q, one of the two.", "QUERY")
    if text is not None:
        return text
    from trendloom.errors import InputError

    path = Path(str(file))
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"The query file '{path}' is not UTF-8 text.") from None
    except OSError as error:
        raise InputError(
            f"Cannot read the query file '{path}': {error.strerror}.",
            remedy="To give the query itself, use -q 'RETURN … PATTERN …'.",
        ) from None


def events_of(inputs: list[str]) -> str | list[str]:
    """What `--input` names, as the library takes it."""
    if "-" in inputs:
        if len(inputs) > 1:
            misuse("The standard input (-) cannot be mixed with other inputs.", "--input")
        return "-"
    return inputs


def source_options(
    time: str,
    type: str | None,  # noqa: A002
    event_type: str | None,
    tick: str,
    tiebreak: str | None,
    date_format: str | None = None,
    hive_partitioning: bool = False,
    *,
    host: str = "local",
) -> dict[str, Any]:
    """How events are read, as keyword arguments."""
    of_files: dict[str, Any] = {}
    if date_format is not None:
        of_files["date_format"] = date_format
    if hive_partitioning:
        of_files["hive_partitioning"] = True
    if of_files and host == "spark":
        misuse("--date-format and --hive-partitioning are for the local host.", "--host")
    if type is not None and event_type is not None:
        misuse("Give --type (a column) or --event-type (a name), not both.", "--type")
    named = {"time": time, "type": type, "event_type": event_type}
    return named | {"tick": tick, "tiebreak": tiebreak} | of_files


def words(given: list[str] | None) -> tuple[str, ...]:
    """An option that may be repeated, and may hold commas."""
    return tuple(word for text in given or () for word in text.split(",") if word)


def format_for(output: str) -> Suffix:
    """By the suffix of the output file."""
    suffix = Path(output).suffix.lower()
    if suffix not in FORMATS:
        misuse(
            f"Cannot tell the format of '{output}'; end it in .csv, .jsonl or .parquet.", "--output"
        )
    return FORMATS[suffix]


def batch_format(asked: Suffix | None, output: str | None) -> Suffix:
    """Of rows that are written while they are found."""
    if asked is None:
        return "jsonl" if output is None else format_for(output)
    if asked == "parquet" and output is None:
        misuse("Parquet needs a file: add --output.", "--format")
    return asked


def check_target(output: str, *, overwrite: bool) -> None:
    """Refuse before the work is done, not after."""
    from trendloom.errors import OutputError

    path = Path(output)
    if path.is_dir():
        raise OutputError(f"'{path}' is a directory.", remedy="Name a file in it.")
    if not path.parent.is_dir():
        raise OutputError(
            f"There is no directory '{path.parent}'.", remedy="Create it, or write elsewhere."
        )
    if path.exists() and not overwrite:
        raise OutputError(f"'{path}' exists.", remedy="Replace it with --overwrite.")
