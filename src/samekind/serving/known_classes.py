"""The classes of a space that is being served: those of the saved space, changed as the enrolments say."""

import copy
import logging
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from samekind.data.words import composed, spelt_as
from samekind.errors import SpaceError
from samekind.prototypes.classes import example_counts
from samekind.questions.embedded import Embedded
from samekind.questions.enroll import Enrolled, enroll, remove_class
from samekind.serving.engine import Answer
from samekind.serving.enrolments import EnrolledClass, Enrolments
from samekind.serving.refusal import Refusal, class_taken
from samekind.space import MetricSpace
from samekind.taxonomy import Tree, grown

ELSEWHERE = (
    "the enrolled classes of this space are being written by another server, so they cannot be changed here; "
    "stop that one, or keep the gallery on PostgreSQL or Milvus, which several servers share"
)
#: The beginning of names that no class has.
AWAY = uuid.uuid4().hex
#: Seconds between two looks whether another process has changed something.
PATIENCE = 0.2

log = logging.getLogger("samekind.serving")


class KnownClasses:
    """The classes of a space, kept in step with its enrolments. For one thread."""

    def __init__(self, space: MetricSpace, enrolments: Enrolments) -> None:
        self._space, self._enrolments = space, enrolments
        self._saved = {name: copy.deepcopy(getattr(space, name)) for name in _CHANGED}
        self._trained = set(space.classes)
        self._looked = time.monotonic()
        self._apply()

    def refresh(self, *, now: bool = False) -> None:
        """Take over what another process has changed; looks at most a few times a second, or ``now``."""
        if not self._enrolments.shared or (not now and time.monotonic() - self._looked < PATIENCE):
            return
        self._looked = time.monotonic()
        if self._enrolments.refresh():
            self._apply()

    def enroll(self, name: str, items: Embedded, *, replace: bool, under: str | None) -> Enrolled:
        """Enrol a class, durably. Raises Refusal if it is there and is not to be replaced."""
        self.refresh(now=True)
        [name] = spelt_as([name], self._space.classes)
        if name in self._space.classes and not replace:
            raise class_taken(name)
        # First where it can be undone: what is refused here must not be kept.
        answer = enroll(self._space, name, items, replace=replace, under=under)
        try:
            with _writing():
                self._enrolments.enroll(name, items.z, replace=replace, under=answer.under)
        except BaseException:
            self._enrolments.refresh()
            self._apply()
            raise
        return answer

    def rename(self, name: str, to: str) -> None:
        """Call a class by another name, durably."""
        self.refresh(now=True)
        name = self._known(name)
        [to] = spelt_as([to], [other for other in self._space.classes if other != name])
        if to in self._space.classes and to != name:
            raise class_taken(to)
        if to == name:
            return
        with _writing():
            self._enrolments.rename(name, to, trained=self._saved_names().get(name))
        self._apply()

    def remove(self, name: str) -> Enrolled:
        """Forget a class, durably."""
        self.refresh(now=True)
        name = self._known(name)
        with _writing():
            self._enrolments.remove(name, trained=self._saved_names().get(name))
        answer = remove_class(self._space, name)
        self._apply()
        return answer

    def to_json(self) -> Answer:
        """Every class, with how many examples its prototype is the mean of, None for many."""
        self.refresh()
        enrolled = set(self._space.enrolled)
        rows: list[dict[str, Any]] = [
            {"name": name, "examples": count or None, "enrolled": name in enrolled}
            for name, count in zip(self._space.classes, example_counts(self._space.prototypes), strict=True)
        ]
        return {"classes": rows}

    def _saved_names(self) -> dict[str, str]:
        """The names of the trained classes in the saved space, by their names now."""
        moved = self._enrolments.changes.trained
        names = {old: moved.get(old, old) for old in self._trained}
        return {new: old for old, new in names.items() if new is not None}

    def _known(self, name: str) -> str:
        [name] = spelt_as([name], self._space.classes)
        if name not in self._space.classes:
            raise Refusal(404, f'there is no class "{name}"')
        return name

    def _apply(self) -> None:
        """Make the space as it was saved, and then every change."""
        space, changes = self._space, self._enrolments.changes
        for name, value in self._saved.items():
            setattr(space, name, copy.deepcopy(value))
        moved = {old: new for old, new in changes.trained.items() if old in self._trained}
        # By way of names that nobody has: two classes may have changed names with each other.
        for place, (old, new) in enumerate(moved.items()):
            if new is None:
                space.remove(old)
            else:
                space.rename(old, f"{AWAY}{place}")
        for place, new in enumerate(moved.values()):
            if new is not None:
                space.rename(f"{AWAY}{place}", new)
        # At once: one by one, all classes would be copied for each of thousands.
        enrolled = list(changes.enrolled.values())
        if space.tree is not None:
            space.tree = _with_enrolled(space.tree, enrolled)
        # Two servers may have spelt a name in two ways; the first name and the last examples count.
        names = {composed(one.name): one.name for one in reversed(enrolled)}
        examples = {names[composed(one.name)]: one.z.to(torch.float32) for one in enrolled}
        space.enroll_classes(examples, replace=True)


def _with_enrolled(tree: Tree, enrolled: Iterable[EnrolledClass]) -> Tree:
    """The tree with enrolled classes where they stand; without those whose node is no more."""
    nodes, under = set(tree.names), dict[str, str]()
    for one in enrolled:
        if one.name not in nodes and one.under in nodes:
            under[one.name] = one.under
            nodes.add(one.name)
    return grown(tree, under)


#: The parts of a space that classes are in.
_CHANGED = ("prototypes", "auxiliary", "tree", "enrolled")


@contextmanager
def _writing() -> Iterator[None]:
    """Say that another process has the enrolments, without the folder that the error names."""
    try:
        yield
    except SpaceError as error:
        log.warning("%s", error)
        raise Refusal(503, ELSEWHERE) from error
