"""The words of the language that more than one file needs, and how names are quoted."""

from __future__ import annotations

import re
from difflib import get_close_matches

from trendloom.errors import did_you_mean

CLAUSES = ("PATTERN", "RETURN", "AGG", "SEMANTICS", "WHERE", "GROUP-BY", "HAVING", "WITHIN")

KEYWORDS = frozenset(CLAUSES) | {
    *("GROUP", "BY", "GROUPBY", "SLIDE", "EMIT", "ON", "CHANGE", "AS", "SEQ", "OR", "AND", "NOT"),
    *("DISTINCT", "IN", "BETWEEN", "LIKE", "IS", "NULL", "TRUE", "FALSE", "NEXT", "DATE"),
    *("TIMESTAMP", "LENGTH", "LOG2", "COUNT"),
}

OFFERED = (
    "Conditions offer arithmetic, comparison, AND OR NOT IN BETWEEN LIKE IS NULL, "
    "ABS ROUND UPPER LOWER COALESCE, LENGTH(*), and numbers, 'strings', TRUE, FALSE, NULL, "
    "DATE '…' and TIMESTAMP '…'."
)

# Only ASCII counts as plain: some other letters equal ASCII ones when case is ignored.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def near_clause(word: str) -> str | None:
    """`Did you mean …?` for a word that is nearly, but not quite, the name of a clause."""
    known = {"GROUP": "GROUP-BY", "SLIDE": "SLIDE", **{clause: clause for clause in CLAUSES}}
    near = get_close_matches(word.upper(), known, n=1, cutoff=0.75)
    return did_you_mean(known[near[0]], [known[near[0]]]) if near else None


def quote(name: str) -> str:
    """The name as it must stand in a query: as it is, or in double quotes."""
    if _PLAIN.fullmatch(name) and name.upper() not in KEYWORDS:
        return name
    return quoted(name)


def quoted(name: str) -> str:
    """The name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def unquote(word: str) -> str:
    """The name that a word of the query stands for."""
    return word[1:-1].replace('""', '"') if word.startswith('"') else str(word)
