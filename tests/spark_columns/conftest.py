"""A session of one core, far from Greenwich: nothing may depend on its zone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
ZONE = "America/St_Johns"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.filterwarnings("ignore::FutureWarning"))


@pytest.fixture(scope="session")
def far_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    home = tmp_path_factory.mktemp("spark_columns")
    patch = pytest.MonkeyPatch()
    patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    found = SparkSession.getActiveSession()
    session = found or (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.warehouse.dir", str(home))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    yield session
    if found is None:
        session.stop()
    patch.undo()


@pytest.fixture
def spark(far_session: SparkSession) -> Iterator[SparkSession]:
    before = far_session.conf.get("spark.sql.session.timeZone")
    far_session.conf.set("spark.sql.session.timeZone", ZONE)
    yield far_session
    far_session.conf.set("spark.sql.session.timeZone", before)
