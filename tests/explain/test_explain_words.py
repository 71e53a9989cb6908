"""Explanations word for word, and their shape."""

import json
from pathlib import Path

import pytest
from explain_queries import GOLDEN, LISTINGS, QUERIES

from trendloom.api import query
from trendloom.cli.stories import FLIGHTS
from trendloom.errors import TrendloomError

EXAMPLES = Path(__file__).parents[2] / "examples"
KEYS = ["format", "query", "semantics", "scan", "order", "window", "parts", "cost", "result"]
KEYS += ["spark"]

every_query = pytest.mark.parametrize("name", QUERIES)


@every_query
def test_text(name: str) -> None:
    assert query(QUERIES[name]).explain() + "\n" == (GOLDEN / f"{name}.txt").read_text()


@every_query
def test_mermaid(name: str) -> None:
    drawn = query(QUERIES[name]).explain("mermaid")
    assert drawn + "\n" == (GOLDEN / f"{name}.mmd").read_text()


def test_json() -> None:
    told = json.loads(query(QUERIES["guards"]).explain("json"))
    assert told == json.loads((GOLDEN / "guards.json").read_text())


@every_query
def test_json_has_the_same_keys_for_every_query(name: str) -> None:
    told = json.loads(query(QUERIES[name]).explain("json"))
    kept = json.loads((GOLDEN / "guards.json").read_text())
    assert list(told) == KEYS
    for key in ("scan", "order", "window", "cost", "result", "spark"):
        assert list(told[key]) == list(kept[key])
    for key in ("dataframe", "parquet", "stream"):
        assert list(told["spark"][key]) == list(kept["spark"][key])
    assert {tuple(part) for part in told["parts"]} == {tuple(kept["parts"][0])}


def test_the_first_paragraph_is_a_summary() -> None:
    paragraphs = query(FLIGHTS).explain().split("\n\n")
    assert 5 <= len(paragraphs[0].splitlines()) <= 8
    assert len("\n\n".join(paragraphs).splitlines()) <= 48


def test_examples_fit_a_screen() -> None:
    for path in sorted(EXAMPLES.rglob("*.tq")):
        text = path.read_text()
        if "RETURN" in text:
            told = query(text).explain()
            assert len(told.splitlines()) <= 48, path
            assert len(told.split("\n\n")[0].splitlines()) <= 9, path


def test_large_automata_are_cut_short() -> None:
    large = query("RETURN COUNT(*) PATTERN (A OR B OR C){2,60}")
    assert "518 more arrows" in large.explain()
    assert len(large.explain().splitlines()) < 53
    drawn = large.explain("mermaid")
    assert drawn.count("-->") == 300
    assert "234 more arrows" in drawn
    assert len(json.loads(large.explain("json"))["parts"][0]["automaton"]["arrows"]) == 534


@pytest.mark.parametrize(
    ("format", "remedy"),
    [("mermade", "Did you mean 'mermaid'?"), ("svg", "Known: json, mermaid, text.")],
)
def test_unknown_format(format: str, remedy: str) -> None:  # noqa: A002
    with pytest.raises(TrendloomError) as refused:
        query(QUERIES["any"]).explain(format)
    assert str(refused.value) == f"Unknown format '{format}'.\n{remedy}"


@pytest.mark.parametrize("name", LISTINGS)
def test_listings(name: str) -> None:
    asked = query(LISTINGS[name])
    assert asked.explain() + "\n" == (GOLDEN / f"{name}.txt").read_text()
    assert json.loads(asked.explain("json"))["predecessors"] in name
    assert asked.explain("mermaid").startswith("flowchart")


def test_a_guard_is_not_blamed_for_what_distinct_needs() -> None:
    asked = "RETURN COUNT(DISTINCT A) PATTERN SEQ(A+, NOT C, B)"
    told = json.loads(query(asked).explain("json"))
    assert told["spark"]["dataframe"]["because"] == ["COUNT(DISTINCT A)"]
