"""`python -m trendloom`, and the program for `spark-submit`, which takes a file."""

import sys


def start() -> None:
    """The command line. Run as a file, the package's own folder is no place to import from."""
    if not __package__:
        sys.path.pop(0)
    from trendloom.cli.main import app

    app()


if __name__ == "__main__":
    start()
