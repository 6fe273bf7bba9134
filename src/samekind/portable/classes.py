"""The known classes of an exported space, as a value: every change gives a new one."""

from dataclasses import dataclass, replace

import numpy as np

from samekind.errors import SettingError, SpaceError, nearest
from samekind.plain_files import Array
from samekind.portable.discriminant import Discriminant
from samekind.spelling import spelt_as


@dataclass(frozen=True)
class KnownClasses:
    """Names, vectors (classes, k, d), how many examples each was made from (0: many), which of them were
    enrolled, the last one last, and what tells those apart that were trained on.
    """

    names: tuple[str, ...]
    vectors: Array
    counts: tuple[int, ...]
    enrolled: tuple[str, ...]
    discriminant: Discriminant | None = None

    def spelt(self, name: str) -> str:
        """A name as it is spelt here, however its accents are stored; an unknown one as it is."""
        [name] = spelt_as([name], self.names)
        return name

    def known(self, name: str) -> str:
        """A known name as it is spelt here. Raises SpaceError for another."""
        name = self.spelt(name)
        if name not in self.names:
            raise SpaceError(f'there is no class "{name}"; {nearest(name, self.names)}')
        return name

    def new(self, name: str) -> str:
        """A name that a class may be given. Raises an error for an empty one, and for a known one."""
        if not name.strip():
            raise SettingError("a class needs a name; got an empty one")
        name = self.spelt(name)
        if name in self.names:
            raise SpaceError(
                f'the class "{name}" is already there; ask to replace it, or choose another name'
            )
        return name

    def with_class(self, name: str, mean: Array, examples: int) -> "KnownClasses":
        """With a class that is the mean (d,) of so many examples: in place of a known one, or the last."""
        vector = np.broadcast_to(mean.astype(np.float32), self.vectors.shape[1:])
        names, vectors, counts = list(self.names), self.vectors, list(self.counts)
        if name in names:
            place = names.index(name)
            vectors = vectors.copy()
            vectors[place], counts[place] = vector, examples
        else:
            names.append(name)
            counts.append(examples)
            vectors = np.concatenate([vectors, vector[None]])
        enrolled = (*(other for other in self.enrolled if other != name), name)
        return KnownClasses(tuple(names), vectors, tuple(counts), enrolled, self._told_without(name))

    def renamed(self, old: str, new: str) -> "KnownClasses":
        """With another name for a known class."""
        return replace(
            self,
            names=tuple(new if name == old else name for name in self.names),
            enrolled=tuple(new if name == old else name for name in self.enrolled),
            discriminant=self.discriminant and self.discriminant.renamed(old, new),
        )

    def without(self, name: str) -> "KnownClasses":
        """Without a known class."""
        rows = [row for row, known in enumerate(self.names) if known != name]
        return KnownClasses(
            tuple(self.names[row] for row in rows),
            self.vectors[rows],
            tuple(self.counts[row] for row in rows),
            tuple(other for other in self.enrolled if other != name),
            self._told_without(name),
        )

    def _told_without(self, name: str) -> Discriminant | None:
        return self.discriminant and self.discriminant.without(name)
