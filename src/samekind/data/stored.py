"""Pictures and sounds that stay on the disk, or in an archive, and are decoded when they are needed, by a few
threads.

Threads and not processes: decoding happens outside of Python's lock, nothing has to be sent back, and a
program that reads pictures need not guard its start. What stays inside the lock costs most with small
pictures, so a thread takes several at a time and writes each to its final place.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from samekind.acoustics import padded
from samekind.data.files import File, digest
from samekind.data.media.sounds import SOUNDS
from samekind.errors import MOST_LISTED, DataError

if TYPE_CHECKING:
    from samekind.data.media import Decoder

#: More threads than this would wait for the disk or for each other.
MOST_WORKERS = 16

#: Pictures that a thread takes at a time, at most, and how often each should come back for more, so that none
#: waits for the thread with the largest pictures.
TOGETHER, TURNS = 8, 4

#: Batches that are decoded ahead, at most: some take longer than others.
AHEAD = 4


class Decoded(NamedTuple):
    """Pictures uint8 (n, channels, height, width), or sounds int16 (n, 1, samples); unreadable ones mean
    nothing, and are listed by place with the reason.
    """

    pixels: Tensor
    unreadable: list[tuple[int, DataError]]


class Stored:
    """Picture files that look like a uint8 tensor (n, channels, height, width), or files of sound that look
    like an int16 tensor (n, 1, samples) whose batches are as long as their longest sound.

    ``stored[chosen]`` decodes what a slice, indices (k,) or a mask (n,) choose, in ``workers`` threads
    (0: one for each core, at most 16). `take` chooses without decoding. `begin` starts decoding and returns
    the function that waits for it, so that the next batch is read while the model learns from this one.
    ``skippable``: the error about a broken file proposes to skip it. ``stays``: the pictures are decoded
    whenever they are needed and kept nowhere, not in the memory of a GPU either. ``sizes``: how many samples
    each sound has. `hold` decodes sounds once and keeps them, each as long as it is.
    """

    def __init__(
        self,
        files: Sequence[File],
        reader: "Decoder",
        *,
        workers: int = 0,
        skippable: bool = True,
        stays: bool = False,
        sizes: Mapping[File, int] | None = None,
    ) -> None:
        self.files = tuple(files)
        self.reader: Any = reader  # of pictures or of sounds
        self.workers = workers
        self.skippable = skippable
        self.stays = stays
        self.sizes = sizes
        self._held: dict[File, Tensor] = {}
        # By file, so that a selection does not read again what has been read.
        self._digests: dict[File, bytes] = {}

    def __len__(self) -> int:
        return len(self.files)

    def __repr__(self) -> str:
        return f"Stored({len(self)} files, shape {self.reader.shape})"

    @property
    def shape(self) -> torch.Size:
        """The shape that the tensor would have."""
        return torch.Size((len(self), *self.reader.shape))

    @property
    def dtype(self) -> torch.dtype:
        """The type that the tensor would have."""
        dtype: torch.dtype = self.reader.dtype
        return dtype

    @property
    def nbytes(self) -> int:
        """The bytes that the tensor would take; of sounds without their padding."""
        if self.sizes is not None:
            return self.dtype.itemsize * sum(self.sizes[file] for file in self.files)
        return self.dtype.itemsize * self.shape.numel()

    @property
    def longest(self) -> int:
        """The place of the longest sound; of pictures, which are all alike, the first."""
        sizes = [self.sizes[file] for file in self.files] if self.sizes else [0]
        return sizes.index(max(sizes))

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def __getitem__(self, chosen: slice | Tensor) -> Tensor:
        return self.begin(chosen)()

    def begin(self, chosen: slice | Tensor) -> Callable[[], Tensor]:
        """Start decoding; the function returned waits for the pictures, uint8 (k, …)."""
        files = self._chosen(chosen)
        decoded = begin_decoding(files, self.reader, workers=self.workers, held=self._held)

        def wait() -> Tensor:
            pixels, unreadable = decoded()
            if unreadable:
                reasons = [("", str(reason)) for _, reason in unreadable]
                raise unreadable_files(reasons, len(pixels), skippable=self.skippable)
            return pixels

        return wait

    def take(self, chosen: slice | Tensor) -> "Stored":
        """Some of the files, not decoded."""
        taken = copy(self)
        taken.files = self._chosen(chosen)
        return taken

    def hold(self) -> list[tuple[int, DataError]]:
        """Decode all sounds and keep them in memory; returns the places and reasons of those that fail."""
        sounds, failed = _begin_sounds(self.files, self.reader, workers=self.workers, held={})()
        self._held = {
            file: sound for file, sound in zip(self.files, sounds, strict=True) if sound is not None
        }
        return failed

    def digests(self) -> list[bytes]:
        """SHA-256 of every file's bytes, each read once and remembered."""
        missing = [file for file in self.files if file not in self._digests]
        self._digests.update(zip(missing, pool(self.workers).map(digest, missing), strict=True))
        return [self._digests[file] for file in self.files]

    def _chosen(self, chosen: slice | Tensor) -> tuple[File, ...]:
        if isinstance(chosen, slice):
            return self.files[chosen]
        chosen = chosen.cpu()
        if chosen.dtype == torch.bool:
            if len(chosen) != len(self):
                raise IndexError(f"a mask of {len(chosen)} for {len(self)} files")
            chosen = chosen.nonzero().flatten()
        return tuple(self.files[index] for index in chosen.tolist())


def fetched(inputs: Tensor | Stored, choices: Iterable[slice | Tensor]) -> Iterator[Tensor]:
    """``inputs[choice]`` for each choice (a slice or indices), in order.

    Stored pictures are decoded a few batches ahead. A broken file raises DataError when its batch is due.
    """
    if isinstance(inputs, Tensor):
        for choice in choices:
            yield inputs[choice if isinstance(choice, slice) else choice.to(inputs.device)]
        return
    started = map(inputs.begin, choices)
    waiting: deque[Callable[[], Tensor]] = deque(islice(started, AHEAD))
    while waiting:
        wait = waiting.popleft()
        waiting.extend(islice(started, 1))
        yield wait()


def begin_decoding(
    files: Sequence[File], reader: Any, *, workers: int = 0, held: Mapping[File, Tensor] | None = None
) -> Callable[[], Decoded]:
    """Start decoding in ``workers`` threads; the function returned waits for all pictures or sounds. Those
    that are ``held`` are not decoded again.
    """
    if reader.medium is SOUNDS:
        decoded = _begin_sounds(files, reader, workers=workers, held=held or {})

        def wait_for_sounds() -> Decoded:
            sounds, failed = decoded()
            nothing = torch.zeros(1, 1, dtype=reader.dtype)
            whole = [nothing if sound is None else sound for sound in sounds]
            return Decoded(padded(whole) if whole else torch.empty(0, 1, 1, dtype=reader.dtype), failed)

        return wait_for_sounds
    pixels = torch.empty(len(files), *reader.shape, dtype=torch.uint8)
    places = pixels.numpy()

    def decode(place: int) -> None:
        reader.read_into(files[place], places[place])

    failed = _begin(decode, range(len(files)), workers)
    return lambda: Decoded(pixels, failed())


def _begin_sounds(
    files: Sequence[File], reader: Any, *, workers: int, held: Mapping[File, Tensor]
) -> Callable[[], tuple[list[Tensor | None], list[tuple[int, DataError]]]]:
    """Start decoding sounds; the function returned gives them, each as long as it is, and the failures."""
    sounds = [held.get(file) for file in files]
    missing = [place for place, sound in enumerate(sounds) if sound is None]

    def decode(place: int) -> None:
        sounds[place] = reader.samples(files[place])

    failed = _begin(decode, missing, workers)
    return lambda: (sounds, failed())


def _begin(
    decode: Callable[[int], None], places: Sequence[int], workers: int
) -> Callable[[], list[tuple[int, DataError]]]:
    """Start decoding at these places, in threads; the function returned waits, and gives the failures."""

    def attempt(part: range) -> list[tuple[int, DataError]]:
        unreadable = []
        for place in (places[number] for number in part):
            try:
                decode(place)
            except DataError as error:
                unreadable.append((place, error))
        return unreadable

    pending = pool(workers).map(attempt, parts(len(places), threads(workers)))
    return lambda: [failure for failures in pending for failure in failures]


def parts(count: int, workers: int) -> list[range]:
    """``count`` pictures in the portions that a thread takes.

    >>> parts(3, 4), parts(17, 1)[-1], len(parts(800, 1))
    ([range(0, 1), range(1, 2), range(2, 3)], range(16, 17), 100)
    """
    together = max(1, min(TOGETHER, count // (TURNS * workers)))
    return [range(start, min(start + together, count)) for start in range(0, count, together)]


def threads(workers: int) -> int:
    """The number of threads for ``workers``: 0 is one for each core, at most 16."""
    return workers or min(MOST_WORKERS, os.cpu_count() or 1)


@cache
def pool(workers: int) -> ThreadPoolExecutor:
    """The threads that read files, shared by all callers with this number."""
    return ThreadPoolExecutor(threads(workers), thread_name_prefix="samekind-read")


def decode_all(
    files: Sequence[File], reader: "Decoder", *, workers: int = 0
) -> tuple[Tensor, list[int], list[tuple[str, str]]]:
    """The decoded pictures, uint8 (k, …), the places of their files, and (file, reason) of the others."""
    pixels, failed = begin_decoding(files, reader, workers=workers)()
    reasons = dict(failed)
    readable = [place for place in range(len(files)) if place not in reasons]
    if reasons:
        # Moved up in place: a second block of pictures would take twice the memory.
        for row, place in enumerate(readable):
            pixels[row] = pixels[place]
    return pixels[: len(readable)], readable, [(str(files[place]), str(reason)) for place, reason in failed]


def unreadable_files(
    unreadable: Sequence[tuple[str, str]], total: int, *, skippable: bool = True
) -> DataError:
    """The error that names the first 20 files that cannot be read, and says how many there are.

    For a single file, which may be mistyped, it is the reason alone: there is nothing to skip.
    """
    if total == 1:
        return DataError(unreadable[0][1])
    skip = ", or skip them with --skip-unreadable (skip_unreadable in a run file)" if skippable else ""
    # Each ends in a semicolon, because a terminal gets everything in one line.
    listed = ";".join(f"\n  {reason}" for _, reason in unreadable[:MOST_LISTED])
    more = len(unreadable) - MOST_LISTED
    return DataError(
        f"{len(unreadable)} of {total} files cannot be read; repair or remove them{skip}:{listed}"
        + (f";\n  and {more} more" if more > 0 else "")
    )
