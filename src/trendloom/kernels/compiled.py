"""The decorator of kernels: compiled when first called, kept on disk, whoever else compiles.

numba keeps machine code beside the sources and leaves two things to its users:

- Processes that compile at once, as Spark's workers do, may take one number for the files of two
  signatures, and then load each other's code. Here they read and write under a lock.
- A kernel holds the code of the kernels that it calls, yet is kept for as long as its own file is
  unchanged. Here it is kept for as long as theirs are, too.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, overload

from numba import njit
from numba.core.caching import FunctionCache

try:
    import fcntl
except ImportError:  # Windows: as numba has it
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


Function = TypeVar("Function", bound="Callable[..., Any]")


@overload
def kernel(function: Function) -> Function: ...


@overload
def kernel(**options: Any) -> Callable[[Function], Function]: ...


def kernel(function: Any = None, **options: Any) -> Any:
    """`@kernel`, or `@kernel(inline="always")` with any options of numba's."""
    if function is None:
        return lambda given: kernel(given, **options)
    dispatcher = njit(nogil=True, **options)(function)
    dispatcher._cache = _KernelCache(function)
    return dispatcher


class _KernelCache(FunctionCache):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file._source_stamp = _stamp(function.__module__)

    def _load_overload(self, *given: Any) -> Any:
        if not os.path.isdir(self._cache_path):
            return None
        with self._locked():
            return super()._load_overload(*given)  # type: ignore[no-untyped-call]

    def _save_overload(self, *given: Any) -> None:
        self._impl.locator.ensure_cache_path()
        with self._locked():
            super()._save_overload(*given)  # type: ignore[no-untyped-call]

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if fcntl is None:
            yield
            return
        with open(os.path.join(self._cache_path, ".lock"), "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


@cache
def _stamp(module: str) -> frozenset[tuple[str, float, int]]:
    """Of a module's file, and of those of its package that it takes names from."""
    here = sys.modules[module]
    package = module.rpartition(".")[0]
    file = os.stat(str(here.__file__))
    stamps = {(module, file.st_mtime, file.st_size)}
    for name in {getattr(one, "__module__", None) for one in vars(here).values()} - {module, None}:
        if str(name).rpartition(".")[0] == package:
            stamps |= _stamp(str(name))
    return frozenset(stamps)
