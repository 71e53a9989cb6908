"""A Spark session for a job of our own: the command line has no caller who brings one.

1. A session that is active already is used as it is, and left running. Who wants a server is told.
2. Under `spark-submit` the JVM is there and has its settings: only what it does not say is added.
3. Else a session is made, small and on this machine unless a master is named.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import threading
import warnings
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from trendloom.errors import InputError, MissingExtraError, TrendloomError
from trendloom.hosts.spark.failed import not_started, plain_failures
from trendloom.hosts.spark.session import ROCKSDB, STORE, require_pyspark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

PARTITIONS = "spark.sql.shuffle.partitions"
CONNECT_PORT = 15002
"""Where a Connect server listens unless told otherwise."""
ANSWER = 10.0
"""Seconds for a server to take a connection."""
JAVA = "Install a Java 17 runtime, and put it on the PATH or name it in JAVA_HOME."


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user says of the session."""

    master: str | None = None
    remote: str | None = None
    """A Connect server, sc://host:port, instead of a master."""
    packages: tuple[str, ...] = ()
    jars: tuple[str, ...] = ()
    log: str = "off"
    """How much of Spark's own log is shown: what fails is told anyway."""
    ui: bool = False
    partitions: int | None = None
    """At most so many tasks after an exchange."""


@contextmanager
def job_session(wanted: Wanted) -> Iterator[SparkSession]:
    """A session to work in, stopped afterwards if it was made here."""
    require_pyspark()
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        if wanted.remote is not None:
            raise TrendloomError(
                f"A Spark session is active in this process, so {wanted.remote} cannot be used.",
                remedy="Leave --remote out to use that session, or stop it first.",
            )
        with plain_failures():
            yield active
        return
    if wanted.remote is None and not _submitted():
        require_java()
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    with plain_failures():
        # A session of another thread is not active in this one, but it is what Spark hands out.
        ours = wanted.remote is not None or not _is_running()
        spark = _remote(wanted.remote) if wanted.remote else _made(wanted)
        try:
            yield spark
        finally:
            if ours:
                spark.stop()


def _is_running() -> bool:
    """Whether this process has a Spark already."""
    from pyspark import SparkContext

    return SparkContext._active_spark_context is not None


class Aside:
    """Keeps what the JVM and its workers say away from the terminal, but for the last lines.

    They inherit the standard error of this process, so it is another one while they start. A file
    would grow as long as a stream runs; a thread reads a pipe.
    """

    def __init__(self, *, aside: bool) -> None:
        self._aside = aside
        self._lines: deque[str] = deque(maxlen=20)
        self._kept = -1

    @property
    def last(self) -> list[str]:
        """What was said last, unless it was said on the terminal."""
        return list(self._lines)

    def __enter__(self) -> None:
        if not self._aside:
            return
        sys.stderr.flush()
        self._kept = os.dup(2)
        reading, writing = os.pipe()
        os.dup2(writing, 2)
        os.close(writing)
        threading.Thread(target=self._read, args=(reading,), daemon=True).start()

    def __exit__(self, *_: object) -> None:
        if self._aside:
            os.dup2(self._kept, 2)
            os.close(self._kept)

    def _read(self, reading: int) -> None:
        with open(reading, errors="replace") as lines:
            for line in lines:
                self._lines.append(line.rstrip("\n"))


def require_java() -> None:
    """Spark starts `$JAVA_HOME/bin/java`, else the one on the path."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which(os.path.join(home, "bin", "java") if home else "java") is None:
        where = f"in JAVA_HOME ({home})" if home else "on the PATH"
        raise MissingExtraError(f"Spark needs Java 17, and there is no java {where}.", remedy=JAVA)


def require_server(address: str) -> None:
    """Spark's client would try again for minutes, without a word, where nobody answers."""
    try:
        at = urlsplit(address)
        host, port = at.hostname, at.port or CONNECT_PORT
    except ValueError:
        host, port = None, 0
    if host is None or not address.startswith("sc://"):
        raise InputError(f"Cannot read '{address}'.", remedy="It is written sc://HOST:PORT.")
    try:
        socket.create_connection((host, port), ANSWER).close()
    except OSError as error:
        raise TrendloomError(
            f"No Connect server answers at {address}: {error.strerror or error}.",
            remedy="Start one there (sbin/start-connect-server.sh), or name another.",
        ) from None


def _submitted() -> bool:
    """Whether spark-submit started this process: then there is a JVM that waits for it."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _remote(address: str) -> SparkSession:
    from pyspark.sql import SparkSession

    require_server(address)
    spark: SparkSession = SparkSession.builder.remote(address).getOrCreate()
    return spark


def _made(wanted: Wanted) -> SparkSession:
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.appName("trendloom")
    for key, value in _static(wanted).items():
        builder = builder.config(key, value)
    aside = Aside(aside=wanted.log == "off" and not _submitted())
    try:
        with aside, _deaf_to_terminate():
            spark: SparkSession = builder.getOrCreate()
    except PySparkRuntimeError as error:
        if "JAVA_GATEWAY" not in str(error):
            raise
        raise not_started(aside.last, f"Spark needs Java 17. {JAVA}") from error
    _interrupt_as_usual()
    context = spark.sparkContext
    said = context.getConf()
    tasks = 2 * context.defaultParallelism
    dynamic = {
        "spark.sql.session.timeZone": "UTC",
        STORE: ROCKSDB,
        # Spark's default is an old form that readers take for another type.
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        PARTITIONS: str(min(tasks, wanted.partitions or tasks)),
    }
    for key, value in dynamic.items():
        if not said.contains(key):
            spark.conf.set(key, value)
    return spark


def _static(wanted: Wanted) -> dict[str, str]:
    """What must be known before the JVM starts."""
    if _submitted():
        if wanted.packages or wanted.jars:
            raise TrendloomError(
                "Spark runs already, so that no --packages or --jars can be added.",
                remedy="Give them to spark-submit, before the name of the program.",
            )
        return {} if wanted.master is None else {"spark.master": wanted.master}
    # Workers must have the packages that this interpreter has.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    master = wanted.master or "local[*]"
    chosen = {
        "spark.master": master,
        "spark.jars": ",".join(wanted.jars),
        "spark.jars.packages": ",".join(wanted.packages),
        "spark.log.level": "OFF" if wanted.log == "off" else wanted.log.upper(),
        "spark.ui.enabled": "true" if wanted.ui else "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        chosen |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    return {key: value for key, value in chosen.items() if value}


@contextmanager
def _deaf_to_terminate() -> Iterator[None]:
    """What starts meanwhile ignores SIGTERM for good.

    Service managers send it to all processes of a job at once, and a JVM that ends by itself leaves
    nobody to stop a stream in order. Ours ends when this process closes its standard input.
    """
    if _submitted() or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt_as_usual() -> None:
    """Spark's own handler would cancel jobs first; a stream is stopped, and then has none."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
