"""Good inputs of every door, as files in memory."""

import contextlib
import io
import json
import os
import struct
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from samekind.auxiliary_head import AuxiliaryHead
from samekind.data.media import ImageReader, TableReader, VectorReader
from samekind.decisions import Decision, Standing, Temperature
from samekind.decisions.balance import Balance
from samekind.decisions.choices import Choices
from samekind.decisions.ladder import Ladder, Rung
from samekind.encoders import MLP, SmallConvnet
from samekind.exporting import export_contents, write_export
from samekind.exporting.writing import GalleryItems
from samekind.index import Exact, Faiss, space_fingerprint
from samekind.index.mapped import similarity_fingerprint
from samekind.inference.distil import QueryMap
from samekind.inference.shortlist import Shortlist, keep_shortlist
from samekind.portable import PortableSpace
from samekind.prototypes import LearnedProxies, RunningAverages, SupportMeans
from samekind.similarities import Cosine, Dot, Neighbourhood, PairsNetwork, TwoCovariance
from samekind.space import MetricSpace
from samekind.taxonomy import Tree
from samekind.taxonomy.files import FORMATS

Files = dict[str, bytes]  # content by path

COMPATIBILITY = Path(__file__).parents[2] / "tests/compatibility/written_by_0_1"
HERE = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path(tempfile.gettempdir())


def files_in(folder: Path) -> Files:
    """The files below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@contextlib.contextmanager
def folder_of(files: Files) -> Iterator[Path]:
    """A folder with these files, as the current one; it is removed in the end."""
    with tempfile.TemporaryDirectory(dir=HERE, prefix="fuzz") as name, contextlib.chdir(name):
        for path, content in files.items():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_bytes(content)
        yield Path(name)


def vectors(count: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(count, 8, generator=torch.Generator().manual_seed(seed))


@cache
def indexes() -> list[Files]:
    folders: list[Files] = [files_in(COMPATIBILITY / name) for name in ("exact", "hnsw")]
    for structure in ("exact", "flat", "hnsw", "hnsw", "ivf", "pq"):
        index = Exact(8) if structure == "exact" else Faiss(8, structure=structure)
        index.add([str(place) for place in range(300)], vectors(300), [{"label": "a"}] * 300)
        with folder_of({}) as folder:
            if index.backend == "Faiss":
                index.build()
            if len(folders) == 5:  # a graph with vectors that were removed
                index.remove([str(place) for place in range(20)])
            index.save(folder / "index")
            index.add(["new", "newer"], vectors(2, seed=1), [{"label": "b"}] * 2)
            index.remove(["40", "new"])
            index.close()
            folders.append(files_in(folder / "index"))
    for backend, url in (("Postgres", "postgresql://127.0.0.1:1/none"), ("Milvus", "http://127.0.0.1:1")):
        header = {"format": "samekind index", "version": 3, "generation": 1, "kind": backend, "url": url}
        header |= {
            "dimension": 8,
            "score": "cosine",
            "fingerprint": "",
            "name": "none",
            "effort": 10,
            "files": {},
        }
        folders.append({"index.json": json.dumps(header).encode()})
    return folders


@cache
def spaces() -> list[Files]:
    torch.manual_seed(0)
    known = RunningAverages(classes=["x", "y"], dimension=4)
    pairs = PairsNetwork(dimension=4, hidden=8, depth=2)
    head = AuxiliaryHead(Dot(), LearnedProxies(classes=["x", "y"], dimension=4))
    table = MetricSpace(
        MLP(inputs=3, dimension=4, hidden=[8]),
        pairs,
        known,
        auxiliary=head,
        reader=TableReader(columns=["a", "b", "c"]),
    )
    network = SmallConvnet(channels=1, size=16, dimension=4)
    reader = ImageReader(height=16, width=16, channels=1)
    image = MetricSpace(network, Cosine(), SupportMeans(dimension=4), reader=reader)
    rich = MetricSpace(MLP(inputs=3, dimension=4, hidden=[]), Cosine(), SupportMeans(["x", "y"], dimension=4))
    rich.reader = VectorReader(dimension=3)
    rich.fitted = TwoCovariance(dimension=4)
    rich.normalised = Neighbourhood(Cosine(), size=6, dimension=4, neighbours=2)
    rich.decisions = {"cosine": Decision("cosine", 0.5, "equal error", "10 trials", 0.1, 0.1, (1.0, 0.0))}
    rich.open_set = rich.decisions["cosine"]
    rich.temperatures = {"similarity": Temperature(1.5, "validation", 10)}
    rich.standings = {"cosine": Standing(0.1, 0.9, "validation", (0.0, 0.1))}
    rich.choices = Choices("cosine", "fitted", "normalised", "validation")
    rich.ladder = Ladder((Rung("start", 0.5, 0.2, "cosine", "fitted", 1.0),), "start", "validation")
    rich.balances = {"cosine": Balance(0.1, "validation")}
    rich.tree = Tree(("both", "x", "y"), (-1, 0, 0))
    folders = [files_in(COMPATIBILITY / "finished" / "space")]
    for space in (table, image, rich):
        with folder_of({}) as folder:
            space.save(folder / "space")
            folders.append(files_in(folder / "space"))
    return folders


@cache
def exports() -> list[Files]:
    """An exported space with a gallery, as it was written, and after a class was enrolled."""
    folders = []
    with folder_of(spaces()[3]) as folder:
        contents = export_contents(
            MetricSpace.load(folder), name="rich", gallery=GalleryItems(torch.eye(4), "abcd", "xyxy")
        )
        write_export(contents, folder / "export", lambda _: None)
        folders.append(files_in(folder / "export"))
        portable = PortableSpace.open(folder / "export")
        portable.enrolments.enroll("z", torch.ones(2, 4).numpy(), replace=False)
        portable.enrolments.rename("x", "w")
        portable.close()
        folders.append(files_in(folder / "export"))
    return folders


@cache
def galleries() -> list[Files]:
    """Indexes with a shortlist for a learned similarity, beside the space that they were made with."""
    folders = []
    with folder_of(spaces()[1]) as folder:
        space = MetricSpace.load(folder)
    for distilled in (False, True):
        index = Exact(4, score="cosine", fingerprint=space_fingerprint(space))
        index.add(
            [f"data.csv, row {place}" for place in range(300)], vectors(300)[:, :4], [{"label": "x"}] * 300
        )
        query_map = QueryMap(dimension=4, hidden=8) if distilled else None
        print_of = similarity_fingerprint(space, "similarity")
        shortlist = Shortlist(
            "similarity", 20, 5, 0.9, (0.8, 1.0), 0.8, 50, 300, print_of, query_map=query_map
        )
        keep_shortlist(index, shortlist)
        with folder_of({}) as folder:
            index.save(folder / "index")
            folders.append(files_in(folder / "index"))
    return folders


@cache
def runs() -> list[Files]:
    folders = []
    for name in ("finished", "stopped"):
        files = files_in(COMPATIBILITY / name) | {"data.csv": (COMPATIBILITY / "data.csv").read_bytes()}
        if "data.json" in files:
            content = json.loads(files["data.json"])
            files["data.json"] = json.dumps({**content, "source": "data.csv"}).encode()
        folders.append(files)
    return folders


@cache
def pictures() -> list[Files]:
    draw, folders = np.random.default_rng(0), []
    formats = {
        "png": ("RGB", {}),
        "jpg": ("RGB", {"exif": b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"}),
        "gif": ("P", {"transparency": 3}),
        "bmp": ("RGB", {}),
        "tiff": ("RGBA", {}),
        "webp": ("RGBA", {}),
        "pgm": ("I;16", {}),
    }
    for ending, (mode, options) in formats.items():
        files = {}
        for place in range(2):
            pixels = draw.integers(0, 256, (12, 12, 4), dtype=np.uint8)
            image = Image.fromarray(pixels).convert("RGB").convert("L" if mode == "I;16" else mode)
            content = io.BytesIO()
            image.convert(mode).save(content, {"jpg": "jpeg", "pgm": "ppm"}.get(ending, ending), **options)
            files[f"class {place}/picture.{ending}"] = content.getvalue()
        folders.append(files)
    return folders


@cache
def sounds() -> list[Files]:
    """Two short sounds in each format, and features of sounds."""
    import soundfile

    draw, folders = np.random.default_rng(0), []
    for ending, subtype in (
        ("wav", "PCM_16"),
        ("wav", "FLOAT"),
        ("flac", None),
        ("ogg", "OPUS"),
        ("mp3", None),
    ):
        files = {}
        for place in range(2):
            content = io.BytesIO()
            soundfile.write(
                content, 0.1 * draw.standard_normal((800, 2)), 16000, format=ending, subtype=subtype
            )
            files[f"class {place}/session/sound.{ending}"] = content.getvalue()
        folders.append(files)
    return folders


def packed(files: Files, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        for name, file in files.items():
            archive.writestr(name, file)
    return content.getvalue()


def as_npy(array: Any) -> bytes:
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


@cache
def archives() -> list[Files]:
    compressions = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    return [
        {
            "data.zip": packed(
                files | {"class 0/ü.gif": pictures()[2]["class 0/picture.gif"]}, compressions[place % 4]
            )
        }
        for place, files in enumerate(pictures())
    ]


def sound_facts() -> Files:
    """What is said beside six frames of three sounds."""
    facts = {"lengths": np.array([1, 2, 3]), "rate": np.array(16000), "labels": np.array(["a", "b", "a"])}
    return {f"{name}.npy": as_npy(array) for name, array in facts.items()}


@cache
def arrays() -> list[Files]:
    rows = np.random.default_rng(0).standard_normal((6, 5)).astype(np.float32)
    labels = {"labels.npy": as_npy(np.array([0, 1, 0, 1, 0, 1])), "classes.npy": as_npy(np.array(["é", "b"]))}
    groups = {"groups.npy": as_npy(np.arange(6.0)), "parts.npy": as_npy(np.array(["train", "test"] * 3))}
    bytes_ = as_npy((rows[:, :, None] * rows[:, None]).clip(0, 255).astype(np.uint8))
    return [
        {"data.npz": packed({"inputs.npy": as_npy(rows), **labels, **groups})},
        {"data.npz": packed({"x.npy": bytes_, "y.npy": labels["labels.npy"]}, zipfile.ZIP_STORED)},
        {"data.npz": packed({"frames.npy": as_npy(rows), **sound_facts()})},
        {"data/a/1.npy": as_npy(rows), "data/b/2.npy": as_npy(rows + 1)},
        {"data/a/1.npy": as_npy(rows[0]), "data/b/2.npy": as_npy(np.asfortranarray(rows)[1])},
        {"data.npy": as_npy(rows)},
        {"data.npy": as_npy(rows.reshape(2, 3, 5))},
    ]


@cache
def tables() -> list[Files]:
    text = (COMPATIBILITY / "data.csv").read_text()
    lines = [
        f"{line},{place % 3},{'train' if place % 2 else 'test'}" for place, line in enumerate(text.split())
    ]
    grouped = "\n".join(["a,b,c,d,label,group,split", *lines[1:]])
    images = [next(iter(files.values())) for files in pictures()[:2]]
    folders = [
        {"data.csv": text.encode()},
        {"data.csv": grouped.encode()},
        {"data.tsv": text.replace(",", "\t").encode()},
        {"data.csv": text.replace(",", ";").encode("utf-8-sig")},
        {
            "x.png": images[0],
            "y.jpg": images[1],
            "data.csv": b"path,label\nx.png,one\ny.jpg,two\n",
        },
    ]
    with contextlib.suppress(ImportError):
        import pyarrow
        import pyarrow.parquet

        content = io.BytesIO()
        columns = {"a": [1.0, 2.0, 3.0], "b": [1, 2, 3], "label": ["x", "y", "x"]}
        pyarrow.parquet.write_table(pyarrow.table(columns), content)
        folders.append({"data.parquet": content.getvalue()})
    return folders


@cache
def others() -> list[Files]:
    """The other formats of data: IDX files, CIFAR, sprites."""
    draw = np.random.default_rng(0)
    images = struct.pack(">BBBBIII", 0, 0, 8, 3, 4, 8, 8) + draw.bytes(256)
    labels = struct.pack(">BBBBI", 0, 0, 8, 1, 4) + bytes([0, 1, 0, 1])
    idx = {
        f"data/{part}-{what}": content
        for part in ("train", "t10k")
        for what, content in (("images-idx3-ubyte", images), ("labels-idx1-ubyte", labels))
    }
    cifar = {f"data/{name}.bin": draw.bytes(3073 * 2) for name in ("data_batch_1", "test_batch")}
    cifar["data/batches.meta.txt"] = "\n".join(map(str, range(256))).encode()
    pickled = bytes.fromhex("80027d71") + b"\x00U\x0blabel_namesq\x01]q\x02U\x01aq\x03as."
    content = io.BytesIO()
    Image.fromarray(draw.integers(0, 256, (4, 16), dtype=np.uint8)).save(content, "png")
    return [
        idx,
        cifar,
        {"data/batches.meta": pickled, "data/data_batch_1": pickled},
        {"data/sprite.png": content.getvalue(), "data/labels.json": b'[0, 1, 0, "b"]'},
    ]


@cache
def plans() -> list[Files]:
    text = """recipe = "triplet"
seed = 3
[data]
source = "digits"
size = [16, 16]
classes = ["1", "2"]
[split]
by = "random"
unseen = ["y"]
fractions = {train = 0.6, validation = 0.2, test = 0.2}
[training]
epochs = 2
batches = {sampler = "Balanced", classes = 4, items = 2}
optimiser = {name = "Adam", rate = 1e-3, rates = {"encoder.stem" = 0.1}}
schedule = {name = "cosine"}
watch = "recall"
augment = [{name = "Flip", probability = 0.5}]
[training.space]
encoder = {name = "MLP", dimension = 4, hidden = [8, 8]}
similarity = {name = "PairsNetwork", hidden = 8}
[training.terms.class]
loss = "softmax"
against = "prototypes"
"""
    return [{"run.toml": text.encode()}, {"run.toml": b'recipe = "prototypical"\n[training]\nepochs = 1\n'}]


@cache
def lists() -> list[Files]:
    files = {f"{name}.png": b"x" for name in "abcd"}
    trials = b"1 a.png b.png\n0 a.png c.png\n0 b.png d.png\n1 c.png d.png\n"
    enrolled = {"enrolments.txt": b"one a.png b.png\ntwo c.png\n"}
    return [
        files | {"trials.txt": trials},
        files | {"trials.txt": b"a.png b.png target\nc.png a.png nontarget\n"},
        files | {"trials.txt": b"1\tone\td.png\n0\ttwo\ta.png\n"} | enrolled,
    ]


@cache
def trees() -> list[Files]:
    """Trees in every format, without lengths and with them, and one that only its content tells."""
    names = ("animals", "mammals", "dog", "cat", "white shark", "a 'b' c/d", "é")
    plain = Tree(names, (-1, 0, 1, 1, 0, 4, 5))
    long = Tree(names, plain.parents, (0, 0.5, 1, 2, 0, 1e-9, 3e5))
    nested = b'{"animals": {"mammals": ["dog", "cat"], "fish": "shark"}}'
    return [
        *(
            {f"tree{entry.endings[0]}": entry.text(tree).encode()}
            for tree in (plain, long)
            for entry in FORMATS.values()
        ),
        {"tree.json": json.dumps(long.to_json()).encode()},
        {"tree.json": nested},
        {"tree": nested},
    ]
