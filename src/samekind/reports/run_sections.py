"""The sections of a report about the run: its answers and its training."""

from collections.abc import Mapping
from html import escape

from samekind.data.words import counted
from samekind.decisions import Ladder
from samekind.evaluation import gains, verdict_in_words
from samekind.reports.measured import Measured, System
from samekind.reports.numbers import spaced
from samekind.reports.page import Section, table
from samekind.reports.tables import answers
from samekind.reports.training_curves import training_curves

ADVERSARY = (
    "The class adversary is a classifier of the training classes: where an adaptive coefficient is below 0 "
    "the encoder helps it, above 0 it works against it."
)

#: The columns of the ladder.
HEADS = ("rung", "Recall@1", "EER", "accuracy", "seconds", "")


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


def gains_section(systems: Mapping[str, System]) -> Section | None:
    """Whether each system beats its start; None where nothing is known of the start."""
    compared = {name: gains(system.rows) for name, system in systems.items()}
    lines = [
        f"<p><b>{_of(name, systems)}{escape(spaced(verdict_in_words(own)))}</b></p>"
        f"<ul>{''.join(f'<li>{escape(spaced(gain.sentence))}</li>' for gain in own)}</ul>"
        for name, own in compared.items()
        if own
    ]
    caption = "The best of what is had without training, beside the kind of score that the space answers by."
    return Section("Did training pay?", caption, html="".join(lines)) if lines else None


def _of(name: str, systems: Mapping[str, System]) -> str:
    return f"{escape(name)}: " if len(systems) > 1 else ""


def ladder_section(systems: Mapping[str, System]) -> Section | None:
    """The measures of each rung of the house recipe, for systems that were trained by it."""
    ladders = [system.space.ladder for system in systems.values() if system.space.ladder]
    if not ladders:
        return None
    caption = (
        "What the house recipe tried, from no training on, measured on "
        f"{'; '.join(sorted({ladder.measured_on for ladder in ladders}))} "
        "(95% intervals over classes). A rung is kept if it is better by more than chance in one measure and "
        "worse in none; the fitted similarity needs less proof."
    )
    lines = [line for ladder in ladders for line in _rungs(ladder)]
    return Section("Ladder", caption, html=table(HEADS, lines, strong=("kept",)))


def _rungs(ladder: Ladder) -> list[tuple[str, ...]]:
    """A line of a table for each rung."""
    return [
        (
            rung.name,
            _share(rung.recall, rung.recall_interval),
            _share(rung.equal_error, rung.error_interval),
            "" if rung.accuracy is None else f"{rung.accuracy:.1%}",
            f"{rung.seconds:.0f}",
            "kept" if rung.name == ladder.kept else "",
        )
        for rung in ladder.rungs
    ]


def _share(value: float, interval: tuple[float, float] | None) -> str:
    around = "" if interval is None else f" ({interval[0]:.1%} to {interval[1]:.1%})"
    return f"{value:.1%}{around}"


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
