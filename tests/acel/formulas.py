"""Drawing formulas that have a meaning, and streams for them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from trendloom.acel import check, denote, stream
from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.events import MOMENT, NUMBER, TEXT

if TYPE_CHECKING:
    from trendloom.acel import Formula, Stream

MANY = {"x": NUMBER, "w": TEXT, "d": MOMENT}
SCHEMA = {"A": MANY, "B": {"x": NUMBER}, "C": MANY}
TYPES = sorted(SCHEMA)
VARIABLES = ["A", "B", "X", "Y"]
PAIRS = ["or", "and", ";", ";;", ":"]
KINDS = ["as", "filter", "pair filter", *PAIRS, "+", ":+", "project", "attributes", "agg", "agg"]

numbers = st.one_of(st.none(), st.integers(0, 3), st.sampled_from([0.1, 0.2, 0.3, 2.5]))
DAYS = [date(2024, 1, 31), date(2024, 2, 1), datetime(2024, 1, 31, 12)]
# The first day again, and an instant before it.
ZONED = [datetime(2024, 1, 31, 1, tzinfo=timezone(timedelta(hours=1)))]
ZONED += [datetime(2024, 1, 30, 23, 59, 59, 999999, UTC)]
moments = st.sampled_from([None, *DAYS, *ZONED])
rows = st.builds(
    lambda word, x, w, d: {
        "type": word,
        **{k: v for k, v in (("x", x), ("w", w), ("d", d)) if k in SCHEMA[word]},
    },
    st.sampled_from(TYPES),
    numbers,
    st.sampled_from([None, "a", "b"]),
    moments,
)
streams: st.SearchStrategy[Stream] = (
    st.sampled_from((5, 6, 4, 3, 2, 1, 0))
    .flatmap(lambda size: st.lists(rows, min_size=size, max_size=size))
    .map(lambda drawn: stream(drawn, SCHEMA))
)

NUMBERS = [
    lambda term: on.Call("ABS", (term,)),
    lambda term: on.Call("ROUND", (term,)),
    lambda term: on.Call("ROUND", (term, on.Literally(1))),
    lambda term: on.Call("COALESCE", (term, on.Literally(None), on.Literally(1))),
]
WORDS = [
    lambda term: on.Call("UPPER", (term,)),
    lambda term: on.Call("LOWER", (term,)),
    lambda term: on.Call("COALESCE", (term, on.Literally("a"))),
]


def _pair_condition(
    draw: st.DrawFn, bound: dict[str, dict[str, frozenset[str]]], left: str, right: str, last: bool
) -> on.Condition:
    """Between an attribute of each, of one kind; or on one of them alone."""
    name = draw(st.sampled_from(sorted(bound[left])))
    kind = bound[left][name]
    one: on.Term = on.Attribute(name, variable=left, last=last)
    alike = sorted(other for other in bound[right] if bound[right][other] == kind)
    literal = {NUMBER: 1, TEXT: "a", MOMENT: DAYS[0]}[next(iter(kind))]
    other: on.Term = on.Literally(literal)
    if alike:
        other = on.Attribute(draw(st.sampled_from(alike)), variable=right)
    if kind == {NUMBER} and draw(st.booleans()):
        one = on.Arithmetic(draw(st.sampled_from("+-*/")), one, other)
    sign = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
    made: on.Condition = on.Comparison(sign, one, other)
    match draw(st.integers(0, 3)):
        case 0:
            made = on.Not(made)
        case 1:
            made = on.Any(made, on.IsNull(one))
    return made


def _condition(draw: st.DrawFn, attributes: dict[str, frozenset[str]]) -> object:
    name = draw(st.sampled_from(sorted(attributes)))
    if draw(st.integers(0, 3)) == 0:
        return on.BagCondition(draw(st.sampled_from(["same", "increasing", "decreasing"])), name)
    term: on.Term = on.Attribute(name)
    if attributes[name] == {NUMBER}:
        value: object = draw(st.integers(0, 3))
        if draw(st.booleans()):
            term = on.Arithmetic(draw(st.sampled_from("+-*/%")), term, on.Literally(2))
        if draw(st.booleans()):
            term = draw(st.sampled_from(NUMBERS))(on.Arithmetic("-", term, on.Literally(1.5)))
    elif attributes[name] == {MOMENT}:
        value = draw(st.sampled_from(DAYS))
        if draw(st.booleans()):
            term = on.Call("COALESCE", (term, on.Literally(draw(moments))))
    else:
        value = draw(st.sampled_from(["a", "b", "A"]))
        if draw(st.booleans()):
            term = draw(st.sampled_from(WORDS))(term)
    sign = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
    made: on.Condition = on.Comparison(sign, term, on.Literally(value))
    if isinstance(value, str) and draw(st.booleans()):
        made = on.Like(term, on.Literally(draw(st.sampled_from(["a", "_", "%B", "a%", ""]))))
    match draw(st.integers(0, 5)):
        case 0:
            made = on.Not(made)
        case 1:
            made = on.Any(made, on.IsNull(on.Attribute(name)))
        case 2:
            made = on.All(on.Not(on.IsNull(term)), made)
        case 3:
            made = on.Any(made, on.Not(on.Comparison(sign, term, on.Literally(None))))
    return made


@st.composite
def formulas(draw: st.DrawFn, depth: int = 5) -> Formula:
    """A formula of at most this depth that `check` takes."""
    if depth == 1 or draw(st.integers(0, 9)) == 0:
        word = draw(st.sampled_from(TYPES))
        return n.Next(word) if draw(st.integers(0, 5)) == 0 else n.OneEvent(word)
    kind = draw(st.sampled_from(KINDS))
    inner = draw(formulas(depth - 1))
    if kind in PAIRS:
        other = inner if kind == "and" and draw(st.booleans()) else draw(formulas(depth - 1))
        node = {"or": n.Or, "and": n.And, ":": n.Contiguous}.get(kind, n.Sequence)
        return node(inner, other)
    bound = check(inner, SCHEMA)
    if kind == "as":
        return n.As(inner, draw(st.sampled_from(VARIABLES)))
    readable = {
        name: {k: v for k, v in attributes.items() if len(v) == 1}
        for name, attributes in bound.items()
    }
    readable = {name: attributes for name, attributes in readable.items() if attributes}
    if not readable:
        return inner
    variable = draw(st.sampled_from(sorted(readable)))
    attributes = sorted(readable[variable])
    match kind:
        case "+":
            return n.Iteration(inner)
        case ":+":
            return n.ContiguousIteration(inner)
        case "filter":
            return n.Filter(inner, variable, _condition(draw, readable[variable]))
        case "pair filter":
            last = draw(st.booleans())
            other = draw(st.sampled_from(sorted(readable)))
            if other == variable and not last:
                return inner
            condition = _pair_condition(draw, readable, variable, other, last)
            return n.PairFilter(inner, variable, other, condition, last)
        case "project":
            some = draw(st.sets(st.sampled_from(sorted(bound)), min_size=1))
            return n.Project(inner, tuple(sorted(some)))
        case "attributes":
            kept = draw(st.sets(st.sampled_from(attributes), min_size=1))
            return n.ProjectAttributes(inner, variable, tuple(sorted(kept)))
    source = draw(st.sampled_from(attributes))
    (kind_read,) = readable[variable][source]
    number = kind_read == NUMBER
    functions = ["COUNT", "MIN", "MAX"] + ["SUM", "PROD", "AVG", "RANGE"] * number
    function = draw(st.sampled_from(functions))
    # `n` is always a number, `t` a text and `m` a moment, so that formulas around can read them.
    gives = "n" if number or function == "COUNT" else {TEXT: "t", MOMENT: "m"}[kind_read]
    assigns = [n.Assign(gives, function, variable, source)]
    if draw(st.booleans()):
        assigns.append(n.Assign("k", "COUNT", variable, source))
    return n.Aggregation(inner, draw(st.sampled_from(VARIABLES)), tuple(assigns))


WITNESS = stream(
    [
        {
            "type": word,
            **{k: v for k, v in (("x", x), ("w", w), ("d", DAYS[x % 2])) if k in SCHEMA[word]},
        }
        for word, x, w in zip("ABCABCA", (0, 1, 2, 1, 2, 3, 2), "ababaab", strict=True)
    ],
    SCHEMA,
)


@st.composite
def likely(draw: st.DrawFn, depth: int = 5) -> Formula:
    """A formula that mostly has complex events: of several drawn, the first with some here."""
    for _ in range(5):
        formula = draw(formulas(depth))
        if len(denote(formula, WITNESS)) > 2:
            break
    return formula
