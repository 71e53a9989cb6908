"""A standalone Spark cluster: a master and workers, each a JVM of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark.servers.process import Server, free_port
from spark.servers.settings import SPARK_HOME, as_options, environment, quiet, settings

if TYPE_CHECKING:
    from pathlib import Path

DEPLOY = "org.apache.spark.deploy"


class Cluster:
    """Workers of one core and 1 GB, which tests may kill; `heal` replaces the lost ones."""

    def __init__(self, home: Path, workers: int = 2) -> None:
        self._home = home
        self._drivers = 0
        self._born = 0
        self.workers: list[Server] = []
        port = free_port()
        self.url = f"spark://127.0.0.1:{port}"
        at = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        self.master = self._start("master", ["master.Master", *at], {"SPARK_DAEMON_MEMORY": "256m"})
        try:
            self.master.wait_for_port(port)
            self.workers = [self._start_worker() for _ in range(workers)]
            self._wait_for_workers()
        except BaseException:
            self.stop()
            raise

    def kill_worker(self, index: int) -> None:
        """kill -9, executors included, as when a machine is lost."""
        self.workers[index].kill()

    def heal(self) -> None:
        for index, worker in enumerate(self.workers):
            if not worker.alive:
                self.workers[index] = self._start_worker()
        self._wait_for_workers()

    def start_driver(self, script: Path, *arguments: str, **extra: str) -> Server:
        """Submit a script and return at once; `extra` are settings, `.` written as `_`."""
        self._drivers += 1
        name = f"driver-{self._drivers}"
        home = self._home / name
        chosen = {
            **settings(home),
            "spark.driver.memory": "1g",
            "spark.executor.memory": "768m",
            "spark.executor.cores": "1",
            **{key.replace("_", "."): value for key, value in extra.items()},
        }
        submit = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", self.url]
        command = [*submit, *as_options(chosen), str(script), *arguments]
        return Server(name, command, home, quiet(home))

    def run_driver(self, script: Path, *arguments: str, timeout: float = 240, **extra: str) -> str:
        """Submit a script and wait for it; what it printed, warnings included."""
        driver = self.start_driver(script, *arguments, **extra)
        code = driver.wait(timeout)
        if code:
            raise RuntimeError(f"{script} ended with {code}:\n{driver.errors}")
        return driver.output

    def stop(self) -> None:
        for server in [*self.workers, self.master]:
            server.kill()

    def _start(self, name: str, command: list[str], extra: dict[str, str]) -> Server:
        run = [str(SPARK_HOME / "bin" / "spark-class"), f"{DEPLOY}.{command[0]}", *command[1:]]
        return Server(name, run, self._home / name, {**environment(), **extra})

    def _start_worker(self) -> Server:
        self._born += 1
        name = f"worker-{self._born}"
        size = ["--cores", "1", "--memory", "1g"]
        at = ["--host", "127.0.0.1", "--webui-port", "0", "--work-dir", str(self._home / name)]
        command = ["worker.Worker", *size, *at, self.url]
        return self._start(name, command, {"SPARK_DAEMON_MEMORY": "256m"})

    def _wait_for_workers(self) -> None:
        for worker in self.workers:
            worker.wait_for_line("Successfully registered with master")
