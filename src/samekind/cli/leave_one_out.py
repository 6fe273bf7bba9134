"""samekind leave-one-out: how well does it do in a domain it has never seen?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from samekind.cli import options
from samekind.cli.output import print_measures, print_warnings, render
from samekind.cli.progress_bar import training_reports

if TYPE_CHECKING:
    from samekind.questions.leave_one_out import LeftOut

SelectOnTest = Annotated[
    bool,
    Option(
        "--select-on-test",
        help="Choose the epoch on the domain left out, as some papers do; every row then says so.",
    ),
]


def leave_one_out(
    run: Annotated[
        str, Argument(metavar="RUN", help="A recipe (prototypical, verification, triplet) or a TOML file.")
    ],
    data: options.Data = None,
    label: options.Label = None,
    path: options.PathColumn = None,
    ignore: options.Ignore = "",
    size: options.Size = None,
    skip_unreadable: options.SkipUnreadable = False,
    out: Annotated[Path, Option(help="Where the runs go, a folder for each domain.")] = Path(
        "runs/leave-one-out"
    ),
    select_on_test: SelectOnTest = False,
    tasks: options.Tasks = 600,
    seed: options.Seed = None,
    device: options.Device = "auto",
    changes: options.Changes = None,
    as_json: options.AsJson = False,
) -> None:
    """Leave each domain out in turn: train on the others, choose by their validation items, test on it.

    A domain is where an item comes from, such as a camera or a site: the column domain of a table or list
    (another one with --set data.domain=NAME), the array domains of an .npz file, or with --set
    data.domain=folder the first of the folders domain/class/picture.
    """
    from samekind.questions.leave_one_out import leave_one_out
    from samekind.questions.plan_options import PlanOptions

    plan = PlanOptions(
        source=data,
        label=label,
        path=path,
        ignore=options.names(ignore),
        size=size,
        skip_unreadable=skip_unreadable,
        seed=seed,
        changes=tuple(changes or ()),
    ).plan(run)
    answer = leave_one_out(
        plan, out, select_on_test=select_on_test, tasks=tasks, device=device, reports=training_reports()
    )
    render({"folder": out, **answer.to_json()}, lambda: _print(answer), as_json=as_json)


def _print(answer: "LeftOut") -> None:
    print_measures(answer.rows)
    print_warnings(answer.recipe, answer.warnings)
