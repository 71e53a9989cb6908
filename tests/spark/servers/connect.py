"""A Spark Connect server from pyspark's own jars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark.servers.process import Server, free_port
from spark.servers.settings import SPARK_HOME, as_options, quiet, settings

if TYPE_CHECKING:
    from pathlib import Path

SERVICE = "org.apache.spark.sql.connect.service.SparkConnectServer"


def start_connect(home: Path) -> tuple[Server, str]:
    """The server and its address."""
    port = free_port()
    chosen = {
        **settings(home),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    submit = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", "local[2]"]
    memory = ["--driver-memory", "1g"]
    command = [*submit, *memory, *as_options(chosen), "--class", SERVICE, "spark-internal"]
    server = Server("connect", command, home, quiet(home))
    server.wait_for_port(port, 90)
    return server, f"sc://127.0.0.1:{port}"
