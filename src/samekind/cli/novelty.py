"""samekind novelty: how new is each item to the space?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from samekind.cli import options
from samekind.cli.output import print_messages, print_table, print_text, render, table
from samekind.cli.progress_bar import bar
from samekind.cli.spaces import open_space, warn_of_training_items
from samekind.settings import LARGEST_SEED

if TYPE_CHECKING:
    from samekind.questions.novelty import Judged

Score = Annotated[
    str | None,
    Option(
        help="The kind of score: similarity, cosine, fused, fitted or normalised.",
        show_default="the space's choice; with prototypes that of the threshold for none of these, if any",
    ),
]
Method = Annotated[
    str | None,
    Option(
        help="What items are compared with: prototypes (the best class), neighbours (the nearest known "
        "item) or svm (the region of the known items).",
        show_default="svm with --known, else prototypes",
    ),
]
MostKnown = Annotated[int, Option(help="svm: use at most this many known items, drawn at random.", min=2)]
KnownSeed = Annotated[int, Option(help="Fixes which known items are drawn.", min=0, max=LARGEST_SEED)]
Known = Annotated[
    list[str] | None, Option("--known", metavar="DATA", help="Items that are not new; can be repeated.")
]
Outliers = Annotated[float, Option(help="svm: the share of known items that may lie outside their region.")]


def novelty(
    data: options.Sources,
    space: options.SpaceFolder,
    known: Known = None,
    method: Method = None,
    kind: Score = None,
    outliers: Outliers = 0.1,
    most_known: MostKnown = 2000,
    seed: KnownSeed = 0,
    csv: Annotated[Path | None, Option(help="Write all items as a table here as well.")] = None,
    show: Annotated[int, Option(help="How many of the newest items to show.", min=0)] = 10,
    device: options.Device = "auto",
    label: options.LabelColumn = None,
    named_by: options.IdColumn = None,
    raw_texts: options.RawTexts = False,
    skip_unreadable: options.SkipUnreadable = False,
    as_json: options.AsJson = False,
) -> None:
    """Rank items by how new they are; with labels, also measure how well that tells new from known."""
    from samekind import questions
    from samekind.questions.novelty import NoveltySettings
    from samekind.questions.table_files import check_ending, write_table

    settings = NoveltySettings(method, kind, outliers, most_known, seed)
    chosen = settings.method_for(known=bool(known))  # a mistake is reported before anything is read
    if csv is not None:
        check_ending(csv)
    opened = open_space(space, device)
    settings.kind_for(opened.space, chosen)
    items = opened.read(data, label=label, named_by=named_by, skip_unreadable=skip_unreadable)
    reference = opened.read(known, label=label, skip_unreadable=skip_unreadable) if known else None
    answer = questions.novelty(opened.space, items, reference, settings=settings, progress=bar)
    if csv is not None:
        write_table(csv, answer.columns, raw_texts=raw_texts)
    if answer.auroc is not None:
        warn_of_training_items(opened, data)
    render(answer.to_json(), lambda: _print(answer, show, csv), as_json=as_json)


def _print(answer: "Judged", show: int, csv: Path | None) -> None:
    columns, auroc = answer.columns, answer.auroc
    count = len(columns["id"])
    if show:
        texts = [name for name in ("id", "label", "class") if name in columns]
        numbers = [name for name in ("novelty", "new") if name in columns]
        lines = [
            [*(columns[name][row] or "" for name in texts), *(_cell(columns[name][row]) for name in numbers)]
            for row in range(min(show, count))
        ]
        title = f"The newest of {count:,} items ({answer.method}, {answer.kind})"
        heads = ["most like" if name == "class" else name for name in texts]
        print_table(table(title, [*heads, *numbers], lines, texts=len(texts)))
    if "new" in columns:
        print_text(f"\n{sum(columns['new']):,} of {count:,} items are called new.")
    if auroc is not None:
        print_text(
            f"AUROC {auroc.value:.3f} (95 %: {auroc.low:.3f} to {auroc.high:.3f}): {auroc.new:,} "
            f"items of classes that are not known against {auroc.known:,} of known ones."
        )
    if answer.warning is not None:
        print_messages(f"careful: {answer.warning}; another --kind or --method may do better")
    if csv is not None:
        print_text(f"All {count:,} items are in {csv}")


def _cell(value: float | bool) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else f"{value:.4f}"
