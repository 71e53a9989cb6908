"""Charts: which marks, which scale, and what happens to numbers that no axis holds."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from math import inf
from typing import Any

import pyarrow as pa
import pytest

from trendloom.errors import InputError
from trendloom.view.chart import chart


def table_of(values: list[Any], groups: int = 1, *, windows: bool = True) -> pa.Table:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    rows = [
        {
            "window_start": start + timedelta(hours=i) if windows else None,
            "window_end": start + timedelta(hours=i + 1) if windows else None,
            "g": f"g{g}",
            "n": value,
        }
        for i, value in enumerate(values)
        for g in range(groups)
    ]
    table = pa.Table.from_pylist(rows)
    is_untyped = pa.types.is_null(table.schema.field("n").type)
    return table.set_column(3, "n", table["n"].cast(pa.float64())) if is_untyped else table


def spec_of(table: pa.Table, **options: Any) -> dict[str, Any]:
    # Altair checks the chart against Vega-Lite's schema; JSON checks that no infinity is left.
    spec: dict[str, Any] = chart(table, ["g"], ["n"], **options).to_dict()
    json.dumps(spec, allow_nan=False)
    return spec


def data_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    (records,) = spec["datasets"].values()
    return list(records)


def marks_of(spec: dict[str, Any]) -> list[str]:
    return [layer["mark"]["type"] for layer in spec.get("layer", [spec])]


def test_lines_over_windows() -> None:
    spec = spec_of(table_of([1, 2, 3], groups=2))
    assert marks_of(spec) == ["line", "point"]
    assert spec["layer"][0]["encoding"]["x"]["scale"]["type"] == "utc"
    assert spec["layer"][0]["encoding"]["color"]["title"] == "g"
    assert data_of(spec)[0]["start"] == "2024-01-01T00:00:00Z"


def test_many_groups_are_a_heat_map() -> None:
    spec = spec_of(table_of([1, 2, 3], groups=9))
    assert marks_of(spec) == ["rect"]


def test_asked_for_lines_of_many_groups_the_largest_are_drawn() -> None:
    spec = spec_of(table_of([1, 2, 3], groups=9), kind="line")
    assert spec["title"]["subtitle"] == ["the 8 largest of 9 groups"]
    assert len({row["group"] for row in data_of(spec)}) == 8


def test_bars_without_windows() -> None:
    assert marks_of(spec_of(table_of([1], groups=3, windows=False))) == ["bar", "text"]


def test_area() -> None:
    assert marks_of(spec_of(table_of([1, 2]), kind="area"))[0] == "area"


@pytest.mark.parametrize(
    ("values", "scale"),
    [([1.0, 500.0], None), ([1.0, 1e6], "log"), ([0.0, 1.0, 1e6], "symlog"), ([3.0, inf], "log")],
)
def test_the_scale_follows_the_decades(values: list[float], scale: str | None) -> None:
    spec = spec_of(table_of(values))
    assert spec["layer"][0]["encoding"]["y"]["scale"].get("type") == scale


def test_infinite_counts_are_marked_not_dropped() -> None:
    spec = spec_of(table_of([1.0, 1e10, inf]))
    assert marks_of(spec)[-1] == "point"
    last = data_of(spec)[-1]
    assert (last["infinite"], last["shown"], last["value"]) == (True, "beyond 1.8e308", 1e11)
    assert "▲" in spec["title"]["subtitle"][0]


@pytest.mark.parametrize("value", [inf, 1e308, 0.0, -5.0, None, Decimal(10**30)])
@pytest.mark.parametrize("kind", ["line", "area", "bar", "heat"])
def test_every_kind_bears_every_number(value: Any, kind: str) -> None:
    spec_of(table_of([value, value]), kind=kind)


def test_huge_integers_become_marks() -> None:
    table = pa.table({"g": ["a", "b"], "n": pa.array([Decimal(10**37), Decimal(1)])})
    assert data_of(spec_of(table))[0]["value"] == 1e37


def test_overlapping_windows_do_not_cover_each_other() -> None:
    rows = [
        {"window_start": s, "window_end": s + 10, "g": f"g{g}", "n": 1}
        for s in (0, 2, 4)
        for g in range(9)
    ]
    spec = spec_of(pa.Table.from_pylist(rows))
    assert [row["edge"] for row in data_of(spec)][::9] == [2, 4, 6]


def test_unknown_kind() -> None:
    with pytest.raises(InputError, match="Did you mean 'line'"):
        spec_of(table_of([1]), kind="lines")
