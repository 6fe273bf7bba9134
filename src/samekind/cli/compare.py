"""samekind compare: are these two the same kind?"""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from samekind.cli.options import AsJson, Device, Kind, SpaceFolder
from samekind.cli.output import print_json, print_messages, print_text
from samekind.cli.spaces import open_space


def compare(
    first: Annotated[
        Path, Argument(metavar="A", help="An item: a picture, a sound, or an array in a .npy file.")
    ],
    second: Annotated[Path, Argument(metavar="B", help="Another item.")],
    space: SpaceFolder,
    kind: Kind = None,
    prior: Annotated[
        float, Option(help="The prior probability that two items are the same, from 0 to 1.")
    ] = 0.5,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Say whether two items are the same kind, with the score, the threshold and the probability."""
    from rich.text import Text

    from samekind import questions
    from samekind.questions.reading import read_item

    loaded = open_space(space, device).space
    items = [read_item(loaded, path) for path in (first, second)]
    answer = questions.compare(loaded, *items, kind=kind, prior=prior)
    if as_json:
        print_json(answer.to_json())
        return
    print_messages(*(f"careful: {warning}" for warning in answer.warnings))
    print_text(
        Text.assemble(
            ("same" if answer.same else "different", "bold"),
            f"  {answer.kind} score {answer.score:.3f}, threshold {answer.threshold:.3f} ({answer.point}), "
            f"probability of same {answer.probability:.3f}",
        )
    )
