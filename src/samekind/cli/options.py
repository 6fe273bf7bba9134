"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 or mps.")]
Data = Annotated[
    str, typer.Option(help="What to learn from: digits (scikit-learn's 1,797 handwritten digits).")
]
Seed = Annotated[int, typer.Option(help="Fixes the split, the weights and the order of the data.")]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Change a setting of the run: epochs=10, terms.pair.weight=0.5."
    ),
]
SpaceFolder = Annotated[
    Path,
    typer.Option("--space", envvar="SAMEKIND_SPACE", help="The folder of a saved space, or of a run."),
]
