"""The page about robustness: curves over epsilon, attacked pictures, and whether the attacks were sound."""

from collections.abc import Sequence
from html import escape
from math import inf
from pathlib import Path

from torch import Tensor

from samekind.data import medium_of
from samekind.evaluation.robustness_curve import IN_CELLS, Curve, Robustness, Samples
from samekind.evaluation.rows import Row
from samekind.measures.robustness import written_epsilon
from samekind.reports.page import Section, lines_table, page, table
from samekind.reports.panels import Figure
from samekind.reports.robustness_curves import Line, robustness_curves
from samekind.reports.thumbnails import row, thumbnail
from samekind.storage import write_text


def write_robustness_page(path: str | Path, robustness: Robustness, *, title: str) -> None:
    """Write the page as one HTML file, whole or not at all."""
    sections = [
        _short_section(robustness),
        _curves_section(robustness),
        _pictures_section(robustness),
        _soundness_section(robustness),
        _numbers_section(robustness),
    ]
    write_text(Path(path), page(title, _lead(robustness), [part for part in sections if part is not None]))


def _lead(robustness: Robustness) -> str:
    strength = robustness.strength
    attacks = f"{strength.steps} steps" + (f", {strength.restarts} restarts" if strength.restarts > 1 else "")
    failed = sum(not curve.soundness.is_sound for curve in robustness.curves)
    checks = (
        f"{failed} of {len(robustness.curves)} curves failed a check of their attack and do not measure "
        "robustness."
        if failed
        else "All attacks passed their checks."
    )
    notes = "".join(f" {note[:1].upper()}{note[1:]}." for note in robustness.notes)
    return (
        f"What remains right when an attacker, who knows the space, changes each of {robustness.items:,} "
        f"items ({robustness.norm}, {attacks}). Epsilon is {robustness.unit}.{notes} {checks}"
    )


def _short_section(robustness: Robustness) -> Section:
    body = "".join(_short_line(curve, row) for curve in robustness.curves for row in curve.short_rows)
    caption = (
        "Each question without an attack and at one epsilon, with the 95 % interval. A better attack may do "
        "more harm: shares that remain right are upper bounds, errors lower ones. Global robustness has no "
        "epsilon: the Voronoi cells alone limit the attack."
    )
    html = lines_table(("without attack", "under attack", ""), body)
    return Section("In short", caption, html=html)


def _short_line(curve: Curve, row: Row) -> str:
    cells = (row.measure, curve.rows[0].text, row.text)
    note = f"<b>{escape(row.note)}</b>" if row.note else "checks passed"
    return (
        f'<tr><th scope="row">{escape(_name(curve))}</th>'
        f"{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}<td>{note}</td></tr>"
    )


def _name(curve: Curve) -> str:
    where = " in Voronoi cells" if curve.measure == IN_CELLS else ""
    return f"{curve.question}, {curve.kind}{where}"


def _curves_section(robustness: Robustness) -> Section:
    figures: dict[str, Figure] = {}
    for measure in dict.fromkeys(curve.measure for curve in robustness.curves):
        lines = {
            curve.kind if curve.soundness.is_sound else f"{curve.kind}: not a measure of robustness": _line(
                curve
            )
            for curve in robustness.curves
            if curve.measure == measure
        }
        if (values := _of_reference(robustness, measure)) is not None:
            epsilons = (0.0, *robustness.strength.epsilons)
            lines["nearest raw input, for sure"] = Line(epsilons, values, values, values)
        title = f"{measure[:1].upper()}{measure[1:]}"
        figures[title] = robustness_curves(lines, x=f"epsilon, {robustness.unit}", y="%")
    caption = (
        "The bands are 95 % intervals: over items, those of the EER over classes. What a smaller epsilon or "
        "a shorter run broke counts as broken. A Voronoi cell holds what is nearer to the item than to any "
        "other item. The nearest raw input is the reference without training: in balls each item is judged "
        "by the others, and the line is what is right for sure, whatever the attack; in its cell an item is "
        "nearest to itself."
    )
    return Section("Over epsilon", caption, figures)


def _line(curve: Curve) -> Line:
    """The points with a finite epsilon."""
    points = [
        (epsilon, at.value, at.value if at.low is None else at.low, at.value if at.high is None else at.high)
        for epsilon, at in zip(curve.epsilons, curve.rows, strict=True)
        if epsilon < inf
    ]
    return Line(*zip(*points, strict=True))


def _of_reference(robustness: Robustness, measure: str) -> Sequence[float] | None:
    """The share that the nearest raw input names rightly, without an attack and at each epsilon, if known."""
    if measure == IN_CELLS:
        return [1.0] * len(robustness.guaranteed)
    return robustness.guaranteed if measure in ("adversarial accuracy", "adversarial Recall@1") else None


#: Cells that begin so are bold.
STRONG = ("FAILED", "not a measure")
#: What the picture of a change shows.
GREY = "A change of 0 is grey; the largest one is black or white, so that small changes are visible."


def _pictures_section(robustness: Robustness) -> Section | None:
    samples = robustness.samples
    if samples is None:
        return None
    medium = medium_of(shape := samples.clean.shape[1:])
    if not medium.shows(shape):
        return None
    blocks = "".join(_sample(samples, place) for place in range(len(samples.clean)))
    epsilon, meaning = written_epsilon(samples.epsilon), medium.legend or GREY
    caption = f"Items attacked at epsilon {epsilon}: the item, the change, the attacked item. {meaning}"
    html = f'<div style="display:flex;flex-wrap:wrap;gap:20px 36px">{blocks}</div>'
    return Section(f"Attacked {medium.name}", caption, html=html)


def _sample(samples: Samples, place: int) -> str:
    clean, attacked = samples.clean[place], samples.attacked[place]
    before, after = samples.before[place], samples.after[place]
    truth = f"of class {samples.truth[place]}"
    return row(
        [
            thumbnail(clean, words=before, title=f"{truth}, named {before}"),
            thumbnail(visible_change(clean, attacked), words="change", title="the change, enlarged"),
            thumbnail(attacked, words=after, title=f"{truth}, named {after} after the attack"),
        ]
    )


def visible_change(clean: Tensor, attacked: Tensor) -> Tensor:
    """The change of an item as a picture in [0, 1]: 0 is grey, the largest change black or white. Where
    values go below 0, as those of sounds do, a change is an item itself.
    """
    change = (attacked - clean).detach().cpu().float()
    valid = medium_of(change.shape).attacked(change.shape)
    if valid is not None and valid.range is not None and valid.range.low < 0:
        return change
    largest = float(change.abs().max())
    return change / (2 * largest) + 0.5 if largest > 0 else change + 0.5


def _soundness_section(robustness: Robustness) -> Section:
    lines = [
        ["" if place else _name(curve), check.name, "passed" if check.passed else "FAILED", check.sentence]
        for curve in robustness.curves
        for place, check in enumerate(curve.soundness.checks)
    ]
    caption = (
        "An attack that gives up early makes any space look robust. With a sound attack neither more steps "
        "nor a larger epsilon help the defender, examples made for another model or drawn at random break no "
        "more, and an attack without a limit breaks nearly everything. A check fails if that is violated by "
        "more than its 95 % interval; the curve then is not a measure of robustness."
    )
    html = table(("", "check", "", "items that are right"), lines, strong=STRONG)
    return Section("Were the attacks sound?", caption, html=html)


def _numbers_section(robustness: Robustness) -> Section:
    lines = [
        [
            "" if place else _name(curve),
            written_epsilon(epsilon) if epsilon < inf else "no limit",
            at.text,
            at.note,
        ]
        for curve in robustness.curves
        for place, (epsilon, at) in enumerate(zip(curve.epsilons, curve.rows, strict=True))
    ]
    caption = "Every point of the curves, with its 95 % interval."
    html = table(("", "epsilon", "value", ""), lines, strong=STRONG)
    return Section("All numbers", caption, html=html, folded=True)
