"""The output of commands: tables for people, JSON for programs."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from samekind.evaluation import Compared, PromiseRow, Row
    from samekind.questions.evaluate import Evaluated


#: Letters of a word that is not broken in a table.
LONGEST_WORD = 14

#: Columns of a file or a pipe: more than any table has.
ENDLESS = 1_000_000


def print_json(content: Any) -> None:
    """One JSON object on the standard output; paths are texts in it."""
    print(json.dumps(content, indent=2, default=os.fspath))


def render(content: Any, show: Callable[[], None], *, as_json: bool) -> None:
    """An answer as JSON, or as ``show`` prints it for people."""
    if as_json:
        print_json(content)
    else:
        show()


def print_text(text: str | Text) -> None:
    """A sentence on the standard output; the terminal breaks its lines, so that paths can be copied."""
    console().print(text, soft_wrap=True)


def print_messages(*sentences: str) -> None:
    """Sentences on the standard error, a line each."""
    for sentence in sentences:
        messages().print(sentence, soft_wrap=True)


def print_table(content: Table) -> None:
    """A table on the standard output, never cut off, not even where the terminal is narrow."""
    output = console()
    # Two characters between columns. Given less than it needs, rich would leave out whole columns.
    needed = sum((column.min_width or 0) + 2 for column in content.columns)
    output.width = max(output.width, needed)
    output.print(content, crop=False)


def print_gains(answer: "Evaluated") -> None:
    """Whether the space beats its start, and a line for each measure; nothing without gains."""
    if answer.gains:
        print_text(Text(answer.verdict, style="bold"))
    for gain in answer.gains:
        print_text(f"  {gain.sentence}")


def print_measures(rows: Sequence["Row"]) -> None:
    """The tables of an evaluation."""
    for content in measures_tables(rows):
        print_table(content)


#: What the names of test items mean.
CLASSES = {
    "seen": "Seen: new items of classes that were trained on. ",
    "unseen": "Unseen: of classes never shown. ",
    "seen, unseen": "Both: known and unseen classes together. ",
}


def print_answers(rows: Sequence["Row"]) -> None:
    """Rows of several questions in one table."""
    lines = [[row.measure, row.about, row.kind, row.text] for row in rows]
    print_table(table("Answers (95% intervals)", ["measure", "classes", "score", "value"], lines, texts=3))
    items = {row.items for row in rows}
    told = "".join(sentence for name, sentence in CLASSES.items() if name in items)
    if told:
        print_text(f"\n{told.strip()}")


def print_warnings(name: str, sentences: Sequence[str]) -> None:
    """The warnings about a space or recipe of this name, on the standard error."""
    print_messages(*(f"careful ({name}): {sentence}" for sentence in sentences))


def print_differences(names: tuple[str, str], rows: Sequence["Compared"]) -> None:
    """The tables of a comparison."""
    for content in differences_tables(names, rows):
        print_table(content)


def print_promises(promises: Sequence["PromiseRow"]) -> None:
    """A line for each threshold: what it promised, what it gives, and whether that holds."""
    if promises:
        print_text(Text("\nThresholds", style="bold"))
    for row in promises:
        print_text(f"{row.items}, {row.kind}: {row.sentence}")


def console() -> Console:
    """The console of the standard output. Names are printed unchanged, also [red] and :cat: in a path.

    Lines are not broken if the output is not a terminal, unless COLUMNS is set.
    """
    output = Console(markup=False, emoji=False, highlight=False)
    if not output.is_terminal and "COLUMNS" not in os.environ:
        output.width = ENDLESS
    return output


def messages() -> Console:
    """The console of the standard error, for progress and warnings."""
    return Console(stderr=True, markup=False, emoji=False, highlight=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int = 1) -> Table:
    """A plain table; the first ``texts`` columns are text, the others numbers, which are never broken."""
    result = Table(
        title=f"\n{title}",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    lines = [[*row] for row in rows]
    for index, column in enumerate(columns):
        is_text = index < texts
        cells = [column, *(line[index] for line in lines)]
        # A table may be wider than the terminal. Words stay whole, except very long ones such as paths.
        parts = [part[:LONGEST_WORD] for cell in cells for part in cell.split()] if is_text else cells
        result.add_column(
            column,
            justify="left" if is_text else "right",
            no_wrap=not is_text,
            overflow="fold",
            min_width=max(map(len, parts), default=0),
        )
    for line in lines:
        result.add_row(*line)
    return result


def measures_tables(rows: Sequence["Row"]) -> Iterator[Table]:
    """One table a question: a line for each measure and set of items, a column for each kind of score.
    References, whose kinds have long names, have a line for each kind.
    """
    for question in dict.fromkeys(row.question for row in rows):
        shown = [row for row in rows if row.question == question]
        title = titled(question, (row.unit for row in shown))
        if shown[0].is_reference:
            lines = [[row.measure, row.about, row.kind, row.text] for row in shown]
            yield table(title, ["measure", "classes", "score", "without training"], lines, texts=3)
            continue
        cells = {(row.measure, row.about, row.kind): row.text for row in shown}
        kinds = dict.fromkeys(row.kind for row in shown)
        heads = dict.fromkeys((row.measure, row.about) for row in shown)
        lines = [[*head, *(cells.get((*head, kind), "") for kind in kinds)] for head in heads]
        yield table(title, ["measure", "classes", *kinds], lines, texts=2)


def differences_tables(names: tuple[str, str], rows: Sequence["Compared"]) -> Iterator[Table]:
    """One table a question: both systems, the first less the second with its interval, and the p-value."""
    for question in dict.fromkeys(row.question for row in rows):
        shown = [row for row in rows if row.question == question]
        lines = [
            [
                row.measure,
                row.items,
                row.kind,
                row.entry.write(row.first),
                row.entry.write(row.second),
                row.text,
                "" if row.p_value is None else f"{row.p_value:.3f}",
            ]
            for row in shown
        ]
        title = titled(question, (row.unit for row in shown))
        yield table(title, ["measure", "classes", "score", *names, "difference", "p"], lines, texts=3)


def titled(question: str, units: Iterable[str]) -> str:
    """A question as a title, with the units of its intervals, if it has any.

    >>> titled("few-shot", ["episodes"]), titled("clustering", [""])
    ('Few-shot (95% intervals over episodes)', 'Clustering')
    """
    known = " and ".join(dict.fromkeys(unit for unit in units if unit))
    return question.capitalize() + (f" (95% intervals over {known})" if known else "")
