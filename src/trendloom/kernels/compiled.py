"""The decorator of kernels: compiled when first called, kept on disk, whoever else compiles.

numba keeps machine code in the folder that NUMBA_CACHE_DIR names, beside the sources, or in the
user's cache, the first of them that can be written to. It leaves four things to its users:

- Processes that compile at once, as Spark's workers do, may take one number for the files of two
  signatures, and then load each other's code. Here they read and write under a lock.
- A kernel holds the code of the kernels that it calls, yet is kept for as long as its own file is
  unchanged. Here it is kept for as long as theirs are, too.
- An index is written before the code that it names, so that a full disk leaves one that names the
  code of another version. Here the code is written first.
- Without a folder, or with a full disk, it raises. Here kernels are compiled for this process
  alone, which is said once.

Whoever can write to the folder can run code as those who read it: folders that are made here are
their owner's alone.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from numba import njit
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    InTreeCacheLocator,
    NullCache,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
    ZipCacheLocator,
)

from trendloom.errors import TrendloomWarning, warn

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
    try:
        dispatcher._cache = _KernelCache(function)
    except (OSError, RuntimeError):  # numba's word for "no folder"
        dispatcher._cache = _NoCache()
    return dispatcher


@cache
def _say_uncached(why: str) -> None:
    warn(
        TrendloomWarning(
            f"Compiled kernels cannot be kept, so that every process compiles its own: {why}.",
            remedy="Set NUMBA_CACHE_DIR to a folder with room that only you can write to.",
        )
    )


class _NoCache(NullCache):
    """Where there is no folder for kernels."""

    def save_overload(self, *_: Any) -> None:
        _say_uncached("there is no folder for them that can be written to")


class _OwnFolder:
    """A place whose folders are made for their owner alone."""

    def ensure_cache_path(self) -> None:
        path = Path(self.get_cache_path())  # type: ignore[attr-defined]
        if not path.is_absolute() and isinstance(self, UserWideCacheLocator):
            raise NotADirectoryError(f"There is no home for {path}")
        for folder in (*reversed(path.parents), path):
            folder.mkdir(mode=0o700, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()


class _NamedFolder(_OwnFolder, UserProvidedCacheLocator):
    pass


class _UserFolder(_OwnFolder, UserWideCacheLocator):
    pass


class _ZipFolder(_OwnFolder, ZipCacheLocator):
    pass


class _Places(CompileResultCacheImpl):
    # The folder beside the sources is Python's own, and others read bytecode there.
    _locator_classes = [  # noqa: RUF012 (numba's own is such a list)
        _NamedFolder,
        InTreeCacheLocator,
        _UserFolder,
        _ZipFolder,
    ]


class _CodeBeforeIndex(IndexDataCacheFile):
    def _load_index(self) -> dict[Any, str]:
        try:
            index: dict[Any, str] = super()._load_index()  # type: ignore[no-untyped-call]
        except Exception:  # cut or spoilt
            return {}
        return index

    def save(self, key: Any, data: Any) -> None:
        overloads = self._load_index()
        taken = set(overloads.values())
        names = (self._data_name(number) for number in count(1))  # type: ignore[no-untyped-call]
        name = overloads.get(key) or next(name for name in names if name not in taken)
        self._save_data(name, data)  # type: ignore[no-untyped-call]
        self._save_index({**overloads, key: name})  # type: ignore[no-untyped-call]


class _KernelCache(FunctionCache):
    _impl_class = _Places

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file = _CodeBeforeIndex(  # type: ignore[no-untyped-call]
            self._cache_path, self._impl.filename_base, _stamp(function.__module__)
        )

    def _load_overload(self, *given: Any) -> Any:
        if not os.path.isdir(self._cache_path):
            return None
        try:
            with self._locked():
                return super()._load_overload(*given)  # type: ignore[no-untyped-call]
        except Exception:  # gone, cut or spoilt: as if it had never been there
            return None

    def _save_overload(self, *given: Any) -> None:
        try:
            self._impl.locator.ensure_cache_path()
            with self._locked():
                super()._save_overload(*given)  # type: ignore[no-untyped-call]
        except OSError as error:
            _say_uncached(f"{self._cache_path}: {error.strerror or error}")

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
