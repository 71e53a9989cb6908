"""Variables for unnamed events, and names that may not be shared."""

from __future__ import annotations

import pytest

from trendloom.errors import QueryMeaningError
from trendloom.language import name_variables, parse, to_text


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("A+", "A A+"),
        ("SEQ(A, B)", "SEQ(A A, B B)"),
        ("SEQ(A+, B, A)", "SEQ(A A1+, B B, A A2)"),
        ("SEQ(A x, A)", "SEQ(A x, A A1)"),
        ("SEQ(A, A A1, A)", "SEQ(A A2, A A1, A A3)"),
        ("SEQ(A, NOT A, B)", "SEQ(A A1, NOT A A2, B B)"),
        ("SEQ(A, A, A1)", "SEQ(A A2, A A3, A1 A1)"),
        ("A OR A", "A A1 OR A A2"),
        ("A x OR SEQ(A x, B)", "A x OR SEQ(A x, B B)"),
        ("SEQ(A x OR A x, B)", "SEQ(A x OR A x, B B)"),
        ('"my type"+', '"my type" "my type"+'),
    ],
)
def test_unnamed_events_get_names(pattern: str, named: str) -> None:
    query = name_variables(parse(f"PATTERN {pattern}"))

    assert to_text(query.pattern) == named
    assert parse(to_text(query)) == query
    assert name_variables(query) == query


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "SEQ(A x, B x)",
            """\
The variable x is used twice (line 1, column 18)
  PATTERN SEQ(A x, B x)
                   ^^^
Only the branches of an OR may share a variable; give this event another name.""",
        ),
        (
            "SEQ(A x, NOT A x, B)",
            """\
The variable x is used twice (line 1, column 22)
  PATTERN SEQ(A x, NOT A x, B)
                       ^^^
Only the branches of an OR may share a variable; give this event another name.""",
        ),
        (
            "SEQ(A x OR B, A x)",
            """\
The variable x is used twice (line 1, column 23)
  PATTERN SEQ(A x OR B, A x)
                        ^^^
Only the branches of an OR may share a variable; give this event another name.""",
        ),
        (
            "A x AND A x",
            """\
The variable x is used twice (line 1, column 17)
  PATTERN A x AND A x
                  ^^^
Only the branches of an OR may share a variable; give this event another name.""",
        ),
        (
            "SEQ(A B, B)",
            """\
The variable B is used twice (line 1, column 18)
  PATTERN SEQ(A B, B)
                   ^
Only the branches of an OR may share a variable; give this event another name.""",
        ),
        (
            "A x OR B x",
            """\
The variable x stands for A and for B (line 1, column 16)
  PATTERN A x OR B x
                 ^^^
The branches of an OR may share a variable of one type only; give this event another name.""",
        ),
    ],
)
def test_a_name_for_two_things_is_refused(pattern: str, message: str) -> None:
    query = parse(f"PATTERN {pattern}")

    with pytest.raises(QueryMeaningError) as caught:
        name_variables(query)

    assert str(caught.value) == message
