"""The page about groups that were found: how many, how large, and what stands for each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from samekind.data import Stored
from samekind.inference import Groups, representatives
from samekind.reports.embedding_map import embedding_map
from samekind.reports.page import Section, page
from samekind.reports.plane import plane
from samekind.reports.style import BESIDE, BLUE, dress, new_figure
from samekind.reports.thumbnails import are_pictures, row, thumbnail
from samekind.storage import write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: A map of more items would look the same and take minutes: a random part of them is drawn instead.
MOST_ON_MAP = 2_000
#: How many items stand for a group; and groups that are shown, because a page has an end.
SHOWN, MOST_GROUPS = 10, 100


@dataclass(frozen=True, eq=False)
class Grouped:
    """Items, their embeddings, the groups found, and what is known beside.

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


def write_groups_page(path: str | Path, found: Grouped, *, title: str) -> None:
    """Write groups as one HTML file, whole or not at all; the same input gives the same file."""
    sections = [_groups_section(found), _number_section(found), _map_section(found)]
    write_text(Path(path), page(title, _lead(found), [each for each in sections if each is not None]))


def _lead(found: Grouped) -> str:
    groups, items = len(found.groups.centres), len(found.ids)
    told = ", ".join(f"{name} {value:.3f}" for name, value in found.agreement.items())
    known = sum(label is not None for label in found.labels)
    agreement = f" Agreement with the labels of {known:,}, where 1 is perfect: {told}." if told else ""
    return f"{items:,} items in {groups} group{'s' if groups != 1 else ''}, found without labels.{agreement}"


def _groups_section(found: Grouped) -> Section:
    shown = representatives(found.z, found.groups, count=SHOWN)
    blocks = "".join(_block(found, group, chosen) for group, chosen in enumerate(shown[:MOST_GROUPS]))
    left_out = len(shown) - MOST_GROUPS
    caption = "The items nearest to the centre of each group, nearest first; the largest group first." + (
        f" {left_out} smaller groups are not shown." if left_out > 0 else ""
    )
    return Section("The groups", caption, html=blocks)


def _block(found: Grouped, group: int, chosen: Tensor) -> str:
    members = found.members(group)
    counted = Counter(label for each in members if (label := found.labels[each]) is not None)
    labels = ", ".join(f"{name} ({count:,})" for name, count in counted.most_common(5))
    more = f" and {len(counted) - 5} other labels" if len(counted) > 5 else ""
    described = f": {labels}{more}" if labels else ""
    return (
        f'<div class="answer"><h3>Group {group + 1}</h3>'
        f"<p>{len(members):,} items{escape(described)}</p>{_shown(found, chosen)}</div>"
    )


def _shown(found: Grouped, chosen: Tensor) -> str:
    """The chosen items as pictures, or by their ids where they are none."""
    if not len(chosen):
        return ""
    if not are_pictures(tuple(found.inputs.shape[1:])):
        names = "".join(f"<li>{escape(found.ids[each])}</li>" for each in chosen.tolist())
        return f'<ul style="margin:0;padding-left:20px">{names}</ul>'
    pictures = found.inputs[chosen]
    return row(
        [
            thumbnail(picture, words=found.labels[each] or "", title=found.ids[each])
            for each, picture in zip(chosen.tolist(), pictures, strict=True)
        ]
    )


def _number_section(found: Grouped) -> Section | None:
    """Why there are as many groups; left out where the number was given."""
    if len(found.quality) < 2:
        return None
    caption = (
        "The mean silhouette of each number of groups that was tried: 1 where every item lies in the middle "
        "of its group and far from the next, 0 where it might as well be in the next. The highest was taken."
    )
    return Section("How many groups", caption, _quality_figure(found.quality, len(found.groups.centres)))


def _quality_figure(quality: Mapping[int, float], taken: int) -> "Figure":
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(BESIDE, 3.0)
    axes = figure.subplots()
    numbers = sorted(quality)
    axes.plot(numbers, [quality[each] for each in numbers], "o-", color=BLUE, markersize=4, linewidth=1.2)
    if taken in quality:
        axes.plot([taken], [quality[taken]], "o", color=BLUE, markersize=11, fillstyle="none")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    dress(axes, x="groups", y="mean silhouette")
    return figure


def _map_section(found: Grouped) -> Section | None:
    count = len(found.ids)
    if count < 3:
        return None
    drawn = torch.arange(count)
    if count > MOST_ON_MAP:
        order = torch.randperm(count, generator=torch.Generator().manual_seed(0))
        drawn = order[:MOST_ON_MAP].sort().values
    names = [f"{group + 1}" for group in range(len(found.groups.centres))]
    note = f" Shown are {len(drawn):,} items drawn at random from {count:,}." if len(drawn) < count else ""
    caption = (
        "Every item where the space places it, brought to two dimensions by t-SNE, with the number of its "
        f"group: what lies together is alike, but distances between groups mean little.{note}"
    )
    drawing = embedding_map(plane(found.z[drawn], 0), found.groups.assigned[drawn], names)
    return Section("Map of the items", caption, drawing)
