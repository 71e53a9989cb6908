"""Automata denote what their formulas denote, on generated formulas and streams."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acel.formulas import SCHEMA, likely, streams
from against_oracle import count_found, examples
from trendloom.acel import (
    Event,
    Formula,
    Stream,
    acea,
    compile_formula,
    complex_events,
    denote,
    evaluate,
    stream,
    to_mermaid,
)
from trendloom.acel import conditions as on
from trendloom.acel.acea import Acea, reads
from trendloom.acel.cea import Cea, Marking, run_cea, with_registers
from trendloom.acel.events import NUMBER, TEXT
from trendloom.errors import LimitError


@examples(1000)
@given(likely(), st.lists(streams, min_size=4, max_size=4))
def test_the_automaton_is_the_definition(formula: Formula, several: list[Stream]) -> None:
    automaton = compile_formula(formula, SCHEMA)
    total = 0
    for over in several:
        expected = denote(formula, over)
        total += len(expected)
        assert evaluate(automaton, over) == expected
    count_found(total)
    check_shape(automaton)


def check_shape(automaton: Acea) -> None:
    """Nothing leads to the start or leaves the end; what leaves the start reads no register."""
    for one in automaton.transitions:
        assert one.target != Acea.START
        assert one.source != Acea.END
        if one.source == Acea.START:
            assert not any(reads(made) for _, made in one.assigns)


# ── automata without registers, Theorem 6.1 ──────────────────────────────────────────────────

markings = st.builds(
    Marking,
    st.integers(0, 2),
    st.integers(0, 2),
    st.sampled_from(
        [
            None,
            on.Comparison("=", on.Attribute("type"), on.Literally("A")),
            on.Comparison(">", on.Attribute("x"), on.Literally(1)),
        ]
    ),
    st.frozensets(st.sampled_from("XY")),
)
automata = st.builds(
    lambda drawn, final: Cea(tuple(drawn), 0, final),
    st.lists(markings, min_size=5, max_size=8),
    st.frozensets(st.integers(1, 2), min_size=1),
)


@examples(200)
@given(automata, streams)
def test_registers_can_do_what_marks_do(automaton: Cea, over: Stream) -> None:
    expected = run_cea(automaton, over)
    count_found(len(expected))
    assert evaluate(with_registers(automaton, SCHEMA), over) == expected


# ── worked examples ──────────────────────────────────────────────────────────────────────────

STOCKS = {word: {"name": TEXT, "price": NUMBER} for word in ("SELL", "BUY")}


def trades(text: str) -> Stream:
    """`MSFT101 INTL80`: sales, by name and price."""
    words = [(word.rstrip("0123456789"), word) for word in text.split()]
    rows = [
        {"type": "SELL", "name": name, "price": int(word.removeprefix(name))}
        for name, word in words
    ]
    return stream(rows, STOCKS)


EXAMPLE_3_2 = """
(SELL AS msft ; SELL AS intl ; SELL AS amzn)
  FILTER msft[name = 'MSFT' AND price > 100]
  FILTER intl[name = 'INTL']
  FILTER amzn[name = 'AMZN' AND price < 2000]
"""


def test_example_3_2() -> None:
    over = trades("MSFT101 MSFT99 INTL80 AMZN1900 AMZN2001")
    (found,) = evaluate(compile_formula(EXAMPLE_3_2, STOCKS), over)
    assert {found} == denote(EXAMPLE_3_2, over)
    times = {name: [event.time for event in found[name]] for name in ("msft", "intl", "amzn")}
    assert times == {"msft": [0], "intl": [2], "amzn": [3]}


def test_examples_5_1_and_6_3() -> None:
    """The highest price of a series between two sales, by formula and by an automaton by hand."""
    formula = """
    PROJECT[T](AGG[T(m = MAX(intl.price))](
      (SELL AS msft : SELL:+ AS intl : SELL AS amzn)
        FILTER msft[name = 'MSFT' AND price > 100]
        FILTER intl[name = 'INTL']
        FILTER amzn[name = 'AMZN' AND price < 2000]))
    """
    over = trades("MSFT101 INTL80 INTL82 INTL81 AMZN1900")
    by_formula = evaluate(compile_formula(formula, STOCKS), over)
    assert by_formula == denote(formula, over)
    (found,) = by_formula
    assert found["T"] == (Event(4, (("m", 82),)),)
    assert evaluate(highest_price(), over) == by_formula


def highest_price() -> Acea:
    """As drawn in the paper: m is set at the first sale, raised in the loop, put out at the end."""
    both = tuple((register, acea.Read(name)) for register, name in (("n", "name"), ("p", "price")))
    pair = acea.Renaming("", (("name", "n"), ("price", "p")))

    def step(source: int, target: int, name: str, made: acea.Expression) -> acea.Transition:
        named = on.Comparison("=", on.Attribute("name"), on.Literally(name))
        return acea.Transition(source, target, (*both, ("m", made)), (acea.Satisfies(named, pair),))

    kept = acea.Register("m")
    raised = acea.Combine("MAX", kept, acea.Lift("MAX", acea.Read("price")))
    last = step(3, 1, "AMZN", kept)
    output = (("T", (acea.Renaming("t", (("m", "m"),)),)),)
    return Acea(
        (
            step(0, 2, "MSFT", acea.Identity("MAX")),
            step(2, 3, "INTL", raised),
            step(3, 3, "INTL", raised),
            replace(last, outputs=output),
        )
    )


def test_example_5_2() -> None:
    """How long are rising series between two prices; only those longer than three."""
    formula = """
    AGG[T(quantity = COUNT(S.price))](SELL+ AS S
      FILTER S[price >= 100 AND price <= 2000]
      FILTER S[increasing(price)]) FILTER T[quantity > 3]
    """
    over = trades("M100 M120 M90 M140 M130 M160")
    found = evaluate(compile_formula(formula, STOCKS), over)
    assert found == denote(formula, over)
    assert sorted(tuple(e.get("price") for e in one["S"]) for one in found) == [
        (100, 120, 130, 160),
        (100, 120, 140, 160),
    ]
    assert {one["T"][0].get("quantity") for one in found} == {4}


def test_examples_6_1_and_6_2() -> None:
    """Expressions and assignments: the new values come from the old ones, all at once."""
    add = acea.Combine("SUM", acea.Register("a"), acea.Read("x"))
    swap = (("a", acea.Register("b")), ("b", add))
    start = acea.Transition(0, 2, (("a", acea.Read("x")), ("b", acea.Identity("SUM"))))
    output = (("Y", (acea.Renaming("y", (("a", "a"), ("b", "b"))),)),)
    automaton = Acea((start, acea.Transition(2, 1, swap, (), output)))
    over = stream([{"type": "A", "x": 3}, {"type": "A", "x": 4}])
    (found,) = evaluate(automaton, over)
    assert found["Y"] == (Event(1, (("a", 0), ("b", 7))),)


def test_what_no_formula_says() -> None:
    """An automaton may double a register at each step (§6), which no AGG does."""
    doubled = acea.Combine("SUM", acea.Register("r"), acea.Register("r"))
    output = (("Y", (acea.Renaming("y", (("b", "r"),)),)),)
    automaton = Acea(
        (
            acea.Transition(0, 2, (("r", acea.Lift("SUM", acea.Read("x"))),)),
            acea.Transition(2, 2, (("r", doubled),)),
            acea.Transition(2, 1, (("r", doubled),), (), output),
        )
    )
    found = evaluate(automaton, stream([{"type": "A", "x": 1}] * 5))
    assert {one["Y"][0].get("b") for one in found if one.start == 0} == {2, 4, 8, 16}


# ── set semantics, order of results, limits, pictures ────────────────────────────────────────


def test_results_come_at_their_end_and_once() -> None:
    """Seven runs, one complex event, when its last event has come."""
    automaton = compile_formula("PROJECT[A, C](A ; B+ ; C)", SCHEMA)
    over = stream([{"type": word} for word in "ABBBCC"], SCHEMA)
    found = list(complex_events(automaton, over.events))
    assert [(time, one.start, one.end) for time, one in found] == [(4, 0, 4), (5, 0, 5)]


def test_and_has_a_limit() -> None:
    side = "A"
    for _ in range(9):
        side = f"({side} OR {side})"
    with pytest.raises(LimitError, match="AND would need more than 100,000 transitions"):
        compile_formula(f"({side}) AND ({side})", SCHEMA)


PICTURE = """flowchart LR
  s0((" "))
  s1((("end")))
  s2(("2"))
  s0 -->|"if event.type = 'B'<br/>sum.4 := SUM(SUM(), event.x)<br/>B gets event(type, x)"| s2
  s2 -->|"any event"| s2
  s2 -->|"if event.type = 'B'<br/>sum.4 := SUM(sum.4, event.x)<br/>B gets event(type, x)<br/>\
Y gets (s: value of SUM(sum.4, event.x))"| s1"""


def test_its_picture() -> None:
    automaton = compile_formula("AGG[Y(s = SUM(B.x))](B ; B)", {"B": {"x": NUMBER}})
    assert to_mermaid(automaton) == PICTURE


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ("A+ FILTER A[increasing(x)]", "last.2, #123;event.x#125; increasing"),
        ("A FILTER A[w = 'a_b']", "if event.type = 'A' and event.w = 'a#95;b'<br/>A gets event"),
        (
            "AGG[Y(s = SUM(A.x))](A ; A) AND AGG[Y(s = SUM(A.x))](A ; A)",
            "(s: value of SUM(sum.4, event.x)) is (s: value of SUM(sum.10, event.x))",
        ),
        ("(A+ ; B+) FILTER A, B[A.x < B.x]", "A.x #60; event.x for every one of rows of A.5<br/>"),
        ("(A+ ; B+) FILTER A, B[A.x < B.x]", "rows of A.5 := rows of A.5 and (event.x)<br/>"),
        ("A+ FILTER LAST(A), A[LAST(A).x < A.x]", "LAST(A).x.2 #60; event.x<br/>LAST(A).x.2 :="),
    ],
)
def test_a_picture_says_what_a_step_does(formula: str, shown: str) -> None:
    kinds = {"x": NUMBER} if "w" not in formula else {"x": NUMBER, "w": TEXT}
    assert shown in to_mermaid(compile_formula(formula, {"A": kinds, "B": {"x": NUMBER}}))


def test_a_picture_is_not_endless() -> None:
    side = " OR ".join(["A"] * 25)
    picture = to_mermaid(compile_formula(f"({side}) AND ({side})", SCHEMA))
    assert picture.count("-->") == 400
    assert picture.endswith('more["… 225 more arrows"]')
