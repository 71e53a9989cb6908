"""What `DATE '…'` and `TIMESTAMP '…'` stand for: moments of UTC, a date being its midnight."""

from __future__ import annotations

import re
from datetime import UTC, datetime

SPELLED = (
    "Write DATE '2024-01-31', or TIMESTAMP '2024-01-31 12:00:00' with up to six decimals and, if "
    "it is not UTC, an offset such as +01:00."
)

# Python reads more spellings than SQL does; engines leave out digits behind the sixth, and some of
# them the offset, without a word.
_DAY = r"\d{4}-\d{1,2}-\d{1,2}"
_ZONE = r"(?P<zone>Z|[+-]\d\d(:?\d\d)?)?"
_SPELLED = {
    "DATE": re.compile(rf"(?P<day>{_DAY})(?P<time>)(?P<zone>)", re.ASCII),
    "TIMESTAMP": re.compile(
        rf"(?P<day>{_DAY})([ T](?P<time>\d\d:\d\d(:\d\d(\.\d{{1,6}})?)?) ?{_ZONE})?", re.ASCII
    ),
}


def from_text(word: str, text: str) -> datetime:
    """The moment, without a zone; a ValueError if the text is none."""
    found = _SPELLED[word].fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    year, month, day = found["day"].split("-")
    time = f"T{found['time']}{found['zone'] or ''}" if found["time"] else ""
    made = datetime.fromisoformat(f"{year}-{month:0>2}-{day:0>2}{time}")
    try:
        return made if made.tzinfo is None else made.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise ValueError(text) from None


def to_text(word: str, moment: datetime) -> str:
    """A text of it that every engine reads alike."""
    return str(moment.date() if word == "DATE" else moment)
