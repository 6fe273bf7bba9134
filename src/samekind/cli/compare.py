"""samekind compare: are these two the same kind?"""

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli.options import AsJson, Device, SpaceFolder


def compare(
    first: Annotated[
        Path, typer.Argument(metavar="A", help="An item: a picture, or an array in a .npy file.")
    ],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another item.")],
    space: SpaceFolder,
    kind: Annotated[
        str | None,
        typer.Option(help="The score to decide by: similarity, cosine or fused.", show_default="similarity"),
    ] = None,
    prior: Annotated[
        float, typer.Option(help="How often two items are the same where this is asked, from 0 to 1.")
    ] = 0.5,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Say whether two items are the same kind, with the score, the threshold and the probability."""
    import torch
    from rich.text import Text

    from samekind.cli.asking import open_space
    from samekind.cli.kinds import say_better_kind
    from samekind.cli.output import print_json, print_text
    from samekind.errors import SpaceError, nearest
    from samekind.inference import device_of, embed

    loaded = open_space(space, device)
    asked = "similarity" if kind is None else kind
    if asked not in loaded.decisions:
        raise SpaceError(
            f'this space has no threshold for the score "{asked}"; {nearest(asked, loaded.decisions)}'
        )
    decision = loaded.decisions[asked]
    if loaded.reader is None:
        raise SpaceError("this space does not say how to read a file; use it from Python, with tensors")
    items = torch.stack([loaded.reader.read(each) for each in (first, second)])
    z = embed(loaded, items).to(device_of(loaded))
    with torch.no_grad():
        score = loaded.score(z[:1], z[1:], kind=decision.kind).cpu()
    answer = {
        "same": bool(decision.accepts(score)),
        "score": float(score),
        "threshold": decision.threshold,
        "probability": float(decision.probability(score, prior=prior)),
        "kind": asked,
        "point": decision.point,
    }
    if as_json:
        print_json(answer)
        return
    if kind is None:
        say_better_kind(loaded, to="compare")
    print_text(
        Text.assemble(
            ("same" if answer["same"] else "different", "bold"),
            f"  {asked} score {answer['score']:.3f}, threshold {decision.threshold:.3f} ({decision.point}), "
            f"probability of same {answer['probability']:.3f}",
        )
    )
