"""samekind dynamics: which of two runs took the better steps?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from samekind.cli.options import AsJson
from samekind.cli.output import print_messages, print_table, print_text, render, table

if TYPE_CHECKING:
    from samekind.questions.dynamics import ComparedDynamics


def dynamics(
    first: Annotated[Path, Argument(metavar="RUN", help="The folder of a run with dynamics.")],
    second: Annotated[Path, Argument(metavar="RUN", help="The folder of another one.")],
    plot: Annotated[
        Path | None, Option(help="Draw both over their steps: .svg, .png or .pdf.", show_default="no picture")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare what single steps of two trainings did to their spaces, with p-values.

    Both are trained with a setting such as dynamics=100. norm ratio: the share of a change that is more than
    a rescaling. con-alpha: items come nearer to their class, below 1 is good. div-alpha: they leave the
    others, above 1. con-div: the first over the second, below 1.
    """
    from samekind.questions.dynamics import draw_dynamics, dynamics, steps_in

    runs = [steps_in(folder) for folder in (first, second)]
    answer = dynamics(*runs)
    if plot is not None:
        draw_dynamics(plot, runs)
    content = answer.to_json() | ({} if plot is None else {"picture": plot})
    render(content, lambda: _print(answer, plot), as_json=as_json)


def _print(answer: "ComparedDynamics", plot: Path | None) -> None:
    from samekind.questions.dynamics import NOTE, in_words

    first, second = answer.names
    lines = [
        [
            in_words(name),
            f"{compared.first_mean:.5f}",
            f"{compared.second_mean:.5f}",
            _p(compared.mann_whitney),
            _share(compared.first_proper),
            _share(compared.second_proper),
            _p(compared.fisher),
        ]
        for name, compared in answer.measures.items()
    ]
    print_text(f"A: {first}, {answer.steps[0]:,} steps\nB: {second}, {answer.steps[1]:,} steps")
    heads = ["", "mean A", "mean B", "p", "proper A", "proper B", "p"]
    title = "Geometric means (p: Mann-Whitney) and shares of proper steps (p: Fisher)"
    print_table(table(title, heads, lines))
    print_messages(f"careful: {NOTE}", *(f"careful: {warning}" for warning in answer.warnings))
    if plot is not None:
        print_text(f"\nThe picture is in {plot}")


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def _p(value: float | None) -> str:
    """A p-value with five decimals; a small one by its power of ten."""
    if value is None:
        return ""
    return f"{value:.5f}" if value >= 1e-4 else f"{value:.0e}"
