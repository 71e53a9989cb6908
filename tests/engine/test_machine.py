"""Memory and cores of containers, from files laid out as control groups are."""

import os
from pathlib import Path

import pytest

from trendloom.cet.memory import read_limit
from trendloom.engine.machine import Granted, granted, usable_cores, usable_memory

GB = 1 << 30
UNLIMITED = str((1 << 63) - 4096)
"""As version 1 writes it."""


def laid_out(root: Path, groups: str, files: dict[str, str]) -> Path:
    for name, text in {"proc/self/cgroup": groups, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


CASES: dict[str, tuple[str, dict[str, str], Granted]] = {
    "version 2, in a container that sees its own group as the top": (
        "0::/",
        {"memory.max": str(2 * GB), "cpu.max": "150000 100000"},
        Granted(2 * GB, 1.5),
    ),
    "version 2, without limits": (
        "0::/",
        {"memory.max": "max", "cpu.max": "max 100000"},
        Granted(None, None),
    ),
    "version 2, of a service, below a slice that has less": (
        "0::/system.slice/work.service",
        {
            "system.slice/work.service/memory.max": str(4 * GB),
            "system.slice/work.service/cpu.max": "max 100000",
            "system.slice/memory.max": str(3 * GB),
            "system.slice/cpu.max": "50000 100000",
        },
        Granted(3 * GB, 0.5),
    ),
    "version 1, by path": (
        "5:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc",
        {
            "memory/docker/abc/memory.limit_in_bytes": str(GB),
            "memory/memory.limit_in_bytes": UNLIMITED,
            "cpu,cpuacct/docker/abc/cpu.cfs_quota_us": "300000",
            "cpu,cpuacct/docker/abc/cpu.cfs_period_us": "100000",
        },
        Granted(GB, 3.0),
    ),
    "version 1, in a container that sees only its own part, at the top": (
        "5:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc",
        {
            "memory/memory.limit_in_bytes": str(GB),
            "cpu,cpuacct/cpu.cfs_quota_us": "200000",
            "cpu,cpuacct/cpu.cfs_period_us": "100000",
        },
        Granted(GB, 2.0),
    ),
    "version 1, without limits": (
        "5:memory:/\n3:cpu,cpuacct:/",
        {"memory/memory.limit_in_bytes": "", "cpu,cpuacct/cpu.cfs_quota_us": "-1"},
        Granted(None, None),
    ),
    "both versions at once": (
        "5:memory:/job\n0::/job",
        {"memory/job/memory.limit_in_bytes": str(GB), "job/cpu.max": "100000 100000"},
        Granted(GB, 1.0),
    ),
    "no control groups": ("", {}, Granted(None, None)),
}


@pytest.mark.parametrize("name", CASES)
def test_what_control_groups_grant(name: str, tmp_path: Path) -> None:
    groups, files, expected = CASES[name]
    root = laid_out(tmp_path, groups, {f"sys/fs/cgroup/{k}": v for k, v in files.items()})
    assert granted(root) == expected
    cores, memory = usable_cores(root), usable_memory(root)
    assert 1 <= cores <= len(os.sched_getaffinity(0))
    assert cores <= max(1, -(-(expected.cores or cores) // 1))
    assert memory <= (expected.memory or memory)


def test_a_system_without_such_files(tmp_path: Path) -> None:
    assert granted(tmp_path) == Granted(None, None)


def test_affinity_limits_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5})
    assert usable_cores(tmp_path) == 3


def test_the_default_limit_of_listings_is_of_the_container(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trendloom.cet.memory.usable_memory", lambda: 2 * GB)
    assert read_limit(None) == GB // 2


def test_duckdb_keeps_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    from trendloom.hosts.local.sources import duck

    monkeypatch.undo()  # the real connect, not that of generated cases
    monkeypatch.setattr(duck, "usable_memory", lambda: 2 * GB)
    monkeypatch.setattr(duck, "usable_cores", lambda: 1)
    with duck.connect() as connection:
        told = "SELECT current_setting('threads'), current_setting('memory_limit')"
        assert connection.execute(told).fetchall() == [(1, "1.5 GiB")]
