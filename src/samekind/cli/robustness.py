"""samekind robustness: what remains right under attack, as one page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from samekind.cli import options
from samekind.cli.output import print_messages, print_table, print_text, render, table
from samekind.cli.spaces import items_to_attack, open_space

if TYPE_CHECKING:
    from samekind.questions.robustness import Withstood

Page = Annotated[
    Path, Option(help="The page to write: curves, attacked pictures, and whether the attacks are sound.")
]
Epsilons = Annotated[
    str | None,
    Option(
        "--eps",
        help="How far items may be moved, separated by commas: 2/255,4/255,8/255; of a table in standard "
        "deviations of a column, of a sound in the range of a sample, or with --norm snr 40dB,30dB,20dB.",
        show_default="five that are usual",
    ),
]
Questions = Annotated[
    str, Option("--ask", help="What to attack, separated by commas: class, pair, neighbour, enrolment.")
]
Minutes = Annotated[
    float | None,
    Option(
        help="The time for all curves, about: where it is short, there are fewer items, steps or curves.",
        min=0.1,
        show_default="3, without --limit and --steps",
    ),
]
Steps = Annotated[
    int | None, Option(help="Steps of an attack.", min=1, show_default="50, or what fits into the time")
]
Items = Annotated[
    int | None,
    Option(
        "--limit",
        help="Attack at most this many items, drawn at random.",
        min=2,
        show_default="100, or what fits into the time",
    ),
]
NoCells = Annotated[
    bool, Option("--no-cells", help="Leave out attacks within Voronoi cells, which take longest.")
]


def robustness(
    space: options.SpaceArgument,
    data: options.AttackedData = None,
    to: Page = Path("robustness.html"),
    eps: Epsilons = None,
    norm: options.Norm = "linf",
    steps: Steps = None,
    restarts: options.Restarts = 1,
    ask: Questions = "class,pair,neighbour,enrolment",
    no_cells: NoCells = False,
    limit: Items = None,
    minutes: Minutes = None,
    fixed: options.FixedColumns = None,
    surrogate: options.Surrogate = None,
    seed: options.AttackSeed = 0,
    label: options.LabelColumn = None,
    device: options.Device = "auto",
    skip_unreadable: options.SkipUnreadable = False,
    as_json: options.AsJson = False,
) -> None:
    """Measure what remains right when an attacker who knows the space changes the items, and write one page.

    A result whose attack fails a check says that it is not a measure of robustness.
    """
    from samekind import questions
    from samekind.evaluation.robustness_curve import ASKED
    from samekind.questions.robustness import RobustnessSettings, known_norm, read_epsilon
    from samekind.reports import write_robustness_page

    settings = RobustnessSettings(
        norm=known_norm(norm),
        epsilons=tuple(read_epsilon(text, known_norm(norm)) for text in eps.split(",")) if eps else (),
        steps=steps,
        restarts=restarts,
        questions=tuple(options.known("ask", part.strip(), ASKED) for part in ask.split(",")),
        cells=not no_cells,
        fixed=tuple(fixed or ()),
        limit=limit,
        minutes=minutes,
        seed=seed,
    )
    opened = open_space(space, device)
    other = open_space(surrogate, device).space if surrogate is not None else None
    items = items_to_attack(opened, data, label=label, skip_unreadable=skip_unreadable)
    answer = questions.robustness(opened.space, items, settings, surrogate=other, tell=print_messages)
    write_robustness_page(to, answer.measured, title=f"Robustness of {opened.name} on {items.name}")
    render({"page": to, **answer.to_json()}, lambda: _print(answer, to), as_json=as_json)


def _print(answer: "Withstood", page: Path) -> None:
    from samekind.evaluation.soundness import NOT_A_MEASURE

    measured = answer.measured
    lines = [
        [
            curve.question,
            curve.kind,
            row.measure,
            curve.rows[0].text,
            row.text,
            NOT_A_MEASURE if row.note else "ok",
        ]
        for curve in measured.curves
        for row in curve.short_rows
    ]
    title = f"{measured.items:,} items, {measured.norm}, epsilon {measured.unit} (95% intervals)"
    heads = ["question", "by", "measure", "before", "after", "checks"]
    print_table(table(title, heads, lines, texts=3))
    print_messages(*measured.notes, *(f"careful: {warning}" for warning in answer.warnings))
    print_text(f"\nThe page is in {page}")
