"""samekind demo: the whole path on real data, in two minutes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from samekind.cli.options import AsJson, Changes, Device, Seed, Tasks

if TYPE_CHECKING:
    from samekind.data import Items

RECIPES = ("prototypical", "triplet")
UNSEEN = ("7", "8", "9")
EXAMPLES = ("7", "7", "9")


def demo(
    out: Annotated[Path, typer.Option(help="Where everything goes.")] = Path("samekind-demo"),
    seed: Seed = None,
    device: Device = "auto",
    tasks: Tasks = 600,
    changes: Changes = None,
    as_json: AsJson = False,
) -> None:
    """Train on the digits 0 to 6, ask every question about them and about 7, 8 and 9, and write a report."""
    from samekind import evaluation
    from samekind.cli.opening import open_items
    from samekind.cli.output import messages, print_systems
    from samekind.cli.progress_bar import Bar
    from samekind.recipes import fit
    from samekind.recipes.plans import read_plan
    from samekind.reports import System, write_report
    from samekind.training import RunFolder

    # All plans first: a mistake in a setting is refused before any training.
    chosen = {} if seed is None else {"seed": seed}
    plans = [
        read_plan(recipe, changes or [], split={"unseen": UNSEEN}, training=chosen) for recipe in RECIPES
    ]
    items = open_items(plans[0])
    systems: dict[str, System] = {}
    for plan, run in [(plan, plan.run(items)) for plan in plans]:
        folder = RunFolder(out / run.recipe)
        sets = plan.sets(folder, items, seed=run.seed)
        watcher = Bar(messages(), title=run.recipe)
        space = fit(run, sets, folder=folder.path, device=device, watcher=watcher)
        rows = evaluation.evaluate(space, sets.tests(), tasks=tasks, seed=run.seed)
        rows += evaluation.references(sets.train, sets.tests(), seed=run.seed)
        systems[run.recipe] = System(space, rows, folder.record.lines())
    assert sets.unseen is not None
    examples = _write_examples(sets.unseen, out / "examples")
    write_report(
        out / "report.html",
        title="samekind on handwritten digits",
        lead="A space trained on the digits 0 to 6, asked about held-out pictures of them (seen) and about "
        "the digits 7, 8 and 9, which it never saw (unseen), beside the triplet baseline.",
        systems=systems,
        seen=sets.test,
        unseen=sets.unseen,
    )
    answers = {name: system.rows for name, system in systems.items()}
    print_systems({"report": str(out / "report.html")}, answers, as_json=as_json)
    if not as_json:
        _print_next(out, examples)


def _print_next(out: Path, examples: list[Path]) -> None:
    from samekind.cli.output import print_text

    print_text(
        f"\nThe report is in {out / 'report.html'}. Try it on pictures of digits it was not trained on:"
    )
    for other in examples[1:]:
        print_text(f"  samekind compare {examples[0]} {other} --space {out / RECIPES[0]}")


def _write_examples(items: "Items", folder: Path) -> list[Path]:
    """Write three pictures of unseen digits to try things on: two of one class, one of another."""
    from samekind.data import write_image

    paths: list[Path] = []
    for place, name in enumerate(EXAMPLES):
        earlier = EXAMPLES[:place].count(name)
        index = int((items.labels == items.classes.index(name)).nonzero()[earlier])
        paths.append(folder / f"{name}-{earlier + 1}.png")
        write_image(paths[-1], items.inputs[index : index + 1][0])
    return paths
