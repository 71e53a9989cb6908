"""Every refusal, word for word: the cause, the place with a caret, the remedy."""

from __future__ import annotations

import pytest

from trendloom.errors import QueryMeaningError, QuerySyntaxError
from trendloom.language import parse

OFFERED = (
    "Conditions offer arithmetic, comparison, AND OR NOT IN BETWEEN LIKE IS NULL, "
    "ABS ROUND UPPER LOWER COALESCE, LENGTH(*), and numbers, 'strings', TRUE, FALSE, NULL, "
    "DATE '…' and TIMESTAMP '…'."
)


def refusal(text: str) -> str:
    with pytest.raises(QuerySyntaxError) as caught:
        parse(text)
    return str(caught.value)


SYNTAX = [
    (
        "PATTERN A WHERE A.day > DATE '2024-02-31'",
        """\
'2024-02-31' is not a date (line 1, column 25)
  PATTERN A WHERE A.day > DATE '2024-02-31'
                          ^^^^^^^^^^^^^^^^^
Write DATE '2024-01-31', or TIMESTAMP '2024-01-31 12:00:00' with up to six decimals and, if it is \
not UTC, an offset such as +01:00.""",
    ),
    (
        "RETURN COUNT(*)",
        """\
The query has no PATTERN (line 1, column 1)
  RETURN COUNT(*)
  ^^^^^^
Say what to match, as in PATTERN SEQ(A a, B b+).""",
    ),
    (
        "PATTERN",
        """\
The query ends too early (line 1, column 8)
  PATTERN
         ^
Expected '(', SEQ or a name.""",
    ),
    (
        "PATTERN A PATTERN B",
        """\
PATTERN stands twice (line 1, column 11)
  PATTERN A PATTERN B
            ^^^^^^^
Each clause may stand once.""",
    ),
    (
        "RETURN COUNT(*) PATTERN A AGG COUNT",
        """\
RETURN stands twice (line 1, column 27)
  RETURN COUNT(*) PATTERN A AGG COUNT
                            ^^^
Each clause may stand once; AGG is another word for RETURN.""",
    ),
    (
        "PATTERN Stock S+ SEMANTIC any",
        """\
'SEMANTIC' cannot stand here (line 1, column 18)
  PATTERN Stock S+ SEMANTIC any
                   ^^^^^^^^
Did you mean 'SEMANTICS'?""",
    ),
    (
        "PATTERN Stock+ SEMANTIC any",
        """\
'SEMANTIC' cannot stand here (line 1, column 16)
  PATTERN Stock+ SEMANTIC any
                 ^^^^^^^^
Did you mean 'SEMANTICS'?""",
    ),
    (
        "PATTERN Stock S+ SEMANTICS skip-till-any-mach",
        """\
There is no semantics 'skip-till-any-mach' (line 1, column 28)
  PATTERN Stock S+ SEMANTICS skip-till-any-mach
                             ^^^^^^^^^^^^^^^^^^
Did you mean 'skip-till-any-match' or 'skip-till-next-match'?""",
    ),
    (
        "PATTERN Stock S+ SEMANTICS",
        """\
The query ends too early (line 1, column 27)
  PATTERN Stock S+ SEMANTICS
                            ^
Expected skip-till-any-match, skip-till-next-match or contiguous.""",
    ),
    (
        "PATTERN Stock S+ WITHIN 10 parsecs",
        """\
There is no unit 'parsecs' (line 1, column 28)
  PATTERN Stock S+ WITHIN 10 parsecs
                             ^^^^^^^
Did you mean 'secs' or 'msecs'?""",
    ),
    (
        "PATTERN Stock S+ WITHIN 10 minuts",
        """\
There is no unit 'minuts' (line 1, column 28)
  PATTERN Stock S+ WITHIN 10 minuts
                             ^^^^^^
Did you mean 'minutes' or 'minute'?""",
    ),
    (
        "PATTERN Stock S+ WITHIN 10",
        """\
10 of what? The unit is missing (line 1, column 25)
  PATTERN Stock S+ WITHIN 10
                          ^^
Write a number and a unit, as in 500 ms, 10 seconds, 1.5 hours or 100 EVENTS.""",
    ),
    (
        "PATTERN Stock S+ WITHIN 10 SLIDE 5",
        """\
10 of what? The unit is missing (line 1, column 25)
  PATTERN Stock S+ WITHIN 10 SLIDE 5
                          ^^
Write a number and a unit, as in 500 ms, 10 seconds, 1.5 hours or 100 EVENTS.""",
    ),
    (
        "PATTERN Stock S+ WITHIN ten minutes",
        """\
'ten' cannot stand here (line 1, column 25)
  PATTERN Stock S+ WITHIN ten minutes
                          ^^^
Expected a number.""",
    ),
    (
        "PATTERN Stock S+ WITHIN 10 EVENTS",
        """\
WITHIN … EVENTS needs a SLIDE (line 1, column 18)
  PATTERN Stock S+ WITHIN 10 EVENTS
                   ^^^^^^^^^^^^^^^^
Write WITHIN 10 EVENTS SLIDE 10 EVENTS, or a smaller SLIDE for windows that overlap.""",
    ),
    (
        "PATTERN Stock S+ WITHIN 10 EVENTS SLIDE 5 seconds",
        """\
WITHIN and SLIDE mix EVENTS with a unit of time (line 1, column 41)
  PATTERN Stock S+ WITHIN 10 EVENTS SLIDE 5 seconds
                                          ^^^^^^^^^
Give both in EVENTS or both in units of time.""",
    ),
    (
        "PATTERN Stock S+ WITHIN 10 s SLIDE 1 s EMIT ON CHANGE",
        """\
EMIT ON CHANGE goes with a WITHIN of time that has no SLIDE (line 1, column 40)
  PATTERN Stock S+ WITHIN 10 s SLIDE 1 s EMIT ON CHANGE
                                         ^^^^^^^^^^^^^^
Leave out either SLIDE or EMIT ON CHANGE.""",
    ),
    (
        "PATTERN Stock S{3,2}",
        """\
At least 3 and at most 2 repetitions exclude each other (line 1, column 16)
  PATTERN Stock S{3,2}
                 ^^^^^
Write {2,3}.""",
    ),
    (
        "PATTERN Stock S{0}",
        """\
Zero repetitions match nothing (line 1, column 16)
  PATTERN Stock S{0}
                 ^^^
Write {n}, {m,n} or {m,} with whole numbers, the last one at least 1.""",
    ),
    (
        "PATTERN Stock S{0,0}",
        """\
Zero repetitions match nothing (line 1, column 16)
  PATTERN Stock S{0,0}
                 ^^^^^
Write {n}, {m,n} or {m,} with whole numbers, the last one at least 1.""",
    ),
    (
        "PATTERN Stock S{1.5}",
        """\
1.5 is not a whole number of repetitions (line 1, column 17)
  PATTERN Stock S{1.5}
                  ^^^
Write {n}, {m,n} or {m,} with whole numbers, the last one at least 1.""",
    ),
    (
        "PATTERN Stock S{a}",
        """\
'a' cannot stand here (line 1, column 17)
  PATTERN Stock S{a}
                  ^
Expected a number.""",
    ),
    (
        "PATTERN SEQ(A, B WHERE A.x > 3",
        """\
This parenthesis is never closed (line 1, column 12)
  PATTERN SEQ(A, B WHERE A.x > 3
             ^
Add a ')'.""",
    ),
    (
        "PATTERN SEQ(A, B",
        """\
This parenthesis is never closed (line 1, column 12)
  PATTERN SEQ(A, B
             ^
Add a ')'.""",
    ),
    (
        "PATTERN SEQ(A, B))",
        """\
This parenthesis closes nothing (line 1, column 18)
  PATTERN SEQ(A, B))
                   ^
Leave it out.""",
    ),
    (
        "PATTERN SEQ()",
        """\
')' cannot stand here (line 1, column 13)
  PATTERN SEQ()
              ^
Expected '(', SEQ or a name.""",
    ),
    (
        "PATTERN (A B WHERE A.x = 1",
        """\
This parenthesis is never closed (line 1, column 9)
  PATTERN (A B WHERE A.x = 1
          ^
Add a ')'.""",
    ),
    (
        "PATTERN A WHERE A.x = 'abc",
        """\
The string that begins here never ends (line 1, column 23)
  PATTERN A WHERE A.x = 'abc
                        ^
Close it with '.""",
    ),
    (
        'PATTERN "A',
        """\
The quoted name that begins here never ends (line 1, column 9)
  PATTERN "A
          ^
Close it with ".""",
    ),
    (
        "PATTERN A /* abc",
        """\
The comment that begins here never ends (line 1, column 11)
  PATTERN A /* abc
            ^
Close it with */.""",
    ),
    (
        'PATTERN ""',
        """\
A name cannot be empty (line 1, column 9)
  PATTERN ""
          ^
Write a name between the quotes.""",
    ),
    (
        "PATTERN A WHERE (A.x > 3 WITHIN 10 s",
        """\
This parenthesis is never closed (line 1, column 17)
  PATTERN A WHERE (A.x > 3 WITHIN 10 s
                  ^
Add a ')'.""",
    ),
    (
        "PATTERN A WHERE A.x > 3) WITHIN 10 s",
        """\
This parenthesis closes nothing (line 1, column 24)
  PATTERN A WHERE A.x > 3) WITHIN 10 s
                         ^
Leave it out.""",
    ),
    (
        "PATTERN A WHERE A.x > 3 WITHN 10 s",
        """\
The word WITHN stands without a variable (line 1, column 25)
  PATTERN A WHERE A.x > 3 WITHN 10 s
                          ^^^^^
Did you mean 'WITHIN'? Otherwise: quote it as a string ('WITHN') or write VARIABLE.WITHN.""",
    ),
    (
        "PATTERN A WHERE [x] GRUOP BY x",
        """\
'GRUOP' cannot stand here (line 1, column 21)
  PATTERN A WHERE [x] GRUOP BY x
                      ^^^^^
Did you mean 'GROUP-BY'?""",
    ),
    (
        "PATTERN A WHERE M.activity = passive",
        """\
The word passive stands without a variable (line 1, column 30)
  PATTERN A WHERE M.activity = passive
                               ^^^^^^^
Quote it as a string ('passive') or write VARIABLE.passive.""",
    ),
    (
        'PATTERN A WHERE M.activity = "passive"',
        """\
The word passive stands without a variable (line 1, column 30)
  PATTERN A WHERE M.activity = "passive"
                               ^^^^^^^^^
Quote it as a string ('passive') or write VARIABLE.passive.""",
    ),
    (
        "PATTERN A WHERE M.activity = ‘passive’",
        """\
The quotation mark ‘ is not understood (line 1, column 30)
  PATTERN A WHERE M.activity = ‘passive’
                               ^
Write straight quotes: '…'.""",
    ),
    (
        "PATTERN A WHERE A.x BETWEEN 3",
        """\
The query ends too early (line 1, column 30)
  PATTERN A WHERE A.x BETWEEN 3
                               ^
Expected AND or a condition.""",
    ),
    (
        "PATTERN A WHERE A.x = 3 AND",
        """\
The query ends too early (line 1, column 28)
  PATTERN A WHERE A.x = 3 AND
                             ^
Expected '[' or a condition.""",
    ),
    (
        "PATTERN A WHERE",
        """\
The query ends too early (line 1, column 16)
  PATTERN A WHERE
                 ^
Expected '[' or a condition.""",
    ),
    (
        "PATTERN A WHERE UPER(A.x) = 'A'",
        """\
There is no function UPER (line 1, column 17)
  PATTERN A WHERE UPER(A.x) = 'A'
                  ^^^^
Did you mean 'UPPER'?""",
    ),
    (
        "PATTERN A WHERE COUNT(*) > 3",
        """\
COUNT is an aggregate and cannot stand in WHERE (line 1, column 17)
  PATTERN A WHERE COUNT(*) > 3
                  ^^^^^
Put a condition on aggregates into HAVING.""",
    ),
    (
        "PATTERN A WHERE A.x < A.y < A.z",
        """\
This chain of comparisons has no meaning (line 1, column 17)
  PATTERN A WHERE A.x < A.y < A.z
                  ^^^^^^^^^^^^^^^
Join two comparisons by AND; only A.id = B.id = C.id may be chained.""",
    ),
    (
        "PATTERN A WHERE A.x + 1",
        """\
This is a value, not a condition (line 1, column 17)
  PATTERN A WHERE A.x + 1
                  ^^^^^^^
Compare it with something.""",
    ),
    (
        "PATTERN A WHERE [a] OR A.x = 1",
        """\
An equivalence cannot stand beside OR (line 1, column 17)
  PATTERN A WHERE [a] OR A.x = 1
                  ^^^
Join it by AND, and put the OR in parentheses.""",
    ),
    (
        "PATTERN A WHERE b[1].x = 3",
        """\
A place in a trend cannot be chosen by number (line 1, column 19)
  PATTERN A WHERE b[1].x = 3
                    ^
Write b[i] for every b, and b[i-1] for the one before it.""",
    ),
    (
        "PATTERN A WHERE b[i-2].x < b[i].x",
        """\
Only neighbours can be compared by index (line 1, column 28)
  PATTERN A WHERE b[i-2].x < b[i].x
                             ^^^^^^
Write b[i-1].x with b[i].x, or b.x with NEXT(b).x.""",
    ),
    (
        "PATTERN A WHERE b[i].x < b[j].x",
        """\
Only neighbours can be compared by index (line 1, column 26)
  PATTERN A WHERE b[i].x < b[j].x
                           ^^^^^^
Write b[i-1].x with b[i].x, or b.x with NEXT(b).x.""",
    ),
    (
        "PATTERN A WHERE NEXT(A) > 3",
        """\
NEXT is not complete (line 1, column 25)
  PATTERN A WHERE NEXT(A) > 3
                          ^
Write NEXT(VARIABLE).attribute.""",
    ),
    (
        "PATTERN A WHERE NEXT(A.x) > 3",
        """\
NEXT is not complete (line 1, column 23)
  PATTERN A WHERE NEXT(A.x) > 3
                        ^
Write NEXT(VARIABLE).attribute.""",
    ),
    (
        "RETURN SUMM(A.x) PATTERN A",
        """\
There is no aggregate function SUMM (line 1, column 8)
  RETURN SUMM(A.x) PATTERN A
         ^^^^
Did you mean 'SUM'?""",
    ),
    (
        "RETURN MEDIAN(A.x) PATTERN A",
        """\
MEDIAN is not offered (line 1, column 8)
  RETURN MEDIAN(A.x) PATTERN A
         ^^^^^^
Aggregates are COUNT, SUM, MIN, MAX, AVG, VARIANCE, STDDEV; to compute others, list the trends \
(tl.trends, without RETURN).""",
    ),
    (
        "RETURN SUM(A) PATTERN A",
        """\
SUM needs an attribute of A (line 1, column 8)
  RETURN SUM(A) PATTERN A
         ^^^^^^
Write SUM(A.attribute).""",
    ),
    (
        "RETURN SUM(*) PATTERN A",
        """\
SUM(*) has no meaning (line 1, column 8)
  RETURN SUM(*) PATTERN A
         ^^^^^^
Write SUM(VARIABLE.attribute).""",
    ),
    (
        "RETURN COUNT(DISTINCT *) PATTERN A",
        """\
'*' cannot stand here (line 1, column 23)
  RETURN COUNT(DISTINCT *) PATTERN A
                        ^
Expected a name.""",
    ),
    (
        "RETURN COUNT(LENGTH(*)) PATTERN A",
        """\
COUNT(LENGTH(*)) is not offered (line 1, column 8)
  RETURN COUNT(LENGTH(*)) PATTERN A
         ^^^^^^^^^^^^^^^^
LENGTH(*) goes with MIN, MAX and AVG.""",
    ),
    (
        "RETURN LOG2(SUM(A.x)) PATTERN A",
        """\
LOG2 is offered for counts only (line 1, column 13)
  RETURN LOG2(SUM(A.x)) PATTERN A
              ^^^^^^^^
Write LOG2(COUNT(*)) or LOG2(COUNT(VARIABLE)).""",
    ),
    (
        "RETURN LOG2(A.x) PATTERN A",
        """\
LOG2 cannot stand like this (line 1, column 8)
  RETURN LOG2(A.x) PATTERN A
         ^^^^^^^^^
Write it as in LOG2(COUNT(*)).""",
    ),
    (
        "RETURN LENGTH(*) PATTERN A",
        """\
LENGTH cannot stand like this (line 1, column 8)
  RETURN LENGTH(*) PATTERN A
         ^^^^^^^^^
Write it as in MIN(LENGTH(*)).""",
    ),
    (
        "RETURN MIN(ABS(A.x)) PATTERN A",
        """\
ABS(…) cannot be aggregated (line 1, column 12)
  RETURN MIN(ABS(A.x)) PATTERN A
             ^^^^^^^^
Aggregate *, VARIABLE, VARIABLE.attribute or LENGTH(*).""",
    ),
    (
        "RETURN COUNT(*) n PATTERN A",
        """\
'n' cannot stand here (line 1, column 17)
  RETURN COUNT(*) n PATTERN A
                  ^
Expected ',', AS, a clause (PATTERN, RETURN, …) or the end of the query.""",
    ),
    (
        "RETURN COUNT(*), PATTERN A",
        """\
'PATTERN' cannot stand here (line 1, column 18)
  RETURN COUNT(*), PATTERN A
                   ^^^^^^^
Something is missing before it; as a name it has to be quoted: "PATTERN".""",
    ),
    (
        "RETURN b[i].x PATTERN A",
        """\
An index has a meaning in WHERE only (line 1, column 8)
  RETURN b[i].x PATTERN A
         ^^^^^^
Write b.x.""",
    ),
    (
        "PATTERN A HAVING SUM(A) > 3",
        """\
SUM needs an attribute of A (line 1, column 22)
  PATTERN A HAVING SUM(A) > 3
                       ^
Write SUM(A.attribute).""",
    ),
    (
        "PATTERN A HAVING COUNT(A, B) > 3",
        """\
This aggregate has no meaning (line 1, column 24)
  PATTERN A HAVING COUNT(A, B) > 3
                         ^
Write COUNT(*), COUNT(V), SUM(V.attribute), MIN(LENGTH(*)) or LOG2(COUNT(*)).""",
    ),
    (
        "PATTERN A HAVING NEXT(A).x > 3",
        """\
NEXT has no meaning in HAVING (line 1, column 18)
  PATTERN A HAVING NEXT(A).x > 3
                   ^^^^^^^^^
Move the condition on neighbouring events to WHERE.""",
    ),
    (
        "PATTERN A HAVING LOG2(SUM(A.x)) > 3",
        """\
LOG2 is offered for counts only (line 1, column 27)
  PATTERN A HAVING LOG2(SUM(A.x)) > 3
                            ^^^
Write LOG2(COUNT(*)) or LOG2(COUNT(VARIABLE)).""",
    ),
    (
        "PATTERN A HAVING CONT(*) > 3",
        """\
There is no function CONT (line 1, column 18)
  PATTERN A HAVING CONT(*) > 3
                   ^^^^
Did you mean 'COUNT'?""",
    ),
    (
        "PATTERN A HAVING [a]",
        """\
An equivalence has no meaning in HAVING (line 1, column 18)
  PATTERN A HAVING [a]
                   ^^^
Move it to WHERE.""",
    ),
    (
        "RETURN A.x + 1 PATTERN A",
        """\
'+' cannot stand here (line 1, column 12)
  RETURN A.x + 1 PATTERN A
             ^
Expected ',', AS, a clause (PATTERN, RETURN, …) or the end of the query.""",
    ),
    (
        "PATTERN A GROUP x",
        """\
'GROUP' cannot stand here (line 1, column 11)
  PATTERN A GROUP x
            ^^^^^
Did you mean 'GROUP-BY'?""",
    ),
    (
        "PATTERN A; B",
        """\
'B' cannot stand here (line 1, column 12)
  PATTERN A; B
             ^
Expected the end of the query.""",
    ),
    (
        "SELECT COUNT(*) FROM x",
        """\
There is no SELECT here (line 1, column 1)
  SELECT COUNT(*) FROM x
  ^^^^^^
Write RETURN for what is wanted, as in RETURN COUNT(*) PATTERN A+.""",
    ),
    (
        "RETURN COUNT(*) PATERN A",
        """\
'PATERN' cannot stand here (line 1, column 17)
  RETURN COUNT(*) PATERN A
                  ^^^^^^
Did you mean 'PATTERN'?""",
    ),
    (
        "RETRUN COUNT(*) PATTERN A",
        """\
'RETRUN' cannot stand here (line 1, column 1)
  RETRUN COUNT(*) PATTERN A
  ^^^^^^
Did you mean 'RETURN'?""",
    ),
    (
        "AGG SUM PATTERN A",
        """\
SUM(*) has no meaning (line 1, column 5)
  AGG SUM PATTERN A
      ^^^
Write SUM(VARIABLE.attribute).""",
    ),
    (
        "AGG SUMM PATTERN A",
        """\
There is no aggregate function SUMM (line 1, column 5)
  AGG SUMM PATTERN A
      ^^^^
Did you mean 'SUM'?""",
    ),
    (
        "PATTERN A [WITHIN 10 s",
        """\
The query ends too early (line 1, column 23)
  PATTERN A [WITHIN 10 s
                        ^
Expected ']'.""",
    ),
    (
        """\
PATTERN Stock S+
WHERE S.price > 3 AND
      S.kind = passive
WITHIN 10 s""",
        """\
The word passive stands without a variable (line 3, column 16)
        S.kind = passive
                 ^^^^^^^
Quote it as a string ('passive') or write VARIABLE.passive.""",
    ),
    (
        "PATTERN A SLIDE 5 s",
        """\
'SLIDE' cannot stand here (line 1, column 11)
  PATTERN A SLIDE 5 s
            ^^^^^
Something is missing before it; as a name it has to be quoted: "SLIDE".""",
    ),
    (
        "PATTERN A WITHIN 5 EVENTS EMIT ON CHANGE",
        """\
EMIT ON CHANGE goes with a WITHIN of time that has no SLIDE (line 1, column 27)
  PATTERN A WITHIN 5 EVENTS EMIT ON CHANGE
                            ^^^^^^^^^^^^^^
Leave out either SLIDE or EMIT ON CHANGE.""",
    ),
    (
        "PATTERN A HAVING b[i].x > 3",
        """\
An index has no meaning in HAVING (line 1, column 18)
  PATTERN A HAVING b[i].x > 3
                   ^^^^^^
HAVING speaks of aggregates, aliases and group attributes.""",
    ),
    (
        "PATTERN A WHERE 'a'",
        """\
This is a value, not a condition (line 1, column 17)
  PATTERN A WHERE 'a'
                  ^^^
Compare it with something.""",
    ),
    (
        "RETURN LOG2(LOG2(COUNT(*))) PATTERN A",
        """\
LOG2 cannot stand like this (line 1, column 13)
  RETURN LOG2(LOG2(COUNT(*))) PATTERN A
              ^^^^^^^^^^^^^^
Write it as in LOG2(COUNT(*)).""",
    ),
    (
        "PATTERN A HAVING MEDIAN(A.x) > 1",
        """\
MEDIAN is not offered (line 1, column 18)
  PATTERN A HAVING MEDIAN(A.x) > 1
                   ^^^^^^
Aggregates are COUNT, SUM, MIN, MAX, AVG, VARIANCE, STDDEV; to compute others, list the trends \
(tl.trends, without RETURN).""",
    ),
    (
        "-- only a comment",
        """\
The query has no PATTERN (line 1, column 1)
  -- only a comment
  ^
Say what to match, as in PATTERN SEQ(A a, B b+).""",
    ),
    (
        "PATTERN A @",
        """\
'@' cannot stand here (line 1, column 11)
  PATTERN A @
            ^
Leave it out; names with such characters stand in double quotes, values in single ones.""",
    ),
    (
        "PATTERN A WHERE A.x::int = 3",
        """\
':' cannot stand here (line 1, column 20)
  PATTERN A WHERE A.x::int = 3
                     ^
Leave it out; names with such characters stand in double quotes, values in single ones.""",
    ),
    (
        "RETURN COUNT(*) PATTERN A+ LIMIT 10",
        """\
There is no LIMIT here (line 1, column 28)
  RETURN COUNT(*) PATTERN A+ LIMIT 10
                             ^^^^^
All rows are returned; HAVING chooses among them, and limit= (--limit) bounds a listing of trends.\
""",
    ),
    (
        "RETURN k PATTERN A+ GROUP-BY k ORDER BY k DESC",
        """\
There is no ORDER BY here (line 1, column 32)
  RETURN k PATTERN A+ GROUP-BY k ORDER BY k DESC
                                 ^^^^^
Rows come by window and group; sort the result, as in result.to_pandas().sort_values(…).""",
    ),
    (
        "RETURN COUNT(*) PATTERN A PARTITION BY k",
        """\
There is no PARTITION BY here (line 1, column 27)
  RETURN COUNT(*) PATTERN A PARTITION BY k
                            ^^^^^^^^^
Write WHERE [attribute] so that all events of a trend agree on it, and GROUP-BY attribute for a \
row of each value.""",
    ),
    (
        "PATTERN A WITHIN 10 m",
        """\
'm' could be minutes or months (line 1, column 21)
  PATTERN A WITHIN 10 m
                      ^
Write 10 min or 10 minutes. Months and years differ in length; write days or weeks, as in 30 days.\
""",
    ),
    (
        "PATTERN A WITHIN 2 months",
        """\
The unit 'months' is not offered (line 1, column 20)
  PATTERN A WITHIN 2 months
                     ^^^^^^
Months and years differ in length; write days or weeks, as in 30 days.""",
    ),
    (
        "PATTERN A+ WHERE A.x > PREV(A).x",
        """\
PREV is not offered (line 1, column 24)
  PATTERN A+ WHERE A.x > PREV(A).x
                         ^^^^
The later one of two neighbours stands under NEXT: write A.x < NEXT(A).x for PREV(A).x < A.x.""",
    ),
    (
        "PATTERN A+ WHERE A.x > PREV(A.x)",
        """\
PREV is not offered (line 1, column 24)
  PATTERN A+ WHERE A.x > PREV(A.x)
                         ^^^^
The later one of two neighbours stands under NEXT: write A.x < NEXT(A).x for PREV(A).x < A.x.""",
    ),
    (
        "RETURN LAST(A).x PATTERN A+",
        """\
LAST is not offered (line 1, column 8)
  RETURN LAST(A).x PATTERN A+
         ^^^^
Give the last event a variable of its own, as in SEQ(A a, A+ b) or SEQ(A+ a, A b), and compare \
with that.""",
    ),
    (
        "PATTERN A WHERE A.heart rate > 3",
        """\
The word rate stands without a variable (line 1, column 25)
  PATTERN A WHERE A.heart rate > 3
                          ^^^^
A name with a blank in it stands in double quotes: A."heart rate".""",
    ),
    (
        "RETURN AVG(A.heart rate) PATTERN A",
        """\
'rate' cannot stand here (line 1, column 20)
  RETURN AVG(A.heart rate) PATTERN A
                     ^^^^
Between two names stands a comma; a name with a blank in it stands in double quotes: "heart rate".\
""",
    ),
    (
        "PATTERN SEQ('A', B)",
        """\
'A' is a string, not a name (line 1, column 13)
  PATTERN SEQ('A', B)
              ^^^
Names stand in double quotes: "A".""",
    ),
    (
        "PATTERN A WHERE A.x > ٣",
        """\
'٣' cannot stand here (line 1, column 23)
  PATTERN A WHERE A.x > ٣
                        ^
Write numbers with the digits 0 to 9.""",
    ),
]


@pytest.mark.parametrize(("text", "message"), SYNTAX, ids=[text for text, _ in SYNTAX])
def test_syntax(text: str, message: str) -> None:
    assert refusal(text) == message


# Each of these messages ends with what conditions offer.
CONDITIONS = [
    (
        "PATTERN A WHERE A.x >",
        """\
Something is missing at > (line 1, column 21)
  PATTERN A WHERE A.x >
                      ^""",
    ),
    (
        "PATTERN A WHERE A.x > > 3",
        """\
This form of condition is not offered (line 1, column 17)
  PATTERN A WHERE A.x > > 3
                  ^^^""",
    ),
    (
        "PATTERN A WHERE A.x IN",
        """\
IN needs a list, as in IN (1, 2) (line 1, column 17)
  PATTERN A WHERE A.x IN
                  ^^^""",
    ),
    (
        "PATTERN A WHERE A.x IN ()",
        """\
IN needs a list, as in IN (1, 2) (line 1, column 17)
  PATTERN A WHERE A.x IN ()
                  ^^^""",
    ),
    (
        "PATTERN A WHERE A.x A.y",
        """\
This condition breaks at A.y (line 1, column 21)
  PATTERN A WHERE A.x A.y
                      ^^^""",
    ),
    (
        "PATTERN A WHERE A.x BETWEEN 3 AND",
        """\
Something is missing at AND (line 1, column 31)
  PATTERN A WHERE A.x BETWEEN 3 AND
                                ^^^""",
    ),
    (
        "PATTERN A WHERE AND A.x = 3",
        """\
'AND' cannot stand here (line 1, column 17)
  PATTERN A WHERE AND A.x = 3
                  ^^^""",
    ),
    (
        "PATTERN A WHERE A.x = (SELECT 1)",
        """\
SELECT is not offered (line 1, column 24)
  PATTERN A WHERE A.x = (SELECT 1)
                         ^^^^^^""",
    ),
    (
        "PATTERN A WHERE CASE WHEN A.x THEN 1 END",
        """\
CASE is not offered (line 1, column 17)
  PATTERN A WHERE CASE WHEN A.x THEN 1 END
                  ^^^^""",
    ),
    (
        "PATTERN A WHERE CAST(A.x AS int) = 3",
        """\
'AS' cannot stand here (line 1, column 26)
  PATTERN A WHERE CAST(A.x AS int) = 3
                           ^^""",
    ),
    (
        "PATTERN A WHERE SQRT(A.x) = 3",
        """\
SQRT is not offered (line 1, column 17)
  PATTERN A WHERE SQRT(A.x) = 3
                  ^^^^""",
    ),
    (
        "PATTERN A WHERE LENGTH(A.x) > 3",
        """\
LENGTH is the number of events of a trend, LENGTH(*), and nothing else (line 1, column 24)
  PATTERN A WHERE LENGTH(A.x) > 3
                         ^^^""",
    ),
    (
        "PATTERN A WHERE * > 3",
        """\
A * stands where a value should (line 1, column 17)
  PATTERN A WHERE * > 3
                  ^^^^^""",
    ),
    (
        "PATTERN A WHERE ABS(A.x, 3) = 1",
        """\
This condition breaks at ) (line 1, column 27)
  PATTERN A WHERE ABS(A.x, 3) = 1
                            ^""",
    ),
    (
        "PATTERN A WHERE ([a]) AND A.x = 1",
        """\
'[' cannot stand here (line 1, column 18)
  PATTERN A WHERE ([a]) AND A.x = 1
                   ^""",
    ),
    (
        "PATTERN A WHERE ROW_NUMBER() OVER (ORDER BY A.x) = 1",
        """\
ROW_NUMBER is not offered (line 1, column 17)
  PATTERN A WHERE ROW_NUMBER() OVER (ORDER BY A.x) = 1
                  ^^^^^^^^^^""",
    ),
    (
        "PATTERN A WHERE A.x LIKE 'a' ESCAPE 'b'",
        """\
ESCAPE is not offered (line 1, column 30)
  PATTERN A WHERE A.x LIKE 'a' ESCAPE 'b'
                               ^^^^^^""",
    ),
    (
        "PATTERN A WHERE A.x || 'b' = 'ab'",
        """\
'|' cannot stand here (line 1, column 21)
  PATTERN A WHERE A.x || 'b' = 'ab'
                      ^""",
    ),
    (
        "PATTERN A WHERE A.x IS 3",
        """\
IS goes with NULL, TRUE or FALSE (line 1, column 17)
  PATTERN A WHERE A.x IS 3
                  ^^^""",
    ),
    (
        "PATTERN A WHERE 'a' 'b' = A.x",
        """\
This form of condition is not offered (line 1, column 17)
  PATTERN A WHERE 'a' 'b' = A.x
                  ^^^^^^^^^^^^^""",
    ),
    (
        "PATTERN A WHERE A.x = 3,",
        """\
',' cannot stand here (line 1, column 24)
  PATTERN A WHERE A.x = 3,
                         ^""",
    ),
    (
        "PATTERN A WHERE NOT",
        """\
Something is missing at NOT (line 1, column 17)
  PATTERN A WHERE NOT
                  ^^^""",
    ),
    (
        "PATTERN A WHERE (A.x, A.y) = (1, 2)",
        """\
This form of condition is not offered (line 1, column 17)
  PATTERN A WHERE (A.x, A.y) = (1, 2)
                  ^^^^^^^^^^^^^^^^^^^""",
    ),
    (
        "PATTERN A WHERE ROUND(A.x, 1, 2) = 1",
        """\
ROUND takes a value and a number of decimals (line 1, column 23)
  PATTERN A WHERE ROUND(A.x, 1, 2) = 1
                        ^^^""",
    ),
]


@pytest.mark.parametrize(("text", "message"), CONDITIONS, ids=[text for text, _ in CONDITIONS])
def test_conditions(text: str, message: str) -> None:
    assert refusal(text) == f"{message}\n{OFFERED}"


MEANING = [
    (
        "PATTERN Stock S+ WITHIN 0 s",
        """\
WITHIN must be more than zero (line 1, column 25)
  PATTERN Stock S+ WITHIN 0 s
                          ^^^
Write a number and a unit, as in 500 ms, 10 seconds, 1.5 hours or 100 EVENTS.""",
    ),
    (
        "PATTERN Stock S+ WITHIN 10 s SLIDE -1 s",
        """\
SLIDE must be more than zero (line 1, column 36)
  PATTERN Stock S+ WITHIN 10 s SLIDE -1 s
                                     ^^^^
Write a number and a unit, as in 500 ms, 10 seconds, 1.5 hours or 100 EVENTS.""",
    ),
    (
        "PATTERN Stock S+ WITHIN 1.5 EVENTS SLIDE 1 EVENTS",
        """\
WITHIN must be a whole number of EVENTS (line 1, column 25)
  PATTERN Stock S+ WITHIN 1.5 EVENTS SLIDE 1 EVENTS
                          ^^^^^^^^^^
Write a number and a unit, as in 500 ms, 10 seconds, 1.5 hours or 100 EVENTS.""",
    ),
]


@pytest.mark.parametrize(("text", "message"), MEANING, ids=[text for text, _ in MEANING])
def test_meaning(text: str, message: str) -> None:
    with pytest.raises(QueryMeaningError) as caught:
        parse(text)

    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_empty_text(text: str) -> None:
    assert refusal(text) == (
        "The query is empty\nWrite at least a PATTERN, as in RETURN COUNT(*) PATTERN Stock S+."
    )


@pytest.mark.parametrize("clause", ["ORDER BY n", "LIMIT 5", "PARTITION BY n", "FROM events"])
@pytest.mark.parametrize(
    "query",
    [
        "RETURN COUNT(*) AS n PATTERN A",
        "PATTERN A a+",
        "PATTERN A SEMANTICS contiguous",
        "PATTERN A WHERE [k]",
        "PATTERN A WHERE A.x > 3",
        "PATTERN A GROUP-BY k",
        "RETURN COUNT(*) AS n PATTERN A HAVING n > 3",
        "PATTERN A WITHIN 10 s",
    ],
)
def test_a_clause_of_sql_behind_any_clause(query: str, clause: str) -> None:
    word = clause.split()[0]
    message = refusal(f"{query} {clause}")
    assert message.startswith((f"There is no {word}", f"{word} is not offered"))


@pytest.mark.parametrize("word", ["limit", '"order"', "top", "define"])
def test_words_of_sql_are_names_where_names_stand(word: str) -> None:
    parse(f"RETURN COUNT(*) AS {word}, SUM({word}.x) PATTERN A {word}+ WHERE {word}.{word} > 3")


def test_a_long_line_is_shown_around_the_place() -> None:
    message = refusal("PATTERN A WHERE A.x IN (" + "1, " * 5_000 + "2 $ 3)")
    _, line, caret, _ = message.split("\n")
    assert len(line) < 320
    assert line[caret.index("^")] == "$"


def test_the_place_is_there_for_programs_too() -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse("PATTERN A\nWHERE A.kind = passive")

    error = caught.value
    assert (error.line, error.column) == (2, 16)
    assert error.place is not None
    assert error.text[error.place.start : error.place.end] == "passive"
