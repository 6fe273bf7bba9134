"""samekind train: from a recipe and data to a trained space."""

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli.options import AsJson, Changes, Data, Device, Seed
from samekind.errors import SettingError


def train(
    run: Annotated[
        str,
        typer.Argument(metavar="RUN", help="A recipe (prototypical, verification, triplet) or a TOML file."),
    ],
    data: Data = "digits",
    unseen: Annotated[str, typer.Option(help="Classes to hold out as unseen, with commas: 7,8,9.")] = "",
    out: Annotated[
        Path | None, typer.Option(help="The folder of the run.", show_default="runs/RECIPE")
    ] = None,
    start: Annotated[
        Path | None, typer.Option("--from", help="Start from the weights of a saved space.")
    ] = None,
    at: Annotated[str, typer.Option(help="Where the threshold goes: eer, or far=0.01.")] = "eer",
    seed: Seed = None,
    device: Device = "auto",
    changes: Changes = None,
    as_json: AsJson = False,
) -> None:
    """Train a metric space. The same command goes on where it was stopped."""
    from samekind.cli.experiments import begin_folder, finish_folder, open_data, run_named, space_folder
    from samekind.cli.output import messages, print_json, print_text
    from samekind.recipes import fit
    from samekind.space import MetricSpace
    from samekind.training import Bar, Record

    held_out = sorted({name.strip() for name in unseen.split(",") if name.strip()})
    if len(held_out) == 1:
        raise SettingError(f"--unseen needs two classes or more, to tell from each other; got {held_out[0]}")
    settings = run_named(run, open_data(data).shape, changes or [], seed=seed)
    folder = out or Path("runs") / settings.recipe
    first = MetricSpace.load(space_folder(start)) if start else None
    sets = begin_folder(folder, data=data, unseen=held_out, seed=settings.seed)
    watcher = Bar(messages(), title=settings.recipe)
    space = fit(settings, sets, folder=folder, device=device, start=first, point=at, watcher=watcher)
    finish_folder(folder, data=data, unseen=held_out, seed=settings.seed)
    best = next((each for each in reversed(Record(folder / "record.jsonl").lines()) if each["best"]), None)
    if as_json:
        print_json(
            {"folder": str(folder), "space": str(folder / "space"), "best": best, "classes": space.classes}
        )
        return
    print_text(
        f"Trained {settings.recipe} for {settings.epochs} epochs on {len(sets.train):,} items of "
        f"{len(space.classes)} classes."
    )
    if best is not None:
        print_text(f"Best epoch {best['epoch']}: validation EER {100 * best['validation']['eer']:.2f}%.")
    print_text(f"The space is in {folder / 'space'}; next: samekind evaluate {folder}")
