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

from trendloom.engine import signing, wire
from trendloom.engine.formats import FORMATS
from trendloom.engine.live import Live
from trendloom.engine.live.tables import check_names, columns_of
from trendloom.errors import StateError
from trendloom.hosts.local.live import NOTHING, Feeding, Pushed
from trendloom.hosts.local.tables import Types, plain
from trendloom.hosts.scan.columns import refuse_repeated
from trendloom.hosts.scan.dress import result_schema
from trendloom.language.printer import to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trendloom.hosts.local.live import Terms
    from trendloom.plan.plan import Plan

KIND = "live workload"
FORMAT = FORMATS[KIND].version
ANEW = "Go on from another copy of the bytes, or begin anew without state=."
CHANGE = "Go on with the queries of the state, then use add(), replace() and remove()."
_COUNTS = ("watermark", "greatest", "late_events")


def write(feeding: Feeding, key: bytes | None = None) -> bytes:
    """Everything that `read` needs, signed if there is a key."""
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
    return signing.sealed(wire.pack(KIND, facts, tables), key)


def read(
    data: object, plans: Mapping[str, Plan], terms: Terms, types: Types, key: bytes | None = None
) -> Feeding:
    """Goes on where `write` was; a StateError if the bytes are of something else."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise StateError(
            f"A state is bytes, as save() gives them, not {type(data).__name__}.", remedy=ANEW
        )
    try:
        with wire.reading():
            # A copy of what might change while it is looked at.
            facts, tables = wire.unpack(KIND, signing.opened(bytes(data), key))
            _check(facts, plans, terms)
            return _restored(facts, tables, plans, terms, types)
    except StateError as error:
        if error.remedy != wire.COPY:
            raise
        raise StateError(error.cause, said=error.said, remedy=ANEW) from error.__cause__


def _restored(
    facts: dict[str, Any],
    tables: dict[str, pa.Table],
    plans: Mapping[str, Plan],
    terms: Terms,
    types: Types,
) -> Feeding:
    check_names(tables, ["columns", "states", "late", *(f"rows {name}" for name in plans)])
    known = {one.name: one.type for one in tables["columns"].schema}
    if types.stated and known and dict(types.known) != known:
        raise StateError("The state's events have other columns than schema= says.", remedy=ANEW)
    feeding = Feeding(plans, terms, Types(known, facts["stated"]) if known else types)
    states = columns_of(tables["states"], {"query": pa.string(), "state": pa.large_binary()})
    names = states["query"].to_pylist()
    if sorted(names) != (sorted(plans) if known else []):
        raise wire.damaged(f"there are states of {', '.join(names) or 'no queries'}")
    for name, state in zip(names, states["state"], strict=True):
        feeding.lives[name] = _live(feeding, name, state.as_py())
    feeding.met.is_whole = False
    for name in _COUNTS:
        setattr(feeding, name, facts[name])
    if "late" in tables:
        rows = {name: tables[f"rows {name}"] for name in plans if f"rows {name}" in tables}
        feeding.owed = Pushed(rows, tables["late"], *facts["owed"])
        _check_owed(feeding)
    return feeding


def _live(feeding: Feeding, name: str, data: bytes) -> Live:
    assert feeding.bound is not None, "states have columns"
    try:
        return Live.restore(feeding.bound.settings[name], feeding.terms.mode, data)
    except StateError as error:
        raise StateError(f"Query '{name}': {error.cause}", said=error.said, remedy=ANEW) from None


def _check_owed(feeding: Feeding) -> None:
    """Refuses tables that those of the next push cannot be put behind."""
    bound, known = feeding.bound, feeding.types.known
    for name, table in feeding.owed.tables.items():
        if bound is None or table.schema != result_schema(bound.settings[name], bound.clock.axis):
            raise wire.damaged(f"rows of '{name}' have other columns than its result")
    refuse_repeated(feeding.owed.late.schema.names)
    for one in feeding.owed.late.schema:
        if not pa.types.is_null(one.type) and plain(one.type) != known.get(one.name):
            raise wire.damaged(f"the late events' column '{one.name}' is {one.type}")


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
        f"{name} was {facts['terms'].get(name)!r} and is {mine[name]!r}"
        for name in mine
        if facts["terms"].get(name) != mine[name]
    ]
    if changed:
        raise StateError(
            f"The state was kept under other terms: {'; '.join(changed)}.",
            remedy="Give those of the state, or begin anew without state=.",
        )


def _texts(plans: Mapping[str, Plan]) -> dict[str, str]:
    return {name: to_text(plan.query) for name, plan in plans.items()}


def _terms(terms: Terms) -> dict[str, Any]:
    """Those that must stay: the delay, how files are read and bad rows treated may change."""
    may_change = ("bad_rows", "date_format", "hive_partitioning")
    reading = {k: v for k, v in asdict(terms.reading).items() if k not in may_change}
    return {**reading, "mode": terms.mode.value, "numbers": terms.numbers.value}


def _line(text: str) -> str:
    return " ".join(text.split())
