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
