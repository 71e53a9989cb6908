"""Draws partitioned-graph.svg, the picture of docs/trends.md.

Money that leaves a bank through three mules and meets again at the next bank, six times.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import trendloom as tl

CHAINS = "PATTERN Transfer t+ WHERE t.dst = NEXT(t).src"
BANKS, MULES, STEPS = 6, 3, 2


def transfers() -> list[dict[str, Any]]:
    """Between two banks each mule passes the money on in so many steps."""
    events = []
    for bank in range(BANKS):
        for step in range(STEPS):
            for mule in range(MULES):
                here = f"mule {bank}.{mule}.{step}"
                source = f"bank {bank}" if step == 0 else f"mule {bank}.{mule}.{step - 1}"
                target = f"bank {bank + 1}" if step == STEPS - 1 else here
                events.append({"ts": bank * STEPS + step, "src": source, "dst": target})
    return events


def picture(graphlets: int = 3) -> Any:
    return tl.query(CHAINS).picture(
        transfers(), time="ts", event_type="Transfer", memory_limit="1 MB", graphlets=graphlets,
        title="Transfers between six banks, cut into three graphlets",
    )  # fmt: skip


if __name__ == "__main__":
    picture().save(str(Path(__file__).with_name("partitioned-graph.svg")))
