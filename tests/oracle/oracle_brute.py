"""A second, independent reading of the definition: all subsets of events, and Python's `re`.

A pattern becomes a regular expression over the text of a candidate, `[gh]a[]b[g]`: before each
letter, and at the end, a block with the guards that hold there. An event consumes a block and its
letter; a guard looks ahead for its own letter in the next block. So `re` finds out whether some
derivation has all its guards unbroken.
"""

from __future__ import annotations

import re
from itertools import combinations, pairwise, product

from trendloom.language import Either, Event, Not, Repeat, Semantics, Sequence


class Brute:
    def __init__(self, pattern):
        self.pattern = pattern
        self.letters = {}
        self.types = {}
        self.guards = {}
        self._letter(pattern)
        self.whole = re.compile(self._regex(pattern) + r"\[\w*\]")
        self.prefix = re.compile(self._prefix(pattern))

    def _letter(self, node):
        """One character per variable and per guard; negated variables stay out."""
        if isinstance(node, Not):
            self.guards.setdefault(node, chr(ord("A") + len(self.guards)))
            return
        if isinstance(node, Event):
            self.letters.setdefault(node.variable, chr(ord("a") + len(self.letters)))
            self.types.setdefault(node.type, {})[node.variable] = None
            return
        for child in [node.body] if isinstance(node, Repeat) else node.parts:
            self._letter(child)

    def _regex(self, node):
        match node:
            case Event():
                return rf"(?:\[\w*\]{self.letters[node.variable]})"
            case Not():
                return rf"(?=\[\w*{self.guards[node]})"
            case Sequence():
                return "(?:" + "".join(map(self._regex, node.parts)) + ")"
            case Either():
                return "(?:" + "|".join(map(self._regex, node.parts)) + ")"
            case Repeat():
                return f"(?:{self._regex(node.body)}){_bounds(node.low, node.high)}"

    def _prefix(self, node):
        """What can be read of a word so far: every language here has a word, so all can go on."""
        match node:
            case Event():
                return f"{self._regex(node)}?"
            case Not():
                return ""
            case Sequence():
                starts = [
                    "".join(map(self._regex, node.parts[:place])) + self._prefix(part)
                    for place, part in enumerate(node.parts)
                ]
                return "(?:" + "|".join(starts) + ")"
            case Either():
                return "(?:" + "|".join(map(self._prefix, node.parts)) + ")"
            case Repeat():
                more = None if node.high is None else node.high - 1
                return f"(?:{self._regex(node.body)}){_bounds(0, more)}{self._prefix(node.body)}"

    def trends(self, events, semantics):
        """Sets of ((index, variable), …) over events `(index, time, type)` of one window."""
        found = set()
        for size in range(1, len(events) + 1):
            for chosen in combinations(sorted(events, key=lambda event: event[1]), size):
                if all(one[1] < two[1] for one, two in pairwise(chosen)):
                    for labels in product(*(self.types.get(event[2], ()) for event in chosen)):
                        if self._is_trend(chosen, labels, events, semantics):
                            indexes = (event[0] for event in chosen)
                            found.add(tuple(zip(indexes, labels, strict=True)))
        return found

    def _is_trend(self, chosen, labels, events, semantics):
        text = self._text(chosen, labels, events) + self._block(chosen[-1], None, events)
        if not self.whole.fullmatch(text):
            return False
        if semantics is Semantics.CONTIGUOUS:
            return all(
                not any(one[1] < event[1] < two[1] for event in events)
                for one, two in pairwise(chosen)
            )
        if semantics is Semantics.NEXT:
            return all(
                chosen[place][1] == self._earliest(chosen[:place], labels[:place], events)
                for place in range(1, len(chosen))
            )
        return True

    def _earliest(self, chosen, labels, events):
        return min(
            event[1]
            for event in events
            if event[1] > chosen[-1][1]
            for label in self.types.get(event[2], ())
            if self.prefix.fullmatch(self._text((*chosen, event), (*labels, label), events))
        )

    def _text(self, chosen, labels, events):
        text, before = "", None
        for event, label in zip(chosen, labels, strict=True):
            text += self._block(before, event, events) + self.letters[label]
            before = event
        return text

    def _block(self, after, before, events):
        between = [
            event
            for event in events
            if (after is None or event[1] > after[1]) and (before is None or event[1] < before[1])
        ]
        holding = [
            letter
            for guard, letter in self.guards.items()
            if not Brute(guard.body).trends(between, Semantics.ANY)
        ]
        return "[" + "".join(holding) + "]"


def _bounds(low, high):
    return f"{{{low},{'' if high is None else high}}}"
