"""What docs/acel.md shows is what happens."""

import doctest
from pathlib import Path

import pytest

from trendloom.acel import aggregates

PAGE = Path(__file__).parents[2] / "docs" / "acel.md"


def test_the_page_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    # The page registers an aggregate.
    monkeypatch.setattr(aggregates, "_known", dict(aggregates._known))
    # The fences of the code blocks follow an empty line, where doctest ends an output.
    done = doctest.testfile(str(PAGE), module_relative=False, verbose=False)
    assert done.attempted > 20
    assert done.failed == 0
