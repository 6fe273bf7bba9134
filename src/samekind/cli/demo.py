"""samekind demo: what learning gives on real data, in two minutes."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from samekind.cli.options import AsJson, Changes, Device, Seed, Tasks

if TYPE_CHECKING:
    from samekind.data import Items, Sets
    from samekind.evaluation import Answered, Row
    from samekind.space import MetricSpace

#: What the demo changes of the house recipe's run, to take a minute.
BRIEF = ("epochs=4", "space.encoder.width=16")

#: Alphabets that training does not see: those that thresholds are fitted on, and those that are asked about.
VALIDATING = ("Bengali", "Greek", "Korean")
ASKED = ("Angelic", "Ge_ez", "Mongolian", "Tengwar", "Tibetan")

#: The names of the two systems, the reference first.
NAMES = ("raw pixels", "learned")

#: Two drawings of one character, and one of another.
EXAMPLES = (("Tengwar/05", 1), ("Tengwar/05", 2), ("Tengwar/07", 1))


def demo(
    out: Annotated[Path, typer.Option(help="Where everything goes.")] = Path("samekind-demo"),
    seed: Seed = None,
    device: Device = "auto",
    tasks: Tasks = 600,
    changes: Changes = None,
    as_json: AsJson = False,
) -> None:
    """Learn from drawn characters of 27 alphabets, ask about five alphabets never shown, write a report."""
    from samekind.cli.output import messages, print_json
    from samekind.cli.progress_bar import Bar
    from samekind.evaluation import five_questions, unseen_rows
    from samekind.evaluation.rows import described
    from samekind.recipes import fit, house
    from samekind.training import RunFolder

    sets = _sets()
    unseen = sets.unseen
    assert unseen is not None
    chosen = [*BRIEF, *(changes or []), *([] if seed is None else [f"seed={seed}"])]
    run = house(sets.train).override(chosen)
    watcher = Bar(messages(), title="learning", shown=[run.watch])
    spaces = raw_space(unseen), fit(run, sets, folder=out, device=device, watcher=watcher)
    rows = [unseen_rows(space, unseen, tasks=tasks, seed=run.seed) for space in spaces]
    answers = five_questions(spaces[1], *rows, noun="character")
    _write_report(out, sets, spaces, rows, answers)
    RunFolder(out).keep_measures([described(row) for row in rows[1]])
    examples = _write_examples(unseen, out / "examples")
    if as_json:
        print_json({"report": str(out / "report.html"), "answers": [answer.to_json() for answer in answers]})
        return
    _print_screen(out, sets, answers, examples)


def _sets() -> "Sets":
    """Characters of alphabets to learn from, of others to fit thresholds on, and of others to ask about."""
    from samekind.data import SplitSettings, open_data, prepare

    items = open_data(f"characters/{','.join(dict.fromkeys([*_learned(), *VALIDATING, *ASKED]))}")
    return prepare(
        items, SplitSettings(unseen=ASKED, validation_classes=VALIDATING, fractions={"train": 1.0})
    )


def _learned() -> list[str]:
    """The 30 alphabets that the authors of the data learn from."""
    from samekind.data import branches_of, characters

    return list(branches_of(characters().classes))[:30]


def raw_space(items: "Items") -> "MetricSpace":
    """Pixels as they are, compared by the cosine."""
    from math import prod

    from samekind.encoders import Unchanged
    from samekind.prototypes import SupportMeans
    from samekind.similarities import Cosine
    from samekind.space import MetricSpace

    numbers = prod(items.shape)
    means = SupportMeans(dimension=numbers)
    return MetricSpace(Unchanged(inputs=numbers), Cosine(), means, reader=items.reader).eval()


def _about(sets: "Sets") -> str:
    """What was learned from and what is asked about, in a sentence."""
    from samekind.data import branches_of

    assert sets.unseen is not None
    learned, asked = (branches_of(items.classes) for items in (sets.train, sets.unseen))
    drawings = f"{len(sets.unseen):,} drawings of {len(sets.unseen.classes)} characters"
    return (
        f"Learned from {len(sets.train):,} drawings of {len(sets.train.classes)} characters "
        f"({len(learned)} alphabets). Asked about {drawings} of {len(asked)} alphabets that it never saw: "
        f"{', '.join(asked)}."
    )


def _write_report(
    out: Path,
    sets: "Sets",
    spaces: Sequence["MetricSpace"],
    rows: Sequence[Sequence["Row"]],
    answers: Sequence["Answered"],
) -> None:
    from samekind.reports import System, lines_section, pictures_section, write_report
    from samekind.training import RunFolder

    assert sets.unseen is not None
    systems = {
        NAMES[1]: System(spaces[1], rows[1], RunFolder(out).record.lines()),
        NAMES[0]: System(spaces[0], rows[0]),
    }
    caption = (
        "In brackets the 95 % interval; bold where it is better than the raw pixels by more than that. The "
        "EER is the share of wrong answers: lower is better. Of the others, higher is better."
    )
    write_report(
        out / "report.html",
        title="samekind on drawn characters",
        lead=_about(sets),
        systems=systems,
        seen=sets.test,
        unseen=sets.unseen,
        opening=[
            lines_section(answers, names=NAMES, caption=caption),
            pictures_section(dict(zip(NAMES, spaces, strict=True)), sets.unseen),
        ],
    )


def _print_screen(out: Path, sets: "Sets", answers: Sequence["Answered"], examples: Sequence[Path]) -> None:
    from samekind.cli.output import print_table, print_text, table

    lines = []
    for question, reference, own in answers:
        lines.append([question, own.measure, reference.entry.write(reference.value), own.text])
    print_text(_about(sets))
    print_table(table("Five questions", ["", "", NAMES[0], f"{NAMES[1]} (95%)"], lines, texts=2))
    print_text("\nThe EER is the share of wrong answers: lower is better. Of the others, higher is better.")
    space, (one, two, _) = quote(str(out)), (quote(str(path)) for path in examples)
    print_text(f"The report with pictures is {out / 'report.html'}. To go on:")
    for command in (
        f"compare {one} {two} --space {space}",
        f"search {one} --gallery characters/Tengwar -k 5 --space {space}",
        f"cluster characters/Tengwar --groups 25 --space {space} --out {quote(str(out / 'groups'))}",
    ):
        print_text(f"  samekind {command}")


def _write_examples(items: "Items", folder: Path) -> list[Path]:
    """Write three drawings to try things on."""
    from samekind.data import write_image

    assert items.ids is not None
    paths: list[Path] = []
    for name, person in EXAMPLES:
        place = items.ids.index(f"{name}, person {person}")
        paths.append(folder / f"{name.replace('/', '-')}-{person}.png")
        write_image(paths[-1], items.inputs[place : place + 1][0])
    return paths
