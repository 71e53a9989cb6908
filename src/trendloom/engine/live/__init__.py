"""Streaming, as far as the engine knows it: events in any order, a watermark, rows that are over.

`Live` holds one shard; a host feeds it, saves it and asks it for its deadline.
"""

from __future__ import annotations

from trendloom.engine.live.live import Live, Step
from trendloom.engine.live.mode import Mode, check_streamable

__all__ = ["Live", "Mode", "Step", "check_streamable"]
