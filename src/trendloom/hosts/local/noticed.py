"""What is noticed of rows while they pass: event types that none of them has."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from trendloom.engine.arrow import to_numpy
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.projection import type_test
from trendloom.hosts.scan.type_names import KNOWN, LOOKED_AT

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from trendloom.hosts.scan.reading import Roles
    from trendloom.hosts.scan.type_names import TypeNames
    from trendloom.plan.scan import Scan

HEAD = 4096
"""Rows of a batch that are looked at first: nearly always they have every type."""


class Noticed:
    """Show it every batch of a scan, and tell it when there are no more.

    1. A type of which a row is a letter is there: the masks say it, and mostly the first rows do.
    2. Of the others, rows may be there that fail a condition. The events are asked for one each.
    3. Only if there is none, all types are counted, to find the one that was meant.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        relation: str,
        schema: dict[str, str],
        scan: Scan,
        roles: Roles,
        names: TypeNames,
        total: int,
    ) -> None:
        self._connection = connection
        self._relation = relation
        self._roles = roles
        self._names = names
        self._total = total
        self._test = type_test(schema, roles)
        self._unseen: dict[str, dict[str, int]] = {}
        """Type → words of the mask → its bits in them."""
        first = 0
        for number, size in enumerate(scan.words or (len(scan.letters),)):
            word = f"mask{number}" if number else "mask"
            for bit, letter in enumerate(scan.letters[first : first + size]):
                if letter.type in names.types:
                    words = self._unseen.setdefault(letter.type, {})
                    words[word] = words.get(word, 0) | 1 << bit
            first += size
        self._is_over = not total

    def see(self, batch: pa.RecordBatch) -> None:
        """The next rows."""
        if self._unseen:
            self._look(batch.slice(0, HEAD))
        if self._unseen:
            self._look(batch)

    def _look(self, batch: pa.RecordBatch) -> None:
        words = {word for bits in self._unseen.values() for word in bits}
        seen = {word: int(np.bitwise_or.reduce(to_numpy(batch.column(word)))) for word in words}
        self._unseen = {
            kind: bits
            for kind, bits in self._unseen.items()
            if not any(seen[word] & wanted for word, wanted in bits.items())
        }

    def end(self) -> None:
        """There are no more rows: warns, once."""
        if self._is_over:
            return
        self._is_over = True
        absent = [kind for kind in self._unseen if not self._is_there(kind)]
        if absent:
            event_type = self._roles.event_type
            known = [] if event_type is not None else self._known()
            self._names.tell_absent(absent, known, self._total, event_type)
        suspects = sorted(self._names.suspects)
        if suspects and self._test.column is not None:
            first = exp.select(self._test.value()).from_(self._relation).limit(LOOKED_AT)
            found = exp.select(exp.column("type")).distinct().from_(_named(first))
            self._names.tell_variables({kind for (kind,) in self._rows(found)} & set(suspects))

    def _is_there(self, kind: str) -> bool:
        test = self._test.named(kind)
        if test is None:
            return False
        return bool(self._rows(exp.select("1").from_(self._relation).where(test).limit(1)))

    def _known(self) -> list[str]:
        """The types of the input, or the most frequent of them."""
        counts = exp.select(exp.column("type"), exp.Count(this=exp.Star()).as_("events"))
        counts = counts.from_(_named(exp.select(self._test.value()).from_(self._relation)))
        counts = counts.where(exp.column("type").is_(exp.null()).not_()).group_by("type")
        counts = counts.order_by(exp.Ordered(this=exp.column("events"), desc=True)).limit(KNOWN)
        return [kind for kind, _ in self._rows(counts)]

    def _rows(self, tree: exp.Expr) -> list[tuple[str, ...]]:
        return self._connection.execute(duck.text(tree)).fetchall()


def _named(inner: exp.Select) -> exp.Expr:
    return inner.subquery("types")


@dataclass
class Met:
    """The types of events that come bit by bit: what none of them was is known at the end."""

    names: TypeNames
    types: set[str] = field(default_factory=set)
    """Of the events so far, as long as somebody waits for one."""
    events: int = 0
    is_whole: bool = True
    """Whether all events were seen; a state that is gone on from does not tell those before it."""

    def of(self, names: TypeNames) -> Met:
        """For other queries from now on, of which some may have come too late for their types."""
        return replace(self, names=names, is_whole=self.is_whole and not self.events)

    def see(self, table: pa.Table, column: str | None) -> None:
        """The next events, and which column has their types, if one has."""
        waits = not self.names.types.keys() <= self.types
        looks = bool(self.names.suspects) and self.events < LOOKED_AT
        self.events += table.num_rows
        if column is None or not (waits or looks) or len(self.types) > KNOWN:
            return
        found = {str(kind) for kind in table.column(column).unique().to_pylist()} - self.types
        self.types |= found
        self.names.tell_variables(found)

    def end(self, event_type: str | None) -> None:
        """There are no more events: warns."""
        types = self.types if event_type is None else {event_type}
        if self.is_whole and self.events and len(types) <= KNOWN:
            absent = self.names.types.keys() - types
            self.names.tell_absent(absent, types, self.events, event_type)
