"""What tests of generated cases share: how many there are, and what is compared."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, seed, settings

from trendloom.api import query, run
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting
from trendloom.errors import LimitError
from trendloom.hosts.local.scan import scan_batches
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.dress import dressed
from trendloom.hosts.scan.reading import Reading
from trendloom.language import Semantics, to_text
from trendloom.language.nodes import Aggregate, Function, Item, Query, Trends
from trendloom.testing import same_rows
from trendloom.testing.strategies import patterns

if TYPE_CHECKING:
    from hypothesis import strategies as st

    from trendloom.language.nodes import Pattern
    from trendloom.plan.plan import Plan
    from trendloom.testing.strategies import Case

TIMES = int(os.environ.get("TRENDLOOM_FUZZ", 1))
"""As many cases as usual."""
FUZZ = TIMES > 1
EACH = pytest.mark.parametrize("semantics", list(Semantics), ids=lambda s: s.value)


@dataclass
class Tally:
    """How many of a drawn test's cases have something to find."""

    cases: int = 0
    some: int = 0
    several: int = 0
    """Cases with five trends or more."""

    def add(self, trends: int) -> None:
        self.cases += 1
        self.some += trends > 0
        self.several += trends >= 5

    def check(self, share: float) -> None:
        told = f"{self.some} of {self.cases} cases have a trend, {self.several} have five or more"
        assert self.some * 2 >= self.cases, told
        # Of fewer cases chance, and the first ones, which are the simplest, decide.
        assert self.several >= self.cases * share or self.cases < 100, told


_tally = Tally()
drawn_cases = 0
"""Since this process began, whatever was found in them."""


def count_found(trends: int) -> None:
    """Tell how many trends a case has whose arguments do not tell it themselves."""
    _tally.add(trends)


def examples(count: int, *, several: float = 1 / 3) -> Any:
    """Draw so many cases, and fail if too few of them have something to find.

    Half must have a trend, and a share of `several` five: less where that is rare, as with guards.

    Goes around `given`. Arguments that know their trends are counted, those of other tests by
    `count_found`; a test that counts nothing is not about trends. The cases are always the same; in
    the long run (`make fuzz`) TRENDLOOM_SEED chooses them.
    """

    def decorate(test: Any) -> Any:
        inner = test.hypothesis.inner_test

        @wraps(inner)
        def counted(*args: Any, **kwargs: Any) -> None:
            global drawn_cases
            drawn_cases += 1
            for given in (*args, *kwargs.values()):
                trends = getattr(given, "trends", None)
                if trends is not None:
                    count_found(trends if isinstance(trends, int) else len(trends))
            inner(*args, **kwargs)

        test.hypothesis.inner_test = counted
        drawn = settings(
            max_examples=count * TIMES,
            deadline=None,
            database=None,
            derandomize=not FUZZ,
            suppress_health_check=list(HealthCheck),
        )(test)
        if FUZZ:
            drawn = seed(int(os.environ["TRENDLOOM_SEED"]))(drawn)

        @wraps(drawn)
        def checked(*args: Any, **kwargs: Any) -> None:
            global _tally
            _tally = Tally()
            drawn(*args, **kwargs)
            _tally.check(several)

        return checked

    return decorate


def plan_of(asked: Query) -> Plan | None:
    """None if its automaton is too large: some drawn patterns are repetitions of repetitions."""
    try:
        return query(asked).plan
    except LimitError:
        return None


def is_folded(asked: Query) -> bool:
    """Whether all parts take the fast path, but for what sets of events need."""
    plan = plan_of(asked)
    return plan is not None and all(plan.folding(part) is not None for part in plan.all_parts)


def folded_guards(semantics: Semantics) -> st.SearchStrategy[Pattern]:
    """Patterns whose guards fold: told before the rest of a query is drawn, which costs more."""
    drawn = patterns(need_negation=True)
    if semantics is Semantics.NEXT:
        # One in eight folds, and hardly any that is nested.
        drawn |= patterns(need_negation=True, max_depth=1)
    counted = (Item(Aggregate(Function.COUNT, Trends())),)
    return drawn.filter(lambda pattern: is_folded(Query(pattern, counted, semantics)))


def is_stepped(asked: Query) -> bool:
    """Whether conditions between neighbours are told from the rows, and all else is folded."""
    plan = plan_of(asked)
    if plan is None or not any(part.adjacent for part in plan.parts):
        return False
    return all(plan.folding(part) or plan.stepping(part) for part in plan.all_parts)


def is_bound(asked: Query) -> bool:
    """Whether a part has runs by the values of a variable."""
    plan = plan_of(asked)
    return plan is not None and any(part.bindings for part in plan.parts)


def compare(case: Case, **options: Any) -> None:
    result = run(
        case.query, case.events, time="time", type="type", tiebreak=case.tiebreak, **options
    )
    difference = same_rows(case.expected, result.rows(), keys=case.keys)
    assert difference is None, f"{to_text(case.query)}\n{case.events}\n{difference}"


def compare_in_batches(case: Case, sizes: list[int], *, threads: int = 1) -> None:
    """The same, the scan's rows cut into batches of the given sizes, in turn."""
    if not case.events:
        return
    plan = query(case.query).plan
    with open_events(case.events) as source:
        roles = Reading("time", "type", tiebreak=case.tiebreak).roles(source)
        axis = roles.axis
        batches = scan_batches(source, plan.scan, roles)
        with batches:
            types = batches.operand_types, batches.partition_types
            running = Run(Setting(plan, *types, axis.nanoseconds, threads=threads))
            turn = 0
            for batch in batches:
                at = 0
                while at < batch.num_rows:
                    size = sizes[turn % len(sizes)]
                    running.push(batch.slice(at, size))
                    at, turn = at + size, turn + 1
            table = dressed(plan, running.finish(), axis)
    difference = same_rows(case.expected, table.to_pylist(), keys=case.keys)
    assert difference is None, f"{to_text(case.query)}\n{case.events}\n{sizes}\n{difference}"
