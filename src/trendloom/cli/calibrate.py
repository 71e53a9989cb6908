"""`trendloom calibrate`: measure what sharing costs on this machine."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from trendloom.cli.options import Json

if TYPE_CHECKING:
    import pyarrow as pa

    from trendloom.workloads.hamlet.calibration import Calibration

WORDS = {
    "event": "an event of a shared burst",
    "column": "and each snapshot in its expression",
    "snapshot": "a snapshot, per query",
    "query": "a query that a burst (a window) is given to",
    "alone": "an event that a query has alone",
}
"""With a condition inside E+, an event is one comparison of its search."""


def calibrate(*, json: Json = False) -> None:
    """Measure the constants by which workloads decide who shares a burst.

    Takes some ten seconds, best on a machine that has nothing else to do. They are kept in the
    user's cache directory, or in the file that TRENDLOOM_CALIBRATION names, and used from then on.
    """
    from trendloom.cli.output import note, show_json, show_table
    from trendloom.cli.pictures import write_json
    from trendloom.cli.progress import progress_bar
    from trendloom.errors import OutputError
    from trendloom.workloads.hamlet.calibration import VARIABLE, Calibration, cache_file, machine
    from trendloom.workloads.hamlet.measuring import measure

    path = cache_file()
    remedy = f"Name another file in the environment variable {VARIABLE}."
    if path.is_dir():
        raise OutputError(f"'{path}' is a directory.", remedy=remedy)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"Cannot make '{path.parent}': {error.strerror}.", remedy=remedy
        ) from None
    with progress_bar("Measuring", unit="%") as report:
        free, paired = measure(report)
    made = Calibration(free, paired, datetime.now(UTC).date().isoformat(), machine())
    try:
        write_json(made.as_dict(), str(path), overwrite=True)
    except OutputError as error:
        raise OutputError(error.cause, remedy=remedy) from None
    if json:
        show_json({"file": str(path), **made.as_dict()})
        return
    show_table(_table(made))
    note(f"Nanoseconds on {made.machine}; kept in {path}.")


def _table(made: "Calibration") -> "pa.Table":
    import pyarrow as pa

    return pa.table(
        {
            "constant": list(WORDS),
            "of": list(WORDS.values()),
            "ns": [round(getattr(made.free, name), 1) for name in WORDS],
            "ns, condition inside E+": [round(getattr(made.paired, name), 1) for name in WORDS],
        }
    )
