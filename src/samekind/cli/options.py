"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

#: k-means takes no larger seed.
LARGEST_SEED = 2**32 - 1

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 or mps.")]
Data = Annotated[
    str, typer.Option(help="What to learn from: digits (scikit-learn's 1,797 handwritten digits).")
]
Seed = Annotated[
    int | None,
    typer.Option(
        help="Fixes the split, the weights and the order of the data.",
        show_default="that of the run, 0",
        min=0,
        max=LARGEST_SEED,
    ),
]
Tasks = Annotated[int, typer.Option(help="How many few-shot tasks to draw.", min=2)]
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
