"""Streams of numbers near the ends of 64 bits: sums and extremes beyond them rest in bytes."""

from __future__ import annotations

import pytest
from live_streams import Arrival, play, scanned

from trendloom.errors import NumberError
from trendloom.language import parse
from trendloom.testing import naive, same_rows

FIRST, LAST = -(2**63), 2**63 - 1
ENDS = [LAST, LAST, 3, FIRST, FIRST, 7, LAST, LAST - 1, 2, FIRST, FIRST + 4, 1]
CANCELLING = [LAST, LAST, 3, None, None, 7, FIRST, FIRST, 2, LAST, FIRST, 1]
EVENTS = {
    "ends": [{"type": "AAB"[t % 3], "time": t, "i": v} for t, v in enumerate(ENDS)],
    "cancelling": [{"type": "AAB"[t % 3], "time": t, "i": v} for t, v in enumerate(CANCELLING)],
}


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("function", ["SUM", "AVG", "MIN", "MAX", "VARIANCE"])
def test_a_stream_goes_on_from_numbers_beyond_64_bits(function: str, name: str) -> None:
    query = parse(f"RETURN {function}(A.i) AS n PATTERN SEQ(A, B) WITHIN 12 s SLIDE 12 s")
    expected = naive(query, EVENTS[name], time="time", type="type")
    scan = scanned(query, EVENTS[name])
    arrival = Arrival(0, (2,), 1)
    if function != "SUM" or FIRST <= expected[0]["n"] <= LAST:
        _, steps = play(scan, arrival)
        assert same_rows(expected, scan.rows(*(step.rows for _, step in steps))) is None
    else:
        with pytest.raises(NumberError, match="does not fit a 64-bit integer"):
            play(scan, arrival)
