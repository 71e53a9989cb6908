"""What the oracle takes as a query: its text, the text of a bare pattern, or a tree."""

from __future__ import annotations

import re
from dataclasses import replace

from trendloom.language import name_variables, parse
from trendloom.language.nodes import Pattern, Query, Semantics


def read_query(query: str | Query | Pattern, semantics: Semantics | None = None) -> Query:
    """The query as a tree in which every variable has a name."""
    if isinstance(query, str):
        is_whole = re.search(r"\bPATTERN\b", query, re.IGNORECASE) is not None
        tree = parse(query if is_whole else f"PATTERN {query}")
    else:
        tree = query if isinstance(query, Query) else Query(query)
    named = name_variables(tree)
    return named if semantics is None else replace(named, semantics=semantics)
