"""samekind representation: feature spaces beside the space of inputs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from samekind.cli import options
from samekind.cli.output import print_table, print_text, render, table
from samekind.cli.spaces import open_run

if TYPE_CHECKING:
    from samekind.questions.representation import Represented

Runs = Annotated[list[Path], Argument(metavar="RUN…", help="Folders of runs on the same data.")]
Limit = Annotated[int, Option(help="Compare at most this many training items.", min=10)]
Power = Annotated[
    float,
    Option(
        help="Re-weight the principal directions first: 0 leaves them, 1 makes all alike.", min=0.0, max=2.0
    ),
]
Plot = Annotated[Path | None, Option(help="Draw the spaces: .svg, .png or .pdf.", show_default="no picture")]
Budgets = Annotated[
    Path | None,
    Option(
        help="Draw the measures against the epsilon that the runs were trained with: .svg, .png or .pdf.",
        show_default="no picture",
    ),
]


def representation(
    runs: Runs,
    limit: Limit = 2000,
    power: Power = 0.0,
    plot: Plot = None,
    budgets: Budgets = None,
    seed: Annotated[int, Option(help="The seed of the draw.")] = 0,
    device: options.Device = "auto",
    as_json: options.AsJson = False,
) -> None:
    """Say what trained spaces kept of the distances of inputs, and how their classes lie.

    MC: how far distances of embeddings go with those of inputs, -1 to 1. phi: distances between class means
    over those within classes; pi ratio: those within over those between. R2: the share of distances between
    classes. directions: how many carry more than an equal part. With three runs or more also how the measures
    go together.
    """
    from samekind import questions
    from samekind.questions.representation import Trained, draw_budgets, draw_representation

    trained = [Trained.opened(open_run(folder, device)) for folder in runs]
    answer = questions.representation(trained, limit=limit, power=power, seed=seed)
    if plot is not None:
        draw_representation(plot, answer)
    if budgets is not None:
        draw_budgets(budgets, answer)
    drawn = [path for path in (plot, budgets) if path is not None]
    content = {**answer.to_json(), "picture": plot, "picture of budgets": budgets}
    render(content, lambda: _print(answer, drawn), as_json=as_json)


def _print(answer: "Represented", drawn: list[Path]) -> None:
    measured = {
        **dict(zip(answer.names, zip(map(str, answer.budgets), answer.spaces, strict=True), strict=True)),
        **{name: ("", measures) for name, measures in answer.inputs.items()},
    }
    lines = [
        [name, budget, *(f"{measures[key]:.4g}" if key in measures else "" for key in answer.measures)]
        for name, (budget, measures) in measured.items()
    ]
    title = f"Feature spaces and inputs, {answer.points:,} training items"
    print_table(table(title, ["space", "trained against", *answer.measures], lines, texts=2))
    if answer.correlations:
        lines = [
            [name, *(f"{value:.4f} (p {chance:.2g})" for value, chance in both.values())]
            for name, both in answer.correlations.items()
        ]
        print_table(table("Correlation with MC l2 over the runs", ["measure", "Pearson", "Spearman"], lines))
    for path in drawn:
        print_text(f"\nThe picture is in {path}")
