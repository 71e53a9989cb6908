"""Events in a line of text, for tests that read like the domain: `stream("a1 b2 a3:x=4 b3")`."""

from __future__ import annotations

import re
from typing import Any

from trendloom.errors import InputError

_EVENT = re.compile(r"(?P<type>[A-Za-z_]+)(?P<time>-?\d+)(?::(?P<attributes>.*))?")


def stream(text: str) -> list[dict[str, Any]]:
    """One event per word: its type (upper-cased), its time, and perhaps attributes.

    `a1` is `{"type": "A", "time": 1}`; `a1:price=10,x=2.5,k=u,y=` adds a price of 10, an x of 2.5,
    a k of "u" and a null y. Equal numbers are simultaneous events.
    """
    events = []
    for word in text.split():
        found = _EVENT.fullmatch(word)
        if found is None:
            raise InputError(f"{word!r} is no event.", remedy="Write 'a1' or 'a1:price=10,x=3'.")
        event: dict[str, Any] = {"type": found["type"].upper(), "time": int(found["time"])}
        for pair in (found["attributes"] or "").split(","):
            if pair:
                name, _, value = pair.partition("=")
                event[name] = _value(value)
        events.append(event)
    return events


def _value(text: str) -> Any:
    if text in ("", "null"):
        return None
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
