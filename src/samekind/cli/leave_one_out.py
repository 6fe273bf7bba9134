"""samekind leave-one-out: how well does it do in a domain it has never seen?"""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from samekind.cli import options
from samekind.cli.opening import open_items
from samekind.cli.output import messages, print_systems
from samekind.cli.progress_bar import Bar
from samekind.cli.train import data_options
from samekind.errors import SettingError

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
    from samekind.recipes import leave_one_out as trained_in_turn
    from samekind.recipes.leave_one_out import fewest_trained_on
    from samekind.recipes.plans import because_few, chosen_in_words, read_plan

    plan = read_plan(
        run,
        changes or [],
        source=data,
        data=data_options(label, size, skip_unreadable, path=path, ignore=ignore),
        training={} if seed is None else {"seed": seed},
    )
    # The domains make the split; "random", which every new run file names, is accepted.
    given = [f"split.{name}" for name, value in plan.split.items() if (name, value) != ("by", "random")]
    if given:
        raise SettingError(
            "leave-one-out makes its own split, a domain to test on and a part of the others to choose by; "
            f"leave out {', '.join(given)}"
        )
    items = open_items(plan)
    # One run for all domains: if one has few items to train on, all are adapted to few.
    planned = plan.run(items)
    settings = plan.suited(planned, items, items=fewest_trained_on(items))
    note = because_few(chosen_in_words(planned, settings))
    rows = trained_in_turn(
        settings,
        items,
        folder=out,
        select_on="test" if select_on_test else settings.select_on,
        tasks=tasks,
        device=device,
        watcher=Bar(messages(), title=plan.recipe, note=note),
    )
    print_systems({"folder": str(out)}, {plan.recipe: rows}, as_json=as_json)
