"""The words of the logic, and how names are quoted."""

from __future__ import annotations

import re

KEYWORDS = frozenset(
    (
        "OR",
        "AND",
        "AS",
        "FILTER",
        "NEXT",
        "PROJECT",
        "AGG",
        "NOT",
        "IS",
        "NULL",
        "TRUE",
        "FALSE",
        "LIKE",
    )
)
SHAPES = frozenset(("same", "increasing", "decreasing"))

# Only ASCII counts as plain: some other letters equal ASCII ones when case is ignored.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def quote(name: str) -> str:
    """The name as it must stand in a formula: as it is, or in double quotes."""
    reserved = name.upper() in KEYWORDS or name.lower() in SHAPES
    if _PLAIN.fullmatch(name) and not reserved:
        return name
    return '"' + name.replace('"', '""') + '"'


def unquote(word: str) -> str:
    """The name that a word of the formula stands for."""
    return word[1:-1].replace('""', '"') if word.startswith('"') else str(word)
