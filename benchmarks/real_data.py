"""Throughput on real events, from file to result.

One query per data set, of the kind that its events are recorded for. The files lie beside the
repository; where one is absent, generated events of the same kind stand in, and the line says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks import charts
from benchmarks.events import REAL
from benchmarks.harness import Figure, Samples, Size, take_turns
from trendloom import run as run_query
from trendloom.generators import generate

if TYPE_CHECKING:
    import altair as alt

STAND_IN_EVENTS = {Size.FULL: 1_000_000, Size.QUICK: 100_000, Size.TINY: 1_000}


@dataclass(frozen=True, slots=True)
class Case:
    """A file and its query, and the stream and query that stand in for them."""

    name: str
    file: str
    query: str
    stream: str
    stand_in: str
    options: dict[str, Any] = field(default_factory=dict)


CASES = (
    Case(
        "activity: people get up, heart rate",
        "activity_hr_mmash_22subj",
        """RETURN subject, COUNT(*), AVG(T.heart_rate)
           PATTERN SEQ(Sitting S+, Standing T+) SEMANTICS skip-till-any-match
           WHERE [subject] AND T.heart_rate >= 30 AND T.heart_rate <= 220
           GROUP-BY subject WITHIN 5 minutes SLIDE 1 minute""",
        "activity",
        """RETURN patient, COUNT(*), AVG(M.rate)
           PATTERN Measurement M+ SEMANTICS skip-till-any-match
           WHERE [patient] GROUP-BY patient WITHIN 5 minutes SLIDE 1 minute""",
    ),
    Case(
        "plugs: load of refrigerators rises",
        "smart_plugs_tracebase_3d",
        """RETURN plug_id, COUNT(*), MAX(LENGTH(*))
           PATTERN Refrigerator R+ SEMANTICS contiguous
           WHERE [plug_id] AND R.load_w < NEXT(R).load_w
           GROUP-BY plug_id WITHIN 1 hour SLIDE 1 hour""",
        "cluster",
        """RETURN mapper, COUNT(*), MAX(LENGTH(*))
           PATTERN Load L+ SEMANTICS contiguous
           WHERE [mapper] AND L.cpu < NEXT(L).cpu
           GROUP-BY mapper WITHIN 1 hour SLIDE 1 hour""",
    ),
    Case(
        "taxi: pickups until a drop-off, fares",
        "taxi_green_nyc_2023q1_apr",
        """RETURN borough, COUNT(*), SUM(P.fare_amount)
           PATTERN SEQ(Pickup P+, Dropoff D) SEMANTICS skip-till-next-match
           WHERE [zone] GROUP-BY borough WITHIN 30 minutes SLIDE 5 minutes""",
        "ridesharing",
        """RETURN district, COUNT(*)
           PATTERN SEQ(Pickup P+, Dropoff D) SEMANTICS skip-till-next-match
           WHERE [driver] GROUP-BY district WITHIN 30 minutes SLIDE 5 minutes""",
    ),
    Case(
        "flights: delays snowball",
        "flights_nyc13",
        """RETURN carrier, origin, COUNT(*), MAX(F.delay_min)
           PATTERN Departure F+ SEMANTICS skip-till-any-match
           WHERE [carrier, origin] AND F.delay_min > 0 AND F.delay_min < NEXT(F).delay_min
           GROUP-BY carrier, origin WITHIN 1 day SLIDE 1 day""",
        "stock",
        """RETURN company, COUNT(*), MIN(S.price)
           PATTERN Stock S+ SEMANTICS skip-till-any-match
           WHERE [company] AND S.price > NEXT(S).price
           GROUP-BY company WITHIN 1 minute SLIDE 1 minute""",
    ),
    Case(
        "transfers, simulated: chains of accounts",
        "transfers_amlsim_SYNTHETIC",
        """RETURN COUNT(*), MAX(LENGTH(*))
           PATTERN Transfer T+ SEMANTICS skip-till-any-match
           WHERE T.dst = NEXT(T).src WITHIN 5 days SLIDE 5 days""",
        "transfers",
        """RETURN COUNT(*), MAX(LENGTH(*))
           PATTERN Transfer T+ SEMANTICS skip-till-any-match
           WHERE T.dst = NEXT(T).src WITHIN 10 minutes SLIDE 10 minutes""",
    ),
    Case(
        "transfers, Ethereum: chains of accounts",
        "transfers_ethereum_16k",
        """RETURN COUNT(*), MAX(LENGTH(*))
           PATTERN Transfer T+ SEMANTICS skip-till-any-match
           WHERE T.dst = NEXT(T).src WITHIN 1 hour SLIDE 1 hour""",
        "transfers",
        """RETURN COUNT(*), MAX(LENGTH(*))
           PATTERN Transfer T+ SEMANTICS skip-till-any-match
           WHERE T.dst = NEXT(T).src WITHIN 1 hour SLIDE 1 hour""",
        {"tiebreak": "tx_index"},
    ),
)


def run(size: Size) -> list[Figure]:
    names, contenders, events, rows = [], {}, {}, {}
    for case in CASES:
        name, ask = _prepare(case, size)
        result = ask()
        names.append(name)
        contenders[name], events[name], rows[name] = ask, result.events, len(result)
    seconds = take_turns(contenders, size.turns)
    return [
        Figure(
            f"{name}: {events[name]:,} events, {rows[name]:,} rows",
            Samples(tuple(events[name] / value for value in seconds[name].values)),
            "events/s",
            label=name,
        )
        for name in names
    ]


def _prepare(case: Case, size: Size) -> tuple[str, Any]:
    path = REAL / f"{case.file}.parquet"
    if size is not Size.TINY and path.exists():
        return case.name, partial(
            run_query, case.query, path, time="ts", type="type", **case.options
        )
    if not path.exists():
        print(f"  {path.name} is not in {REAL}: generated '{case.stream}' events instead")
    table = generate(case.stream, STAND_IN_EVENTS[size], seed=1)
    name = f"{case.name} (generated)"
    return name, partial(run_query, case.stand_in, table, time="ts", type="type")


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="Throughput on real events",
        subtitle="From Parquet to result, sorting included",
        axis="events per second, logarithmic",
        log=True,
    )
