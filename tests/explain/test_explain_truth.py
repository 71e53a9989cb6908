"""What is explained is what happens: compared with the engine, and with results."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from explain_queries import QUERIES
from hypothesis import HealthCheck, assume, given, settings

from trendloom import api
from trendloom.engine.layout import Numbers
from trendloom.engine.live.entries import Entries
from trendloom.engine.live.live import Live
from trendloom.engine.live.mode import Mode, check_streamable
from trendloom.engine.map_shapes import shapes_of
from trendloom.engine.maps import MAX_PANES, mappable, pane_length
from trendloom.engine.one_order import OneOrder
from trendloom.engine.partial import can_split
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting
from trendloom.errors import QueryMeaningError, TrendloomError
from trendloom.language import events_of, name_variables, parse, to_text
from trendloom.language.nodes import Query, Semantics
from trendloom.plan import distribution
from trendloom.plan.explaining.facts import gather
from trendloom.plan.explaining.wording import _negated, canonical, guard_texts, step_texts
from trendloom.plan.plan import Plan, WindowStrategy
from trendloom.plan.planner import plan
from trendloom.plan.shape import conjuncts_of
from trendloom.testing.strategies import queries

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.tq"))
TEXTS = [*QUERIES.values(), *(t for p in EXAMPLES if "RETURN" in (t := p.read_text()))]

relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def engine_agrees(planned: Plan) -> None:
    facts = gather(planned)
    run = Run(setting_of(planned))
    assert [part.algorithm for part in facts.parts] == [
        "fold" if one.folds else "step" if one.steps else "rank" if one.ranks else "route"
        for one in run.evaluators
    ]
    assert facts.cost.streams == run.streams
    for part, evaluator in zip(facts.parts, run.evaluators, strict=True):
        order = OneOrder.of(evaluator.part, evaluator.semantics)
        on_a_stack = order is not None and evaluator.semantics is Semantics.NEXT
        assert any("stack" in words for words in part.time) == on_a_stack
        assert bool(part.because) == (part.algorithm != "fold")
        assert part.threads.cuts_time == evaluator.folds
        assert (part.threads.because is None) == part.threads.cuts_time
    keyed = bool(planned.scan.partition)
    assert (facts.order.in_order_of_time is not None) == (run.streams and keyed)
    reparsed = parse(facts.query)
    assert name_variables(reparsed) == planned.query


def setting_of(planned: Plan, numbers: Numbers = Numbers.AUTO) -> Setting:
    """Of integers; a tick is a nanosecond."""
    types = [pa.int64()] * len(planned.scan.operands)
    return Setting(planned, types, [pa.int64()] * len(planned.scan.partition), 1, numbers)


def spark_agrees(planned: Plan) -> None:
    """What travels and what is kept, as the engine decides it."""
    told, setting = gather(planned).spark, setting_of(planned)
    combines = mappable(setting)
    assert distribution.can_combine(planned) == combines
    assert told.dataframe.plan == ("combine" if combines else "exchange")
    in_files = combines and not distribution.has_joints(planned)
    assert told.parquet.then == ("combine" if in_files else "exchange")
    assert bool(told.dataframe.because) == (not combines)
    assert mappable(setting_of(planned, Numbers.EXACT)) == combines
    if planned.strategy is WindowStrategy.SLIDING:
        length = distribution.pane_length(planned)
        assert length is not None
        assert length.nanoseconds == pane_length(setting.windows)
    if combines:
        for part, evaluator in zip(planned.all_parts, setting.evaluators(), strict=True):
            size = distribution.map_size(planned, part)
            for shape in shapes_of(evaluator):
                assert shape is None or (size.vectors, size.cells) == (shape.bases, shape.cells)
    whole = can_split(planned) or len(planned.scan.partition) == planned.plain_groups
    key = planned.scan.partition if whole else planned.scan.partition[: planned.plain_groups]
    assert distribution.exchange_key(planned) == key
    stream_agrees(planned, setting)


def stream_agrees(planned: Plan, setting: Setting) -> None:
    keeps = distribution.stream_keeps(planned)
    refused = gather(planned).spark.stream.refused
    if keeps is None:
        with pytest.raises(QueryMeaningError):
            check_streamable(planned)
        assert refused is not None
    else:
        assert keeps.value == Live(setting)._keeper.NAME
        by_value = Live(setting, Mode.UPDATE)._keeper.NAME == Entries.NAME
        assert distribution.arrives(planned) == by_value
        assert refused is None


def words_agree(planned: Plan) -> None:
    """Conditions and guards are those of the plan's numbers."""
    for part, pattern in zip(planned.parts, conjuncts_of(planned.query.pattern), strict=True):
        assert set(step_texts(planned, part)) == set(part.adjacent)
        assert len(guard_texts(planned, part)) == len(part.automaton.guards)
        for guard, body in zip(
            part.automaton.guards, dict.fromkeys(_negated(pattern)), strict=True
        ):
            assert set(guard.labels) == {event.variable for event in events_of(body)}
    if planned.overlap is not None:
        assert set(step_texts(planned, planned.overlap)) == set(planned.overlap.adjacent)
        assert all(step_texts(planned, planned.overlap).values())


@pytest.mark.parametrize("text", TEXTS)
def test_of_queries(text: str) -> None:
    planned = plan(parse(text))
    engine_agrees(planned)
    spark_agrees(planned)
    words_agree(planned)


@relaxed
@given(queries())
def test_of_any_query(query: Query) -> None:
    try:
        planned = plan(query)
    except TrendloomError:
        assume(False)
    engine_agrees(planned)
    spark_agrees(planned)
    words_agree(planned)
    assert planned.parts
    for format in ("text", "json", "mermaid"):  # noqa: A001
        api.TrendQuery(planned).explain(format)


@pytest.mark.parametrize(
    ("window", "length", "combines"),
    [
        (f"WITHIN {MAX_PANES} s SLIDE 1 s", "1 second", True),
        (f"WITHIN {MAX_PANES + 1} s SLIDE 1 s", "1 second", False),
        ("WITHIN 1 h SLIDE 25 min", "5 minutes", True),
        ("WITHIN 0.5 s SLIDE 0.2 s", "100 milliseconds", True),
        ("WITHIN 2 weeks SLIDE 1 week", "1 week", True),
    ],
)
def test_panes(window: str, length: str, combines: bool) -> None:
    planned = plan(parse(f"RETURN COUNT(*) PATTERN A+ {window}"))
    found = distribution.pane_length(planned)
    assert found is not None
    assert to_text(found) == length
    assert distribution.can_combine(planned) == combines
    spark_agrees(planned)


EVENTS = [
    {"time": time, "type": kind, "g": "k", "x": time % 3, "f": time / 2}
    for time, kind in enumerate("AABABB")
]


def kind_of(told: str, *, whole: bool) -> list[str]:
    """The Arrow types that an explained type allows."""
    if told == "as the time column":
        return ["int64"]
    if told.startswith("int64 or double"):
        return ["int64"] if whole else ["double"]
    named = {"as g": ["string", "large_string", "string_view"], "as x": ["int64"]}
    return named.get(told, ["double"] if told == "as f" else [told])


@pytest.mark.parametrize("semantics", ["skip-till-any-match", "skip-till-next-match", "contiguous"])
@pytest.mark.parametrize("pattern", ["SEQ(A, B)", "SEQ(A+, B)"])
@pytest.mark.parametrize(
    "window", ["", "WITHIN 4 s SLIDE 2 s", "WITHIN 3 s", "WITHIN 4 EVENTS SLIDE 2 EVENTS"]
)
def test_column_types(semantics: str, pattern: str, window: str) -> None:
    values = [
        f"{call}(A.{attribute})"
        for attribute in "xf"
        for call in ("COUNT", "SUM", "MIN", "MAX", "AVG", "VARIANCE", "STDDEV")
    ]
    values += ["SUM(DISTINCT A.x)", "SUM(DISTINCT A.f)", "COUNT(DISTINCT A)", "AVG(DISTINCT A.x)"]
    values += ["COUNT(*)", "COUNT(A)", "LOG2(COUNT(*))", "MIN(LENGTH(*))", "AVG(LENGTH(*))"]
    query = api.query(
        f"RETURN g, {', '.join(values)} PATTERN {pattern} SEMANTICS {semantics} GROUP-BY g {window}"
    )
    told = json.loads(query.explain("json"))["result"]["columns"]
    table: Any = api.run(query, EVENTS, time="time", type="type").to_arrow()
    assert [column["name"] for column in told] == table.column_names
    for column in told:
        found = str(table.schema.field(column["name"]).type)
        assert found in kind_of(column["type"], whole=".f" not in column["name"]), column["name"]


def test_hidden_columns_are_not_shown() -> None:
    told = api.query("RETURN COUNT(*) PATTERN A+ HAVING MAX(A.x) > 3")
    result = json.loads(told.explain("json"))["result"]
    assert [column["name"] for column in result["columns"]][2:] == ["COUNT(*)"]
    assert result["having"] == "MAX(A.x) > 3"


def test_canonical_text_names_only_what_needs_a_name() -> None:
    text = canonical(plan(parse("PATTERN SEQ(A+, A, B, Stock S) RETURN COUNT(*)")).query)
    assert text == "RETURN COUNT(*)\nPATTERN SEQ(A A1+, A A2, B, Stock S)"
