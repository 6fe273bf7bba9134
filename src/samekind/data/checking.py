"""A check of data before training: what it consists of, and what is wrong with it."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from samekind.data.duplicates import duplicate_problems, duplicates
from samekind.data.files import is_array
from samekind.data.items import Items
from samekind.data.media import PICTURES, SOUNDS, Problem, medium_of_files
from samekind.data.media.brightness import brightest, brightness
from samekind.data.media.headings import read_headings, size_chosen
from samekind.data.media.medium import named_problem
from samekind.data.media.pictures import blank_problem, is_blank
from samekind.data.opening import open_source
from samekind.data.problems import class_sizes, problems_of
from samekind.data.settings import DataSettings, or_usual
from samekind.data.sources import expect_source
from samekind.data.sources.listing import Listing, foreign_files
from samekind.data.sources.loading import load, load_sounds, told_apart
from samekind.data.splits import Split
from samekind.data.stored import Stored, decode_all
from samekind.data.words import listed, named
from samekind.errors import DataError, SettingError

Splitting = Split | Callable[[Items], Split | None]

#: Pictures decoded at a time, only to see whether they can be read.
AT_ONCE = 256


@dataclass(frozen=True, kw_only=True)
class Examination:
    """The content of data, and its problems.

    ``classes``, ``domains`` and ``parts`` count the items of each, ``sizes`` the pictures of each stored
    (height, width). ``unreadable`` are (file, reason), ``duplicates`` the ids of items with the same content,
    ``memory`` the bytes that the decoded items take.
    """

    name: str
    items: int = 0
    classes: dict[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...]
    unreadable: tuple[tuple[str, str], ...] = ()
    duplicates: tuple[tuple[str, ...], ...] = ()
    sizes: dict[tuple[int, int], int] = field(default_factory=dict)
    domains: dict[str, int] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=dict)
    groups: int = 0
    memory: int = 0

    @property
    def errors(self) -> tuple[str, ...]:
        """The problems that make training pointless or impossible."""
        return tuple(problem.sentence for problem in self.problems if problem.severity == "error")

    @property
    def warnings(self) -> tuple[str, ...]:
        """The problems that may be intended."""
        return tuple(problem.sentence for problem in self.problems if problem.severity == "warning")


def examine(
    source: str | Path | Items, *, settings: DataSettings | None = None, split: Splitting | None = None
) -> Examination:
    """Report everything that is wrong with a source or with items, not only the first fault.

    Every picture is decoded once, and not kept. Content that is in two parts is found by the ``split``, or by
    a function that makes one from the readable items; without either by the published parts.
    """
    settings = or_usual(settings)
    if isinstance(source, Items):
        return _report(source, [], [], Counter(), split)
    expect_source(source)
    try:
        content = open_source(source, settings)
        if isinstance(content, Listing) and any(map(is_array, content.files)):
            content = load(content, settings)
    except (DataError, SettingError) as error:
        return Examination(name=str(source), problems=(Problem("error", str(error)),))
    if isinstance(content, Items):
        return _report(content, [], [], Counter(), split)
    return _examine_files(content, settings, split)


def _examine_files(listing: Listing, settings: DataSettings, split: Splitting | None) -> Examination:
    if listing.files and medium_of_files(map(str, listing.files)) is SOUNDS:
        return _examine_sounds(listing, settings, split)
    headings = read_headings(listing.files, workers=settings.workers)
    whole, _, unreadable = told_apart(listing.files, headings)
    sizes = Counter((heading.height, heading.width) for heading in whole)
    problems = list(_listing_problems(listing))
    try:
        # Left on the disk: a check must not take as much memory as training.
        items = load(listing, replace(settings, skip_unreadable=True, memory="never"))
    except (DataError, SettingError) as error:
        # If no file can be read, the error repeats the reasons, which are reported beside it.
        none_readable = len(unreadable) == len(headings) > 1
        sentence = _cannot_be_read(unreadable, 0) if none_readable else str(error)
        return Examination(
            name=listing.name,
            items=len(listing.labels),
            classes=dict(Counter(listing.labels)),
            problems=(Problem("error", sentence), *problems),
            unreadable=tuple(unreadable),
            sizes=dict(sizes),
        )
    if (chosen := size_chosen(whole, settings)) is not None:
        problems.append(Problem("warning", chosen[1]))
    if isinstance(items.inputs, Stored) and items.medium is PICTURES:
        readable, blank, highest, undecodable = _look_inside(items.inputs)
        problems += blank_problem([items.ids[place] for place in blank] if items.ids else [])
        dark = brightness(highest, [items.inputs.files[place] for place in readable], items.inputs.reader)
        problems += [Problem("warning", dark)] if dark else []
        items, unreadable = items.take(torch.tensor(readable, dtype=torch.int64)), unreadable + undecodable
    return _report(items, problems, unreadable, sizes, split, skip=settings.skip_unreadable)


def _examine_sounds(listing: Listing, settings: DataSettings, split: Splitting | None) -> Examination:
    """Every sound is decoded once; they stay in memory, if they may, for the faults that are heard."""
    problems = list(_listing_problems(listing))
    try:
        items, unreadable = load_sounds(listing, replace(settings, skip_unreadable=True))
    except (DataError, SettingError) as error:
        return Examination(
            name=listing.name,
            items=len(listing.labels),
            classes=dict(Counter(listing.labels)),
            problems=(Problem("error", str(error)), *problems),
        )
    return _report(items, problems, unreadable, Counter(), split, skip=settings.skip_unreadable)


def _look_inside(stored: Stored) -> tuple[list[int], list[int], torch.Tensor, list[tuple[str, str]]]:
    """Decode every picture without keeping it. Returns the places of those that can be decoded, the places of
    blank ones, the highest byte of each, and (file, reason) of the others, such as files that are cut short.
    """
    readable: list[int] = []
    blank: list[int] = []
    highest: list[torch.Tensor] = []
    unreadable: list[tuple[str, str]] = []
    for start in range(0, len(stored), AT_ONCE):
        files = stored.files[start : start + AT_ONCE]
        pixels, places, more = decode_all(files, stored.reader, workers=stored.workers)
        readable += [start + place for place in places]
        blank += [start + places[place] for place in is_blank(pixels).nonzero().flatten().tolist()]
        highest.append(brightest(pixels))
        unreadable += more
    return readable, blank, torch.cat(highest), unreadable


def _listing_problems(listing: Listing) -> Iterator[Problem]:
    yield from named_problem(listing.empty, "class folder has", "class folders have", "no items")
    if listing.foreign:
        yield Problem("warning", foreign_files(listing.foreign, listed(listing.foreign)))
    yield from named_problem(listing.repeated, "file is", "files are", "named more than once")


def _report(
    items: Items,
    problems: list[Problem],
    unreadable: list[tuple[str, str]],
    sizes: Counter[tuple[int, int]],
    split: Splitting | None,
    *,
    skip: bool = False,
) -> Examination:
    if unreadable:
        sentence = _cannot_be_read(unreadable, len(items))
        problems = [Problem("warning" if skip else "error", sentence), *problems]
    groups = duplicates(items)
    split = split(items) if callable(split) else split
    problems += [*problems_of(items), *duplicate_problems(items, groups, split)]
    return Examination(
        name=items.name,
        items=len(items),
        classes=class_sizes(items),
        problems=tuple(sorted(problems, key=lambda problem: problem.severity)),
        unreadable=tuple(unreadable),
        duplicates=tuple(tuple(named(items, place) for place in group) for group in groups),
        sizes=dict(sizes),
        domains=_domain_sizes(items),
        parts=dict(Counter(items.parts or ())),
        groups=0 if items.groups is None else len(set(items.groups.tolist())),
        memory=items.inputs.nbytes,
    )


def _cannot_be_read(unreadable: list[tuple[str, str]], readable: int) -> str:
    names = listed([name for name, _ in unreadable])
    return f"{len(unreadable)} of {len(unreadable) + readable} files cannot be read: {names}"


def _domain_sizes(items: Items) -> dict[str, int]:
    if items.domains is None:
        return {}
    counts = sorted(Counter(items.domains.tolist()).items())
    return {items.domain_names[n] if items.domain_names else str(n): count for n, count in counts}
