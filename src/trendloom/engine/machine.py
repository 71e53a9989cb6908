"""Memory and cores that this process may use: the container's, where it has fewer than the machine.

Control groups are a tree, and every group above the process' own limits it too. Version 2 has one
tree with `memory.max` and `cpu.max`; version 1 has a tree per kind, of which a container often sees
only its own part, at the top.
"""

from __future__ import annotations

import math
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path("/")


class Granted(NamedTuple):
    """By control groups; None: without a limit."""

    memory: int | None
    cores: float | None


def usable_cores(root: Path = ROOT) -> int:
    """At least one; a part of a core counts as a whole one."""
    if hasattr(os, "process_cpu_count"):
        found = os.process_cpu_count() or 1
    elif hasattr(os, "sched_getaffinity"):
        found = len(os.sched_getaffinity(0))
    else:
        found = os.cpu_count() or 1
    cores = granted(root).cores
    return found if cores is None else max(1, min(found, math.ceil(cores)))


def usable_memory(root: Path = ROOT) -> int:
    """Bytes, used or not."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    memory = granted(root).memory
    return machine if memory is None else min(machine, memory)


@cache
def granted(root: Path) -> Granted:
    """The least of what the groups of this process grant; read once, containers rarely change."""
    memory: list[int] = []
    cores: list[float] = []
    for folder in _groups(root):
        memory += _numbers(folder / "memory.max")[:1]
        memory += _numbers(folder / "memory.limit_in_bytes")[:1]
        cores += _share(_numbers(folder / "cpu.max"))
        quota = _numbers(folder / "cpu.cfs_quota_us")
        cores += _share(quota + _numbers(folder / "cpu.cfs_period_us"))
    return Granted(min(memory, default=None), min(cores, default=None))


def _groups(root: Path) -> Iterator[Path]:
    """The folders of the process' groups, and of those above them."""
    top = root / "sys/fs/cgroup"
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        _, _, rest = line.partition(":")
        kinds, _, path = rest.partition(":")
        base = top / kinds if kinds else top
        own = base / path.lstrip("/")
        for folder in (own, *own.parents):
            if not folder.is_relative_to(base):
                break
            yield folder


def _numbers(file: Path) -> list[int]:
    """Of a file such as `150000 100000`; none where it says max, or -1, or is not there."""
    try:
        words = file.read_text().split()
    except (OSError, UnicodeDecodeError):
        return []
    return [int(word) for word in words] if all(word.isdigit() for word in words) else []


def _share(numbers: list[int]) -> list[float]:
    """Time that may be used, by the period in which it may."""
    return [numbers[0] / numbers[1]] if len(numbers) == 2 and all(numbers) else []
