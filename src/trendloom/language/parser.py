"""Query text → syntax tree: `parse` is the one way in.

lark and sqlglot are loaded at the first query, so that importing Trendloom stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.errors import QuerySyntaxError
from trendloom.language.limits import MAX_PARENTHESES
from trendloom.language.reading import read

if TYPE_CHECKING:
    from trendloom.language.nodes import Query


def parse(text: str) -> Query:
    """The syntax tree of a query, or a QueryError that shows the place."""
    from trendloom.language.build import Builder
    from trendloom.language.complaints import complaint

    if not text.strip():
        raise QuerySyntaxError(
            "The query is empty",
            text=text,
            remedy="Write at least a PATTERN, as in RETURN COUNT(*) PATTERN Stock S+.",
        )
    tree: Query = read(
        text, __package__, Builder(text), complaint, _too_deep, parentheses=MAX_PARENTHESES
    )
    return tree


def _too_deep(text: str) -> QuerySyntaxError:
    return QuerySyntaxError(
        "The query nests too deeply", text=text, remedy="Use fewer parentheses inside each other."
    )
