"""How a peer is run: a process of its own that tells its seconds and its counts."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.baselines.limits import Stopped

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
ENVIRONMENT = HERE.parents[1] / ".venv-peers"
# Flink reflects on classes that Java 17 keeps to itself.
OPENED = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "util")]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a peer found, and how long that took by its own clock, its start not included."""

    seconds: float
    counts: dict[int, int]
    """Per key; a key without a trend is not in it."""


def version(package: str) -> str:
    """As pinned."""
    for line in (HERE / "requirements.lock").read_text().splitlines():
        name, _, pinned = line.partition("==")
        if name == package:
            return pinned.split()[0]
    raise LookupError(
        f"benchmarks/peers/requirements.lock pins no {package}; run `make lock-peers`."
    )


def flink(mode: str, path: Path, limit: float) -> Answer:
    """SEQ(A+, B) by Flink CEP. `limit`: of seconds, its start included."""
    classes, jars = _flink_classes()
    cores = str(os.cpu_count())
    words = ["java", *OPENED, "-cp", f"{classes}:{jars}", "FlinkTrends", mode]
    told = _run([*words, str(path.with_suffix(".bin")), cores], limit).split()
    counts = dict(enumerate(int(n) for n in told[1:]))
    return Answer(float(told[0]), {key: n for key, n in counts.items() if n})


def database(name: str, path: Path, limit: float) -> Answer:
    """A query of `sql.py` by "duckdb" or "clickhouse"."""
    words = [str(_environment() / "bin" / "python"), str(HERE / "sql.py"), name, str(path)]
    told = json.loads(_run(words, limit))
    return Answer(told["seconds"], {int(key): n for key, n in told["counts"].items() if n})


@cache
def _flink_classes() -> tuple[Path, str]:
    """The small program, compiled against the jars that the wheel brings."""
    (libraries,) = _environment().glob("lib/python*/site-packages/pyflink/lib")
    classes = ENVIRONMENT / "classes"
    jars = f"{libraries}/*"
    _run(["javac", "-d", str(classes), "-cp", jars, str(HERE / "FlinkTrends.java")], None)
    return classes, jars


def _environment() -> Path:
    if not (ENVIRONMENT / "bin" / "python").exists():
        raise FileNotFoundError(
            f"The peers' environment, {ENVIRONMENT}, is missing; `make bench-peers` makes it."
        )
    return ENVIRONMENT


def _run(words: Sequence[str], limit: float | None) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        raise Stopped from None
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} failed:\n{done.stderr}")
    return done.stdout
