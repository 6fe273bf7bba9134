"""The sections of a report about the run: its answers and its training."""

from collections.abc import Mapping

from samekind.data.words import counted
from samekind.reports.measured import Measured, System
from samekind.reports.page import Section
from samekind.reports.tables import answers
from samekind.reports.training_curves import training_curves

ADVERSARY = (
    "The class adversary is a classifier of the training classes: where an adaptive coefficient is below 0 "
    "the encoder helps it, above 0 it works against it."
)


def answers_section(systems: Mapping[str, System], sets: Mapping[str, Measured]) -> Section:
    """The tables of all measures."""
    about = " ".join(
        f"{name.capitalize()}: {counted(measured.of, 'item', 'items')} of "
        f"{counted(len(measured.items.classes), 'class', 'classes')}."
        for name, measured in sets.items()
        if measured.of
    )
    caption = f"{about} The sentences quote the first column; the best of each line is bold."
    return Section("Answers", caption, html=answers({name: system.rows for name, system in systems.items()}))


def training_section(systems: Mapping[str, System]) -> Section | None:
    """The curves of the systems that have a record."""
    records = {name: system.record for name, system in systems.items() if system.record}
    if not records:
        return None
    adversary = any("adversary" in entries[0] for entries in records.values())
    caption = (
        "The training loss, and what was measured on validation items (equal error rates on a scale with "
        "more room near 0); the dashed line is the epoch that was kept."
    ) + (f" {ADVERSARY}" if adversary else "")
    return Section("Training", caption, training_curves(records))
