"""The one-page report of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from samekind.data import Items
from samekind.reports.class_section import class_section
from samekind.reports.item_sections import confusion_section, map_section, neighbours_section
from samekind.reports.measured import System, measure
from samekind.reports.page import Section, page
from samekind.reports.pair_sections import scores_section, tradeoff_section
from samekind.reports.promises_section import promises_section
from samekind.reports.run_sections import answers_section, gains_section, ladder_section, training_section
from samekind.storage import write_text


def write_report(
    path: str | Path,
    *,
    title: str,
    lead: str,
    systems: Mapping[str, System],
    seen: Items,
    unseen: Items | None,
    opening: Sequence[Section | None] = (),
) -> None:
    """Write what systems answer about items of seen and, if there are any, unseen classes as one HTML file.

    The figures are of the first system; the others are in the tables, the training curves and the error
    trade-off. Sections with nothing to show are left out. After an ``opening`` the other sections are folded.
    The file is written whole or not at all, and the same input gives the same file.
    """
    if not systems:
        raise ValueError("expected at least one system to report on, got none")
    sets = {"seen": measure(systems, seen)}
    if unseen is not None and len(unseen):
        sets["unseen"] = measure(systems, unseen)
    content = [
        gains_section(systems),
        ladder_section(systems),
        answers_section(systems, sets),
        promises_section(systems, sets),
        training_section(systems),
        scores_section(systems, sets),
        tradeoff_section(systems, sets),
        map_section(systems, sets),
        neighbours_section(systems, sets),
        confusion_section(systems, sets),
        class_section(systems, sets),
    ]
    sections = [section for section in content if section is not None]
    if opening:
        first = [section for section in opening if section is not None]
        sections = [*first, *(replace(section, folded=True) for section in sections)]
    write_text(Path(path), page(title, lead, sections))
