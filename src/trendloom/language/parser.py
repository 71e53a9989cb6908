"""Query text → syntax tree: `parse` is the one way in.

lark and sqlglot are loaded at the first query, so that importing Trendloom stays light.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from trendloom.errors import QuerySyntaxError

if TYPE_CHECKING:
    from lark import Lark

    from trendloom.language.nodes import Query


def parse(text: str) -> Query:
    """The syntax tree of a query, or a QueryError that shows the place."""
    from lark.exceptions import UnexpectedInput, VisitError

    from trendloom.language.build import Builder
    from trendloom.language.complaints import complaint

    if not text.strip():
        raise QuerySyntaxError(
            "The query is empty",
            text=text,
            remedy="Write at least a PATTERN, as in RETURN COUNT(*) PATTERN Stock S+.",
        )
    try:
        return Builder(text).transform(_grammar().parse(text))
    except UnexpectedInput as error:
        raise complaint(error, text) from None
    except VisitError as error:
        if isinstance(error.orig_exc, RecursionError):
            raise _too_deep(text) from None
        raise error.orig_exc from None
    except RecursionError:
        raise _too_deep(text) from None


def _too_deep(text: str) -> QuerySyntaxError:
    return QuerySyntaxError(
        "The query nests too deeply", text=text, remedy="Use fewer parentheses inside each other."
    )


@cache
def _grammar() -> Lark:
    from lark import Lark

    grammar = files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=False)
