"""Charts → files, by the name's ending."""

from typing import Any

PICTURES = (".svg", ".png", ".html")


def save_picture(drawn: Any, path: str) -> None:
    """What cannot be written, or drawn here, is said with what to do."""
    from trendloom.errors import MissingExtraError, OutputError

    try:
        drawn.save(path, **({"scale_factor": 1.5} if path.endswith(".png") else {}))
    except ImportError as error:
        raise MissingExtraError(
            f"A picture as {path.rpartition('.')[2]} needs vl-convert, which is not installed.",
            remedy="Install it: pip install 'trendloom[plot]'; or name it .html.",
        ) from error
    except OSError as error:
        raise OutputError(f"Cannot write '{path}': {error.strerror}.") from error
