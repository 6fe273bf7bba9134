"""Who is heard when? Long files, cut into windows."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from samekind.data.files import File
from samekind.data.media.medium import Window
from samekind.data.stored import unreadable_files
from samekind.decisions import Kind
from samekind.errors import DataError, SettingError
from samekind.inference import embed
from samekind.inference import identify as named_classes
from samekind.questions.identify import NO_THRESHOLD
from samekind.questions.progress import Progress, silent
from samekind.questions.reading import known_kind
from samekind.questions.unheard import about_unheard
from samekind.space import MetricSpace

#: Windows that are read and embedded together.
AT_ONCE = 64


class Stretch(NamedTuple):
    """Neighbouring windows of a file with the same answer, ``start`` to ``end`` in seconds: the class, None
    for none of these, and the mean of its probability in the windows.
    """

    id: str
    start: float
    end: float
    name: str | None
    probability: float

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "from": self.start,
            "to": self.end,
            "class": self.name,
            "probability": self.probability,
        }


@dataclass(frozen=True)
class Heard:
    """Who is heard when, file by file, in windows of so many ``seconds``. Times without a voice are left out.

    ``threshold`` is that for none of these, ``kind`` the score it is for, ``named_by`` the score that named
    the classes. ``unheard`` are the files without any voice.
    """

    stretches: tuple[Stretch, ...]
    seconds: float
    threshold: float | None
    kind: Kind
    named_by: Kind
    skipped: tuple[tuple[str, str], ...]
    unheard: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        without = NO_THRESHOLD if self.threshold is None else None
        return tuple(filter(None, (without, about_unheard(self.unheard))))

    def to_json(self) -> dict[str, Any]:
        return {
            "stretches": [stretch.to_json() for stretch in self.stretches],
            "windows": self.seconds,
            "threshold": self.threshold,
            "kind": self.kind,
            "named by": self.named_by,
            "skipped": self.skipped,
            **({"unheard": self.unheard} if self.unheard else {}),
        }


def check_windows(space: MetricSpace, seconds: float) -> None:
    """Raise SettingError unless the space reads items that can be cut, and into windows of this length."""
    if space.reader is None or space.reader.medium.windows is None:
        reads = "tensors" if space.reader is None else space.reader.medium.name
        raise SettingError(
            f"only sounds are cut into windows, and this space reads {reads}; leave out --windows"
        )
    if not 0.1 <= seconds <= 3600:
        raise SettingError(f"windows are 0.1 to 3600 seconds long; got {seconds:g}")


def identify_windows(
    space: MetricSpace,
    files: Mapping[str, File],
    *,
    seconds: float = 2.0,
    kind: str | None = None,
    skip_unreadable: bool = False,
    progress: Progress = silent,
) -> Heard:
    """Name the class of every window of the files, by their ids, and join neighbours of the same answer.

    A file is read in pieces, so that its length does not matter. Classes are named by a ``kind`` of score;
    None is the space's choice for classes. Raises SettingError for a space that reads no sounds, and
    DataError for files that cannot be read, unless they are skipped.
    """
    check_windows(space, seconds)
    score = known_kind(space, kind, "classes")
    stretches: list[Stretch] = []
    unreadable: list[tuple[str, str]] = []
    with progress("identify", len(files)) as advance:
        for id, file in files.items():
            try:
                stretches += _stretches(space, id, file, seconds, score)
            except DataError as error:
                unreadable.append((id, str(error)))
            advance(1)
    if unreadable and (not skip_unreadable or len(unreadable) == len(files)):
        raise unreadable_files(unreadable, len(files))
    decision, answered = space.open_set, {stretch.id for stretch in stretches}
    failed = {id for id, _ in unreadable}
    return Heard(
        stretches=tuple(stretches),
        seconds=seconds,
        threshold=None if decision is None else decision.threshold,
        kind=score if decision is None else decision.kind,
        named_by=score,
        skipped=tuple(unreadable),
        unheard=tuple(id for id in files if id not in answered and id not in failed),
    )


def _stretches(space: MetricSpace, id: str, file: File, seconds: float, kind: Kind) -> Iterator[Stretch]:
    """The stretches of one file."""
    # A window without a voice lies between two others: its place in the count keeps them apart.
    for (name, _), windows in itertools.groupby(
        _named(space, file, seconds, kind), key=lambda named: named[:2]
    ):
        _, _, starts, ends, probabilities = zip(*windows, strict=True)
        yield Stretch(id, starts[0], ends[-1], name, fmean(probabilities))


def _named(
    space: MetricSpace, file: File, seconds: float, kind: Kind
) -> Iterator[tuple[str | None, int, float, float, float]]:
    """For every audible window the class, how many silent ones came before, its times and the probability."""
    assert space.reader is not None
    assert space.reader.medium.windows is not None
    silent_before = 0
    windows = space.reader.medium.windows(space.reader, file, seconds)
    while some := list(itertools.islice(windows, AT_ONCE)):
        answers = iter(_answers(space, [window for window in some if window.audible], kind))
        for window in some:
            if window.audible:
                name, probability = next(answers)
                yield name, silent_before, window.start, window.end, probability
            else:
                silent_before += 1


def _answers(space: MetricSpace, windows: list[Window], kind: Kind) -> list[tuple[str | None, float]]:
    """The class and the probability of each window."""
    if not windows:
        return []
    assert space.reader is not None
    x = space.reader.medium.batch([window.item for window in windows])
    return [(name, probability) for name, probability, _ in named_classes(space, embed(space, x), kind=kind)]
