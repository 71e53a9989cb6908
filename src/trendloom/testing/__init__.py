"""What users need to test their own queries: the naive oracle, event builders, strategies.

`trendloom.testing.strategies` needs hypothesis and is imported by its own name.
"""

from __future__ import annotations

from trendloom.testing.builders import stream
from trendloom.testing.compare import same_rows
from trendloom.testing.oracle import Trend, naive, trends

__all__ = ["Trend", "naive", "same_rows", "stream", "trends"]
