"""What docs/workloads.md shows is what happens."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "workloads.md"


def test_the_page_is_true() -> None:
    blocks = re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    shown = [text for kind, text in blocks if kind == "text"]
    said = []
    for code in (text for kind, text in blocks if kind == "python"):
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            exec(compile(code, str(PAGE), "exec"), names)
        said.append(told.getvalue())
    assert said == shown
