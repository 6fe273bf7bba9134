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

#: Two drawings of one character, and one of another.
EXAMPLES = (("Tengwar/05", 1), ("Tengwar/05", 2), ("Tengwar/07", 1))


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
    examples = _write_examples(answer.unseen, out / "examples")
    render(
        {"report": report, **answer.to_json()}, lambda: _print_screen(out, answer, examples), as_json=as_json
    )


def _print_screen(out: Path, answer: "Demo", examples: list[Path]) -> None:
    from samekind.questions.demo import NAMES

    lines = []
    for question, reference, own in answer.answers:
        lines.append([question, own.measure, reference.entry.write(reference.value), own.text])
    print_text(answer.about)
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
