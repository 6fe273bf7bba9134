"""The opening of a report: a few questions in a line each, and pictures of right and wrong answers."""

from collections.abc import Mapping, Sequence
from html import escape

import torch
from torch import Tensor

from samekind.data import Items
from samekind.evaluation import Answered
from samekind.inference import embed, search
from samekind.reports.neighbour_grid import neighbour_grid
from samekind.reports.page import Section, lines_table
from samekind.reports.panels import Figure
from samekind.space import MetricSpace

#: Neighbours in a row, and the rows: only the space is right, both are, the space is wrong.
NEIGHBOURS, ROWS = 5, (3, 1, 2)


def lines_section(answers: Sequence[Answered], *, names: tuple[str, str], caption: str) -> Section:
    """A line for each question: its words, the value of the reference, that of the space with its interval.
    ``names`` are those of the reference and of the space.
    """
    body = "".join(
        f'<tr><th scope="row">{escape(answer.question)}</th><td>{escape(answer.own.measure)}</td>'
        f"<td>{answer.reference.entry.write(answer.reference.value)}</td><td>{_own(answer)}</td></tr>"
        for answer in answers
    )
    return Section("In short", caption, html=lines_table(names, body))


def _own(answer: Answered) -> str:
    row = answer.own
    value, ends = row.entry.write(row.value), row.entry.ends(row.low, row.high, dash="\u2013")
    return (f"<b>{value}</b>" if answer.better else value) + (
        f'<span class="spread"> ({ends})</span>' if ends else ""
    )


def pictures_section(spaces: Mapping[str, MetricSpace], items: Items) -> Section | None:
    """The same queries and what each of two spaces, the reference and then the own, finds most alike; None
    if the items are not pictures.
    """
    figures = neighbours_of_both(spaces, items)
    if not figures:
        return None
    reference, own = spaces
    caption = (
        f"A row is one item, drawn at random, and its nearest others; green is right. In the first rows the "
        f"nearest is right for \u201c{own}\u201d alone, then for both; in the last rows it is wrong for "
        f"\u201c{own}\u201d."
    )
    return Section(f"Right and wrong answers: {own} and {reference}", caption, figures)


def neighbours_of_both(spaces: Mapping[str, MetricSpace], items: Items) -> dict[str, Figure]:
    """The grid of each space, the last one first, with the same queries; empty if items are not pictures."""
    neighbours = {name: _neighbours(space, items) for name, space in spaces.items()}
    reference, own = (items.labels[places[:, 0]] == items.labels for places in neighbours.values())
    queries = queries_shown(reference, own)
    figures = {
        name: neighbour_grid(items.inputs, items.labels, items.classes, places[queries], queries=queries)
        for name, places in reversed(neighbours.items())
    }
    return {name: figure for name, figure in figures.items() if figure is not None}


def _neighbours(space: MetricSpace, items: Items) -> Tensor:
    z = embed(space, items.inputs)
    k = min(NEIGHBOURS, len(items) - 1)
    return search(space, z, z, k=k, kind=space.kind_for("neighbours"), same_items=True).indices


def queries_shown(reference: Tensor, own: Tensor) -> Tensor:
    """Queries by which of the two (n,) is right, drawn with a fixed seed."""
    order = torch.randperm(len(own), generator=torch.Generator().manual_seed(0))
    groups = (own & ~reference, own & reference, ~own)
    return torch.cat([order[group[order]][:count] for group, count in zip(groups, ROWS, strict=True)])
