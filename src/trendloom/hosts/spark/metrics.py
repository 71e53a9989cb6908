"""Counts of running streams, as Prometheus reads them.

Spark tells a listener after every micro-batch; the counts that only the engine knows come along as
observed metrics. Everything is kept per name of a streaming query. Streams of others are left out.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.listener import StreamingQueryListener

from trendloom.hosts.spark.operator import COUNTS
from trendloom.hosts.spark.stream import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import SparkSession

FAMILIES = (
    ("events", "trendloom_events_total", "counter", "Events that reached the query"),
    ("rows", "trendloom_rows_total", "counter", "Result rows"),
    ("late", "trendloom_late_events_total", "counter", "Events that came after the watermark"),
    ("dropped", "trendloom_dropped_rows_total", "counter", "Rows without a time, or unreadable"),
    ("batches", "trendloom_batches_total", "counter", "Micro-batches"),
    ("state_bytes", "trendloom_state_bytes", "gauge", "State written by the last micro-batch"),
    ("store_bytes", "trendloom_state_store_bytes", "gauge", "Memory of the state stores"),
    ("state_rows", "trendloom_state_rows", "gauge", "Values in the state stores"),
    ("lag", "trendloom_watermark_lag_seconds", "gauge", "Watermark behind the clock"),
)
"""Attribute of a `Tally`, name, type and meaning of what is exposed."""
UNNAMED = "unnamed"


@dataclass(frozen=True, slots=True)
class Tally:
    """What a query did, in all or in one micro-batch."""

    events: int = 0
    rows: int = 0
    late: int = 0
    dropped: int = 0
    batches: int = 0
    state_bytes: int = 0
    store_bytes: int = 0
    state_rows: int = 0
    lag: float | None = None
    """Seconds; None before there is a watermark."""

    def then(self, batch: Tally) -> Tally:
        """Counters add up, gauges are the latest."""
        return Tally(
            self.events + batch.events,
            self.rows + batch.rows,
            self.late + batch.late,
            self.dropped + batch.dropped,
            self.batches + batch.batches,
            batch.state_bytes,
            batch.store_bytes,
            batch.state_rows,
            self.lag if batch.lag is None else batch.lag,
        )


class TrendMetrics(StreamingQueryListener):
    """A listener that counts. `told` is called with a query's name and its last micro-batch."""

    def __init__(self, told: Callable[[str, Tally], None] | None = None) -> None:
        super().__init__()
        self._told = told
        self._lock = threading.Lock()
        self._tallies: dict[str, Tally] = {}
        self._ended = threading.Event()
        self._server: ThreadingHTTPServer | None = None
        self._session: SparkSession | None = None

    @property
    def tallies(self) -> dict[str, Tally]:
        """The counts so far, by query name."""
        with self._lock:
            return dict(self._tallies)

    @property
    def port(self) -> int | None:
        """Where `http://127.0.0.1:port/metrics` answers, if anywhere."""
        return None if self._server is None else int(self._server.server_address[1])

    def text(self) -> str:
        """Prometheus' exposition format."""
        tallies = sorted(self.tallies.items())
        lines: list[str] = []
        for attribute, name, kind, meaning in FAMILIES:
            lines += [f"# HELP {name} {meaning}.", f"# TYPE {name} {kind}"]
            for query, tally in tallies:
                value = getattr(tally, attribute)
                if value is not None:
                    lines.append(f'{name}{{query="{_escaped(query)}"}} {value}')
        return "\n".join(lines) + "\n"

    def listen(self, spark: SparkSession) -> None:
        """Count the streams of a session from now on."""
        spark.streams.addListener(self)
        self._session = spark

    def serve(self, port: int) -> None:
        """Answer on this machine; port 0 takes a free one."""
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Neither listen nor answer any more."""
        if self._session is not None:
            self._session.streams.removeListener(self)
            self._session = None
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def wait_for_end(self, seconds: float) -> bool:
        """Until Spark has told that a query ended; it tells after the fact."""
        return self._ended.wait(seconds)

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        """Nothing to count yet."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        progress = event.progress
        observed = progress.observedMetrics.get(METRICS)
        if observed is None:
            return
        name = progress.name or UNNAMED
        batch = _tally(progress, observed)
        with self._lock:
            self._tallies[name] = self._tallies.get(name, Tally()).then(batch)
        if self._told is not None:
            self._told(name, batch)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """Nothing new."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: ARG002, N802
        self._ended.set()


def _tally(progress: Any, observed: Any) -> Tally:
    counts = observed.asDict()
    return Tally(
        **{name: int(counts.get(name) or 0) for name in COUNTS},
        batches=1,
        store_bytes=sum(operator.memoryUsedBytes for operator in progress.stateOperators),
        state_rows=sum(operator.numRowsTotal for operator in progress.stateOperators),
        lag=_lag(progress.timestamp, progress.eventTime),
    )


def _lag(now: str, event_time: Mapping[str, str]) -> float | None:
    """From the watermark to the micro-batch's own clock."""
    watermark = event_time.get("watermark")
    # The epoch is Spark's word for "none yet".
    if watermark is None or datetime.fromisoformat(watermark).timestamp() <= 0:
        return None
    return (datetime.fromisoformat(now) - datetime.fromisoformat(watermark)).total_seconds()


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _handler(metrics: TrendMetrics) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers `/metrics` and nothing else."""

        def do_GET(self) -> None:
            if self.path != "/metrics":
                self.send_error(404)
                return
            body = metrics.text().encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Silence: being asked is not news."""

    return Handler
