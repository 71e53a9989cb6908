"""Bytes signed with a key, where they cross trust: nobody without it can write or change them.

    b"TLSIG" · HMAC-SHA256 of all else · the bytes as `wire` packs them

Bytes without a signature are validated when they are read, and nothing more: they may be anybody's.
A signature says that a holder of the key wrote the bytes; it does not say when, and hides nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import os

from trendloom.errors import StateError, TrendloomError

MAGIC = b"TLSIG"
VARIABLE = "TRENDLOOM_STATE_KEY"
"""Where a stream on Spark finds its key: in the environment of its workers, not in its plan."""
_SIZE = hashlib.sha256().digest_size


def key_bytes(key: object) -> bytes | None:
    """A key as the caller gave it, text in UTF-8; None: there is none."""
    if key is None:
        return None
    if not isinstance(key, bytes | bytearray | str) or not key:
        shown = "empty" if isinstance(key, bytes | bytearray | str) else type(key).__name__
        raise TrendloomError(
            f"A state key is bytes or text, and this one is {shown}.",
            remedy="Give 32 random bytes, for example of secrets.token_bytes(32).",
        )
    return key.encode() if isinstance(key, str) else bytes(key)


def key_of_environment() -> bytes | None:
    """The key that the environment names; None: there is none."""
    return key_bytes(os.environ.get(VARIABLE) or None)


def sealed(data: bytes, key: bytes | None) -> bytes:
    """The bytes with their signature; without a key as they are."""
    return data if key is None else MAGIC + _signature(data, key) + data


def opened(data: bytes, key: bytes | None) -> bytes:
    """The bytes that were sealed; a StateError if this key has not signed them."""
    signed = data[: len(MAGIC)] == MAGIC
    if key is None:
        if signed:
            raise StateError(
                "The state is signed, and no key was given.",
                remedy=f"Give the key that it was saved with: state_key=…, on Spark {VARIABLE}.",
            )
        return data
    if not signed:
        raise StateError(
            "The state is not signed, and a key was given.",
            remedy="If you know who wrote it, go on without a key, and sign what you save then.",
        )
    start = len(MAGIC) + _SIZE
    inner = data[start:]
    if not hmac.compare_digest(data[len(MAGIC) : start], _signature(inner, key)):
        raise StateError(
            "The state's signature is not of this key: the key is another one, or the bytes "
            "were changed.",
            remedy="Give the key that it was saved with, or go on from another copy.",
        )
    return inner


def _signature(data: bytes, key: bytes) -> bytes:
    return hmac.new(key, MAGIC + data, hashlib.sha256).digest()
