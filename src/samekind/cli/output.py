"""What a command says: tables for people, JSON for programs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from samekind.evaluation import Row


def print_json(content: Any) -> None:
    """One JSON object on the standard output."""
    print(json.dumps(content, indent=2))


def console() -> Console:
    """Where tables go."""
    return Console()


def messages() -> Console:
    """Where progress goes: the standard error, so that it never mixes with an answer."""
    return Console(stderr=True)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A plain table; the first column is text, the others numbers."""
    made = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE, pad_edge=False)
    for index, column in enumerate(columns):
        made.add_column(column, justify="left" if index == 0 else "right")
    for row in rows:
        made.add_row(*row)
    return made


def measures_table(systems: Mapping[str, Sequence["Row"]]) -> Iterable[Table]:
    """One table a question: measures down, each system and kind of score across."""
    everything = [row for rows in systems.values() for row in rows]
    for question in dict.fromkeys(row.question for row in everything):
        asked = [
            (system, row) for system, rows in systems.items() for row in rows if row.question == question
        ]
        columns = list(dict.fromkeys((system, row.kind) for system, row in asked))
        lines = list(dict.fromkeys((row.items, row.measure) for _, row in asked))
        cells = {(system, row.kind, row.items, row.measure): format_row(row) for system, row in asked}
        yield table(
            question.capitalize(),
            ["", *(f"{system}\n{kind}" for system, kind in columns)],
            [
                [
                    f"{measure}, {items} classes",
                    *(cells.get((*column, items, measure), "") for column in columns),
                ]
                for items, measure in lines
            ],
        )


def format_row(row: "Row") -> str:
    """A value as people read it: per cent, with ± its interval; NMI as it is."""
    if row.measure == "NMI":
        return f"{row.value:.3f}"
    interval = f" ± {50 * (row.high - row.low):.2f}" if row.low is not None and row.high is not None else ""
    return f"{100 * row.value:.2f}%{interval}"


def rows_as_json(systems: Mapping[str, Sequence["Row"]]) -> dict[str, list[dict[str, Any]]]:
    """The same rows for programs."""
    return {system: [row._asdict() for row in rows] for system, rows in systems.items()}
