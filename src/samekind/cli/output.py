"""What a command says: tables for people, JSON for programs."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from samekind.evaluation import Row


def print_json(content: Any) -> None:
    """One JSON object on the standard output."""
    print(json.dumps(content, indent=2))


def print_text(text: str | Text) -> None:
    """A sentence on the standard output; the terminal breaks its lines, so that paths can be copied."""
    console().print(text, soft_wrap=True)


def print_measures(systems: Mapping[str, Sequence["Row"]]) -> None:
    """The tables of an evaluation."""
    for each in measures_tables(systems):
        console().print(each)


def console() -> Console:
    """Where answers go. A name is printed as it is: [red] and :cat: in a path are no decoration."""
    return Console(markup=False, emoji=False, highlight=False)


def messages() -> Console:
    """Where progress goes: the standard error, so that it never mixes with an answer."""
    return Console(stderr=True, markup=False, emoji=False, highlight=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int = 1) -> Table:
    """A plain table; the first ``texts`` columns are text, the others numbers, which are never broken."""
    made = Table(
        title=f"\n{title}",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for index, column in enumerate(columns):
        is_text = index < texts
        made.add_column(column, justify="left" if is_text else "right", no_wrap=not is_text)
    for row in rows:
        made.add_row(*row)
    return made


def measures_tables(systems: Mapping[str, Sequence["Row"]]) -> Iterator[Table]:
    """One table a question: a line for each measure, set of items and system, the kinds of score across.

    The only system is not named.
    """
    everything = [(system, row) for system, rows in systems.items() for row in rows]
    for question in dict.fromkeys(row.question for _, row in everything):
        asked = [(system, row) for system, row in everything if row.question == question]
        kinds = list(dict.fromkeys(row.kind for _, row in asked))
        cells = {(row.measure, row.items, system, row.kind): format_row(row) for system, row in asked}
        heads = dict.fromkeys((row.measure, row.items) for _, row in asked)
        named = len(systems) > 1
        lines = [
            [*head, *((system,) if named else ()), *(cells.get((*head, system, kind), "") for kind in kinds)]
            for head in heads
            for system in systems
            if any((*head, system, kind) in cells for kind in kinds)
        ]
        texts = ["measure", "classes", *(("system",) if named else ())]
        yield table(question.capitalize(), [*texts, *kinds], lines, texts=len(texts))


def format_row(row: "Row") -> str:
    """A value as people read it: per cent, with ± its interval; NMI as it is."""
    if row.measure == "NMI":
        return f"{row.value:.3f}"
    interval = f" ± {50 * (row.high - row.low):.2f}" if row.low is not None and row.high is not None else ""
    return f"{100 * row.value:.2f}%{interval}"


def rows_as_json(systems: Mapping[str, Sequence["Row"]]) -> dict[str, list[dict[str, Any]]]:
    """The same rows for programs."""
    return {system: [row._asdict() for row in rows] for system, rows in systems.items()}
