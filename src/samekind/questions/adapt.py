"""Scores brought to another domain, such as other rooms, microphones or cameras, without training."""

from dataclasses import dataclass
from typing import Any

import torch

from samekind.data import Collection, Items
from samekind.data.groups import groups_apart
from samekind.decisions import Kind
from samekind.inference.adapting import Measured, adapted_kinds, expect_two_covariance, measure_adapting
from samekind.inference.adapting import adapt as adapt_space
from samekind.questions.progress import Progress, silent
from samekind.questions.reading import embedded
from samekind.space import MetricSpace

NOT_MEASURED = (
    "the gain was not measured: that takes four classes or more, two items in some of each half, and pairs "
    "of two groups where items have groups"
)
NO_GAIN = (
    "on classes that were not adapted to, the error of {kinds} did not fall; the space as it was may serve "
    "better"
)
WITHOUT_LABELS = (
    "without labels nothing tells whether the scores became better; evaluate them on labelled items"
)


@dataclass(frozen=True)
class Adapted:
    """The result of an adaptation: the ``kinds`` of score that changed, to so many ``items`` of so many
    ``classes``, None if their labels were not used. ``dropped`` names the thresholds that were for the old
    scores. ``measured`` is the gain on half of the classes, adapted to the other half; None without labels,
    or with too few items.
    """

    kinds: tuple[Kind, ...]
    items: int
    classes: int | None
    dropped: tuple[str, ...]
    measured: Measured | None

    @property
    def worse(self) -> tuple[Kind, ...]:
        """The kinds of score whose error did not fall where it was measured."""
        if self.measured is None:
            return ()
        before, after = self.measured.before, self.measured.after
        return tuple(kind for kind in self.kinds if after[kind] >= before[kind])

    @property
    def warnings(self) -> tuple[str, ...]:
        if self.classes is None:
            return (WITHOUT_LABELS,)
        if self.measured is None:
            return (NOT_MEASURED,)
        return (NO_GAIN.format(kinds=" and ".join(self.worse)),) if self.worse else ()

    def to_json(self) -> dict[str, Any]:
        return {
            "kinds": self.kinds,
            "items": self.items,
            "classes": self.classes,
            "dropped": self.dropped,
            "measured": None if self.measured is None else self.measured._asdict(),
            "warning": "; ".join(self.warnings) or None,
        }


def adapt(
    space: MetricSpace, items: Items | Collection, *, seed: int = 0, progress: Progress = silent
) -> tuple[MetricSpace, Adapted]:
    """A space whose fitted and normalised scores are adapted to items of another domain, and what was done.

    Labelled items (`Items`) are used with their labels: half of their classes, which ``seed`` draws, first
    show what adapting to the other half gains; then all are adapted to. A `Collection` is used without. The
    given space stays as it is. Raises SpaceError for a space whose fitted similarity is not PLDA.
    """
    measured, labels = None, None
    z = embedded(space, items.inputs, title="adapt", progress=progress)
    if isinstance(items, Items):
        labels = items.labels
        measured = measure_adapting(space, z, labels, groups=groups_apart(items).groups, seed=seed)
    other = adapt_space(space, z, labels, seed=seed)
    dropped = [kind for kind in space.decisions if kind not in other.decisions]
    dropped += ["none of these"] if space.open_set is not None and other.open_set is None else []
    return other, Adapted(
        kinds=tuple(adapted_kinds(space)),
        items=len(z),
        classes=None if labels is None else len(torch.unique(labels)),
        dropped=tuple(dropped),
        measured=measured,
    )


def expect_adaptable(space: MetricSpace) -> None:
    """Raises SpaceError for a space whose fitted similarity is not PLDA: no other can be adapted."""
    expect_two_covariance(space)
