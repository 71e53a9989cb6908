"""Generated workloads: in every mode each query has the rows that the oracle gives for it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trendloom as tl
from against_oracle import EACH, examples
from trendloom.engine import pieces, shares
from trendloom.engine.pieces import Vectors
from trendloom.engine.sliding import Panes
from trendloom.errors import LimitError, WorkloadError
from trendloom.language import Semantics, parse, to_text
from trendloom.testing import naive, same_rows
from trendloom.testing.compare import group_columns
from trendloom.testing.workloads import WorkloadCase, workloads
from trendloom.workloads import codes, running
from trendloom.workloads.evaluator import MergedEvaluator
from trendloom.workloads.running import GroupRun

if TYPE_CHECKING:
    import pyarrow as pa

    from trendloom.engine.evaluate import Evaluator

FOLD = {
    "allow_adjacent": False,
    "allow_anchored": False,
    "allow_distinct": False,
    "allow_conjunction": False,
    "allow_group_by": False,
    "allow_equivalence": False,
}


def compare(case: WorkloadCase, mode: str, **options: Any) -> int:
    """Returns how many queries were run together with others."""
    try:
        workload = tl.workload(case.queries)
    except WorkloadError as error:
        if all(isinstance(one, LimitError) for one in error.errors.values()):
            return 0
        raise
    results = workload.run(
        case.events, time="time", type="type", tiebreak=case.tiebreak, mode=mode, **options
    )
    for name, query in case.queries.items():
        found = same_rows(case.expected[name], results[name].rows(), keys=group_columns(query))
        told = "\n".join(to_text(one) for one in case.queries.values())
        assert found is None, f"{mode}: {name}: {to_text(query)}\n{found}\n{case.events}\n{told}"
    families = [family for group in workload._sharing(mode).groups for family in group.families]
    return sum(len(family.plans) for family in families)


@EACH
def test_queries_that_share_prefixes(semantics: Semantics) -> None:
    merged: list[int] = []

    @examples(40)
    @given(workloads(semantics=(semantics,), max_queries=6, **FOLD))
    def check(case: WorkloadCase) -> None:
        merged.append(compare(case, "always"))

    check()
    # Under next-match, prefixes are shared only where the queries go on with the same types.
    least = 20 if semantics is Semantics.NEXT else 50
    assert sum(merged) > least, "too few queries share anything"


@EACH
def test_prefixes_of_one_sequence(semantics: Semantics) -> None:
    """Every query but the longest ends where the others go on."""

    @examples(25)
    @given(
        st.permutations("ABC"),
        st.sampled_from((2, 3)),
        st.lists(st.sampled_from("ABC"), min_size=6, max_size=9),
    )
    def check(order: list[str], longest: int, types: list[str]) -> None:
        texts = {
            f"q{n}": f"RETURN COUNT(*) AS n PATTERN SEQ({', '.join(order[:n])}) "
            f"SEMANTICS {semantics.value}"
            for n in range(1, longest + 1)
        }
        queries = {name: parse(text) for name, text in texts.items()}
        events = [{"type": name, "time": at} for at, name in enumerate(order + types)]
        rows = {n: naive(q, events, time="time", type="type") for n, q in queries.items()}
        compare(WorkloadCase(queries, events, None, rows), "always")

    check()


@pytest.mark.parametrize("mode", ["dynamic", "always", "never"])
def test_anything_goes(mode: str) -> None:
    @examples(25)
    @given(workloads())
    def check(case: WorkloadCase) -> None:
        compare(case, mode)

    check()


@EACH
def test_maps_of_panes_of_merged_automata(
    semantics: Semantics, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def always(panes: Panes, evaluator: Evaluator) -> bool:
        if isinstance(evaluator, MergedEvaluator):
            seen.append(len(panes.cut))
        return True

    monkeypatch.setattr(Panes, "pay", always)

    overlapping = ("change", "time", "count")

    @examples(100)
    @given(workloads(semantics=(semantics,), max_queries=4, common_windows=overlapping, **FOLD))
    def check(case: WorkloadCase) -> None:
        compare(case, "always")

    check()
    assert seen


@EACH
def test_any_batching_and_threads(semantics: Semantics, monkeypatch: pytest.MonkeyPatch) -> None:
    """A merged run goes on over batches, and its pieces are cut to be maps."""
    monkeypatch.setattr(pieces, "LEAST_EVENTS", 1)
    monkeypatch.setattr(shares, "CLEARLY", 9.0)
    monkeypatch.setattr(Vectors, "_dearer", lambda _: 0.5)
    whole = GroupRun.push

    @examples(20)
    @given(workloads(semantics=(semantics,), max_queries=4, **FOLD), st.integers(1, 4))
    def check(case: WorkloadCase, size: int) -> None:
        def push(run: GroupRun, batch: pa.RecordBatch) -> None:
            for at in range(0, batch.num_rows, size):
                whole(run, batch.slice(at, size))

        with monkeypatch.context() as patched:
            patched.setattr(GroupRun, "push", push)
            compare(case, "always", threads=2)

    check()


SIDES = ("SEQ(A, E {}+)", "E {}+", "SEQ(B, E {}+, C)", "SEQ(E {}+, NOT B, C)", "(SEQ(E {}, A?))+")
OTHERS = ("A", "SEQ(B, C)", "B+", "SEQ(C, D?)")
RETURNS = (
    "COUNT(*)",
    "SUM(x.v)",
    "AVG(x.v), COUNT(x)",
    "AVG(LENGTH(*))",
    "MIN(LENGTH(*)), MAX(LENGTH(*))",
    "MIN(x.v), VARIANCE(x.v)",
)
LOCAL = ("", "", "x.k > 0", "x.k = NEXT(x).k")


@st.composite
def conjunctions(draw: st.DrawFn) -> WorkloadCase:
    """Two queries with AND and one or two without, all with E+, and bursts of E."""
    texts = {}
    for number in range(draw(st.integers(3, 4))):
        pattern = draw(st.sampled_from(SIDES)).format("x")
        returns, condition = draw(st.sampled_from(RETURNS)), draw(st.sampled_from(LOCAL))
        if number < 2:
            other = draw(st.sampled_from((*OTHERS, *SIDES))).format("y")
            pattern = " AND ".join(draw(st.permutations((pattern, other))))
            returns = "COUNT(*)" if "y" in other else returns
        window = draw(st.sampled_from(("WITHIN 4 s SLIDE 4 s", "WITHIN 6 s SLIDE 3 s")))
        where = f"WHERE {condition} " if condition else ""
        texts[f"q{number}"] = f"RETURN {returns} PATTERN {pattern} {where}{window}"
    events, at = [], 0
    for kind in draw(st.lists(st.sampled_from(("A", "B", "C", "D", "EEE", "EEE")), max_size=6)):
        for name in kind:
            at += draw(st.sampled_from((0, 1, 1)))
            v = draw(st.sampled_from((None, -1, 2.5)))
            events.append({"type": name, "time": at, "k": draw(st.integers(0, 1)), "v": v})
    events.append({"type": "D", "time": at, "k": 0, "v": 0.5})
    queries = {name: parse(text) for name, text in texts.items()}
    rows = {n: naive(q, events, time="time", type="type") for n, q in queries.items()}
    return WorkloadCase(queries, events, None, rows)


@pytest.mark.parametrize("mode", ["dynamic", "always", "never"])
def test_sides_of_and_share_bursts(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "SHORT", 0.0)
    sides: list[int] = []

    @examples(40)
    @given(conjunctions())
    def check(case: WorkloadCase) -> None:
        compare(case, mode)
        for group in tl.workload(case.queries)._sharing(mode).groups:
            templates = [bursts.template for bursts in group.bursts]
            sides.extend(len(one.members) - len(one.queries) for one in templates)

    check()
    assert mode == "never" or sum(sides) > 20, "too few queries with AND share"


def test_codes_that_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """More letters than a word has: codes are given as masks turn up."""
    monkeypatch.setattr(codes, "WORD", 0)

    @examples(20)
    @given(workloads(max_queries=5, **FOLD))
    def check(case: WorkloadCase) -> None:
        compare(case, "always")

    check()


@examples(20)
@given(workloads(max_queries=4, **FOLD))
def test_exact_numbers(case: WorkloadCase) -> None:
    compare(case, "dynamic", numbers="exact")
