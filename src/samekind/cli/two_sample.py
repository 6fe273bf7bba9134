"""samekind two-sample: do two collections come from one distribution, as the space sees them?"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.options import LARGEST_SEED, AsJson, Device, SkipUnreadable, SpaceFolder
from samekind.errors import SettingError, nearest

if TYPE_CHECKING:
    from torch import Tensor

    from samekind.data import Stored

#: Below this p-value the answer is "different".
LEVEL = 0.05


def two_sample(
    first: Annotated[str, typer.Argument(metavar="A", help="A folder, archive, table, array or file.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    space: SpaceFolder,
    kind: Annotated[
        str, typer.Option(help="The score that is the kernel: similarity, cosine, fused.")
    ] = "similarity",
    symmetrise: Annotated[
        str, typer.Option(help="How a score that depends on the order is made symmetric: max or mean.")
    ] = "max",
    spectrum: Annotated[
        str,
        typer.Option(
            help="How the kernel is made semidefinite: clip; or shift, which takes any number of items "
            "but may overlook a difference."
        ),
    ] = "clip",
    permutations: Annotated[
        int, typer.Option(help="How many shuffles of the items to compare with.", min=1)
    ] = 1000,
    most: Annotated[
        int, typer.Option(help="Use at most this many items of a side, drawn at random.", min=2)
    ] = 1000,
    seed: Annotated[
        int, typer.Option(help="Fixes the shuffles and the items drawn.", min=0, max=LARGEST_SEED)
    ] = 0,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Test whether two collections differ, with the learned similarity as kernel.

    The squared maximum mean discrepancy, and how often a shuffle of the items has one as large.
    """
    from samekind.cli.asking import collected, embedded, known_kind, open_space
    from samekind.cli.columns import columns_of
    from samekind.cli.output import print_json, print_text
    from samekind.inference import two_sample as test

    loaded = open_space(space, device)
    chosen, options = known_kind(loaded, kind), _kernel_options(symmetrise, spectrum)
    columns = columns_of(space)
    sides = [
        collected(loaded, [each], skip_unreadable=skip_unreadable, columns=columns)
        for each in (first, second)
    ]
    drawn = [_drawn(side.inputs, most, seed + place) for place, side in enumerate(sides)]
    z = [embedded(loaded, each, title=f"embed {name}") for each, name in zip(drawn, "AB", strict=True)]
    found = test(loaded, *z, kind=chosen, permutations=permutations, seed=seed, **options)
    answer: dict[str, Any] = {
        name: {"source": source, "items": len(side.ids), "compared": len(each), "skipped": side.skipped}
        for name, source, side, each in zip("AB", (first, second), sides, z, strict=True)
    }
    answer |= {"kind": chosen, **options, "seed": seed}
    answer |= {**found._asdict(), "different": found.p_value < LEVEL}
    if as_json:
        print_json(answer)
    else:
        print_text(_sentence(answer))


def _kernel_options(symmetrise: str, spectrum: str) -> dict[str, Any]:
    """The two, if they are known."""
    for name, value, known in (
        ("symmetrise", symmetrise, ("max", "mean")),
        ("spectrum", spectrum, ("clip", "shift")),
    ):
        if value not in known:
            raise SettingError(f'--{name} cannot be "{value}"; {nearest(value, known)}')
    return {"symmetrise": symmetrise, "spectrum": spectrum}


def _drawn(inputs: "Tensor | Stored", most: int, seed: int) -> "Tensor | Stored":
    """At most so many of the items, drawn at random, in their old order; pictures are not decoded yet."""
    import torch

    if len(inputs) <= most:
        return inputs
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.randperm(len(inputs), generator=generator)[:most].sort().values
    return inputs[chosen] if isinstance(inputs, torch.Tensor) else inputs.take(chosen)


def _sentence(answer: dict[str, Any]) -> str:
    sizes = [
        f"{side['compared']:,}" + (f" of {side['items']:,}" if side["compared"] < side["items"] else "")
        for side in (answer["A"], answer["B"])
    ]
    verdict = "The two differ" if answer["different"] else "No difference was found"
    return (
        f"{verdict}: p = {answer['p_value']:.4g} ({answer['shuffles']:,} shuffles).\n"
        f"Squared mean discrepancy {answer['discrepancy']:.4g} of {sizes[0]} and {sizes[1]} items; "
        f"95 % of the shuffles have at most {answer['usual']:.4g} ({answer['kind']})."
    )
