"""Spark's daemon of Python workers, which has imported what they need before it forks them off.

A worker imports for two seconds, and every session, every driver that is killed and every stream
begins with new ones. Spark's own daemon imports nothing, since threads do not outlive a fork; what
is imported here runs none that anything waits for.
"""

from __future__ import annotations

import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import trendloom.hosts.spark.processor
import trendloom.hosts.spark.sources
import trendloom.hosts.spark.sql
import trendloom.hosts.spark.stages  # noqa: F401

if __name__ == "__main__":
    manager()
