"""The logic ACEL: formulas over complex events, with aggregation; their meaning, their automata."""

from __future__ import annotations

from trendloom.acel.aggregates import Aggregate, register
from trendloom.acel.check import check
from trendloom.acel.compile import compile_formula
from trendloom.acel.denotation import denote
from trendloom.acel.evaluation import complex_events, evaluate
from trendloom.acel.events import ComplexEvent, Event, Schema, Stream, stream
from trendloom.acel.nodes import Formula
from trendloom.acel.parser import parse
from trendloom.acel.picture import to_mermaid
from trendloom.acel.printer import to_text

__all__ = [
    "Aggregate",
    "ComplexEvent",
    "Event",
    "Formula",
    "Schema",
    "Stream",
    "check",
    "compile_formula",
    "complex_events",
    "denote",
    "evaluate",
    "parse",
    "register",
    "stream",
    "to_mermaid",
    "to_text",
]
