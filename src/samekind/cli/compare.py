"""samekind compare: are these two the same kind?"""

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli.options import AsJson, SpaceFolder


def compare(
    first: Annotated[
        Path, typer.Argument(metavar="A", help="An item: a picture, or an array in a .npy file.")
    ],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another item.")],
    space: SpaceFolder,
    kind: Annotated[
        str, typer.Option(help="The score to decide by: similarity, cosine or fused.")
    ] = "similarity",
    as_json: AsJson = False,
) -> None:
    """Say whether two items are the same kind, with the score, the threshold and the probability."""
    import torch
    from rich.text import Text

    from samekind.cli.experiments import space_folder
    from samekind.cli.output import print_json, print_text
    from samekind.errors import SpaceError, nearest
    from samekind.inference import embed_files
    from samekind.space import MetricSpace

    loaded = MetricSpace.load(space_folder(space))
    if kind not in loaded.decisions:
        raise SpaceError(
            f'this space has no threshold for the score "{kind}"; {nearest(kind, loaded.decisions)}'
        )
    decision = loaded.decisions[kind]
    z = embed_files(loaded, [first, second])
    with torch.no_grad():
        score = loaded.score(z[:1], z[1:], kind=decision.kind)
    answer = {
        "same": bool(decision.accepts(score)),
        "score": float(score),
        "threshold": decision.threshold,
        "probability": float(decision.probability(score)),
        "kind": kind,
        "point": decision.point,
    }
    if as_json:
        print_json(answer)
        return
    print_text(
        Text.assemble(
            ("same" if answer["same"] else "different", "bold"),
            f"  {kind} score {answer['score']:.3f}, threshold {decision.threshold:.3f} ({decision.point}), "
            f"probability of same {answer['probability']:.3f}",
        )
    )
