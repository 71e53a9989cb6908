"""Every example parses, finds its columns and types in its stream, and runs as the oracle does."""

import pyarrow as pa
import pytest

from examples.catalogue import (
    EXAMPLES,
    LISTINGS,
    OPTIONS,
    ROOT,
    options_of,
    table_of,
    text_of,
)
from trendloom.api import run
from trendloom.api import trends as list_trends
from trendloom.errors import QueryMeaningError
from trendloom.language import (
    Aggregate,
    Equivalence,
    GroupKey,
    Query,
    Values,
    events_of,
    name_variables,
    parse,
    to_text,
)
from trendloom.language.expressions import references
from trendloom.testing import naive, same_rows, trends

every_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one["query"])


def attributes_of(query: Query) -> set[str]:
    """Every attribute that the query reads from the stream."""
    found = {key.attribute for key in query.group_by}
    for part in query.where:
        if isinstance(part, Equivalence):
            found.update(part.attributes)
        else:
            found.update(mention.attribute for mention in references(part.tree))
    for item in query.returns:
        match item.value:
            case Aggregate(argument=Values(attribute=attribute)) | GroupKey(attribute=attribute):
                found.add(attribute)
    return found


def command_of(example: dict[str, str]) -> str:
    command = "trends" if example["query"] in LISTINGS else "run"
    words = [f"trendloom {command} examples/{example['query']} --input examples/{example['input']}"]
    words.append(f"--time {example['time']}")
    words += [f"--type {example['type']}"] if "type" in example else []
    words += [f"--event-type {example['event_type']}"] if "event_type" in example else []
    words += [f"--tick {example['tick']}"] if example.get("tick", "s") != "s" else []
    return " ".join(words)


def test_nothing_is_forgotten() -> None:
    queries = {str(path.relative_to(ROOT)) for path in ROOT.glob("*/*.tq")}
    streams = {str(path.relative_to(ROOT)) for path in ROOT.glob("streams/*.csv")}
    assert sorted(example["query"] for example in EXAMPLES) == sorted(queries)
    assert {example["input"] for example in EXAMPLES} == streams


@every_example
def test_it_parses_and_prints(example: dict[str, str]) -> None:
    query = parse(text_of(example))
    assert parse(to_text(query)) == query
    name_variables(query)


@every_example
def test_it_says_what_it_asks(example: dict[str, str]) -> None:
    text = text_of(example)
    assert text.startswith("-- ")
    assert f"-- Runs on {example['input']}." in text.splitlines()
    readme = (ROOT / "README.md").read_text()
    assert f"[{example['query']}]({example['query']})" in readme
    assert f"`{command_of(example)}`" in readme


@every_example
def test_its_stream_has_what_it_reads(example: dict[str, str]) -> None:
    assert set(example) <= {"query", "input", *OPTIONS}
    assert ("type" in example) != ("event_type" in example)
    table, query = table_of(example), parse(text_of(example))
    assert attributes_of(query) <= set(table.column_names)

    moments = table[example["time"]]
    assert moments.null_count == 0
    assert moments.to_pylist() == sorted(moments.to_pylist())
    assert pa.types.is_integer(moments.type) == ("tick" in example)

    wanted = {event.type for event in events_of(query.pattern)}
    if "event_type" in example:
        assert wanted == {example["event_type"]}
    else:
        assert wanted <= set(table[example["type"]].to_pylist())


@every_example
def test_it_returns_rows(example: dict[str, str]) -> None:
    text, rows = text_of(example), table_of(example).to_pylist()
    find = naive if parse(text).returns else trends
    assert find(text, rows, **options_of(example))


@every_example
def test_it_runs_and_equals_the_oracle(example: dict[str, str]) -> None:
    text, options = text_of(example), options_of(example)
    if example["query"] in LISTINGS:
        with pytest.raises(QueryMeaningError, match="no RETURN clause"):
            run(text, table_of(example), **options)
        listed = list_trends(text, str(ROOT / example["input"]), **options).rows()
        complete = trends(text, table_of(example).to_pylist(), complete=True, **options)
        assert listed
        found = [
            (
                row["window_start"],
                row["window_end"],
                *zip(row["events"], row["variables"], strict=True),
            )
            for row in listed
        ]
        expected = [(*trend.window, *trend.elements) for trend in complete]
        assert sorted(found, key=repr) == sorted(expected, key=repr)
        return
    result = run(text, str(ROOT / example["input"]), **options)
    expected = naive(text, table_of(example).to_pylist(), **options)
    # In order, one by one: a query need not return all that it groups by.
    assert len(result) == len(expected)
    for one, other in zip(expected, result.rows(), strict=True):
        assert same_rows([one], [other]) is None


def test_queries_without_return_are_listings() -> None:
    without = {one["query"] for one in EXAMPLES if not parse(text_of(one)).returns}
    assert set(LISTINGS) == without


@pytest.mark.parametrize(("semantics", "count"), [("any", 43), ("next", 8), ("contiguous", 2)])
def test_the_worked_example(semantics: str, count: int) -> None:
    query = f"cogra/figure2-{semantics}.tq"
    example = next(one for one in EXAMPLES if one["query"] == query)
    rows = naive(text_of(example), table_of(example).to_pylist(), **options_of(example))
    assert [row["COUNT(*)"] for row in rows] == [count]
    rows = run(text_of(example), table_of(example), **options_of(example)).rows()
    assert [row["COUNT(*)"] for row in rows] == [count]
