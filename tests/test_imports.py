"""Who imports whom: the layers hold, the package is light, its types are shipped."""

import json
import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ["numba", "duckdb", "pyarrow", "sqlglot", "lark", "altair", "numpy", "pandas", "polars"]


def test_import_contracts_hold() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


@pytest.mark.parametrize("module", ["trendloom", "trendloom.errors", "trendloom.cli.main"])
def test_import_is_light(module: str) -> None:
    script = f"import sys, json, {module}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert set(HEAVY) & set(json.loads(done.stdout)) == set()


def test_types_are_shipped() -> None:
    """The marker lies in the package, all of which goes into the wheel."""
    assert files("trendloom").joinpath("py.typed").is_file()
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert wheel["targets"]["wheel"] == {"packages": ["src/trendloom"]}


QUERIES = (
    "RETURN COUNT(*) PATTERN (SEQ(A+, B))+",
    "RETURN k, COUNT(*), MIN(A.x), AVG(A.x) PATTERN SEQ(A+, B) WHERE [k] GROUP-BY k",
    "RETURN k, SUM(A.x) PATTERN SEQ(A+, B) SEMANTICS next GROUP-BY k WITHIN 9 s SLIDE 3 s",
    "RETURN COUNT(*) PATTERN A+ WHERE A.x <= NEXT(A).x WITHIN 9 s",
    "RETURN COUNT(*) PATTERN SEQ(A+, NOT C, B) WHERE A.x < NEXT(B).x",
)


@pytest.mark.parametrize("times", ["in order", "not in order"])
def test_a_query_over_a_file_imports_no_pandas(times: str, tmp_path: Path) -> None:
    """Arrow would, for a scalar or a list: a third of the time to the first result."""
    step = 1 if times == "in order" else 7
    rows = [
        f"{i * step % 50},{'ABC'[i % 3]},{'uv'[i % 2] if i % 11 else ''},{i % 5 if i % 4 else ''}"
        for i in range(50)
    ]
    path = tmp_path / "events.csv"
    path.write_text("\n".join(["time,type,k,x", *rows]))
    script = (
        "import sys, trendloom\n"
        f"for query in {QUERIES!r}:\n"
        f"    print(trendloom.run(query, {str(path)!r}, time='time', type='type'))\n"
        "    assert 'pandas' not in sys.modules, query"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
