"""One refusal, seen by the Python API and by the command line: the same words on both."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from trendloom.api import run
from trendloom.cli.main import app
from trendloom.errors import QueryError, TrendloomError
from trendloom.testing import stream

LETTERS = stream("a1:x=1,word=u b2:x=2,word=u a3:x=3,word=v c4:x=4,word=v")


def call(*words: str) -> Any:
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def written(folder: Path, text: str, name: str = "events.csv") -> str:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return str(path)


def letters_in(folder: Path) -> str:
    header = list(LETTERS[0])
    lines = [header, *([str(event[name]) for name in header] for event in LETTERS)]
    return written(folder, "".join(",".join(line) + "\n" for line in lines))


def refused(path: str, query: str, kind: type[TrendloomError], /, **options: str) -> TrendloomError:
    """The error of the API, after a look at what the command line made of it."""
    named = {"time": "time"} | options
    with pytest.raises(kind) as caught:
        run(query, path, **named)
    words = [word for name, value in named.items() for word in _option(name, value)]
    done = call("run", "-q", query, "--input", path, *words)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr == f"Error: {caught.value}\n"
    return caught.value


def _option(name: str, value: str) -> tuple[str, str]:
    return "--" + name.replace("_", "-"), value


def place_of(error: TrendloomError) -> str:
    """The words of the query that the caret is under."""
    assert isinstance(error, QueryError)
    assert error.place is not None
    assert "^" in str(error)
    return error.text[error.place.start : error.place.end]
