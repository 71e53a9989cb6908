"""Compiled kernels on disk: right when many processes write them, and when a callee changes."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from itertools import product
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float64")
INNER = """
from trendloom.kernels.compiled import kernel

@kernel
def raised(value):
    return value + 1
"""
OUTER = """
from trendloom.kernels.compiled import kernel
from pack.inner import raised

@kernel
def total(values):
    found = 0.0
    for value in values:
        found += raised(value)
    return found
"""
CALL = """
import sys, time
import numpy as np
from pack.outer import total
time.sleep(max(0.0, float(sys.argv[1]) - time.time()))
found = {total(np.ones(3, dtype)) for dtype in sys.argv[2:]}
print(*found, sum(total.stats.cache_hits.values()))
"""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    home = tmp_path / "pack"
    home.mkdir()
    for name, text in {"__init__": "", "inner": INNER, "outer": OUTER}.items():
        (home / f"{name}.py").write_text(text)
    return home


def start(
    pack: Path, when: float, *types: str, code: str = CALL, mount: str = "", **given: str
) -> subprocess.Popen[str]:
    """`mount`: a command whose mounts this process alone sees."""
    path = os.pathsep.join(filter(None, [str(pack.parent), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(pack.parent / "cache"), **given}
    command = [sys.executable, "-c", code, str(when), *types]
    if mount:
        command = ["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh", *command]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True, cwd=pack.parent)


def told(process: subprocess.Popen[str]) -> list[float]:
    """The totals, then how many signatures were found on disk."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert not err
    return [float(word) for word in out.split()]


def test_processes_that_compile_at_once_keep_each_other_s_code(pack: Path) -> None:
    at_once = time.time() + 4
    started = [start(pack, at_once, one) for one in TYPES]
    assert [told(one)[0] for one in started] == [6.0] * len(TYPES)
    assert told(start(pack, 0, *TYPES)) == [6.0, len(TYPES)]


def test_a_kernel_is_compiled_again_when_one_that_it_calls_has_changed(pack: Path) -> None:
    assert told(start(pack, 0, "int64")) == [6.0, 0]
    assert told(start(pack, 0, "int64")) == [6.0, 1]
    inner = pack / "inner.py"
    inner.write_text(INNER.replace("+ 1", "+ 3"))
    later = inner.stat().st_mtime + 10
    os.utime(inner, (later, later))
    assert told(start(pack, 0, "int64")) == [12.0, 0]


# ── no place for them ────────────────────────────────────────────────────────────────────────

SMALL_DISK = """
import resource
limit = 200
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
"""


def told_once(process: subprocess.Popen[str], *words: str) -> list[float]:
    """As `told`, with one warning that has these words."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert err.count("TrendloomWarning") == 1, err
    assert "Compiled kernels cannot be kept, so that every process compiles its own" in err
    assert "Set NUMBA_CACHE_DIR to a folder with room that only you can write to." in err
    assert all(word in err for word in words), err
    return [float(word) for word in out.split()]


def test_kernels_compile_uncached_where_no_folder_can_be_written(pack: Path) -> None:
    """As in a read-only install without a home; files stand where folders would be made."""
    (pack / "__pycache__").write_text("")
    for home in ("no/home", "/dev/null"):
        given = {"NUMBA_CACHE_DIR": "", "HOME": home, "PYTHONDONTWRITEBYTECODE": "1"}
        process = start(pack, 0, "int64", "float64", **given, XDG_CACHE_HOME="")
        assert told_once(process, "there is no folder for them") == [6.0, 0]
    assert sorted(one.name for one in pack.parent.iterdir()) == ["pack"]


@pytest.fixture(scope="module")
def mounts() -> None:
    """Skips where a process may not mount anything."""
    tried = ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]
    if shutil.which("unshare") is None or subprocess.run(tried, capture_output=True).returncode:
        pytest.skip("mounts need rights that this user has not")


@pytest.mark.usefixtures("mounts")
def test_kernels_compile_uncached_in_a_read_only_install_without_a_home(pack: Path) -> None:
    mount = f"mount --bind {pack.parent} {pack.parent} && mount -o remount,ro,bind {pack.parent}"
    home = {"NUMBA_CACHE_DIR": "", "HOME": str(pack.parent / "home"), "XDG_CACHE_HOME": ""}
    process = start(pack, 0, "int64", "float64", mount=mount, **home)
    assert told_once(process, "there is no folder for them") == [6.0, 0]


@pytest.mark.usefixtures("mounts")
def test_kernels_compile_uncached_where_the_disk_of_the_cache_is_full(pack: Path) -> None:
    (pack.parent / "cache").mkdir()
    mount = f"mount -t tmpfs -o size=16k none {pack.parent / 'cache'}"
    process = start(pack, 0, "int64", "float64", mount=mount)
    assert told_once(process, "cache", "No space left on device") == [6.0, 0]


def test_a_full_disk_leaves_kernels_uncached_and_no_index_without_code(pack: Path) -> None:
    # Python 3.11 would leave its own bytecode cut off at the limit.
    given = {"PYTHONDONTWRITEBYTECODE": "1"}
    process = start(pack, 0, "int64", "float64", code=SMALL_DISK + CALL, **given)
    assert told_once(process, "cache", "File too large") == [6.0, 0]
    assert not list((pack.parent / "cache").rglob("*.nbi"))
    assert told(start(pack, 0, "int64", "float64")) == [6.0, 0]
    assert told(start(pack, 0, "int64", "float64")) == [6.0, 2]


def test_code_that_was_cut_is_compiled_again(pack: Path) -> None:
    assert told(start(pack, 0, "int64")) == [6.0, 0]
    files = list((pack.parent / "cache").rglob("outer.total*.nb[ic]"))
    assert len(files) == 2
    for file, size in product(files, (0, 50)):
        file.write_bytes(file.read_bytes()[:size])
        assert told(start(pack, 0, "int64")) == [6.0, 0]
    assert told(start(pack, 0, "int64")) == [6.0, 1]


def test_folders_for_kernels_are_their_owner_s_alone(pack: Path) -> None:
    cache = pack.parent / "some" / "cache"
    code = f"import os; os.umask(0)\n{CALL}"
    assert told(start(pack, 0, "int64", code=code, NUMBA_CACHE_DIR=str(cache))) == [6.0, 0]
    made = [cache.parent, cache, *(one for one in cache.iterdir() if one.is_dir())]
    assert len(made) == 3
    assert {stat.S_IMODE(one.stat().st_mode) for one in made} == {0o700}


# ── threads ──────────────────────────────────────────────────────────────────────────────────

IN_THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from pack.outer import total
sys.setswitchinterval(1e-5)
with ThreadPoolExecutor(8) as pool:
    found = set(pool.map(lambda dtype: total(np.ones(3, dtype)), sys.argv[2:] * 4))
print(*found, sum(total.stats.cache_hits.values()))
"""


def test_threads_that_compile_at_once_have_the_same_code(pack: Path) -> None:
    assert told(start(pack, 0, *TYPES[:4], code=IN_THREADS)) == [6.0, 0]
    assert told(start(pack, 0, *TYPES[:4], code=IN_THREADS)) == [6.0, 4]
