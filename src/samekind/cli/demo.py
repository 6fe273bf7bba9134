"""samekind demo: what learning gives on real data, in two minutes."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from typer import Option

from samekind.cli.options import AsJson, Changes, Device, Seed, Tasks
from samekind.cli.output import messages, print_table, print_text, render, table
from samekind.cli.progress_bar import Bar

if TYPE_CHECKING:
    from samekind.data import Items
    from samekind.questions.demo import Demo
    from samekind.training import Run

#: The alphabet whose drawings are written as files, and two drawings of one of its characters.
ALPHABET, ONE, OTHER = "Tengwar", "05/person-01.png", "05/person-02.png"


def demo(
    out: Annotated[Path, Option(help="Where everything goes.")] = Path("samekind-demo"),
    seed: Seed = None,
    device: Device = "auto",
    tasks: Tasks = 600,
    changes: Changes = None,
    as_json: AsJson = False,
) -> None:
    """Learn from drawn characters of 27 alphabets, ask about five alphabets never shown, write a report."""
    from samekind.questions.demo import demo, report_demo

    def watched(run: "Run") -> Bar:
        return Bar(messages(), title="learning", shown=[run.watch])

    answer = demo(out, seed=seed, device=device, tasks=tasks, changes=changes or (), watched=watched)
    report = report_demo(answer, out)
    drawings = _write_drawings(answer.unseen, out)
    render(
        {"report": report, **answer.to_json()}, lambda: _print_screen(out, answer, drawings), as_json=as_json
    )


def _print_screen(out: Path, answer: "Demo", drawings: Path) -> None:
    from samekind.questions.demo import NAMES

    lines = []
    for question, reference, own in answer.answers:
        lines.append([question, own.measure, reference.entry.write(reference.value), own.text])
    print_text(answer.about)
    print_table(table("Five questions", ["", "", NAMES[0], f"{NAMES[1]} (95%)"], lines, texts=2))
    print_text("\nThe EER is the share of wrong answers: lower is better. Of the others, higher is better.")
    space, folder = quote(str(out)), quote(str(drawings))
    one, two = (quote(str(drawings / name)) for name in (ONE, OTHER))
    print_text(f"The report with pictures is {out / 'report.html'}. To go on:")
    for command in (
        f"compare {one} {two} --space {space}",
        f"search {one} --gallery {folder} -k 5 --space {space}",
        f"cluster {folder} --groups 25 --space {space} --out {quote(str(out / 'groups'))}",
    ):
        print_text(f"  samekind {command}")


def _write_drawings(items: "Items", folder: Path) -> Path:
    """Write the drawings of one alphabet, a folder for each character, to try things on."""
    from samekind.data import write_image

    assert items.domains is not None
    people = 1 + items.domains
    for place, label in enumerate(items.labels.tolist()):
        alphabet, _, character = items.classes[label].partition("/")
        if alphabet == ALPHABET:
            path = folder / alphabet / character / f"person-{people[place]:02d}.png"
            write_image(path, items.inputs[place : place + 1][0])
    return folder / ALPHABET
