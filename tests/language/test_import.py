"""Importing the language is cheap; the first query pays for lark and sqlglot."""

from __future__ import annotations

import subprocess
import sys


def test_import_loads_neither_lark_nor_sqlglot() -> None:
    script = (
        "import sys, trendloom.language\n"
        "print(sorted({'lark', 'sqlglot'} & set(sys.modules)))\n"
        "trendloom.language.parse('PATTERN A')\n"
        "print(sorted({'lark', 'sqlglot'} & set(sys.modules)))\n"
    )

    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert result.stdout.splitlines() == ["[]", "['lark', 'sqlglot']"]
