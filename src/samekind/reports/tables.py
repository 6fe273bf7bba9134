"""The rows of an evaluation as HTML: a block per question, systems side by side."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby

from samekind.evaluation import Row, upside_down
from samekind.evaluation.rows import REFERENCE
from samekind.measures.measure import Measure
from samekind.reports.headlines import QUESTIONS, headline
from samekind.reports.numbers import best, spaced

Systems = Mapping[str, Sequence[Row]]
Column = tuple[str, str]

#: With more columns than this, the interval is below the value (`page.css` has the widths).
MOST_IN_A_LINE = 5


def answers(systems: Systems) -> str:
    """Every question: its words, the first system's answer in a sentence, the table."""
    questions = list(dict.fromkeys(row.question for rows in systems.values() for row in rows))
    # Unknown questions come last, under their own name.
    questions.sort(key=lambda question: [*QUESTIONS, question].index(question))
    if not questions:
        return ""
    first = next(iter(systems.values()))
    tables = {question: _once(systems) if question == REFERENCE else systems for question in questions}
    widest = max(len(_columns(shown, question)) for question, shown in tables.items())
    blocks = [
        f'<div class="answer"><h3>{escape(QUESTIONS.get(question, question))}</h3>'
        f"<p>{escape(headline(question, first))}</p>{_careful(systems, question)}{_units(systems, question)}"
        f'<div class="scroll">{question_table(shown, question)}</div></div>'
        for question, shown in tables.items()
    ]
    # The same for all tables, so that their columns are aligned.
    css = "many" if widest > MOST_IN_A_LINE else "few"
    glossary = _glossary(row.entry for rows in systems.values() for row in rows)
    return "\n".join([f'<div class="{css}">', *blocks, "</div>", glossary])


def question_table(systems: Systems, question: str) -> str:
    """One table: a column per system and kind of score, a line per measure and set of items.

    The best value of a line is bold; a missing value is a dash.
    """
    lines: dict[Measure, dict[str, dict[Column, Row]]] = {}
    for system, rows in systems.items():
        for row in rows:
            if row.question == question:
                lines.setdefault(row.entry, {}).setdefault(row.about, {})[system, row.kind] = row
    columns = _columns(systems, question)
    bodies = "".join(_body(measure, by_items, columns) for measure, by_items in lines.items())
    return f"<table>{_head(columns)}{bodies}</table>"


def _columns(systems: Systems, question: str) -> list[Column]:
    """Every kind of score of every system that answers a question."""
    columns = [(name, row.kind) for name, rows in systems.items() for row in rows if row.question == question]
    return list(dict.fromkeys(columns))


def _once(systems: Systems) -> Systems:
    """One column of baselines for all systems, if they are the same for all."""
    references = [[row for row in rows if row.is_reference] for rows in systems.values()]
    return (
        {" and ".join(systems): references[0]}
        if all(rows == references[0] for rows in references)
        else systems
    )


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


def _body(measure: Measure, lines: dict[str, dict[Column, Row]], columns: list[Column]) -> str:
    """The lines of one measure: its name once, then each set of items."""
    name = escape(f"{measure}, {measure.unit}" if measure.unit else measure)
    html = f'<tr><th scope="rowgroup" rowspan="{len(lines)}">{name}</th>'
    for items, rows in lines.items():
        marked = best(list(rows.values()))
        values = "".join(f"<td>{_cell(rows.get(column), marked)}</td>" for column in columns)
        html += f'<th scope="row" class="items">{escape(items)}</th>{values}</tr><tr>'
    return f"<tbody>{html.removesuffix('<tr>')}</tbody>"


def _cell(row: Row | None, marked: set[str]) -> str:
    if row is None:
        return '<span class="none">&ndash;</span>'
    value, ends = row.entry.number(row.value), row.entry.ends(row.low, row.high, dash="\u2013")
    html = f"<b>{value}</b>" if value in marked else value
    return html + (f'<span class="spread"> ({ends})</span>' if ends else "")


def _careful(systems: Systems, question: str) -> str:
    """Warnings about a question: scores that are upside down."""
    sentences = [
        (system, upside_down(row for row in rows if row.question == question))
        for system, rows in systems.items()
    ]
    return "".join(
        f'<p><b>Careful, "{escape(name)}": {escape(spaced(sentence))}.</b></p>'
        for name, sentence in sentences
        if sentence
    )


def _units(systems: Systems, question: str) -> str:
    """The units of the intervals of a table, if it has any."""
    shown = (row for rows in systems.values() for row in rows if row.question == question)
    units = " and ".join(dict.fromkeys(row.unit for row in shown if row.unit))
    return f'<p class="units">In brackets the 95 % interval over {escape(units)}.</p>' if units else ""


def _glossary(measures: Iterable[Measure]) -> str:
    """The meaning of every measure that occurs, each once; a measure without one is left out."""
    meanings = {measure.family: measure.meaning for measure in measures if measure.meaning}
    lines = "".join(
        f"<div><dt>{escape(title)}</dt><dd>{escape(meaning)}</dd></div>"
        for title, meaning in meanings.items()
    )
    return f"<details><summary>What the measures mean</summary><dl>{lines}</dl></details>" if lines else ""
