"""Charts and JSON documents in files that are either whole or not there."""

from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

from trendloom.cli.options import misuse

if TYPE_CHECKING:
    import altair

SUFFIXES = (".svg", ".png", ".html")


def check_picture(path: str, option: str) -> None:
    """Refuse before the work is done, not after."""
    from trendloom.errors import MissingExtraError

    if Path(path).suffix.lower() not in SUFFIXES:
        misuse(f"Cannot draw '{path}'; end it in {', '.join(SUFFIXES)}.", option)
    try:
        import altair  # noqa: F401
        import vl_convert  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"A chart needs {error.name}, which is not installed.",
            remedy="Install it: pip install 'trendloom[plot]'",
        ) from None


def write_chart(chart: "altair.TopLevelMixin", path: str, *, overwrite: bool) -> None:
    """In the format that the file's name ends in."""
    import io

    kind = Path(path).suffix.lower()
    if kind == ".png":
        pixels = io.BytesIO()
        chart.save(pixels, format="png", scale_factor=2)
        _write(pixels.getvalue(), path, overwrite=overwrite)
        return
    text = io.StringIO()
    chart.save(text, format="svg" if kind == ".svg" else "html")
    _write(text.getvalue().encode(), path, overwrite=overwrite)


def write_json(value: Mapping[str, object], path: str, *, overwrite: bool) -> None:
    """One JSON document."""
    import json

    _write(
        (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode(), path, overwrite=overwrite
    )


def _write(content: bytes, path: str, *, overwrite: bool) -> None:
    from trendloom.hosts.local.sinks import write_whole

    def write(file: IO[bytes]) -> None:
        file.write(content)

    write_whole(Path(path), write, overwrite=overwrite)
