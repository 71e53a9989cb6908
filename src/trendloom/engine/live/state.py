"""A shard at rest: which query its bytes are of, and whether this one may go on with them."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from trendloom.engine import wire
from trendloom.engine.formats import FORMATS
from trendloom.engine.inputs import Centre
from trendloom.engine.scanned import plain
from trendloom.errors import StateError
from trendloom.language.printer import to_text

if TYPE_CHECKING:
    import pyarrow as pa

    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.live.mode import Mode
    from trendloom.engine.setting import Setting

KIND = "live"
FORMAT = FORMATS[KIND].version

OTHER = "Run what wrote the state, or start the stream with a new checkpoint."


def identity(setting: Setting, mode: Mode, keeps: str, shape: list[object]) -> dict[str, Any]:
    """What must be the same for a state to go on."""
    columns = {f"p{k}": str(plain(kind)) for k, kind in enumerate(setting.partition_types)}
    columns |= {f"x{k}": str(plain(kind)) for k, kind in enumerate(setting.operand_types)}
    return {
        "query": to_text(setting.plan.query),
        "types": columns,
        "numbers": setting.numbers.value,
        "nanoseconds": setting.nanoseconds,
        "mode": mode.value,
        "keeps": keeps,
        "shape": zlib.crc32(json.dumps(shape).encode()),
    }


def write(facts: dict[str, Any], tables: dict[str, pa.Table]) -> bytes:
    return wire.pack(KIND, {"format": FORMAT, **facts}, tables)


def read(data: bytes) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Facts and tables; whose they are is for `check` to say."""
    return wire.unpack(KIND, data)


def check(facts: dict[str, Any], mine: dict[str, Any]) -> None:
    """Refuses facts of another identity."""
    for name, now in mine.items():
        before = facts[name]
        if before != now:
            raise _refused(_difference(name, before, now))


def other_query(before: str, now: str, where: str) -> StateError:
    """What is said of a whole stream that goes on with another query."""
    return _refused(f"{where}: {_difference('query', before, now)}")


def _refused(difference: str) -> StateError:
    cause, *said = difference.split("\n")
    return StateError(cause, said=said, remedy=OTHER)


def _difference(name: str, before: Any, now: Any) -> str:
    match name:
        case "query":
            return f"The state is of another query.\nState: {_line(before)}\nNow:   {_line(now)}"
        case "types":
            names = [k for k in {**before, **now} if before.get(k) != now.get(k)]
            changed = "; ".join(
                f"{_column(k)} was {before.get(k, 'not there')} and is {now.get(k, 'not there')}"
                for k in names
            )
            return f"The events have other types than those of the state: {changed}."
        case "numbers":
            return (
                f'The state was kept with numbers="{before}", and the query now asks for "{now}".'
            )
        case "nanoseconds":
            return (
                f"A tick of the state's times is {before} ns, and one of the events' is {now} ns."
            )
        case "mode":
            return f"The state is of a query in {before} mode, and it now runs in {now} mode."
        case "keeps":
            return f"The state keeps {before}; this version of Trendloom keeps {now} for the query."
    return "The state's vectors are of another version's automaton of the query."


def _line(text: str) -> str:
    return " ".join(text.split())


def _column(name: str) -> str:
    number = int(name[1:]) + 1
    return f"partition attribute {number}" if name[0] == "p" else f"operand {number}"


def centres_out(evaluators: list[Evaluator]) -> list[dict[str, list[float]]]:
    return [
        {str(k): [float(c.middle), float(c.scale)] for k, c in sorted(e.centres.items())}
        for e in evaluators
    ]


def centres_in(evaluators: list[Evaluator], saved: list[dict[str, list[float]]]) -> None:
    for evaluator, centres in zip(evaluators, saved, strict=True):
        for operand, (middle, scale) in centres.items():
            if not 0 <= int(operand) < len(evaluator.operand_types):
                raise wire.damaged(f"there is a centre of operand {operand}")
            evaluator.centres[int(operand)] = Centre(float(middle), float(scale))
