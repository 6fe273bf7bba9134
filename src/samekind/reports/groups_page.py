"""The page about clusters: how many, how large, and typical items of each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from torch import Tensor

from samekind.data import Stored, medium_of
from samekind.data.drawing import at_most
from samekind.data.words import counted
from samekind.inference.cluster import Groups
from samekind.inference.representatives import representatives
from samekind.reports.embedding_map import embedding_map, not_named
from samekind.reports.names import shortened
from samekind.reports.page import Section, page
from samekind.reports.panels import Figure, dress, new_figure
from samekind.reports.plane import plane
from samekind.reports.style import BESIDE, BLUE
from samekind.reports.thumbnails import row, thumbnail
from samekind.storage import write_text

#: Items on a map at most, drawn at random: more would look the same and take minutes.
MOST_ON_MAP = 2_000
#: Items shown of a group, and groups shown on a page.
SHOWN, MOST_GROUPS = 10, 100
#: Characters that fit below a picture.
LONGEST_NAME = 10


@dataclass(frozen=True, eq=False)
class Grouped:
    """Items, their embeddings, their groups, and what else is known.

    ``quality`` is a value for each number of groups that was tried, ``agreement`` measures of how groups and
    labels agree; both may be empty.
    """

    inputs: Tensor | Stored  # (n, …)
    z: Tensor  # (n, d)
    ids: Sequence[str]
    labels: Sequence[str | None]
    groups: Groups
    quality: Mapping[int, float] = field(default_factory=dict)
    agreement: Mapping[str, float] = field(default_factory=dict)

    def members(self, group: int) -> list[int]:
        """The items of a group, in their order."""
        return (self.groups.assigned == group).nonzero().flatten().tolist()


def write_groups_page(path: str | Path, grouped: Grouped, *, title: str) -> None:
    """Write groups as one HTML file, whole or not at all; the same input gives the same file."""
    sections = [_groups_section(grouped), _number_section(grouped), _map_section(grouped)]
    write_text(
        Path(path), page(title, _lead(grouped), [section for section in sections if section is not None])
    )


def _lead(grouped: Grouped) -> str:
    groups = counted(len(grouped.groups.centres), "group", "groups")
    items = counted(len(grouped.ids), "item", "items")
    agreement = ", ".join(f"{name} {value:.3f}" for name, value in grouped.agreement.items())
    known = sum(label is not None for label in grouped.labels)
    agreement = (
        f" Agreement with the labels of {known:,}, where 1 is perfect: {agreement}." if agreement else ""
    )
    return f"{items} in {groups}, found without labels.{agreement}"


def _groups_section(grouped: Grouped) -> Section:
    shown = representatives(grouped.z, grouped.groups, count=SHOWN)
    labels = {grouped.labels[place] or "" for chosen in shown[:MOST_GROUPS] for place in chosen.tolist()}
    short = dict(zip(sorted(labels), shortened(sorted(labels), LONGEST_NAME), strict=True))
    blocks = "".join(
        _block(grouped, group, chosen, short) for group, chosen in enumerate(shown[:MOST_GROUPS])
    )
    left_out = len(shown) - MOST_GROUPS
    caption = "The items nearest to the centre of each group, nearest first; the largest group first." + (
        f" {counted(left_out, 'smaller group is', 'smaller groups are')} not shown." if left_out > 0 else ""
    )
    return Section("The groups", caption, html=blocks)


def _block(grouped: Grouped, group: int, chosen: Tensor, short: Mapping[str, str]) -> str:
    members = grouped.members(group)
    labels = Counter(label for place in members if (label := grouped.labels[place]) is not None)
    commonest = ", ".join(f"{name} ({count:,})" for name, count in labels.most_common(5))
    more = f" and {counted(len(labels) - 5, 'other label', 'other labels')}" if len(labels) > 5 else ""
    described = counted(len(members), "item", "items") + (f": {commonest}{more}" if labels else "")
    return (
        f'<div class="answer"><h3>Group {group + 1}</h3>'
        f"<p>{escape(described)}</p>{_shown(grouped, chosen, short)}</div>"
    )


def _shown(grouped: Grouped, chosen: Tensor, short: Mapping[str, str]) -> str:
    """The chosen items as pictures with their shortened labels, or by their ids if they are not pictures."""
    if not len(chosen):
        return ""
    if not medium_of(shape := grouped.inputs.shape[1:]).shows(shape):
        names = "".join(f"<li>{escape(grouped.ids[place])}</li>" for place in chosen.tolist())
        return f'<ul style="margin:0;padding-left:20px">{names}</ul>'
    pictures = []
    for place, picture in zip(chosen.tolist(), grouped.inputs[chosen], strict=True):
        label = grouped.labels[place] or ""
        # The tooltip has the whole label.
        whole = f": {label}" if short[label] != label else ""
        pictures.append(thumbnail(picture, words=short[label], title=grouped.ids[place] + whole))
    return row(pictures)


def _number_section(grouped: Grouped) -> Section | None:
    """Why there are as many groups; None if the number was given."""
    if len(grouped.quality) < 2:
        return None
    caption = (
        "The mean silhouette of each number of groups that was tried: 1 where every item lies in the middle "
        "of its group and far from the next, 0 where it might as well be in the next. The highest was taken."
    )
    return Section("How many groups", caption, _quality_figure(grouped.quality, len(grouped.groups.centres)))


def _quality_figure(quality: Mapping[int, float], taken: int) -> Figure:
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(BESIDE, 3.0)
    axes = figure.subplots()
    numbers = sorted(quality)
    axes.plot(numbers, [quality[number] for number in numbers], "o-", color=BLUE, markersize=4, linewidth=1.2)
    if taken in quality:
        axes.plot([taken], [quality[taken]], "o", color=BLUE, markersize=11, fillstyle="none")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    dress(axes, x="groups", y="mean silhouette")
    return figure


def _map_section(grouped: Grouped) -> Section | None:
    count = len(grouped.ids)
    if count < 3:
        return None
    drawn = at_most(count, MOST_ON_MAP)
    names = [f"{group + 1}" for group in range(len(grouped.groups.centres))]
    note = f" Shown are {len(drawn):,} items drawn at random from {count:,}." if len(drawn) < count else ""
    assigned = grouped.groups.assigned[drawn]
    drawing = embedding_map(plane(grouped.z[drawn], 0), assigned, names)
    caption = (
        "Every item where the space places it, brought to two dimensions by t-SNE, with the number of its "
        "group: what lies together is alike, but distances between groups mean little."
        f"{not_named(drawing, assigned, words='groups')}{note}"
    )
    return Section("Map of the items", caption, drawing)
