"""A database's query, by hand: `python sql.py duckdb|clickhouse FILE` in the peers' environment.

Knows nothing of Trendloom. Prints the seconds of the query and the count of each key, as JSON.
"""

from __future__ import annotations

import json
import sys
import time

RISING = """
WITH RECURSIVE ends AS (
  SELECT key, ts, price, 1::HUGEINT AS n FROM '{path}'
  UNION ALL
  SELECT e.key, e.ts, any_value(e.price), sum(ends.n)::HUGEINT
  FROM ends JOIN '{path}' e ON e.key = ends.key AND e.ts > ends.ts AND e.price > ends.price
  GROUP BY e.key, e.ts
)
SELECT key, sum(n)::HUGEINT FROM ends GROUP BY key ORDER BY key"""
"""`S+` with `S.price < NEXT(S).price`, any-match: trends of length 1, then of 2, and so on."""

NESTED = """
SELECT key, toString(arrayFold(
  (ends, type) -> multiIf(
    type = 'A', (ends.1 * 2 + ends.2 + 1, ends.2), type = 'B', (ends.1, ends.2 + ends.1), ends),
  arrayMap(event -> event.2, arraySort(groupArray((ts, type)))),
  (toUInt256(0), toUInt256(0))).2) AS n
FROM file('{path}', Parquet) GROUP BY key ORDER BY key FORMAT JSONCompactEachRow"""
"""`(SEQ(A+, B))+`, any-match: COGRA's Algorithm 1 as a fold of an array. Wraps beyond 256 bits."""


def duckdb_rows(path: str) -> list[list[int]]:
    import duckdb

    with duckdb.connect() as connection:
        return [list(row) for row in connection.sql(RISING.format(path=path)).fetchall()]


def clickhouse_rows(path: str) -> list[list[int]]:
    import chdb

    lines = str(chdb.query(NESTED.format(path=path))).splitlines()
    return [[key, int(n)] for key, n in map(json.loads, lines)]


def main(engine: str, path: str) -> None:
    ask = {"duckdb": duckdb_rows, "clickhouse": clickhouse_rows}[engine]
    ask(path)
    started = time.perf_counter()
    rows = ask(path)
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "counts": dict(rows)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
