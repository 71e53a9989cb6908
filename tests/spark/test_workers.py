"""Between tasks."""

from __future__ import annotations

import gc

from trendloom.hosts.spark.workers import MANY, settle


def test_what_outlived_a_task_is_not_looked_through_after_the_next() -> None:
    kept = [[k] for k in range(2 * MANY)]
    gc.collect()
    try:
        settle()
        frozen = gc.get_freeze_count()
        assert frozen >= len(kept)
        settle()
        assert gc.get_freeze_count() == frozen, "little came since"
    finally:
        gc.unfreeze()
