"""What the oracle takes as a query: its text, the text of a bare pattern, or a tree."""

from __future__ import annotations

import re
from dataclasses import replace

from trendloom.language.nodes import Pattern, Query, Semantics, events_of


def read_query(query: str | Query | Pattern, semantics: Semantics | None = None) -> Query:
    """The query as a tree in which every variable has a name."""
    if isinstance(query, str):
        from trendloom.language import parse

        is_whole = re.search(r"\bPATTERN\b", query, re.IGNORECASE) is not None
        tree: Query = parse(query if is_whole else f"PATTERN {query}")
    else:
        tree = query if isinstance(query, Query) else Query(query)
    if any(event.variable is None for event in events_of(tree.pattern)):
        from trendloom.language import name_variables

        tree = name_variables(tree)
    return tree if semantics is None else replace(tree, semantics=semantics)
