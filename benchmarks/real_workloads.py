"""Fifty queries over real taxis and smart plugs, for whoever measures workloads on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from benchmarks.events import REAL

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

WINDOW = "WITHIN 1 min SLIDE 1 min"
PLUGS = ("PC-Desktop", "Amplifier", "Refrigerator", "TV-LCD", "Coffeemaker", "PC-Laptop")


@dataclass(frozen=True)
class RealWorkload:
    """Queries `SEQ(X, T+, Y)` that differ in X and Y, and where their events are."""

    name: str
    file: str
    sql: str
    texts: list[str]
    rising: str | None = None
    """What rises from T to T, if anything must."""

    @property
    def path(self) -> Path:
        return REAL / f"{self.file}.parquet"

    def events(self, count: int) -> pa.Table:
        """The first ones in order of time, without their times."""
        return duckdb.sql(f"{self.sql.format(self.path)} LIMIT {count}").to_arrow_table()


def taxi(queries: int) -> RealWorkload:
    """Drop-offs between dear and cheap pick-ups."""
    texts = [
        f"RETURN COUNT(*) PATTERN SEQ(Pickup X, Dropoff T+, Pickup Y)"
        f" WHERE X.fare_amount > {20 + k % 25} AND Y.fare_amount < {10 - k // 25} {WINDOW}"
        for k in range(queries)
    ]
    sql = "SELECT type, fare_amount FROM '{}' ORDER BY ts"
    return RealWorkload("taxi", "taxi_green_nyc_2023q1_apr", sql, texts)


def plugs(queries: int) -> RealWorkload:
    """A monitor's load rises between readings of two other appliances."""
    texts = []
    for k in range(queries):
        start, end = PLUGS[k % 3], PLUGS[3 + k // 3 % 3]
        pattern = f'SEQ("{start}" X, "Monitor-TFT" T+, "{end}" Y)'
        where = f"T.load_w < NEXT(T).load_w AND X.load_w >= {k // 9}"
        texts.append(f"RETURN COUNT(*) PATTERN {pattern} WHERE {where} {WINDOW}")
    kinds = ", ".join(f"'{one}'" for one in ("Monitor-TFT", *PLUGS))
    sql = "SELECT type, load_w FROM '{}' WHERE type IN (" + kinds + ") ORDER BY ts"
    return RealWorkload("plugs", "smart_plugs_tracebase_3d", sql, texts, "load_w")
