"""Automata as pictures."""

from trendloom.api import query
from trendloom.pattern.picture import guard_words, state_names, to_mermaid
from trendloom.plan.explaining.wording import drawing


def test_states_are_called_as_their_variables() -> None:
    planned = query("RETURN COUNT(*) PATTERN SEQ(A{1,2}, B)").plan
    assert state_names(planned.parts[0].automaton) == ("A·1", "A·2", "B")


def test_guards_that_do_not_matter_are_left_out() -> None:
    words = ["C", "D"]
    assert guard_words([(0b11, 0b11), (0b11, 0b01)], words) == ("NOT C",)
    assert guard_words([(0b1, 0b1), (0b1, 0b0)], words) == ()
    assert guard_words([(0b11, 0b10)], words) == ("C between and NOT D",)
    assert guard_words([(0b11, 0b01), (0b11, 0b10)], words) == (
        "NOT C and D between",
        "C between and NOT D",
    )


def test_names_cannot_break_the_diagram() -> None:
    drawn = query(
        'RETURN COUNT(*) PATTERN SEQ("end" "graph"+, "a-b" "x|"";<b>") '
        'WHERE "graph"."we_ird*" < NEXT("x|"";<b>")."#q"'
    ).explain("mermaid")
    assert '(("graph")):::kept' in drawn
    assert '((("x#124;#34;;#60;b#62;"))):::accept' in drawn
    for line in drawn.splitlines():
        assert line.count('"') in (0, 2)
        assert "<b>" not in line


def test_several_share_the_room() -> None:
    planned = query("RETURN COUNT(*) PATTERN (A OR B OR C){2,60}").plan
    one = drawing(planned, planned.parts[0])
    assert to_mermaid([one] * 3).count("-->") == 300


def test_long_conditions_are_cut_off_as_well() -> None:
    condition = " OR ".join(f"A.attribute_{k} < NEXT(A).attribute_{k}" for k in range(14))
    drawn = query(f"RETURN COUNT(*) PATTERN A{{1,200}} WHERE ({condition})").explain("mermaid")
    assert len(drawn) < 50_000
    assert "more arrows" in drawn
