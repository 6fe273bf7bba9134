"""samekind demo: the whole path on real data, in two minutes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from samekind.cli.options import AsJson, Changes, Device, Seed

if TYPE_CHECKING:
    from samekind.data import Sets

UNSEEN = ("7", "8", "9")
EXAMPLES = ("7", "7", "9")


def demo(
    out: Annotated[Path, typer.Option(help="Where everything goes.")] = Path("samekind-demo"),
    seed: Seed = 0,
    device: Device = "auto",
    tasks: Annotated[int, typer.Option(help="How many few-shot tasks to draw.", min=2)] = 600,
    changes: Changes = None,
    as_json: AsJson = False,
) -> None:
    """Train on the digits 0 to 6, ask every question about them and about 7, 8 and 9, and write a report."""
    from samekind import evaluation
    from samekind.cli.experiments import begin_folder, open_data, run_named
    from samekind.cli.output import console, measures_table, messages, print_json, rows_as_json
    from samekind.recipes import fit
    from samekind.reports import System, write_report
    from samekind.training import Bar, Record

    systems: dict[str, System] = {}
    for recipe in ("prototypical", "triplet"):
        folder = out / recipe
        run = run_named(recipe, open_data("digits").shape, changes or [], seed=seed)
        sets = begin_folder(folder, data="digits", unseen=UNSEEN, seed=seed)
        space = fit(run, sets, folder=folder, device=device, watcher=Bar(messages(), title=recipe))
        rows = evaluation.evaluate(space, sets.tests(), tasks=tasks, seed=seed)
        systems[recipe] = System(space, rows, Record(folder / "record.jsonl").lines())
    examples = _write_examples(sets, out / "examples")
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
    if as_json:
        print_json({"report": str(out / "report.html"), **rows_as_json(answers)})
        return
    output = console()
    for each in measures_table(answers):
        output.print(each)
    output.print(
        f"The report is in {out / 'report.html'}. Try it on two pictures of a digit it never saw:\n"
        f"  samekind compare {examples[0]} {examples[1]} --space {out / 'prototypical'}\n"
        f"  samekind compare {examples[0]} {examples[2]} --space {out / 'prototypical'}",
        highlight=False,
        soft_wrap=True,
    )


def _write_examples(sets: "Sets", folder: Path) -> list[Path]:
    """Three pictures of unseen digits to try things on: two of one kind, one of another."""
    from samekind.data import write_image

    assert sets.unseen is not None
    used: dict[str, int] = {}
    paths = []
    for name in EXAMPLES:
        label = sets.unseen.classes.index(name)
        index = (sets.unseen.labels == label).nonzero()[used.get(name, 0)].item()
        used[name] = used.get(name, 0) + 1
        paths.append(folder / f"{name}-{used[name]}.png")
        write_image(paths[-1], sets.unseen.inputs[int(index)])
    return paths
