"""Benchmarks are not installed: they are found beside the tests' folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
