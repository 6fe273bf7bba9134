"""The doors: what opens an input, and uses it."""

import contextlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
import torch

from fuzzing import inputs
from fuzzing.inputs import Files
from samekind.data import Collection, DataSettings, collect, examine, open_data
from samekind.data.media import ArrayReader, ImageReader, SoundReader, TableReader
from samekind.data.trial_lists import read_trial_list
from samekind.errors import SamekindError
from samekind.index import open_index
from samekind.portable import PortableSpace
from samekind.questions.galleries import open_gallery
from samekind.questions.index import add_to_index, index_info
from samekind.questions.info import info
from samekind.questions.opening import open_run
from samekind.questions.search import search
from samekind.recipes.plans import read_plan
from samekind.reports.tree_picture import Shape, tree_picture
from samekind.space import MetricSpace
from samekind.taxonomy import Descent, grown, read_tree, write_tree
from samekind.taxonomy.files import FORMATS
from samekind.training import RunFolder
from samekind.training.checkpoints import load_checkpoint


def use_index(folder: Path) -> None:
    index = open_index(folder)
    ids = list(index)
    index.metadata(ids)
    queries = torch.randn(3, index.dimension, generator=torch.Generator().manual_seed(0))
    index.search(queries, 3)
    index.add(["a new one"], queries[:1], replace=True)
    if ids:
        index.remove(ids[:1])
    index.search(queries, 3)
    if index.backend == "Faiss":
        index.build()
    index.save(folder)
    index.close()
    open_index(folder).search(queries, 1)


@cache
def asker() -> MetricSpace:
    """The space that galleries were made with."""
    with inputs.folder_of(inputs.spaces()[1]) as folder:
        return MetricSpace.load(folder)


def use_gallery(folder: Path) -> None:
    index, space = open_gallery(folder, asker()), asker()
    json.dumps(index_info(index).to_json())
    queries = Collection(torch.zeros(2, 3), ("a", "b"), (None, "x"), ())
    json.dumps(search(space, queries, index, k=3).to_json())
    json.dumps(add_to_index(space, index, queries, folder, replace=True).to_json())


def use_space(folder: Path) -> None:
    space = MetricSpace.load(folder)
    json.dumps(info(space).to_json())
    if space.reader is not None and np.prod(space.reader.shape) < 10_000:
        with torch.no_grad():
            z = space.embed(torch.zeros(2, *space.reader.shape))
            space.enroll("somebody new", z)
            space.classify(z)
            for kind in space.kinds:
                space.scorer(kind).score_all(z, z)
    space.save(folder / "again")


def use_export(folder: Path) -> None:
    space = PortableSpace.open(folder)
    z = space.embed([np.zeros(3, np.float32), np.ones(3, np.float32)])
    space.identify(z)
    space.compare(z)
    for kind in space.kinds:
        space.score(z, z, kind=kind)
    if space.gallery is not None:
        space.gallery.search(z, 3, kind="cosine", score=space.scores["similarity"])
    space.enrolments.enroll("somebody new", z, replace=True)
    space.close()
    PortableSpace.open(folder).classify(z)


def use_run(folder: Path) -> None:
    run = RunFolder(folder)
    run.run()
    with contextlib.suppress(SamekindError):
        load_checkpoint(run.last)
    opened = open_run(folder, "cpu")
    opened.opened.read(["data.csv"])
    opened.opened.validation_items()


def use_data(folder: Path) -> None:
    source = next(
        (path for path in sorted(folder.iterdir()) if path.name.startswith("data")), folder / "none"
    )
    for use in (
        lambda: examine(source),
        lambda: open_data(source, settings=DataSettings(skip_unreadable=True, size=8)),
        lambda: collect([source], ImageReader(height=8, width=8, channels=3)),
        lambda: collect([source], ArrayReader(shape=[2, 3, 5])),
        lambda: collect([source], TableReader(columns=["a", "b"]), skip_unreadable=True),
    ):
        with contextlib.suppress(SamekindError):
            use()
    open_data(source)


def use_pictures(folder: Path) -> None:
    Path("data").mkdir()
    for path in list(folder.iterdir()):
        if path.name != "data":
            path.rename(folder / "data" / path.name)
    use_data(folder)


def use_sounds(folder: Path) -> None:
    for path in sorted(folder.rglob("*.*")):
        with contextlib.suppress(SamekindError):
            SoundReader(rate=8000, seconds=1.0).read(path)
    examine(folder)
    items = open_data(folder)
    items.medium.thumbnails(items.inputs[:])


def use_plan(_: Path) -> None:
    plan = read_plan("run.toml")
    run = plan.run((1, 8, 8))
    plan.suited(run, (1, 8, 8), items=100)
    run.to_dict()


def use_list(_: Path) -> None:
    enrolments = Path("enrolments.txt")
    read_trial_list("trials.txt", enrolments=enrolments if enrolments.exists() else None)


def parents_in(path: Path) -> dict[str, str | None] | None:
    """The parents of the nodes in a file; None for a file that is refused."""
    try:
        tree = read_tree(path)
    except SamekindError:
        return None
    return {name: tree.parent(name) for name in tree.names}


def use_tree(folder: Path) -> None:
    tree = read_tree(next(folder.iterdir(), folder / "none"))
    known = {name: tree.parent(name) for name in tree.names}
    classes = tree.leaves()[:100]
    tree.distances(classes)
    tree.lcs_distances(classes)
    Descent(tree, classes, torch.full((2, len(classes)), 1 / len(classes))).ends(0.5)
    grown(tree.subtree(classes), {"a new one": tree.root})
    for entry in FORMATS.values():
        path = folder / f"again{entry.endings[0]}"
        with contextlib.suppress(SamekindError):  # a tree that the format cannot hold
            write_tree(tree, path)
        if path.exists():
            assert parents_in(path) == known, f"{path.name} says something other than what was written"
    if len(tree.names) < 100:
        for shape in get_args(Shape):
            tree_picture(tree, shape=shape).savefig(folder / "tree.svg")


class Door(NamedTuple):
    inputs: Callable[[], list[Files]]
    use: Callable[[Path], None]


DOORS = {
    "index": Door(inputs.indexes, use_index),
    "gallery": Door(inputs.galleries, use_gallery),
    "space": Door(inputs.spaces, use_space),
    "export": Door(inputs.exports, use_export),
    "run": Door(inputs.runs, use_run),
    "arrays": Door(inputs.arrays, use_data),
    "zip": Door(inputs.archives, use_data),
    "table": Door(inputs.tables, use_data),
    "pictures": Door(inputs.pictures, use_pictures),
    "other data": Door(inputs.others, use_data),
    "run.toml": Door(inputs.plans, use_plan),
    "trials": Door(inputs.lists, use_list),
    "tree": Door(inputs.trees, use_tree),
    "sounds": Door(inputs.sounds, use_sounds),
}
