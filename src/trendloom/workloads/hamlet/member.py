"""A pattern as a member of a workload: what a burst of one type does to its cells.

In the algebra of the engine an event adds `begins + Σ sources` to some cells. Where all targets of
a letter have the same sources, and no source but one is a target itself, a burst of the letter
changes nothing but those targets, and everything that it adds is a multiple of what the first event
adds: the snapshot x of HAMLET's Table 3. That multiple is the same for all queries.

A query is one member; with AND it is one for each side, and its result is put together from theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.engine.lanes import Extremum, Sum, lanes_of
from trendloom.language.nodes import Aggregate, Semantics
from trendloom.pattern.automaton import DEAD, START
from trendloom.pattern.folding import fold_guards
from trendloom.plan.lookups import lookup_of
from trendloom.plan.pairs import Op
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from trendloom.pattern.folding import Folding
    from trendloom.plan.lookups import Lookup
    from trendloom.plan.plan import Part, Plan
SYMBOLS = {Op.EQ: "=", Op.NE: "<>", Op.LT: "<", Op.LE: "<=", Op.GT: ">", Op.GE: ">="}


@dataclass(frozen=True, slots=True)
class Step:
    """What one event of a letter adds to `target`: the empty trend, if `begins`, and `sources`."""

    target: int
    begins: bool
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Intake:
    """The only letter of its type, in the form that a burst can be shared in."""

    letter: int
    own: int | None
    """The source that is a target too: E+. None: an event of this type is taken once."""
    adjacent: str | None = None
    """The condition between consecutive events of E+, in words that are equal if they are."""


@dataclass(frozen=True, slots=True)
class Member:
    """A query that can share, or a side of its AND: any-match, no sets of events."""

    plan: Plan
    side: int
    """Which part of the plan it is."""
    folding: Folding
    steps: tuple[tuple[Step, ...], ...]
    """Per letter; none for negated ones."""
    intakes: dict[str, Intake]
    """By event type."""

    @property
    def part(self) -> Part:
        return self.plan.parts[self.side]

    def type_of(self, letter: int) -> str:
        return self.plan.scan.letters[self.part.bits[letter][0]].type

    @property
    def letters(self) -> int:
        return len(self.part.bits)

    @property
    def paired(self) -> str | None:
        """The type of the E+ with a condition inside."""
        return next((n for n, i in self.intakes.items() if i.adjacent is not None), None)

    @property
    def lookup(self) -> Lookup | None:
        """The condition inside E+, if it is equalities and at most one other comparison."""
        if self.paired is None:
            return None
        letter = self.intakes[self.paired].letter
        return lookup_of(self.part.programs[self.part.adjacent[letter, letter]])

    @property
    def kleene(self) -> tuple[str, ...]:
        """The types E of its sharable sub-patterns E+ (Def. 3.1)."""
        return tuple(name for name, intake in self.intakes.items() if intake.own is not None)


def members_of(plan: Plan) -> tuple[Member, ...] | str:
    """A member for each part, or why the query goes alone."""
    reason = _refusal(plan)
    if reason is not None:
        return reason
    members: list[Member] = []
    for side in range(len(plan.parts)):
        member = _member(plan, side)
        if isinstance(member, str):
            return member
        members.append(member)
    return tuple(members)


def _member(plan: Plan, side: int) -> Member | str:
    part = plan.parts[side]
    folding = fold_guards(
        part.automaton, part.negated, plan.semantics, leading=False, trailing=True
    )
    if folding is None:
        return "a guard that clearing cells cannot express"
    steps = tuple(_steps(folding, letter) for letter in range(len(part.bits)))
    member = Member(plan, side, folding, steps, {})
    types = [member.type_of(letter) for letter in range(member.letters)]
    for letter, name in enumerate(types):
        if types.count(name) == 1 and (intake := _intake(member, letter)) is not None:
            member.intakes[name] = intake
    loops = {(i.letter, i.letter) for i in member.intakes.values() if i.adjacent is not None}
    if set(part.adjacent) - loops:
        return "a condition between events other than consecutive ones of one E+"
    if len(part.adjacent) > 1:
        return "conditions inside more than one E+"
    if part.adjacent and member.lookup is None:
        return "a condition inside E+ that is more than equalities and one other comparison"
    return member


def _refusal(plan: Plan) -> str | None:
    lanes = {
        lane
        for output in plan.outputs
        if isinstance(output.value, Aggregate)
        for lane in lanes_of(plan, output.value)
    }
    checks = (
        (plan.semantics is not Semantics.ANY, f"{plan.semantics.value} instead of any-match"),
        (any(part.bindings for part in plan.parts), "an anchor, or grouping by a variable"),
        (
            plan.strategy not in (WindowStrategy.WHOLE, WindowStrategy.SLIDING),
            "a window without panes",
        ),
        (not plan.exponential, "no Kleene pattern"),
        (
            any(
                isinstance(lane, Extremum) and lane.variable in (None, *part.automaton.variables)
                for part in plan.parts
                if part.adjacent
                for lane in lanes
            ),
            "MIN or MAX beside a condition between events",
        ),
        (
            any(isinstance(lane, Sum) and lane.distinct for lane in lanes),
            "DISTINCT, events of which are told apart",
        ),
        (plan.scan.keep_unmatched, "rows that match nothing"),
    )
    return next((reason for bad, reason in checks if bad), None)


def _steps(folding: Folding, letter: int) -> tuple[Step, ...]:
    by_target: dict[int, list[int]] = {}
    for arrow in folding.arrows:
        if arrow.variable == letter and arrow.target != DEAD:
            by_target.setdefault(arrow.target, []).append(arrow.source)
    return tuple(
        Step(target, START in sources, tuple(sorted(s for s in sources if s != START)))
        for target, sources in sorted(by_target.items())
    )


def _intake(member: Member, letter: int) -> Intake | None:
    steps = member.steps[letter]
    if not steps or member.folding.clears[letter]:
        return None
    if len({(step.begins, step.sources) for step in steps}) > 1:
        return None
    own = {step.target for step in steps} & set(steps[0].sources)
    if len(own) > 1:
        return None
    part = member.part
    adjacent = None
    if (letter, letter) in part.adjacent:
        loop = next(iter(own), None)
        if loop is None or any(loop in cleared for cleared in member.folding.clears):
            return None
        adjacent = _words(member, part.adjacent[letter, letter])
    return Intake(letter, next(iter(own), None), adjacent)


def _words(member: Member, program: int) -> str:
    """The program with its columns written out, so that equal conditions have equal words."""
    part, operands = member.part, member.plan.scan.operands
    lookup = lookup_of(part.programs[program])
    if lookup is not None:
        told = []
        for one in lookup.conditions:
            sides = [operands[part.columns[k].operand].tree.sql() for k in (one.left, one.right)]
            told.append(f"{sides[0]} {SYMBOLS[one.op]} NEXT {sides[1]}")
        return " AND ".join(told)
    words = []
    for op, argument in part.programs[program]:
        text = op.name
        if text in ("LEFT", "RIGHT"):
            text += f"({operands[part.columns[argument].operand].tree.sql()})"
        elif text == "CONSTANT":
            text = str(part.constants[argument])
        words.append(text)
    return " ".join(words)
