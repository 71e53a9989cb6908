"""The words of the language that more than one file needs, and how names are quoted."""

from __future__ import annotations

import re

CLAUSES = ("PATTERN", "RETURN", "AGG", "SEMANTICS", "WHERE", "GROUP-BY", "HAVING", "WITHIN")

KEYWORDS = frozenset(CLAUSES) | {
    *("GROUP", "BY", "GROUPBY", "SLIDE", "EMIT", "ON", "CHANGE", "AS", "SEQ", "OR", "AND", "NOT"),
    *("DISTINCT", "IN", "BETWEEN", "LIKE", "IS", "NULL", "TRUE", "FALSE", "NEXT", "DATE"),
    *("TIMESTAMP", "LENGTH", "LOG2", "COUNT"),
}

# Only ASCII counts as plain: some other letters equal ASCII ones when case is ignored.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def quote(name: str) -> str:
    """The name as it must stand in a query: as it is, or in double quotes."""
    if _PLAIN.fullmatch(name) and name.upper() not in KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def unquote(word: str) -> str:
    """The name that a word of the query stands for."""
    return word[1:-1].replace('""', '"') if word.startswith('"') else str(word)
