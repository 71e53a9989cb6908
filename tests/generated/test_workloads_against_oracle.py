"""Generated workloads: in every mode each query has the rows that the oracle gives for it alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

import trendloom as tl
from against_oracle import EACH, examples
from trendloom.errors import LimitError, WorkloadError
from trendloom.language import Semantics, to_text
from trendloom.testing import same_rows
from trendloom.testing.compare import group_columns
from trendloom.testing.workloads import WorkloadCase, workloads

FOLD = {
    "allow_adjacent": False,
    "allow_anchored": False,
    "allow_distinct": False,
    "allow_conjunction": False,
    "allow_group_by": False,
    "allow_equivalence": False,
}


def compare(case: WorkloadCase, mode: str, **options: Any) -> None:
    try:
        workload = tl.workload(case.queries)
    except WorkloadError as error:
        if all(isinstance(one, LimitError) for one in error.errors.values()):
            return
        raise
    results = workload.run(
        case.events, time="time", type="type", tiebreak=case.tiebreak, mode=mode, **options
    )
    for name, query in case.queries.items():
        found = same_rows(case.expected[name], results[name].rows(), keys=group_columns(query))
        told = "\n".join(to_text(one) for one in case.queries.values())
        assert found is None, f"{mode}: {name}: {to_text(query)}\n{found}\n{case.events}\n{told}"


@EACH
def test_queries_that_share_prefixes(semantics: Semantics) -> None:
    @examples(60)
    @given(workloads(semantics=(semantics,), max_queries=6, **FOLD))
    def check(case: WorkloadCase) -> None:
        compare(case, "always")

    check()


@pytest.mark.parametrize("mode", ["dynamic", "always", "never"])
def test_anything_goes(mode: str) -> None:
    @examples(30)
    @given(workloads())
    def check(case: WorkloadCase) -> None:
        compare(case, mode)

    check()


@examples(20)
@given(workloads(max_queries=4, **FOLD))
def test_exact_numbers(case: WorkloadCase) -> None:
    compare(case, "dynamic", numbers="exact")
