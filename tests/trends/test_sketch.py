"""Pictures of partitioned graphs: what they show is what the graph and its plans are."""

from __future__ import annotations

import json
import runpy
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from layers import layered
from typer.testing import CliRunner

import trendloom as tl
from trendloom.cet.counting import count_trends
from trendloom.cet.detection import keep
from trendloom.cet.sketch import Sketch, edges_of, sketch
from trendloom.cet.wanted import Wanted
from trendloom.cli.main import app
from trendloom.errors import LimitError

DRAWN = Path(__file__).parents[2] / "docs" / "images" / "partitioned_graph.py"


def sketched(*widths: int, graphlets: int | None = None, algorithm: str = "auto") -> Sketch:
    graph = layered(*widths)
    rows = np.arange(len(graph))
    wanted = Wanted(algorithm=algorithm)
    return sketch(graph, count_trends(graph), rows, ("A",), wanted, graphlets)


@pytest.mark.parametrize("graphlets", [1, 2, 3, 5])
def test_kept_paths_are_those_that_a_listing_keeps(graphlets: int) -> None:
    found = sketched(2, 3, 1, 2, 3, graphlets=graphlets)
    way = found.drawn
    assert len(way.kept) == graphlets
    kept = keep(found.graph, np.array(way.bounds))
    ends = [kept.first[bound] for bound in way.bounds]
    assert way.kept == tuple(np.diff(ends))
    assert way.estimate.bytes == 8 * kept.paths + kept.flat.nbytes


def test_every_way_is_compared_and_the_chosen_one_drawn() -> None:
    found = sketched(3, 3, 3, 3, algorithm="t")
    assert [way.name for way in found.ways] == [
        "T-CET", "H-CET, 2 graphlets", "H-CET, 3 graphlets", "H-CET, 4 graphlets", "M-CET"
    ]  # fmt: skip
    assert found.drawn.name == "T-CET"
    assert sketched(3, 3).drawn.name == "M-CET"
    assert set(edges_of(layered(2, 1, 2))) == {(0, 2), (1, 2), (2, 3), (2, 4)}
    memory = [way.estimate.bytes for way in found.ways]
    assert memory == sorted(memory, reverse=True)


@pytest.mark.parametrize("graphlets", [0, 3])
def test_cuts_that_the_graph_does_not_have(graphlets: int) -> None:
    with pytest.raises(LimitError, match=f"1 to 2 graphlets, not {graphlets}"):
        sketched(3, 3, graphlets=graphlets)


def layers(spec: dict[str, Any]) -> list[list[dict[str, Any]]]:
    return [list(records) for records in spec["datasets"].values()]


def test_the_picture_of_the_docs_has_every_node_edge_and_cut() -> None:
    """And the file beside it is of the same numbers."""
    spec = runpy.run_path(str(DRAWN))["picture"]().to_dict()
    json.dumps(spec, allow_nan=False)
    shown = [record for records in layers(spec) for record in records]
    assert sum("row" in record for record in shown) == 36
    crossing = [r for r in shown if r.get("width") == 1.4]
    assert {(r["x"], r["x2"]) for r in crossing} == {(3, 4), (7, 8)}
    assert len(crossing) == 18
    drawn = DRAWN.with_name("partitioned-graph.svg").read_text()
    for words in (r["words"] for r in shown if "words" in r):
        assert words in drawn


def test_several_variables_and_the_largest_graph_that_can_be_drawn() -> None:
    small = [(0, "A"), (1, "A"), (1, "A"), (2, "B"), (2, "B")]
    rows = [{"t": t, "type": kind, "k": "small"} for t, kind in small]
    rows += [{"t": t, "type": kind, "k": "large"} for t, kind in product(range(200), "AB")]
    query = tl.query("PATTERN SEQ(A+, B) WHERE [k]")
    spec = query.picture(rows, time="t", type="type").to_dict()
    shown = {r["variable"] for records in layers(spec) for r in records if "variable" in r}
    assert shown == {"A0", "A1", "A2", "B3", "B4"}
    with pytest.raises(LimitError, match="at most 150 and 600 are drawn"):
        query.picture(rows[5:], time="t", type="type")
    with pytest.raises(LimitError, match="no trend to draw"):
        query.picture(rows[3:5], time="t", type="type")
    with pytest.raises(LimitError, match="no events to draw"):
        query.picture([], time="t", type="type")


def test_on_the_command_line(tmp_path: Path) -> None:
    events = tmp_path / "events.csv"
    with events.open("wb") as file:
        pa.csv.write_csv(pa.table({"t": [0, 0, 1, 1], "x": [1, 2, 3, 4]}), file)
    words = ["explain", "-q", "PATTERN A+", "-i", str(events), "-t", "t", "--event-type", "A"]
    target = tmp_path / "graph.svg"
    picture = ["--picture", str(target)]

    def call(*more: str) -> Any:
        return CliRunner().invoke(app, [*words, *more])

    done = call(*picture, "--graphlets", "2")
    assert done.exit_code == 0
    assert "4 counted" in done.stdout
    assert "graphlet 2: 2 paths" in target.read_text()
    assert "exists" in call(*picture).stderr
    assert "Wrote" in call(*picture, "--overwrite").stderr
    assert "end it in .svg, .png, .html" in call("--picture", "graph.txt").stderr
    assert "add --picture" in call("--graphlets", "2").stderr
    without = CliRunner().invoke(app, ["explain", "-q", "PATTERN A+", *picture])
    assert "add --input" in without.stderr
