"""Text → tree by a grammar and a builder, the same way for every language of the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from trendloom.language.limits import BeyondLimitError, Lexer, check_levels, check_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from lark import Lark, Transformer
    from lark.exceptions import UnexpectedInput


def read(
    text: str,
    package: str,
    builder: Transformer[Any, Any],
    complaint: Callable[[UnexpectedInput, str], Exception],
    too_deep: Callable[[str], Exception],
    *,
    parentheses: int,
) -> Any:
    """What the builder makes of a text in the package's grammar; errors are the language's own.

    `parentheses` is how many may stand inside each other.
    """
    from lark.exceptions import UnexpectedInput, VisitError

    check_text(text)
    try:
        tree = _grammar(package, parentheses).parse(text)
        check_levels(tree)
        return builder.transform(tree)
    except UnexpectedInput as error:
        raise complaint(error, text) from None
    except BeyondLimitError as error:
        raise error.of(text) from None
    except VisitError as error:
        if isinstance(error.orig_exc, RecursionError):
            raise too_deep(text) from None
        raise error.orig_exc from None
    except RecursionError:
        raise too_deep(text) from None


@cache
def _grammar(package: str, parentheses: int) -> Lark:
    from lark import Lark

    grammar = files(package).joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        grammar,
        parser="lalr",
        propagate_positions=True,
        maybe_placeholders=False,
        postlex=Lexer(parentheses),
    )
