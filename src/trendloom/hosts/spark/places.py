"""Where a stream comes from and where its rows go, as one word: `kind:where`."""

from __future__ import annotations

from dataclasses import dataclass

from trendloom.errors import InputError, did_you_mean

FORMS = {
    "rate": "rate:ROWS_PER_SECOND",
    "console": "console",
    "parquet": "parquet:DIRECTORY",
    "json": "json:DIRECTORY",
    "csv": "csv:DIRECTORY",
    "delta": "delta:DIRECTORY",
    "socket": "socket:HOST:PORT",
    "kafka": "kafka:HOST:PORT/TOPIC",
}
BARE = ("rate", "console")


@dataclass(frozen=True, slots=True)
class Place:
    """`kafka:127.0.0.1:9092/events` has the kind kafka; the rest is `where`."""

    kind: str
    where: str

    @classmethod
    def read(cls, text: str, known: tuple[str, ...]) -> Place:
        kind, _, where = text.partition(":")
        if kind not in known:
            raise InputError(f"'{text}' is no place known here.", remedy=did_you_mean(kind, known))
        if (not where and kind not in BARE) or (where and kind == "console"):
            raise _malformed(kind, text)
        return cls(kind, where)

    @property
    def address(self) -> tuple[str, str]:
        """Host and port."""
        host, _, port = self.where.rpartition(":")
        if not host or not port.isdigit():
            raise _malformed(self.kind, f"{self.kind}:{self.where}")
        return host, port

    @property
    def topic(self) -> tuple[str, str]:
        """The brokers, host:port with commas between, and the topic."""
        brokers, _, topic = self.where.partition("/")
        if not topic or not all(":" in broker for broker in brokers.split(",")):
            raise _malformed(self.kind, f"{self.kind}:{self.where}")
        return brokers, topic


def _malformed(kind: str, text: str) -> InputError:
    return InputError(f"Cannot read '{text}'.", remedy=f"It is written {FORMS[kind]}.")
