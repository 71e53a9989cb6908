"""Settings that keep Spark small, quiet and on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pyspark

ROOT = Path(__file__).parents[3]
JARS = ROOT / ".jars"
PATH = os.environ.get("PYTHONPATH")
"""The caller's own, as it is before any test changes it."""
SPARK_HOME = Path(pyspark.__file__).parent
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For JVMs that live for seconds or minutes: compiling well costs them more than it saves."""
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def environment() -> dict[str, str]:
    """What a Spark process needs: this interpreter in its workers, and the tests' own modules."""
    return {
        **os.environ,
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT / "tests"), PATH))),
        "SPARK_DAEMON_JAVA_OPTS": JVM,
        "SPARK_LAUNCHER_OPTS": JVM,
    }


def connector() -> str:
    """The Kafka connector's jars, or nothing before `make jars`."""
    return ",".join(str(jar) for jar in sorted((JARS / "connector").glob("*.jar")))


def settings(home: Path) -> dict[str, str]:
    """For any session; `home` takes what Spark writes."""
    chosen = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": (
            f"{JVM} -Dderby.system.home={home} -Djava.io.tmpdir={home}"
        ),
        "spark.executor.extraJavaOptions": JVM,
        "spark.jars": connector(),
        "spark.local.dir": str(home / "local"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    return {key: value for key, value in chosen.items() if value}


def light() -> dict[str, str]:
    """For sessions that run very many queries over very few rows.

    A Connect server, a cluster and `spark-submit` do without: there Spark is as users have it.
    """
    return {
        "spark.python.daemon.module": "spark.servers.daemon",
        # Spark writes, compiles and loads Java for every query, and interprets it a few times.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }


def as_options(chosen: dict[str, str]) -> list[str]:
    """As `spark-submit` takes them."""
    return [part for key, value in chosen.items() for part in ("--conf", f"{key}={value}")]


def quiet(home: Path) -> dict[str, str]:
    """The environment, with a log configuration of errors only."""
    conf = home / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    (conf / "log4j2.properties").write_text(
        "rootLogger.level = error\n"
        "rootLogger.appenderRef.stderr.ref = console\n"
        "appender.console.type = Console\n"
        "appender.console.name = console\n"
        "appender.console.target = SYSTEM_ERR\n"
        "appender.console.layout.type = PatternLayout\n"
        "appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex\n"
    )
    return {**environment(), "SPARK_CONF_DIR": str(conf)}
