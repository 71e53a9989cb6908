"""A Kafka broker of one node, its own controller, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from spark.servers.process import Server, free_port
from spark.servers.settings import JARS, JVM

if TYPE_CHECKING:
    from pathlib import Path

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"


class Broker:
    """`bootstrap` is the address for clients."""

    def __init__(self, home: Path) -> None:
        if not any((JARS / "broker").glob("*.jar")):
            raise RuntimeError(f"no Kafka broker in {JARS / 'broker'}; run `make jars`, then again")
        home.mkdir(parents=True, exist_ok=True)
        self._home = home
        port = free_port()
        self.bootstrap = f"127.0.0.1:{port}"
        properties = home / "server.properties"
        properties.write_text(self._properties(port, free_port()))
        at = ["-t", CLUSTER_ID, "-c", str(properties)]
        self._run("kafka.tools.StorageTool", "format", *at)
        command = self._java("kafka.Kafka", str(properties))
        self._server = Server("broker", command, home, os.environ)
        self._server.wait_for_port(port)

    def create_topic(self, name: str, partitions: int = 1) -> None:
        of = ["--topic", name, "--partitions", str(partitions), "--replication-factor", "1"]
        at = ["--bootstrap-server", self.bootstrap]
        self._run("org.apache.kafka.tools.TopicCommand", "--create", *at, *of)

    def size(self, topic: str) -> int:
        """Bytes of the topic's messages on disk."""
        return sum(log.stat().st_size for log in (self._home / "data").glob(f"{topic}-*/*.log"))

    def stop(self) -> None:
        self._server.kill()

    def _java(self, main: str, *arguments: str) -> list[str]:
        memory = ["-Xms64m", "-Xmx384m", *JVM.split()]
        log = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        return ["java", *memory, log, "-cp", f"{JARS / 'broker'}/*", main, *arguments]

    def _run(self, main: str, *arguments: str) -> None:
        done = subprocess.run(
            self._java(main, *arguments),
            cwd=self._home,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{main} failed:\n{done.stdout}{done.stderr}")

    def _properties(self, port: int, controller: int) -> str:
        chosen = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": str(self._home / "data"),
            "auto.create.topics.enable": "false",
            "group.initial.rebalance.delay.ms": "0",
            # One node keeps the only copy of Kafka's own topics.
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "1",
        }
        return "".join(f"{key}={value}\n" for key, value in chosen.items())
