"""Every example: its query, its events, how they are read, and what it asks for."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

ROOT = Path(__file__).parents[2] / "examples"
EXAMPLES: list[dict[str, str]] = tomllib.loads((ROOT / "examples.toml").read_text())["example"]
OPTIONS = ("time", "type", "event_type", "tick")

LISTINGS = (
    "cet/q1.tq",
    "cet/q2.tq",
    "cet/q3.tq",
    "acel/example3-2.tq",
    "acel/example5-2.tq",
)
"""Without RETURN: they ask for the trends themselves."""


def text_of(example: dict[str, str]) -> str:
    return (ROOT / example["query"]).read_text()


def table_of(example: dict[str, str]) -> pa.Table:
    # An empty cell is a null, also among words.
    options = pa.csv.ConvertOptions(strings_can_be_null=True)
    return pa.csv.read_csv(ROOT / example["input"], convert_options=options)


def options_of(example: dict[str, str]) -> dict[str, Any]:
    return {name: example[name] for name in OPTIONS if name in example}
