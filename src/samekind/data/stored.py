"""Pictures that stay on the disk, or in an archive, and are decoded when they are asked for."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from samekind.data.decoding import begin_decoding, pool
from samekind.data.files import File, digest
from samekind.data.readers import ImageReader
from samekind.errors import MOST_LISTED, DataError


class Stored:
    """Picture files that look like a uint8 tensor (n, channels, height, width).

    ``stored[chosen]`` decodes what a slice, indices (k,) or a mask (n,) choose, in ``workers`` threads
    (0: one for each core, at most 16). `take` chooses without decoding. `begin` starts decoding and gives
    back the function that waits for it, so that the next batch can be read while this one is learned from.
    ``skippable`` says whether who asked for the files may leave out some, which the error about a broken one
    then proposes. ``stays`` says that they are to be decoded whenever they are needed, and kept nowhere: not
    in the memory of a GPU either.
    """

    dtype = torch.uint8

    def __init__(
        self,
        files: Sequence[File],
        reader: ImageReader,
        *,
        workers: int = 0,
        skippable: bool = True,
        stays: bool = False,
    ) -> None:
        self.files = tuple(files)
        self.reader = reader
        self.workers = workers
        self.skippable = skippable
        self.stays = stays
        # Of files, so that a selection need not read again what all of them together have read already.
        self._digests: dict[File, bytes] = {}

    def __len__(self) -> int:
        return len(self.files)

    def __repr__(self) -> str:
        return f"Stored({len(self)} files, shape {self.reader.shape})"

    @property
    def shape(self) -> torch.Size:
        """What the shape of the tensor would be."""
        return torch.Size((len(self), *self.reader.shape))

    @property
    def nbytes(self) -> int:
        """What the tensor would take, in bytes."""
        return self.shape.numel()

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def __getitem__(self, chosen: slice | Tensor) -> Tensor:
        return self.begin(chosen)()

    def begin(self, chosen: slice | Tensor) -> Callable[[], Tensor]:
        """Start decoding; what comes back gives the pictures, uint8 (k, …), once they are ready."""
        decoded = begin_decoding(self._chosen(chosen), self.reader, workers=self.workers)

        def wait() -> Tensor:
            pixels, unreadable = decoded()
            if unreadable:
                named = [("", str(why)) for _, why in unreadable]
                raise unreadable_files(named, len(pixels), skippable=self.skippable)
            return pixels

        return wait

    def take(self, chosen: slice | Tensor) -> "Stored":
        """The same for some of the files; nothing is decoded."""
        taken = Stored(
            self._chosen(chosen),
            self.reader,
            workers=self.workers,
            skippable=self.skippable,
            stays=self.stays,
        )
        taken._digests = self._digests
        return taken

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


def decode_all(
    files: Sequence[File], reader: ImageReader, *, workers: int = 0
) -> tuple[Tensor, list[int], list[tuple[str, str]]]:
    """What can be decoded: uint8 (k, …), the places of those files, and (file, why not) of the others."""
    pixels, failed = begin_decoding(files, reader, workers=workers)()
    reasons = dict(failed)
    readable = [place for place in range(len(files)) if place not in reasons]
    if reasons:
        # Moved up in place: a second block of pictures would take twice the memory.
        for row, place in enumerate(readable):
            pixels[row] = pixels[place]
    return pixels[: len(readable)], readable, [(str(files[place]), str(why)) for place, why in failed]


def unreadable_files(
    unreadable: Sequence[tuple[str, str]], total: int, *, skippable: bool = True
) -> DataError:
    """The error that names the files which cannot be read: the first 20, and how many there are.

    Of one file, which may just be mistyped, it says why and no more: there is nothing to skip.
    """
    if total == 1:
        return DataError(unreadable[0][1])
    skip = ", or skip them with --skip-unreadable (skip_unreadable in a run file)" if skippable else ""
    # With a sign at the end of each, because a terminal is told everything in one line.
    listed = ";".join(f"\n  {why}" for _, why in unreadable[:MOST_LISTED])
    more = len(unreadable) - MOST_LISTED
    return DataError(
        f"{len(unreadable)} of {total} files cannot be read; repair or remove them{skip}:{listed}"
        + (f";\n  and {more} more" if more > 0 else "")
    )
