"""Two thousand workloads and more: in every mode, what the oracle gives for each query alone."""

from __future__ import annotations

import random

import pytest
from workload_pool import STREAMS, PoolScan, answer, draw_workload, run_shared

from against_oracle import TIMES
from trendloom.testing import same_rows
from trendloom.testing.compare import group_columns
from trendloom.workloads import sharing
from trendloom.workloads.sharing import MODES, share

WORKLOADS = 40 * TIMES
EACH_ON = 3
"""Streams. In all three modes, six parts of so many workloads are 2,160 cases."""


@pytest.mark.parametrize("part", range(6))
def test_every_query_has_the_rows_that_it_has_alone(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "SharedScan", PoolScan)
    draw = random.Random(part)
    merged = dict.fromkeys(MODES, 0)
    chopped = dict.fromkeys(MODES, 0)
    for _ in range(WORKLOADS):
        queries = draw_workload(draw)
        plans = {name: asked.plan for name, asked in queries.items()}
        told = "\n".join(asked.text for asked in queries.values())
        numbers = draw.sample(range(STREAMS), EACH_ON)
        for mode in MODES:
            shared = share(plans, mode)
            for stream in numbers:
                found = run_shared(shared, stream)
                for name, asked in queries.items():
                    keys = group_columns(asked.plan.query)
                    wrong = same_rows(answer(asked, stream), found[name], keys=keys)
                    assert wrong is None, f"{mode}: {name}, stream {stream}: {wrong}\n{told}"
            families = [family for group in shared.groups for family in group.families]
            merged[mode] += len(families)
            chopped[mode] += sum(bool(family.chops) for family in families)
    assert merged["never"] == 0
    assert merged["always"] >= WORKLOADS // 4
    assert min(chopped["always"], chopped["dynamic"]) >= WORKLOADS // 20
