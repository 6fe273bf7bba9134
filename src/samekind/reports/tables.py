"""The rows of an evaluation as HTML: a block per question, systems side by side."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby

from samekind.evaluation import Row, not_beaten, upside_down
from samekind.evaluation.references import REFERENCE
from samekind.reports.glossary import meanings
from samekind.reports.headlines import QUESTIONS, headline
from samekind.reports.numbers import best, ends, spaced, unit, written

Systems = Mapping[str, Sequence[Row]]
Column = tuple[str, str]

#: With more columns than this a page has no room for value and interval beside each other: they stand below
#: each other then (`page.css` has the widths).
MOST_IN_A_LINE = 5


def answers(systems: Systems) -> str:
    """Every question that was asked: its words, the first system's answer in a sentence, the table."""
    asked = list(dict.fromkeys(row.question for rows in systems.values() for row in rows))
    # Questions this page does not know come last, under their own name.
    asked.sort(key=lambda question: [*QUESTIONS, question].index(question))
    if not asked:
        return ""
    first = next(iter(systems.values()))
    tables = {question: _once(systems) if question == REFERENCE else systems for question in asked}
    widest = max(len(_columns(shown, question)) for question, shown in tables.items())
    blocks = [
        f'<div class="answer"><h3>{escape(QUESTIONS.get(question, question))}</h3>'
        f"<p>{escape(headline(question, first))}</p>{_careful(systems, question)}{_units(systems, question)}"
        f'<div class="scroll">{question_table(shown, question)}</div></div>'
        for question, shown in tables.items()
    ]
    # All tables alike, so that their columns stand under each other.
    kind = "many" if widest > MOST_IN_A_LINE else "few"
    glossary = _glossary(row.measure for rows in systems.values() for row in rows)
    return "\n".join([f'<div class="{kind}">', *blocks, "</div>", glossary])


def question_table(systems: Systems, question: str) -> str:
    """One table: a column per system and kind of score, a line per measure and set of items.

    The best value of a line is bold; a value nobody measured is a dash.
    """
    cells: dict[tuple[str, str], dict[Column, Row]] = {}
    for system, rows in systems.items():
        for row in rows:
            if row.question == question:
                cells.setdefault((row.measure, row.about), {})[system, row.kind] = row
    columns = _columns(systems, question)
    measures = list(dict.fromkeys(measure for measure, _ in cells))
    lines = sorted(cells.items(), key=lambda cell: measures.index(cell[0][0]))
    bodies = [
        _body(measure, [(items, found) for (_, items), found in group], columns)
        for measure, group in groupby(lines, key=lambda cell: cell[0][0])
    ]
    return f"<table>{_head(columns)}{''.join(bodies)}</table>"


def _columns(systems: Systems, question: str) -> list[Column]:
    """Every kind of score of every system that answers a question."""
    found = [(name, row.kind) for name, rows in systems.items() for row in rows if row.question == question]
    return list(dict.fromkeys(found))


def _once(systems: Systems) -> Systems:
    """What is to be had without training is the same for systems trained on the same items: said once."""
    told = [[row for row in rows if row.question == REFERENCE] for rows in systems.values()]
    return {" and ".join(systems): told[0]} if all(each == told[0] for each in told) else systems


def _head(columns: list[Column]) -> str:
    """Two lines: the systems, each over its kinds of score."""
    systems = "".join(
        f'<th scope="colgroup" colspan="{len(list(group))}"><span>{escape(system)}</span></th>'
        for system, group in groupby(columns, key=lambda column: column[0])
    )
    kinds = "".join(f'<th scope="col">{escape(kind)}</th>' for _, kind in columns)
    widths = f'<col class="measure"><col class="items">{"<col>" * len(columns)}'
    empty = '<td colspan="2"></td>'
    return f"<colgroup>{widths}</colgroup><thead><tr>{empty}{systems}</tr><tr>{empty}{kinds}</tr></thead>"


def _body(measure: str, lines: list[tuple[str, dict[Column, Row]]], columns: list[Column]) -> str:
    """The lines of one measure: its name once, then each set of items."""
    name = escape(", ".join(filter(None, (measure, unit(measure)))))
    html = f'<tr><th scope="rowgroup" rowspan="{len(lines)}">{name}</th>'
    for items, found in lines:
        marked = best(list(found.values()))
        values = "".join(f"<td>{_cell(found.get(column), marked)}</td>" for column in columns)
        html += f'<th scope="row" class="items">{escape(items)}</th>{values}</tr><tr>'
    return f"<tbody>{html.removesuffix('<tr>')}</tbody>"


def _cell(row: Row | None, marked: set[str]) -> str:
    if row is None:
        return '<span class="none">&ndash;</span>'
    value = f"<b>{written(row)}</b>" if written(row) in marked else written(row)
    return value + (f'<span class="spread"> ({ends(row)})</span>' if ends(row) else "")


def _careful(systems: Systems, question: str) -> str:
    """Which answers to a question must not be used, or are to be had without training, if any."""
    said = [
        (system, sentence)
        for system, rows in systems.items()
        for sentence in (
            not_beaten(rows)
            if question == REFERENCE
            else [upside_down(row for row in rows if row.question == question)]
        )
    ]
    return "".join(
        f'<p><b>Careful, "{escape(name)}": {escape(spaced(each))}.</b></p>' for name, each in said if each
    )


def _units(systems: Systems, question: str) -> str:
    """What the intervals of a table are over, where it has any."""
    asked = (row for rows in systems.values() for row in rows if row.question == question)
    units = " and ".join(dict.fromkeys(row.unit for row in asked if row.unit))
    return f'<p class="units">In brackets the 95 % interval over {escape(units)}.</p>' if units else ""


def _glossary(measures: Iterable[str]) -> str:
    lines = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(words)}</dd></div>"
        for name, words in meanings(measures).items()
    )
    return f"<details><summary>What the measures mean</summary><dl>{lines}</dl></details>" if lines else ""
