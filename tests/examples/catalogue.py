"""Every example: its query, its events, how they are read, and whether it runs yet."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

ROOT = Path(__file__).parents[2] / "examples"
EXAMPLES: list[dict[str, str]] = tomllib.loads((ROOT / "examples.toml").read_text())["example"]
OPTIONS = ("time", "type", "event_type", "tick")

WITHOUT_RETURN = "complete event trends (a query without RETURN) are not run yet"
NOT_RUNNABLE_YET = {
    "cet/q1.tq": WITHOUT_RETURN,
    "cet/q2.tq": WITHOUT_RETURN,
    "cet/q3.tq": WITHOUT_RETURN,
    "acel/example3-2.tq": WITHOUT_RETURN,
    "acel/example5-2.tq": WITHOUT_RETURN,
}
"""Declared gaps: the test of such an example fails on the day that it runs."""


def text_of(example: dict[str, str]) -> str:
    return (ROOT / example["query"]).read_text()


def table_of(example: dict[str, str]) -> pa.Table:
    # An empty cell is a null, also among words.
    options = pa.csv.ConvertOptions(strings_can_be_null=True)
    return pa.csv.read_csv(ROOT / example["input"], convert_options=options)


def options_of(example: dict[str, str]) -> dict[str, Any]:
    return {name: example[name] for name in OPTIONS if name in example}
