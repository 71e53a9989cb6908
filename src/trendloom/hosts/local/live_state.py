"""Live queries at rest: one value of versioned bytes, in which each query's own state is another.

facts       names and texts of the queries, how events are read, the watermark, counts
columns     a table without rows: the columns and types that have been seen
states      query, bytes of the engine's `Live`
late, rows  what is owed from a push in which a query failed
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from trendloom.engine import wire
from trendloom.engine.live import Live
from trendloom.errors import StateError
from trendloom.hosts.local.live import NOTHING, Feeding, Pushed
from trendloom.hosts.local.tables import Types
from trendloom.language.printer import to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trendloom.hosts.local.live import Terms
    from trendloom.plan.plan import Plan

KIND = "live workload"
FORMAT = 1
"""Of facts and tables; grows when an older reader could misread them."""
ANEW = "Go on from another copy of the bytes, or begin anew without state=."
CHANGE = "Go on with the queries of the state, then use add(), replace() and remove()."
NEWER = "Run the version that wrote it, or a later one."
_COUNTS = ("watermark", "greatest", "late_events")


def write(feeding: Feeding) -> bytes:
    """Everything that `read` needs."""
    feeding.check_whole()
    owed = feeding.owed
    facts = {
        "format": FORMAT,
        "queries": _texts(feeding.plans),
        "terms": _terms(feeding.terms),
        "stated": feeding.types.stated,
        "owed": [owed.events, owed.dropped],
        **{name: getattr(feeding, name) for name in _COUNTS},
    }
    names = [name for name in feeding.plans if name in feeding.lives]
    states = [feeding.lives[name].save() for name in names]
    tables = {
        "columns": feeding.types.schema.empty_table(),
        "states": pa.table(
            {
                "query": pa.array(names, pa.string()),
                "state": pa.array(states, pa.large_binary()),
            }
        ),
    }
    if owed is not NOTHING:
        tables["late"] = owed.late
        tables |= {f"rows {name}": table for name, table in owed.tables.items()}
    return wire.pack(KIND, facts, tables)


def read(data: object, plans: Mapping[str, Plan], terms: Terms, types: Types) -> Feeding:
    """Goes on where `write` was; a StateError if the bytes are of something else."""
    facts, tables = _unpacked(data)
    _check(facts, plans, terms)
    columns = tables["columns"].schema
    known = {one.name: one.type for one in columns}
    if types.stated and known and dict(types.known) != known:
        raise StateError("The state's events have other columns than schema= says.", remedy=ANEW)
    feeding = Feeding(plans, terms, Types(known, facts["stated"]) if known else types)
    for row in tables["states"].to_pylist():
        feeding.lives[row["query"]] = _live(feeding, row["query"], row["state"])
    for name in _COUNTS:
        setattr(feeding, name, facts[name])
    if "late" in tables:
        rows = {name: tables[f"rows {name}"] for name in plans if f"rows {name}" in tables}
        feeding.owed = Pushed(rows, tables["late"], *facts["owed"])
    return feeding


def _live(feeding: Feeding, name: str, data: bytes) -> Live:
    assert feeding.bound is not None, "states have columns"
    try:
        return Live.restore(feeding.bound.settings[name], feeding.terms.mode, data)
    except StateError as error:
        raise StateError(f"Query '{name}': {error.cause}", remedy=ANEW) from None


def _unpacked(data: object) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    if not isinstance(data, bytes | bytearray | memoryview):
        raise StateError(
            f"A state is bytes, as save() gives them, not {type(data).__name__}.", remedy=ANEW
        )
    try:
        facts, tables = wire.unpack(KIND, memoryview(data))
    except StateError as error:
        remedy = error.remedy if "newer" in error.cause else ANEW
        raise StateError(error.cause, remedy=remedy) from None
    if facts["format"] > FORMAT:
        raise StateError(
            f"The state was written by a newer Trendloom (live workload {facts['format']}; this "
            f"one reads up to {FORMAT}).",
            remedy=NEWER,
        )
    return facts, tables


def _check(facts: dict[str, Any], plans: Mapping[str, Plan], terms: Terms) -> None:
    before, now = facts["queries"], _texts(plans)
    wrong = [
        *(f"'{name}' is not in the state" for name in now if name not in before),
        *(f"'{name}' is missing" for name in before if name not in now),
        *(
            f"'{name}' is another query\nState: {_line(before[name])}\nNow:   {_line(now[name])}"
            for name in now
            if before.get(name, now[name]) != now[name]
        ),
    ]
    if wrong:
        raise StateError("The state is of other queries: " + "; ".join(wrong) + ".", remedy=CHANGE)
    mine = _terms(terms)
    changed = [
        f"{name} was {facts['terms'][name]!r} and is {mine[name]!r}"
        for name in mine
        if facts["terms"][name] != mine[name]
    ]
    if changed:
        raise StateError(
            f"The state was kept under other terms: {'; '.join(changed)}.",
            remedy="Give those of the state, or begin anew without state=.",
        )


def _texts(plans: Mapping[str, Plan]) -> dict[str, str]:
    return {name: to_text(plan.query) for name, plan in plans.items()}


def _terms(terms: Terms) -> dict[str, Any]:
    """Those that must stay: the delay, and what is done with bad rows, may change."""
    reading = {k: v for k, v in asdict(terms.reading).items() if k != "bad_rows"}
    return {**reading, "mode": terms.mode.value, "numbers": terms.numbers.value}


def _line(text: str) -> str:
    return " ".join(text.split())
