"""Which tree do the classes make, and how far does it agree with a known one?"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args

import torch

from samekind.data import Items
from samekind.data.class_tree import expect_classes
from samekind.decisions import Kind
from samekind.errors import DataError, SettingError
from samekind.inference import asking, device_of, embed
from samekind.inference.known_classes import class_names, knows, labels_in
from samekind.inference.relations import class_distances
from samekind.measures import confusion, mean_correlation
from samekind.questions.reading import known_kind
from samekind.reports import tree_picture, write_figure
from samekind.reports.figure_file import METADATA as PICTURES
from samekind.space import MetricSpace
from samekind.taxonomy import (
    Method,
    Splits,
    Tree,
    confusion_distances,
    infer_tree,
    robinson_foulds,
    write_tree,
)
from samekind.taxonomy.newick import newick_text

#: The ways to infer a tree.
METHODS: tuple[Method, ...] = get_args(Method)
#: How often the names of the classes are shuffled, to see what chance gives.
SHUFFLES = 20


class Agreement(NamedTuple):
    """How far an inferred tree agrees with a known one: their splits, the mean rank correlation of the
    distances of each class to the others in both (None where one has no two different distances), and both
    for shuffled names.
    """

    splits: Splits
    correlation: float | None
    splits_by_chance: float
    correlation_by_chance: float | None


@dataclass(frozen=True)
class Inferred:
    """The tree of the classes of a space. ``mistakes`` is the share of each class's items that was named
    wrongly, if there were items.
    """

    kind: Kind
    method: Method
    tree: Tree
    agreement: Agreement | None
    mistakes: dict[str, float]

    @property
    def newick(self) -> str:
        """The tree as Newick writes it."""
        return newick_text(self.tree).strip()

    def to_json(self) -> dict[str, Any]:
        agreement = None
        if self.agreement is not None:
            splits = self.agreement.splits
            agreement = {
                "robinson_foulds": splits.distance,
                "normalised_robinson_foulds": splits.normalised,
                "splits_in_both": splits.both,
                "mean_correlation": self.agreement.correlation,
                "by_chance": {
                    "normalised_robinson_foulds": self.agreement.splits_by_chance,
                    "mean_correlation": self.agreement.correlation_by_chance,
                },
            }
        return {
            "kind": self.kind,
            "method": self.method,
            "newick": self.newick,
            "agreement": agreement,
            "mistakes": self.mistakes,
        }


def tree(
    space: MetricSpace,
    *,
    kind: str | None = None,
    method: Method = "neighbour-joining",
    known: Tree | None = None,
    items: Items | None = None,
    by_confusions: bool = False,
) -> Inferred:
    """The tree that a method makes of the distances between the classes, by a kind of score or the space's
    choice; and how far it agrees with a known tree, without one with that of the space.

    With ``items`` of the classes, the mistakes about each are counted; ``by_confusions`` takes the distances
    from which classes are mistaken for which, instead of the prototypes. Raises DataError for items of other
    classes, or a known tree without a class.
    """
    score = known_kind(space, kind, "classes")
    classes = list(space.classes)
    counts = None if items is None else _confusion(space, items)
    if by_confusions and counts is None:
        raise DataError("a tree by confusions counts mistakes about labelled items; give some (--data)")
    distances = class_distances(space, kind=score)
    if by_confusions and counts is not None:
        distances = confusion_distances(counts)
    inferred = infer_tree(distances, classes, method=method)
    known = known or space.tree
    if known is not None:
        expect_classes(known, classes)
    agreement = None if known is None else _agreement(inferred, known, classes)
    return Inferred(score, method, inferred, agreement, _mistakes(counts, classes))


def write_inferred(path: Path, answer: Inferred, *, radial: bool = False) -> None:
    """Write the tree, or its picture if the ending is one of a picture."""
    if path.suffix.lower().removeprefix(".") not in PICTURES:
        write_tree(answer.tree, path)
        return
    try:
        figure = tree_picture(
            answer.tree, shape="radial" if radial else "dendrogram", mistakes=answer.mistakes
        )
    except ValueError as error:
        raise SettingError(f"{path.name}: {error}") from None
    write_figure(lambda: figure, path)


def _confusion(space: MetricSpace, items: Items) -> torch.Tensor:
    """How often items of each class of the space were taken for each other one."""
    if not knows(space, items):
        others = sorted(class_names(items) - set(space.classes))
        raise DataError(
            f"{items.name}: expected items of classes that the space knows; it does not know "
            f"{', '.join(others[:5])}: leave these items out, or enrol their classes (samekind enroll)"
        )
    with asking(space):
        answers = space.classify(embed(space, items.inputs).to(device_of(space))).classes
    places = {name: place for place, name in enumerate(space.classes)}
    answered = torch.tensor([places[name] for name in answers])
    return confusion(answered, labels_in(space, items), classes=len(places))


def _mistakes(counts: torch.Tensor | None, classes: list[str]) -> dict[str, float]:
    if counts is None:
        return {}
    totals, right = counts.sum(1).tolist(), counts.diagonal().tolist()
    return {name: 1 - hits / total for name, total, hits in zip(classes, totals, right, strict=True) if total}


def _agreement(inferred: Tree, known: Tree, classes: list[str]) -> Agreement:
    generator = torch.Generator().manual_seed(0)
    ours, theirs = inferred.distances(classes), known.distances(classes)
    shares, correlations = [], []
    for _ in range(SHUFFLES):
        order = torch.randperm(len(classes), generator=generator)
        shuffled = [classes[place] for place in order]
        shares.append(robinson_foulds(inferred, known, classes, called=shuffled).normalised)
        correlations.append(_correlation(ours, theirs[order][:, order]))
    defined = [value for value in correlations if value is not None]
    return Agreement(
        robinson_foulds(inferred, known, classes),
        _correlation(ours, theirs),
        sum(shares) / SHUFFLES,
        sum(defined) / len(defined) if defined else None,
    )


def _correlation(ours: torch.Tensor, theirs: torch.Tensor) -> float | None:
    try:
        return mean_correlation(ours, theirs, include_diagonal=False)
    except ValueError:  # no class has different distances to the others
        return None
