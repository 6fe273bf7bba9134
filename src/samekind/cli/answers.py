"""What `samekind evaluate` can be asked: about test items, other items, a list of trials, or two runs."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from samekind.cli.asking import collected, labelled, open_space
from samekind.errors import DataError

if TYPE_CHECKING:
    from torch import Tensor

    from samekind.data import Items, Sets
    from samekind.evaluation import PromiseRow, Row
    from samekind.space import MetricSpace

CAREFUL = (
    "careful: {data} holds the items this space was trained on, and those it knows better than any others; "
    "without --data the test items of the run are asked about"
)


class Cohort(NamedTuple):
    """Strangers to normalise scores with."""

    data: str
    form: Any  # of cohort.COHORT_NORMS
    top: int
    skip_unreadable: bool


class Asked(NamedTuple):
    """How to ask."""

    tasks: int = 600
    way: int = 5
    shots: tuple[int, ...] = (1, 5)
    ranks: tuple[int, ...] = (1, 2, 4, 8)
    enrol: int | None = None
    combination: Any = "embedding"  # of enrolment.COMBINATIONS
    gallery: str | None = None
    ignore: Any = "nothing"  # of retrieval.IGNORED
    measures: Literal["main", "all"] = "main"
    seed: int = 0
    device: str = "auto"
    most: int | None = None
    references: bool = True  # whether to ask about the test items without the space too
    cohort: Cohort | None = None


class Answer(NamedTuple):
    """What programs are told, and how people are."""

    content: dict[str, Any]
    say: Callable[[], None]


class Tested(NamedTuple):
    """A run that was asked about its test items."""

    name: str
    space: "MetricSpace"
    sets: "Sets"  # all that the run has
    tests: "dict[str, Items]"  # what was asked about
    rows: "list[Row]"


def about_tests(run: Path, report: Path | None, asked: Asked) -> Answer:
    """Every question about the test sets of a run."""
    found = tested(run, asked)
    if report is not None:
        write_page(report, run, found)
    kept = _promises(found.space, found.tests, asked)
    about = {"folder": str(run)}
    return _rows_answer(about, found.name, found.rows, kept, asked, also=cautions(found.sets))


def tested(run: Path, asked: Asked) -> Tested:
    """The rows of a run on its test sets, and what is to be had without training beside them."""
    from samekind.evaluation import references
    from samekind.evaluation.rows import SELECTED_ON_TEST, noted
    from samekind.inference import device_of
    from samekind.training import RunFolder

    folder = RunFolder(run)
    name, sets = run.resolve().name, folder.sets()
    space = open_space(run, asked.device)
    tests = _drawn(sets.tests(), asked)
    rows = _with_cohort(space, run, tests, asked)
    if asked.gallery is not None:
        rows += _found_in(space, tests, getattr(sets, asked.gallery), asked)
    rows = [noted(row, SELECTED_ON_TEST if folder.selected_on_test else "") for row in rows]
    if asked.references:
        rows += references(sets.train, tests, seed=asked.seed, device=device_of(space))
    return Tested(name, space, sets, tests, rows)


def write_page(path: Path, run: Path, found: Tested) -> None:
    """The one-page report of a run."""
    from samekind.reports import System, write_report
    from samekind.training import RunFolder

    record = RunFolder(run).record.lines()
    lead = f'Every question asked of the space "{found.name}", on items it was not trained on.'
    write_report(
        path,
        title=f"samekind: {found.name}",
        lead=" ".join([lead, *(f"Careful: {each}." for each in cautions(found.sets))]),
        systems={found.name: System(found.space.cpu(), found.rows, record)},
        seen=found.sets.test,
        unseen=found.sets.unseen,
    )


def about_data(run: Path, data: str, asked: Asked, *, label: str | None, skip_unreadable: bool) -> Answer:
    """Every question about other items, and whether the thresholds still keep their promises there; where
    they were trained on, that is said.
    """
    from samekind.cli.columns import columns_of
    from samekind.cli.output import messages
    from samekind.evaluation.rows import TRAINED_ON, noted
    from samekind.training import RunFolder

    space = open_space(run, asked.device)
    items = labelled(space, data, skip_unreadable=skip_unreadable, columns=columns_of(run, label))
    note = TRAINED_ON if RunFolder.around(run).trained_on(data) else ""
    if note:
        messages().print(CAREFUL.format(data=data), soft_wrap=True)
    sets = _drawn({items.name: items}, asked)
    about = {"folder": str(run), "data": data}
    rows = [noted(row, note) for row in _with_cohort(space, run, sets, asked)]
    return _rows_answer(about, run.resolve().name, rows, _promises(space, sets, asked), asked)


def _drawn(sets: "Mapping[str, Items]", asked: Asked) -> "dict[str, Items]":
    """The sets, or so many items of each as are asked for."""
    from samekind.data import draw

    if asked.most is None:
        return dict(sets)
    return {name: draw(items, most=asked.most, seed=asked.seed) for name, items in sets.items()}


def _rows(space: "MetricSpace", sets: "Mapping[str, Items]", asked: Asked) -> "list[Row]":
    """Every question about named sets of items, whichever they are."""
    from samekind import evaluation
    from samekind.inference import embed

    rows = evaluation.evaluate(
        space,
        sets,
        tasks=asked.tasks,
        way=asked.way,
        shots=asked.shots,
        ranks=asked.ranks,
        measures=asked.measures,
        seed=asked.seed,
    )
    for name, items in sets.items() if asked.enrol is not None else ():
        rows += evaluation.enrolled(
            space,
            items,
            embed(space, items.inputs),
            name=name,
            shots=asked.enrol or 1,
            combination=asked.combination,
            measures=asked.measures,
            seed=asked.seed,
        )
    return rows


def _with_cohort(space: "MetricSpace", run: Path, sets: "Mapping[str, Items]", asked: Asked) -> "list[Row]":
    """The same; where a cohort is given, verification by normalised scores as well."""
    from samekind.evaluation import normalised
    from samekind.inference import embed

    rows: list[Row] = []
    if asked.cohort is not None:  # first, because it may be refused and the rest takes long
        strangers = _strangers(space, run, asked.cohort)
        for name, items in sets.items():
            rows += normalised(
                space,
                items,
                embed(space, items.inputs),
                strangers,
                name=name,
                form=asked.cohort.form,
                top=asked.cohort.top,
                seed=asked.seed,
            )
    return _rows(space, sets, asked) + rows


def _strangers(space: "MetricSpace", run: Path, cohort: Cohort) -> "Tensor":
    """The embeddings of a cohort; whether its items have labels plays no part."""
    from samekind.cli.columns import columns_of
    from samekind.inference import embed

    columns = columns_of(run)
    found = collected(space, [cohort.data], skip_unreadable=cohort.skip_unreadable, columns=columns)
    return embed(space, found.inputs)


def _found_in(
    space: "MetricSpace", sets: "Mapping[str, Items]", gallery: "Items", asked: Asked
) -> "list[Row]":
    """Retrieval from other items, for the sets that have a class in common with them."""
    from samekind.evaluation import query_gallery
    from samekind.inference import embed

    z = embed(space, gallery.inputs)
    rows: list[Row] = []
    for name, items in sets.items():
        if set(items.classes) & set(gallery.classes):
            rows += query_gallery(
                space,
                items,
                embed(space, items.inputs),
                gallery,
                z,
                name=f"{name} in {asked.gallery}",
                ignore=asked.ignore,
                ks=asked.ranks,
                measures=asked.measures,
                seed=asked.seed,
            )
    return rows


def _promises(space: "MetricSpace", sets: "Mapping[str, Items]", asked: Asked) -> "list[PromiseRow]":
    from samekind.evaluation import promises

    return promises(space, sets, seed=asked.seed)


def about_list(run: Path, trials: Path, root: Path | None, enrolments: Path | None, asked: Asked) -> Answer:
    """The trials of a list; its files are read as the training items of the space were."""
    from samekind import evaluation
    from samekind.data.trial_lists import read_trial_list
    from samekind.inference import embed_files

    listed = read_trial_list(trials, root=root, enrolments=enrolments)
    space = open_space(run, asked.device)
    z = embed_files(space, listed.files)
    rows = evaluation.listed_trials(
        space,
        listed,
        z,
        name=trials.stem,
        combination=asked.combination,
        measures=asked.measures,
        seed=asked.seed,
    )
    if asked.cohort is not None:
        rows += evaluation.normalised_list(
            space,
            listed,
            z,
            _strangers(space, run, asked.cohort),
            name=trials.stem,
            combination=asked.combination,
            form=asked.cohort.form,
            top=asked.cohort.top,
            seed=asked.seed,
        )
    kept = evaluation.listed_promises(
        space, listed, z, name=trials.stem, combination=asked.combination, seed=asked.seed
    )
    about = {"folder": str(run), "trials": str(trials)}
    return _rows_answer(about, run.resolve().name, rows, kept, asked)


def about_two(run: Path, other: Path, asked: Asked) -> Answer:
    """Two runs on the same test sets."""
    from samekind import evaluation
    from samekind.cli.output import print_differences, print_warnings
    from samekind.training import RunFolder

    whole = [RunFolder(folder).sets() for folder in (run, other)]
    sets, others = (_drawn(each.tests(), asked) for each in whole)
    prints = [{name: each.fingerprint() for name, each in found.items()} for found in (sets, others)]
    if prints[0] != prints[1]:
        raise DataError(
            f"{run} and {other} were not tested on the same items, so their answers cannot be paired; "
            "train both on the same data with the same split"
        )
    rows = evaluation.against(
        open_space(run, asked.device),
        open_space(other, asked.device),
        sets,
        tasks=asked.tasks,
        way=asked.way,
        shots=asked.shots,
        ranks=asked.ranks,
        measures=asked.measures,
        seed=asked.seed,
    )
    first, second = run.resolve().name, other.resolve().name
    names = (first, second) if first != second else (str(run), str(other))
    also = dict.fromkeys(each for sets in whole for each in cautions(sets))
    missing = [*also, *evaluation.left_out(rows, asked.ranks)]
    content = {
        "folder": str(run),
        "against": str(other),
        "differences": [row._asdict() for row in rows],
        "warnings": missing,
    }

    def say() -> None:
        print_differences(names, rows)
        print_warnings({" and ".join(names): missing})

    return Answer(content, say)


def _rows_answer(
    about: dict[str, Any],
    name: str,
    rows: Sequence["Row"],
    kept: Sequence["PromiseRow"],
    asked: Asked,
    *,
    also: Sequence[str] = (),
) -> Answer:
    from samekind.cli.output import print_measures, print_promises, print_warnings, rows_as_json

    warnings = warned(name, rows, asked, also=also)
    content = {
        **about,
        "systems": rows_as_json({name: rows}),
        "warnings": warnings,
        "promises": [each.as_json() for each in kept],
    }

    def say() -> None:
        print_measures({name: rows})
        print_warnings(warnings)
        print_promises(kept)

    return Answer(content, say)


def warned(
    name: str, rows: Sequence["Row"], asked: Asked, *, also: Sequence[str] = ()
) -> dict[str, list[str]]:
    """What must be known of a system: answers that must not be used, or are to be had without training, and
    measures that could not be taken; first what is to be said ``also``.
    """
    from samekind.cli.output import warnings_of
    from samekind.evaluation import left_out

    return {name: [*also, *warnings_of({name: rows})[name], *left_out(rows, asked.ranks)]}


def cautions(sets: "Sets") -> list[str]:
    """What makes the test items of a run easier than new ones: parts of groups, or copies, in training."""
    from samekind.data.duplicates import trained_on_copies

    return [each for each in (sets.torn(), trained_on_copies(sets)) if each]
