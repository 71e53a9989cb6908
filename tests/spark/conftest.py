"""Spark as it really runs: a session here, a Connect server, a cluster, a Kafka broker beside.

Each server starts when the first test asks for it, and dies with the tests.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import SparkSession

from spark.servers.cluster import Cluster
from spark.servers.connect import start_connect
from spark.servers.kafka import Broker
from spark.servers.settings import light, quiet, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
PANDAS = "ignore:PySpark does not yet fully support pandas:FutureWarning"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.path.is_relative_to(HERE):
            continue
        item.add_marker(pytest.mark.spark)
        item.add_marker(pytest.mark.filterwarnings(PANDAS))
        folder = item.path.relative_to(HERE).parts[0]
        if folder in ("cluster", "kafka"):
            item.add_marker(getattr(pytest.mark, folder))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session of two cores in this process. The JVM ends with the process."""
    home = tmp_path_factory.mktemp("spark")
    patch = pytest.MonkeyPatch()
    for key, value in quiet(home).items():
        patch.setenv(key, value)
    builder = SparkSession.builder.master("local[2]").appName("trendloom tests")
    builder = builder.config("spark.driver.memory", "2g")
    for key, value in {**settings(home), **light()}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
    patch.undo()


@pytest.fixture(scope="session")
def connect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Connect server."""
    server, address = start_connect(tmp_path_factory.mktemp("connect"))
    yield address
    server.stop()


@pytest.fixture
def connect(
    connect_server: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SparkSession]:
    """A session on the Connect server.

    pyspark decides by the environment whether `functions` speak Connect, for a whole process. So
    a test has either this session or `spark`, and the environment is Connect's only meanwhile.
    """
    from pyspark.sql.connect.session import SparkSession as Remote

    assert "spark" not in request.fixturenames, "a test takes `spark` or `connect`, never both"
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    session = Remote.builder.remote(connect_server).create()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.stop()


@pytest.fixture
def cluster(standalone: Cluster) -> Cluster:
    """A master and two workers, all alive when the test begins."""
    standalone.heal()
    return standalone


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    broker = Broker(tmp_path_factory.mktemp("kafka"))
    yield broker
    broker.stop()
