"""The formulas under `examples/acel`: each with its stream and its results, by both ways; and the
queries of all examples as formulas."""

import csv
from pathlib import Path

import pytest

from trendloom.acel import Stream, compile_formula, denote, evaluate, parse, stream, to_text
from trendloom.acel.events import Value
from trendloom.acel.from_trends import translate
from trendloom.acel.nodes import walk
from trendloom.language import parse as parse_query

ROOT = Path(__file__).parents[2] / "examples" / "acel"
NAMES = [f"q{number}" for number in range(13, 22)]

each = pytest.mark.parametrize("name", NAMES)


def value_of(cell: str) -> Value:
    if not cell:
        return None
    return int(cell) if cell.lstrip("-").isdecimal() else cell


def read(name: str) -> tuple[str, Stream]:
    with (ROOT / f"{name}.csv").open(newline="") as file:
        rows = [{key: value_of(cell) for key, cell in row.items()} for row in csv.DictReader(file)]
    return (ROOT / f"{name}.acel").read_text(), stream(rows)


def test_nothing_is_forgotten() -> None:
    for ending in ("acel", "csv", "txt"):
        assert sorted(path.stem for path in ROOT.glob(f"*.{ending}")) == NAMES


@each
def test_it_means_what_is_written_beside_it(name: str) -> None:
    formula, over = read(name)
    found = denote(formula, over)
    lines = sorted(map(str, found))
    assert lines == (ROOT / f"{name}.txt").read_text().splitlines()
    assert evaluate(compile_formula(formula, over.schema), over) == found


@each
def test_it_prints_back(name: str) -> None:
    formula, over = read(name)
    parsed = parse(formula, over.schema)
    assert formula.startswith("-- ")
    assert parse(to_text(parsed), over.schema) == parsed


QUERIES = sorted(ROOT.parent.glob("**/*.tq"))


@pytest.mark.parametrize("path", QUERIES, ids=[f"{one.parent.name}/{one.stem}" for one in QUERIES])
def test_every_query_of_the_literature_has_a_short_formula(path: Path) -> None:
    made = translate(parse_query(path.read_text()))
    assert parse(to_text(made.formula)) == made.formula
    assert sum(1 for _ in walk(made.formula)) < 100
