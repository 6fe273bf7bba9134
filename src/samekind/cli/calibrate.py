"""samekind calibrate: thresholds fitted on held-out items, and what they can promise."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.options import LARGEST_SEED, AsJson, Device, LabelColumn, SkipUnreadable
from samekind.cli.together import Goes, check_together
from samekind.errors import DataError

if TYPE_CHECKING:
    from samekind.data import Items
    from samekind.decisions import Decision, Kind, Temperature
    from samekind.space import MetricSpace

#: All pairs of this many items are 12 million trials; of more, so many are drawn.
PAIRED_ITEMS = 5000
TRAINED_ON = (
    "careful: {data} holds the items this space was trained on, and on those a threshold promises far too "
    "much; without DATA the validation items of the run are taken"
)

TOO_FEW = (
    "careful (class probabilities): {known} of the items are of classes this space knows, and a temperature "
    "takes {fewest}; the probabilities stay as they were"
)

Score = Annotated[
    str | None,
    typer.Option(
        help="The score: similarity, cosine or fused.",
        show_default="all there are; with --open-set the one with the least equal error on DATA",
    ),
]
OpenSet = Annotated[
    bool,
    typer.Option(
        "--open-set",
        help="Fit the threshold for none of these; DATA then has known and other classes. It is one for "
        "one score: that of --kind, or the one chosen on DATA.",
    ),
]
Trials = Annotated[
    Path | None,
    typer.Option(
        metavar="LIST", help='Fit on the trials of a list instead of DATA: a line "1 first second" each.'
    ),
]
Root = Annotated[
    Path | None, typer.Option(help="Where the paths of the list start.", show_default="the list's folder")
]
MostPaired = Annotated[
    int,
    typer.Option(
        "--most", "--most-items", help="Make pairs of at most this many items, drawn at random.", min=2
    ),
]
PairedSeed = Annotated[int, typer.Option(help="Fixes which items are drawn.", min=0, max=LARGEST_SEED)]

#: What to fit on, and what an option has a say in.
TOGETHER = {
    "data": Goes(without=("trials",), because="either is what to fit on"),
    "open_set": Goes(without=("trials",), because="a list does not say which classes are known"),
    "root": Goes(with_one_of=("trials",)),
    **dict.fromkeys(
        ("most_items", "seed"),
        Goes(without=("open_set", "trials"), because="it is for the pairs of the items"),
    ),
    **dict.fromkeys(("label", "skip_unreadable"), Goes(with_one_of=("data",))),
}


def calibrate(
    context: typer.Context,
    space: Annotated[Path, typer.Argument(metavar="SPACE", help="The folder of a saved space, or of a run.")],
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="Labelled items that were not trained on: a folder, table, archive or name, or the folder "
            "of a run, whose validation items are taken. Not needed where SPACE is the folder of a run.",
        ),
    ] = None,
    at: Annotated[
        str, typer.Option(help="The operating point: eer, far=0.001, frr=0.01, cost=0.01 or cost=0.01:10:1.")
    ] = "eer",
    kind: Score = None,
    open_set: OpenSet = False,
    trials: Trials = None,
    root: Root = None,
    label: LabelColumn = None,
    most_items: MostPaired = PAIRED_ITEMS,
    seed: PairedSeed = 0,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Fit the thresholds of a space, store them in it, and say how far they can be trusted.

    Without --kind, --open-set and --trials the temperatures of its class probabilities are fitted as well.
    """
    from samekind.cli.asking import known_kind, open_space
    from samekind.inference.points import operating_point
    from samekind.questions.changing import changing
    from samekind.training import RunFolder

    check_together(context, TOGETHER)
    operating_point(at)  # a mistake is told before anything is read
    with changing(RunFolder(space).space_folder()) as save:
        loaded = open_space(space, device)
        asked = None if kind is None else known_kind(loaded, kind)
        kinds = loaded.kinds if asked is None else [asked]
        heated: dict[str, Temperature] | None = None
        if trials is not None:
            found = _fit_listed(loaded, trials, root, kinds, at)
        else:
            items = _held_out(loaded, space, data, label=label, skip_unreadable=skip_unreadable)
            if open_set:
                found = {"open set": _fit_open_set(loaded, items, asked, at)}
            else:
                found, heated = _fit_decisions(loaded, _drawn(items, most_items, seed), asked, at)
        if open_set:
            loaded.open_set = found["open set"]
        else:
            loaded.decisions.update(found)
            loaded.temperatures.update(heated or {})
        save(loaded)
    _tell(found, heated, space, as_json=as_json)


def _held_out(
    space: "MetricSpace", folder: Path, data: str | None, *, label: str | None, skip_unreadable: bool
) -> "Items":
    """The items of DATA, with a warning where they were trained on, or the validation items of the run."""
    from samekind.cli.asking import labelled
    from samekind.cli.columns import columns_of
    from samekind.cli.output import messages
    from samekind.training import RunFolder

    if data is None:
        return RunFolder(folder).sets().validation
    items = labelled(space, data, skip_unreadable=skip_unreadable, columns=columns_of(folder, label))
    if RunFolder.around(folder).trained_on(data):
        messages().print(TRAINED_ON.format(data=data), soft_wrap=True)
    return items


def _drawn(items: "Items", most: int, seed: int) -> "Items":
    """The items, or so many drawn from them; the name says so."""
    from dataclasses import replace

    from samekind.data import draw

    if len(items) <= most:
        return items
    return replace(draw(items, most=most, seed=seed), name=f"{most:,} items drawn from {items.name}")


def _fit_decisions(
    space: "MetricSpace", items: "Items", asked: "Kind | None", point: str
) -> tuple[dict[str, "Decision"], dict[str, "Temperature"] | None]:
    """A threshold for the score asked about, or for all of them, and then the temperatures of the heads."""
    import torch

    from samekind.cli.asking import embedded
    from samekind.cli.output import messages
    from samekind.data.groups import groups_apart
    from samekind.inference import all_trials, fit_decision, fit_temperatures
    from samekind.inference.open_set import divided
    from samekind.inference.temperatures import FEWEST

    sizes = torch.bincount(items.labels)
    if int((sizes > 0).sum()) < 2 or int(sizes.max()) < 2:
        raise DataError(
            f"{items.name}: expected two classes at least and two items of some class, to make pairs of one "
            f"and of two classes; got items: {len(items)}, classes: {int((sizes > 0).sum())}"
        )
    z = embedded(space, items.inputs, title="calibrate")
    apart = groups_apart(items)
    decisions: dict[str, Decision] = {
        kind: fit_decision(
            all_trials(space, z, items.labels, groups=apart.groups, kind=kind),
            kind=kind,
            point=point,
            description=apart.named(items.name),
        )
        for kind in (space.kinds if asked is None else [asked])
    }
    if asked is not None:
        return decisions, None
    known = len(divided(space, items)[0])
    if known < FEWEST:
        messages().print(TOO_FEW.format(known=known, fewest=FEWEST), soft_wrap=True)
    return decisions, fit_temperatures(space, items, z)


def _fit_listed(
    space: "MetricSpace", trials: Path, root: Path | None, kinds: list[Any], point: str
) -> dict[str, "Decision"]:
    """The files of a list are read as the training items of the space were."""
    from samekind.data import read_trial_list
    from samekind.evaluation.listed_trials import scored
    from samekind.inference import embed_files, fit_decision

    listed = read_trial_list(trials, root=root)
    z = embed_files(space, listed.files)
    return {
        kind: fit_decision(
            scored(space, listed, z, kind=kind), kind=kind, point=point, description=trials.name
        )
        for kind in kinds
    }


def _fit_open_set(space: "MetricSpace", items: "Items", kind: "Kind | None", point: str) -> "Decision":
    from samekind.inference import fit_open_set
    from samekind.inference.open_set import divided

    known, unknown = divided(space, items)
    if not len(known) or not len(unknown):
        which = "only classes that" if len(known) else "no class that"
        raise DataError(
            f"{items.name} has {which} this space knows; a threshold for none of these needs held-out items "
            "of classes it knows and of others, the classes named as in the space (see samekind info)"
        )
    return fit_open_set(space, known, unknown, kind=kind, point=point)


def _tell(
    found: dict[str, "Decision"], heated: dict[str, "Temperature"] | None, folder: Path, *, as_json: bool
) -> None:
    from dataclasses import asdict

    from samekind.cli.output import messages, print_json, print_table, print_text
    from samekind.cli.thresholds import print_temperatures, thresholds_table
    from samekind.inference.points import support

    warnings = {name: support(each, open_set=name == "open set") for name, each in found.items()}
    if as_json:
        told = {name: {**asdict(each), "warning": warnings[name]} for name, each in found.items()}
        temperatures = {head: asdict(each) for head, each in (heated or {}).items()}
        print_json({"space": str(folder), "decisions": told, "temperatures": temperatures})
        return
    print_text(f"Fitted on {next(iter(found.values())).trials}")
    print_table(thresholds_table(found))
    for name, warning in warnings.items():
        if warning is not None:
            messages().print(f"careful ({name}): {warning}", soft_wrap=True)
    if heated:
        print_temperatures(heated)
