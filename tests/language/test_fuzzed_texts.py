"""Any text is a query or formula, or is refused by an error of ours, soon.

Texts are drawn from the examples by changes to their words, and from noise. A few thousand on a
change, always the same; a million under `make fuzz`, from the seed that it prints.
"""

from __future__ import annotations

import os
import random
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trendloom import acel
from trendloom.api import query
from trendloom.errors import QueryError, TrendloomError
from trendloom.language import parse, to_text

if TYPE_CHECKING:
    from collections.abc import Callable

FUZZ = bool(os.environ.get("TRENDLOOM_FUZZ"))
SEED = int(os.environ.get("TRENDLOOM_SEED", "0"))
CHUNKS = 100 if FUZZ else 4
TEXTS = int(os.environ.get("TRENDLOOM_TEXTS", "1000000" if FUZZ else "4000"))
SECONDS = 5.0
"""Of this process's own time: the machine may be busy with others."""

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMENT = re.compile(r"--[^\n]*\n")
"""Most of an example's words, and nothing happens when they change."""
QUERIES = [COMMENT.sub("", path.read_text()) for path in sorted(EXAMPLES.rglob("*.tq"))] + [
    "RETURN COUNT(*) PATTERN SEQ(A a, B+ b[], NOT C, D? d) WHERE [k] AND a.x < NEXT(b).x",
    "RETURN k, AVG(A.x) AS m PATTERN A+ GROUP-BY k HAVING m > 3 AND COUNT(*) < 1e3",
    "RETURN LOG2(COUNT(*)), MIN(LENGTH(*)) PATTERN (A OR B){2,5} WHERE LENGTH(*) BETWEEN 2 AND 9",
    "PATTERN A+ WHERE (A.x > 0 OR NEXT(A).x IS NULL) AND A.t >= TIMESTAMP '2024-01-31 12:00'",
    "RETURN COUNT(DISTINCT A.x) PATTERN A+ AND B+ WITHIN 100 EVENTS SLIDE 10 EVENTS",
    "RETURN COUNT(*) PATTERN A+ SEMANTICS contiguous WHERE ABS(A.x - NEXT(A).x) <= 2.5 "
    "AND UPPER(A.w) LIKE 'a%' AND A.y IN (1, 2) WITHIN 1.5 hours EMIT ON CHANGE",
]
FORMULAS = [COMMENT.sub("", path.read_text()) for path in sorted(EXAMPLES.rglob("*.acel"))] + [
    "AGG[Y(b = sum(A.x), c = MAX(A.x))]((A ; B:+)+ FILTER A[x + 1 > 2 OR NOT w LIKE 'a%'])",
    "PROJECT[A, B](A : NEXT(B) AS C FILTER LAST(A), B[LAST(A).x = B.x] OR C+ FILTER C[same(x)])",
]
WORDS = re.compile(r"""\s+|'(?:[^']|'')*'|"[^"]*"|\w+|<=|>=|<>|.""", re.DOTALL)
KEYWORDS = [
    "PATTERN",
    "RETURN",
    "AGG",
    "SEMANTICS",
    "WHERE",
    "GROUP-BY",
    "HAVING",
    "WITHIN",
    "SLIDE",
    "EMIT",
    "ON",
    "CHANGE",
    "AS",
    "SEQ",
    "OR",
    "AND",
    "NOT",
    "DISTINCT",
    "IN",
    "BETWEEN",
    "LIKE",
    "IS",
    "NULL",
    "TRUE",
    "FALSE",
    "NEXT",
    "DATE",
    "TIMESTAMP",
    "LENGTH(*)",
    "LOG2",
    "COUNT",
    "SUM",
    "MIN",
    "MAX",
    "AVG",
    "STDDEV",
    "FILTER",
    "PROJECT",
    "LAST",
    "same",
    "increasing",
    "SELECT",
    "FROM",
    "ORDER",
    "BY",
    "LIMIT",
    "PARTITION",
    "CASE",
    "WHEN",
    "THEN",
    "END",
    "INTERVAL",
    "CAST",
    "JOIN",
    "ON",
    "UNION",
    "OVER",
    "MEDIAN",
    "PREV",
    "FIRST",
    "ILIKE",
    "EXISTS",
    "ALL",
    "ANY",
    "ARRAY",
    "MATCH_RECOGNIZE",
    "VALUES",
    "minutes",
    "m",
    "month",
    "EVENTS",
    "skip-till-next-match",
    "contiguous",
    "ABS",
    "ROUND",
    "COALESCE",
    "UPPER",
]
SIGNS = (*"+-*/%()[]{},.;:!?&|<>='\"\\#@$^~`", "<=", "<>", "||", "::", "->", ":+", "--", "/*", "*/")
NUMBERS = (
    *("0", "1", "-1", "00", "1.", ".5", "1e5", "1e308", "1e309", "1e-400", "1e100000000", "0x1F"),
    *("9223372036854775807", "9223372036854775808", "99999999999999999999", "1_000", "1e", "1.2.3"),
    *("9" * 39, "9" * 99, "9" * 5_000, "0." + "1" * 5_000, "1e" + "9" * 5_000, "{0}", "{9,1}"),
)
ODD = (
    *("٣", "½", "²", "é", "ﬁ", "\u200b", "\u00a0", "\u2028", "\u202e", "ſ", "K", "ı", "İ", "µ"),
    *("💥", "\ud800", "\0", "\x1b", "\r", "\v", "\t", "‘", "’", "“", "，", "（", "＝", "\ufeff"),
)
LONG = 3_000


def piece(draw: random.Random, words: list[str]) -> str:
    """A word to put in: of this text, of the languages, of SQL, of nobody."""
    kind = draw.randrange(6)
    if kind == 0:
        return draw.choice(words)
    if kind == 5:
        return draw.choice(ODD)
    return draw.choice([KEYWORDS, SIGNS, NUMBERS, KEYWORDS][kind - 1])


def changed(draw: random.Random, words: list[str], others: list[list[str]]) -> list[str]:
    """The words after one change."""
    at = draw.randrange(len(words))
    to = min(len(words), at + draw.choice((1, 1, 1, 2, 3, 8)))
    match draw.randrange(13):
        case 0:
            return words[:at] + words[to:] or [" "]
        case 1:
            return words[:to] + words[at:to] * draw.choice((1, 1, 1, 2, 5)) + words[to:]
        case 2:
            other = draw.randrange(len(words))
            swapped = list(words)
            swapped[at], swapped[other] = swapped[other], swapped[at]
            return swapped
        case 3:
            other_words = draw.choice(others)
            start = draw.randrange(len(other_words))
            return words[:at] + other_words[start : start + draw.randrange(1, 12)] + words[to:]
        case 4 | 5:
            return [*words[:at], piece(draw, words), *words[to:]]
        case 6 | 7:
            return [*words[:at], " ", piece(draw, words), " ", *words[at:]]
        case 8:
            depth = draw.choice((1, 1, 2, 3, 23, 30)) if draw.random() < 0.9 else LONG
            opened = draw.choice(("(", "(", "ABS(", "NOT (", "SEQ(", "-("))
            return [*words[:at], opened * depth, *words[at:to], ")" * depth, *words[to:]]
        case 9:
            times = draw.choice((2, 3, 10, 25)) if draw.random() < 0.97 else draw.randrange(LONG)
            return words[:at] + words[at:to] * times + words[to:]
        case 10:
            word = words[at]
            cut = draw.randrange(len(word) + 1)
            return [*words[:at], word[:cut] + draw.choice((*SIGNS, *ODD)) + word[cut:], *words[to:]]
        case 11:
            word = draw.choice((str.swapcase, str.upper, str.title, lambda w: w[::-1]))(words[at])
            return [*words[:at], word, *words[to:]]
    return words[: at + 1]


def noise(draw: random.Random) -> str:
    """Words, signs and letters in no order."""
    signs = "".join(draw.choice(SIGNS) for _ in range(5)) + "aA1 \n'\"()"
    letters = [
        piece(draw, ["A", "x", " "]) if draw.random() < 0.5 else draw.choice(signs)
        for _ in range(draw.randrange(1, 40))
    ]
    return draw.choice(("", " ")).join(letters)


def drawn(draw: random.Random, corpus: list[list[str]]) -> str:
    if draw.random() < 0.05:
        return noise(draw)
    words = draw.choice(corpus)
    for _ in range(draw.choice((1, 1, 1, 1, 2, 2, 3, 6))):
        words = changed(draw, words, corpus)
    return "".join(words)


def read_query(text: str) -> None:
    """Plans it; what it prints means the same."""
    tree = parse(text)
    assert parse(to_text(tree)) == tree
    query(tree)


def read_formula(text: str) -> None:
    formula = acel.parse(text)
    assert acel.parse(acel.to_text(formula)) == formula


def check(read: Callable[[str], None], text: str) -> bool:
    """Whether the text is read; everything but a refusal in words is a failure."""
    started = time.process_time()
    refusal: TrendloomError | None = None
    try:
        read(text)
    except TrendloomError as error:
        refusal = error
    if refusal is not None:
        assert refusal.cause, text
        assert refusal.remedy, text
    if isinstance(refusal, QueryError) and refusal.place is not None:
        assert 0 <= refusal.place.start <= len(refusal.text), text
        assert "^" in str(refusal), text
    took = time.process_time() - started
    assert took < SECONDS, f"{took:.1f} s"
    return refusal is None


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize(
    ("read", "texts", "share"),
    [(read_query, QUERIES, 0.75), (read_formula, FORMULAS, 0.25)],
    ids=["queries", "formulas"],
)
def test_every_text_is_read_or_refused(
    read: Callable[[str], None], texts: list[str], share: float, chunk: int
) -> None:
    corpus = [WORDS.findall(text) for text in texts]
    draw = random.Random(f"{SEED} {chunk}")
    read_texts = 0
    count = round(TEXTS * share / CHUNKS)
    for number in range(count):
        text = drawn(draw, corpus)
        try:
            read_texts += check(read, text)
        except Exception as error:
            raise AssertionError(
                f"text {number} of chunk {chunk}, TRENDLOOM_SEED={SEED}: {text[:2_000]!r}"
            ) from error
    # Neither all read nor all refused: the changes are neither too small nor too large.
    assert 0.02 * count < read_texts < 0.6 * count
