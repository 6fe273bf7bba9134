"""A new class from a few examples, and a class removed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from samekind.data import Collection
from samekind.data.words import spelt_as
from samekind.decisions import stale_threshold
from samekind.errors import DataError, SettingError, SpaceError
from samekind.questions.embedded import Embedded, vectors_of
from samekind.questions.progress import Progress, silent
from samekind.questions.reading import embedded
from samekind.questions.unheard import about_unheard, unheard_in
from samekind.space import MetricSpace

LABELS_NAMED = 5
SEVERAL = 'its examples carry several labels ({labels}), and all of them are now the class "{name}"'


@dataclass(frozen=True)
class Enrolled:
    """What was ``done`` to a class (added, replaced or removed), and the classes of the space now.

    ``stale`` is the warning that the threshold for none of these is to be fitted again, None without one.
    ``under`` is the node that the class stands under in the tree, if there is one. ``unheard`` are the
    examples with nothing in them to know them by.
    """

    name: str
    done: str
    examples: int
    classes: tuple[str, ...]
    several: str | None
    stale: str | None
    under: str | None = None
    unheard: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.several, about_unheard(self.unheard), self.stale)))

    def to_json(self) -> dict[str, Any]:
        return {
            "class": self.name,
            "done": self.done,
            "examples": self.examples,
            "classes": self.classes,
            **({} if self.under is None else {"under": self.under}),
            "warning": "; ".join(self.warnings) or None,
        }


def spelt_name(space: MetricSpace, name: str, *, replace: bool = False) -> str:
    """The name of a class to enrol, as the space spells it; a known one only if it is to be replaced."""
    return spelt_names(space, [name], replace=replace)[0]


def spelt_names(space: MetricSpace, names: Sequence[str], *, replace: bool) -> list[str]:
    """The same for many classes."""
    if not all(name.strip() for name in names):
        raise SettingError("a class needs a name; got an empty one")
    names, known = spelt_as(names, space.classes), set(space.classes)
    again = [name for name in names if name in known]
    if again and not replace:
        raise SpaceError(
            f'the class "{again[0]}" is already there; ask to replace it (--replace), or choose another name'
        )
    return names


def enroll(
    space: MetricSpace,
    name: str,
    items: Collection | Embedded,
    *,
    replace: bool = False,
    under: str | None = None,
    progress: Progress = silent,
) -> Enrolled:
    """Add a class to the space from examples; nothing is trained and no other class changes.

    If the space has a tree, the class stands ``under`` that node, or under the one above the classes most
    like it.
    """
    name = spelt_name(space, name, replace=replace)
    done = "replaced" if name in space.classes else "added"
    if under is not None and space.tree is not None:
        space.tree.place(under)  # an unknown node is refused before the items are embedded
    z = vectors_of(space, items, title="enrol", progress=progress)
    space.enroll(name, z, replace=replace, under=under)
    above = space.tree.parent(name) if space.tree is not None else None
    several, stale = _several_labels(name, items.labels), _stale(space, name, done)
    known, nothing = tuple(space.classes), unheard_in(space, items)
    return Enrolled(name, done, len(items.ids), known, several, stale, above, nothing)


@dataclass(frozen=True)
class EnrolledClasses:
    """Classes that were enrolled at once, with how many examples each was made from; ``replaced`` are those
    that were known before. ``classes`` is how many the space knows now, ``stale`` and
    ``unheard`` are as in `Enrolled`.
    """

    examples: Mapping[str, int]
    replaced: tuple[str, ...]
    classes: int
    stale: str | None
    unheard: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(filter(None, (about_unheard(self.unheard), self.stale)))

    def to_json(self) -> dict[str, Any]:
        return {
            "examples": dict(self.examples),
            "replaced": self.replaced,
            "classes": self.classes,
            "warning": "; ".join(self.warnings) or None,
        }


def enroll_classes(
    space: MetricSpace, items: Collection, *, replace: bool = False, progress: Progress = silent
) -> EnrolledClasses:
    """Add every class of labelled items, all or none. Raises DataError for an item without a label."""
    without = [id for id, label in zip(items.ids, items.labels, strict=True) if label is None]
    if without:
        raise DataError(
            f"to enrol classes, every item needs a label: {without[0]} has none; give a folder with a folder "
            "for each class, or a table with a column of labels"
        )
    rows: dict[str, list[int]] = {}
    for row, label in enumerate(items.labels):
        rows.setdefault(str(label), []).append(row)
    spelt, known = spelt_names(space, list(rows), replace=replace), set(space.classes)
    z = embedded(space, items.inputs, title="enrol", progress=progress)
    replaced = tuple(name for name in spelt if name in known)
    space.enroll_classes({name: z[places] for name, places in rows.items()}, replace=replace)
    done = "replaced" if len(replaced) == len(spelt) else "added"
    counts = {name: len(places) for name, places in zip(spelt, rows.values(), strict=True)}
    stale, nothing = _stale(space, spelt[0], done, classes=len(spelt)), unheard_in(space, items)
    return EnrolledClasses(counts, replaced, len(space.classes), stale, nothing)


def remove_class(space: MetricSpace, name: str) -> Enrolled:
    """Remove a class from the space."""
    [name] = spelt_as([name], space.classes)
    space.remove(name)
    return Enrolled(name, "removed", 0, tuple(space.classes), None, _stale(space, name, "removed"))


def _several_labels(name: str, labels: Sequence[str | None]) -> str | None:
    """A warning if the examples have more than one label."""
    counts = Counter(label for label in labels if label is not None).most_common()
    if len(counts) < 2:
        return None
    named = [f"{label} {count:,}" for label, count in counts[:LABELS_NAMED]]
    named += [f"{len(counts) - LABELS_NAMED} more"] if len(counts) > LABELS_NAMED else []
    return SEVERAL.format(labels=", ".join(named), name=name)


def _stale(space: MetricSpace, name: str, done: str, *, classes: int = 1) -> str | None:
    """A warning if there is a threshold for none of these."""
    return None if space.open_set is None else stale_threshold(space.open_set, name, done, classes=classes)
