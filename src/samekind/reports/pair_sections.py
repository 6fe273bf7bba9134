"""The sections of a report about pairs: their scores, and the errors at every threshold."""

from collections.abc import Mapping

from samekind.measures import error_rates
from samekind.reports.error_tradeoff import error_tradeoff
from samekind.reports.measured import Measured, System, pairs_notes
from samekind.reports.page import Section
from samekind.reports.score_histogram import score_histogram


def scores_section(systems: Mapping[str, System], sets: Mapping[str, Measured]) -> Section | None:
    """Histograms of the first system's own similarity, for the sets that have pairs."""
    name, system = next(iter(systems.items()))
    decision = system.space.decisions.get("similarity")
    figures = {
        f"{words.capitalize()} items": score_histogram(measured.trials[name]["similarity"], decision)
        for words, measured in sets.items()
        if len(measured.items) > 1
    }
    about = (
        f"darker is what falls on the wrong side of its threshold (fitted on {decision.trials})."
        if decision is not None
        else "no threshold has been fitted yet."
    )
    caption = f'How alike the space "{name}" finds the two items of every pair; {about}{pairs_notes(sets)}'
    return Section("Scores of same and different pairs", caption, figures) if figures else None


def tradeoff_section(systems: Mapping[str, System], sets: Mapping[str, Measured]) -> Section | None:
    """The curves of every system and kind of score, for the sets that have pairs of both kinds."""
    figures = {}
    for words, measured in sets.items():
        curves = {
            f"{name} · {kind}" if len(systems) > 1 else kind: error_rates(trials.scores, trials.same)
            for name, kinds in measured.trials.items()
            for kind, trials in kinds.items()
            if trials.same.any() and not trials.same.all()
        }
        if curves:
            figures[f"{words.capitalize()} items"] = error_tradeoff(curves)
    caption = (
        "Moving the threshold trades one error for the other; the nearer to the lower left the better. The "
        "dots are where both errors are equal. Of few pairs a line is a stair, and its equal error rate "
        "(EER), the mean of both errors at the nearest step, may lie a little beside the dot."
        f"{pairs_notes(sets)}"
    )
    return Section("Error trade-off", caption, figures) if figures else None
