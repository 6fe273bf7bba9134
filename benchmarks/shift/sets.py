"""The items of the study, with their domains."""

import zipfile
from dataclasses import replace
from pathlib import Path

import torch
from grid import APART, FILES, Experiment
from PIL import Image

from samekind import open_data
from samekind.data import DataSettings, Items, Sets, SplitSettings, prepare

#: Drawers of a domain, the alphabet that is learned, and one whose characters are new.
TOGETHER, KNOWN, STRANGE = 5, "Greek", "Hebrew"
#: The name of a set with items of new classes among those of known ones.
NEW = "new classes"
#: Small alphabets that look unlike each other, dots and strokes; each is a domain.
ALPHABETS = ("Braille", "Greek", "Hebrew", "Tagalog")
#: Digits that are never learned.
UNSEEN = ("8", "9")
#: Every so many-th picture of a cut, and pictures of a trial.
EVERY, FEW = {"mnist-cut": 30}, 400
#: Sizes of pictures that are domains: quarters of all.
SIZES = ("smallest", "small", "large", "largest")
SIDE = 64
#: The cut of plankton: pixels of a side, and how many pictures of a class a domain has, at least and at most.
CUT_SIDE, FEWEST, MOST = 32, 10, 25


def items_of(experiment: Experiment, data: Path, quick: bool = False) -> Items:
    """Items with domains."""
    if experiment.data == "characters":
        return by_drawers(KNOWN)
    if experiment.data == APART:
        return by_alphabets(ALPHABETS)
    if experiment.data == "plankton-cut":
        path = data / FILES["plankton-cut"]
        items = by_size(open_data(path, settings=DataSettings(size=CUT_SIDE, channels=1)), path)
        items = in_every_domain(items)
        items = in_every_domain(items, most=2) if quick else items
        items = replace(items, inputs=items.inputs[:])  # decoded once, not in every epoch
    elif experiment.data == "plankton":
        path = data / FILES["plankton"]
        items = open_data(path, settings=DataSettings(size=SIDE))
        items = by_size(thinned(items) if quick else items, path)
    else:
        settings = DataSettings(domain="folder", size=SIDE, channels=3)
        items = open_data(data / FILES["pacs"], settings=settings)
        items = thinned(items) if quick else items
    return items


def by_drawers(alphabet: str) -> Items:
    """Characters of an alphabet; a domain is five of the twenty people who drew."""
    items = open_data(f"characters/{alphabet}")
    assert items.domains is not None
    count = -(-len(items.domain_names) // TOGETHER)
    names = tuple(f"drawers {TOGETHER * i + 1}-{TOGETHER * (i + 1)}" for i in range(count))
    return replace(items, domains=items.domains // TOGETHER, domain_names=names)


def by_alphabets(alphabets: tuple[str, ...]) -> Items:
    """Characters of some alphabets, each of them a domain."""
    items = open_data("characters")
    items = items.only([name for name in items.classes if name.partition("/")[0] in alphabets])
    domains = torch.tensor([alphabets.index(name.partition("/")[0]) for name in items.classes])
    return replace(items, domains=domains[items.labels], domain_names=alphabets)


def in_every_domain(items: Items, fewest: int = FEWEST, most: int = MOST) -> Items:
    """The classes with ``fewest`` items in every domain, of each at most ``most`` of a domain, evenly."""
    assert items.domains is not None
    cells = items.labels * len(items.domain_names) + items.domains
    counts = torch.bincount(cells, minlength=len(items.classes) * len(items.domain_names))
    enough = (counts.reshape(len(items.classes), -1) >= fewest).all(1)
    kept = []
    for cell in (counts > 0).nonzero().flatten().tolist():
        members = (cells == cell).nonzero().flatten()
        kept.append(members[torch.linspace(0, len(members) - 1, min(most, len(members))).long()])
    some = items.take(torch.cat(kept).sort().values)
    return some.only([name for name, wanted in zip(items.classes, enough.tolist(), strict=True) if wanted])


def by_size(items: Items, path: Path) -> Items:
    """A domain is a quarter of the items by the area of their pictures in an archive."""
    with zipfile.ZipFile(path) as archive:
        names = {name.partition("/")[2]: name for name in archive.namelist()}
        sizes = []
        for place in items.ids or ():
            with archive.open(names.get(place, place)) as file, Image.open(file) as picture:
                sizes.append(picture.width * picture.height)
    order = torch.tensor(sizes).argsort(stable=True).argsort()
    return replace(items, domains=order * len(SIZES) // len(items), domain_names=SIZES)


def corrupted_of(experiment: Experiment, data: Path, quick: bool = False) -> Sets:
    """Pictures by their published parts, of a cut a part of them; scikit-learn's digits at random, of which
    two are never learned.
    """
    if experiment.data == "digits":
        return prepare(open_data("digits"), SplitSettings(unseen=UNSEEN, seed=experiment.seed))
    items = open_data(data / FILES[experiment.data])
    if experiment.data in EVERY:
        items = items.take(torch.arange(0, len(items), EVERY[experiment.data]))
    items = thinned(items) if quick else items
    return prepare(items, SplitSettings(by="part", fractions={"train": 0.9, "validation": 0.1}))


def together(known: Items, strange: Items) -> Items:
    """Items of known classes, and items of others."""
    return Items(
        torch.cat([known.inputs[:], strange.inputs[:]]),
        torch.cat([known.labels, strange.labels + len(known.classes)]),
        (*known.classes, *strange.classes),
        name=f"{known.name} and {strange.name}",
        reader=known.reader,
    )


def evenly(items: Items, count: int) -> Items:
    """At most so many of the items, evenly."""
    some = items.take(torch.arange(0, len(items), max(1, len(items) // count)))
    return some.take(torch.arange(min(len(some), count)))


def thinned(items: Items) -> Items:
    """A few of the items, evenly."""
    return items.take(torch.arange(0, len(items), max(1, len(items) // FEW)))
