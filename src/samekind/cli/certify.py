"""samekind certify: certified robustness, by randomised smoothing."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from samekind.cli import options
from samekind.cli.output import print_messages, print_table, print_text, render, table
from samekind.cli.spaces import items_to_attack, open_space

if TYPE_CHECKING:
    from samekind.questions.certify import Certified

Sigma = Annotated[
    str,
    Option(
        help="The standard deviation of the noise: 0.25 or 64/255; of a table in those of a column. More "
        "noise certifies larger radii, and fewer items."
    ),
]
Draws = Annotated[int, Option(help="Noisy copies of each item.", min=10)]
HeadName = Annotated[str, Option(help="The head that answers: similarity, auxiliary or fused.")]
Plot = Annotated[Path | None, Option(help="Draw the curve: .svg, .png or .pdf.", show_default="no picture")]


def certify(
    space: options.SpaceArgument,
    data: options.AttackedData = None,
    sigma: Sigma = "0.25",
    draws: Draws = 1000,
    head: HeadName = "similarity",
    limit: options.AttackedItems = 100,
    plot: Plot = None,
    seed: options.AttackSeed = 0,
    label: options.LabelColumn = None,
    device: options.Device = "auto",
    skip_unreadable: options.SkipUnreadable = False,
    as_json: options.AsJson = False,
) -> None:
    """Say within which distance no attack can change the answers of a space that is smoothed by noise.

    It answers with the class it names most often for noisy copies of an item. A certificate is wrong for one
    item in a thousand at most. Train with the same noise first: --set 'augment=[{name="PixelNoise"}]'.
    """
    from samekind.questions.certify import Smoothing, certify, draw_certified
    from samekind.questions.reading import known_head
    from samekind.questions.robustness import read_epsilon

    smoothing = Smoothing(read_epsilon(sigma), draws, seed=seed)
    opened = open_space(space, device)
    known_head(opened.space, head)  # a mistake is reported before anything is read
    items = items_to_attack(opened, data, label=label, skip_unreadable=skip_unreadable)
    answer = certify(opened.space, items, smoothing, head=head, limit=limit)
    if plot is not None:
        draw_certified(plot, answer, name=opened.name)
    render({**answer.to_json(), "picture": plot}, lambda: _print(answer, plot), as_json=as_json)


def _print(answer: "Certified", plot: Path | None) -> None:
    lines = [[row.measure, row.text] for row in answer.rows]
    title = f"{len(answer.radii):,} items, {answer.head}, l2, {answer.unit} (95% intervals)"
    print_table(table(title, ["measure", ""], lines))
    missing = int((answer.radii == 0).sum())
    print_messages(
        *answer.notes,
        f"without a sure answer: {missing} of {len(answer.radii)} items",
        f"no radius can be above {answer.largest:.3g} with {answer.smoothing.draws} draws, however sure an "
        "answer is; more --draws, or a larger --sigma, allow larger ones",
    )
    if plot is not None:
        print_text(f"\nThe picture is in {plot}")
