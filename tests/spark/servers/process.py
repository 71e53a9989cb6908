"""A server is a process group that cannot outlive the tests."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

# The shell leads the group. It kills the group when the server ends, and when its own input ends,
# which is when the tests close it or die, by whatever signal.
KEEPER = """
exec 3<&0
"$@" 3<&- </dev/null &
server=$!
echo $server > "$0.tmp" && mv "$0.tmp" "$0"
{ cat <&3 >/dev/null; kill -9 0; } &
wait $server
echo $? > "$0.code"
kill -9 0
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Server:
    """One command, started in its own folder; what it prints goes to files there."""

    def __init__(self, name: str, command: list[str], home: Path, env: Mapping[str, str]) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.name = name
        self.home = home
        self._out, self._err = home / f"{name}.out", home / f"{name}.err"
        self._code = home / f"{name}.pid.code"
        pid = home / f"{name}.pid"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self._keeper = subprocess.Popen(
                ["sh", "-c", KEEPER, str(pid), *command],
                cwd=home,
                env=dict(env),
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        self._wait(pid.exists, 10, "to start")
        self.pid = int(pid.read_text())

    @property
    def alive(self) -> bool:
        return self._keeper.poll() is None

    def wait_for_port(self, port: int, seconds: float = 60) -> None:
        def answers() -> bool:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return True
            return False

        self._wait(answers, seconds, f"to answer on port {port}")

    def wait_for_line(self, text: str, seconds: float = 60) -> None:
        def printed() -> bool:
            return text in self.output or text in self.errors

        self._wait(printed, seconds, f"to print {text!r}")

    def wait(self, seconds: float) -> int:
        """Until the command ends by itself; its exit code."""
        try:
            self._keeper.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError(self._tell(f"ran for more than {seconds} s")) from None
        self.kill()
        return int(self._code.read_text()) if self._code.exists() else -signal.SIGKILL

    @property
    def output(self) -> str:
        return self._out.read_text(errors="replace")

    @property
    def errors(self) -> str:
        return self._err.read_text(errors="replace")

    def kill(self) -> None:
        """As a machine is lost: the process and all it has started, at once and without a word."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._keeper.pid, signal.SIGKILL)
        self._reap()

    def stop(self, seconds: float = 5) -> None:
        """Ask first, then kill."""
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._keeper.wait(seconds)
        self.kill()

    def _reap(self) -> None:
        self._keeper.wait(10)
        assert self._keeper.stdin is not None
        self._keeper.stdin.close()

    def _wait(self, ready: Callable[[], bool], seconds: float, what: str) -> None:
        end = time.monotonic() + seconds
        while not ready():
            ended = not self.alive
            if ended or time.monotonic() > end:
                self.kill()
                why = "ended" if ended else f"took more than {seconds} s"
                raise RuntimeError(self._tell(f"{why}, and was {what}"))
            time.sleep(0.05)

    def _tell(self, what: str) -> str:
        last = [*self.output.splitlines()[-20:], *self.errors.splitlines()[-40:]]
        return "\n".join([f"{self.name} {what}. It printed last:", *last])
