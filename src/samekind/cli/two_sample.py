"""samekind two-sample: do two collections come from one distribution, as the space sees them?"""

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from samekind.cli.options import AsJson, Device, SkipUnreadable, SpaceFolder, known
from samekind.cli.output import print_text, render
from samekind.cli.progress_bar import bar
from samekind.cli.spaces import open_space
from samekind.settings import LARGEST_SEED

if TYPE_CHECKING:
    from samekind.questions.two_sample import Side, Tested

KernelScore = Annotated[str, Option(help="The score to use as kernel: similarity, cosine or fused.")]
Symmetrise = Annotated[
    str, Option(help="How to make a score symmetric that depends on the order: max or mean.")
]
Spectrum = Annotated[
    str,
    Option(
        help="How to make the kernel semidefinite: clip, or shift, which takes any number of items "
        "but may miss a difference."
    ),
]
Most = Annotated[int, Option(help="Use at most this many items of a side, drawn at random.", min=2)]
Seed = Annotated[int, Option(help="Fixes the shuffles and the items drawn.", min=0, max=LARGEST_SEED)]


def two_sample(
    first: Annotated[str, Argument(metavar="A", help="A folder, archive, table, array or file.")],
    second: Annotated[str, Argument(metavar="B", help="Another one.")],
    space: SpaceFolder,
    kind: KernelScore = "similarity",
    symmetrise: Symmetrise = "max",
    spectrum: Spectrum = "clip",
    permutations: Annotated[int, Option(help="The number of shuffles to compare with.", min=1)] = 1000,
    most: Most = 1000,
    seed: Seed = 0,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Test whether two collections differ, with the learned similarity as kernel.

    The squared maximum mean discrepancy, and how often a shuffle of the items has one as large.
    """
    from samekind import questions
    from samekind.questions.reading import known_kind
    from samekind.questions.two_sample import TwoSampleSettings

    opened = open_space(space, device)
    settings = TwoSampleSettings(
        kind=known_kind(opened.space, kind),
        symmetrise=known("symmetrise", symmetrise, ("max", "mean")),
        spectrum=known("spectrum", spectrum, ("clip", "shift")),
        permutations=permutations,
        limit=most,
        seed=seed,
    )
    sides = [opened.read([source], skip_unreadable=skip_unreadable) for source in (first, second)]
    answer = questions.two_sample(
        opened.space, *sides, settings=settings, sources=(first, second), progress=bar
    )
    render(answer.to_json(), lambda: print_text(_sentence(answer)), as_json=as_json)


def _sentence(answer: "Tested") -> str:
    verdict = "The two differ" if answer.different else "No difference was found"
    result, (one, other) = answer.result, answer.sides
    return (
        f"{verdict}: p = {result.p_value:.4g} ({result.shuffles:,} shuffles).\n"
        f"Squared mean discrepancy {result.discrepancy:.4g} of {_size(one)} and {_size(other)} items; "
        f"95 % of the shuffles have at most {result.usual:.4g} ({answer.settings.kind})."
    )


def _size(side: "Side") -> str:
    return f"{side.compared:,}" + (f" of {side.items:,}" if side.compared < side.items else "")
