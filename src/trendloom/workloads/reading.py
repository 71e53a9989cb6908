"""A folder of query files: every `.tq` in it is a query, named by its stem."""

from __future__ import annotations

from pathlib import Path

from trendloom.errors import InputError

SUFFIX = ".tq"


def read_folder(folder: str | Path) -> dict[str, Path]:
    """Name → file, by name. Folders inside and other files are not looked at."""
    path = Path(folder)
    if not path.exists():
        raise InputError(
            f"There is no folder '{path}'.", remedy="Name a folder that holds .tq files."
        )
    if not path.is_dir():
        raise InputError(
            f"'{path}' is no folder.",
            remedy=f"A workload is a folder of {SUFFIX} files; `run` takes a single one.",
        )
    files = sorted(file for file in path.iterdir() if file.suffix == SUFFIX and file.is_file())
    if not files:
        raise InputError(
            f"There are no queries in '{path}'.",
            remedy=f"Put each query in a file of its own that ends in {SUFFIX}.",
        )
    return {file.stem: file for file in files}


def read_text(path: Path) -> str:
    """The text of a query file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"The query file '{path}' is not UTF-8 text.") from None
    except OSError as error:
        raise InputError(f"Cannot read the query file '{path}': {error.strerror}.") from None
