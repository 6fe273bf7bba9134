"""The command that prints the table at the top of a study's page, or writes it into the page."""

import argparse
from collections.abc import Callable
from pathlib import Path

from grids.tables import show


def takeaway(about: str, table: Callable[[Path], str], results: Path) -> None:
    """Ask for the folder of ``results`` and the page, and show the ``table`` of the one in the other."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--results", type=Path, default=results)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    show(table(given.results), given.page, mark="takeaway")
