"""Trendloom: aggregate every match of a Kleene pattern without building the matches.

import trendloom as tl

tl.run("RETURN COUNT(*) PATTERN Stock S+ WHERE S.price < NEXT(S).price", events, time="ts")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trendloom import spark
    from trendloom.api import TrendQuery, aggregate, aggregate_matches, matches, query, run, trends
    from trendloom.errors import TrendloomError, TrendloomWarning
    from trendloom.listed import Matches, Trends
    from trendloom.live import LiveWorkload
    from trendloom.result import Result
    from trendloom.results import Results
    from trendloom.several import Workload, workload

__version__ = "0.1.0"
__all__ = [
    "LiveWorkload",
    "Matches",
    "Result",
    "Results",
    "TrendQuery",
    "TrendloomError",
    "TrendloomWarning",
    "Trends",
    "Workload",
    "aggregate",
    "aggregate_matches",
    "matches",
    "query",
    "run",
    "spark",
    "trends",
    "workload",
]

_HOME = {
    "LiveWorkload": "trendloom.live",
    "Matches": "trendloom.listed",
    "Result": "trendloom.result",
    "Results": "trendloom.results",
    "TrendQuery": "trendloom.api",
    "TrendloomError": "trendloom.errors",
    "TrendloomWarning": "trendloom.errors",
    "Trends": "trendloom.listed",
    "Workload": "trendloom.several",
    "aggregate": "trendloom.api",
    "aggregate_matches": "trendloom.api",
    "matches": "trendloom.api",
    "query": "trendloom.api",
    "run": "trendloom.api",
    "trends": "trendloom.api",
    "workload": "trendloom.several",
}


def __getattr__(name: str) -> Any:
    """Loads a public name at its first use: importing the package costs nothing."""
    if name == "spark":
        return import_module("trendloom.spark")
    if name not in _HOME:
        raise AttributeError(f"module 'trendloom' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)
