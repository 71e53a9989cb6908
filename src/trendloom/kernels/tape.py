"""The tape: what the router tells the semirings to do with their cells.

A cell holds the aggregate of a set of partial trends. Which cells feed which depends on the
automaton, the semantics, guards and predicates, but never on what is summed, so the router
(`route.py`) decides it once and writes a tape that every semiring (`scaled`, `checked`, `modular`,
`extreme`, `members`) replays on its own cells. Each instruction is (what, cell, argument).
"""

from __future__ import annotations

CLEAR = 0
"""Forget the cell: no partial trend."""
ONE = 1
"""Add the empty trend, which the next EMIT makes a trend of one event."""
ADD = 2
"""Add the trends of cell `argument`."""
EMIT = 3
"""`EMIT + v`: all trends of the cell take event `argument` as variable v."""

TAPE_LENGTH = 1 << 15
"""Instructions between two replays: the tape and a few cells stay in the L2 cache."""
