"""Two-stage search with a learned similarity in a large gallery, one type of index beside the other.

    python benchmarks/search.py [--vectors 1000000] [--types exact flat hnsw ivf pq] [--out results/search]
    python benchmarks/search.py --truth-only --device cuda

The gallery is made: classes within groups of classes, and within every class the same few directions that
mean nothing, as lighting or a microphone do. A pairs network (d = 128, four layers of 256) is trained to see
past them, on classes of its own. Of 200 new queries the 10 best by that network among all vectors are the
truth; with those of the sample that shortlists are measured with, it is computed once and kept in the cache,
beside the network (``--truth-only`` does no more than that, on any device; the cache can be carried to
another machine).

Each type is built in a process of its own (vectors added, structure built, shortlist measured and, where that
is shorter, distilled, all saved) and searched in another, which opens it. Memory is what that process holds
on top of its imports. Every ratio is to one figure, comparing everything with the network in the exact index
(of this run, or the last that measured it); how fast that goes through the type itself stands beside it. In
a folder it is the same work for every type, and tells how busy the cores were; servers send all vectors.
Figures of types that a run does not measure stay as they are. ``--types postgres milvus`` take the address
of a server from ``--postgres`` and ``--milvus``.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from processes import forget_peak, resident
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from samekind.index import Exact, Faiss, Found, Index, Milvus, Postgres, open_index
from samekind.inference import fit_shortlist, search, search_index
from samekind.inference.shortlist import shortlist_of
from samekind.prototypes import SupportMeans
from samekind.similarities import PairsNetwork
from samekind.space import MetricSpace
from samekind.storage import write_text

DIMENSION, HIDDEN, DEPTH, THREADS = 128, 256, 4, 2
QUERIES, K, RECALL = 200, 10, 0.95
FEW = 4  # queries, where each is compared with everything
SAMPLE = 200  # of stored vectors, what `fit_shortlist` draws by itself for this recall
IN_A_CLASS, CLASSES_IN_A_GROUP, NUISANCES = 100, 20, 16
STEPS, CLASSES_A_STEP, ITEMS_A_CLASS = 400, 24, 4
FOLDER_TYPES, SERVERS = ("exact", "flat", "hnsw", "ivf", "pq"), ("postgres", "milvus")
NAMES = {name: f"FAISS {name if name == 'flat' else name.upper()}" for name in FOLDER_TYPES}
NAMES |= {"exact": "exact", "postgres": "PostgreSQL", "milvus": "Milvus"}
HEADS = ("index", "faster than comparing all in exact", "recall@10", "candidates", "queries a second")
HEADS += ("comparing all through it, queries a second", "build, s", "measuring the list, s", "memory, MiB")


# --- the gallery, the network and the truth ---------------------------------------------------------


class World:
    """Vectors of classes; the directions that mean nothing are the same in every world of a dimension."""

    def __init__(self, classes: int, *, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        groups = self.normal(max(2, classes // CLASSES_IN_A_GROUP), DIMENSION)
        group = torch.randint(len(groups), (classes,), generator=self.generator)
        self.centres = groups[group] + 0.7 * self.normal(classes, DIMENSION)
        nuisances = torch.randn(NUISANCES, DIMENSION, generator=torch.Generator().manual_seed(0))
        self.nuisances = nuisances * 3 / DIMENSION**0.5

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self.generator)

    def of(self, labels: Tensor) -> Tensor:
        """A vector (n, d) of each class."""
        without_meaning = self.normal(len(labels), NUISANCES) @ self.nuisances
        return self.centres[labels] + without_meaning + 0.3 * self.normal(len(labels), DIMENSION)

    def some(self, count: int) -> Tensor:
        """Vectors of any classes, made in blocks."""
        vectors = torch.empty(count, DIMENSION)
        for start in range(0, count, 2**16):
            size = min(2**16, count - start)
            vectors[start : start + size] = self.of(
                torch.randint(len(self.centres), (size,), generator=self.generator)
            )
        return vectors


def gallery(vectors: int) -> tuple[Tensor, Tensor]:
    """What is stored (n, d), and the queries."""
    world = World(max(10, vectors // IN_A_CLASS), seed=1)
    return world.some(vectors), world.some(QUERIES)


def network(cache: Path, device: str) -> PairsNetwork:
    """The pairs network, trained once; its training takes a minute on two cores."""
    torch.manual_seed(0)
    pairs_network = PairsNetwork(dimension=DIMENSION, hidden=HIDDEN, depth=DEPTH, dropout=0.1)
    path = cache / "network.safetensors"
    if not path.exists():
        train(pairs_network.to(device))
        save_file(
            {name: tensor.cpu().contiguous() for name, tensor in pairs_network.state_dict().items()}, path
        )
    pairs_network.load_state_dict(load_file(path))
    return pairs_network.to(device).eval()


def train(pairs_network: PairsNetwork) -> None:
    """All pairs of a few classes a step: same or different, both equally heavy."""
    world = World(2_000, seed=2)
    device = pairs_network.first.weight.device
    optimiser = torch.optim.Adam(pairs_network.parameters(), lr=1e-3)
    labels = torch.arange(CLASSES_A_STEP).repeat_interleave(ITEMS_A_CLASS)
    same = (labels[:, None] == labels) & ~torch.eye(len(labels), dtype=torch.bool)
    different = labels[:, None] != labels
    for step in range(STEPS):
        classes = torch.randperm(len(world.centres), generator=world.generator)[:CLASSES_A_STEP]
        z = world.of(classes[labels]).to(device)
        scores = pairs_network.score_all(z, z)
        loss = F.softplus(-scores[same]).mean() + F.softplus(scores[different]).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 100 == 0:
            say(f"network: step {step}, loss {loss.item():.3f}")


def sampled(vectors: int) -> Tensor:
    """The places of the stored vectors that `fit_shortlist` asks with."""
    return torch.randperm(vectors, generator=torch.Generator().manual_seed(0))[:SAMPLE]


def truth(z: Tensor, queries: Tensor, cache: Path, device: str) -> Tensor:
    """The 11 best of everything for each query, then for each of the sample: places (400, 11)."""
    path = cache / f"truth-{len(z)}.safetensors"
    if path.exists():
        cached = load_file(path)
        if not torch.allclose(cached["first"], z[:8], atol=1e-4):
            sys.exit(f"{path} is the truth of another gallery; delete it to have it computed again")
        return cached["places"]
    space = as_space(network(cache, device)).to(device)
    asked, stored = torch.cat([queries, z[sampled(len(z))]]).to(device), z.to(device)
    strip, places = 25, []
    for start in range(0, len(asked), strip):
        began = time.perf_counter()
        places.append(search(space, asked[start : start + strip], stored, k=K + 1).indices)
        took = time.perf_counter() - began
        pairs = len(places[-1]) * len(z) / took / 1e6
        say(f"truth: {start + len(places[-1])} of {len(asked)} queries, {pairs:.2f} million pairs/s")
    best = torch.cat(places)
    save_file({"places": best, "first": z[:8].contiguous()}, path)
    return best


def as_space(similarity: PairsNetwork) -> MetricSpace:
    return MetricSpace(nn.Identity(), similarity, SupportMeans(dimension=DIMENSION)).eval()


# --- one type -----------------------------------------------------------------------------------------


class Remembering:
    """An index that does not compare everything again where the answer is in the cache.

    What the shortlist of every type is measured against is the same for all of them.
    """

    def __init__(self, index: Index, known: dict[bytes, list[str]]) -> None:
        self._index, self._known = index, known

    def search(self, queries: Tensor, k: int, *, scorer: Any = None) -> Found:
        keys = [query.numpy().tobytes() for query in queries]
        if scorer is None or k != K + 1 or not all(key in self._known for key in keys):
            return self._index.search(queries, k, scorer=scorer)
        return Found(torch.zeros(len(queries), k), [self._known[key] for key in keys])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def __len__(self) -> int:
        return len(self._index)

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)


def empty_index(index_type: str, arguments: argparse.Namespace) -> Index:
    if index_type == "exact":
        return Exact(DIMENSION)
    if index_type in FOLDER_TYPES:
        return Faiss(DIMENSION, structure=index_type)  # type: ignore[arg-type]
    name = f"benchmark_{arguments.vectors}"
    index: Index = {"postgres": Postgres, "milvus": Milvus}[index_type](
        DIMENSION, url=getattr(arguments, index_type), name=name
    )
    if len(index):
        sys.exit(f'there is an index "{name}" on that server already; drop it first')
    return index


def build(index_type: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Seconds of each part of building an index, and the shortlist."""
    z, queries = gallery(arguments.vectors)
    places = truth(z, queries, arguments.cache, arguments.device)[QUERIES:]
    ids = [str(place) for place in range(len(z))]
    known = {
        z[place].numpy().tobytes(): [ids[neighbour] for neighbour in row]
        for place, row in zip(sampled(len(z)).tolist(), places.tolist(), strict=True)
    }
    space = as_space(network(arguments.cache, "cpu"))
    seconds = Seconds()
    index = empty_index(index_type, arguments)
    for start in range(0, len(z), 2**16):
        index.add(ids[start : start + 2**16], z[start : start + 2**16])
    seconds.lap("add")
    folder = arguments.cache / f"index-{index_type}-{len(z)}"
    index.save(folder)
    seconds.lap("build and save")
    shortlist = fit_shortlist(space, Remembering(index, known), k=K, recall=RECALL)  # type: ignore[arg-type]
    seconds.lap("shortlist")
    index.save(folder)
    note = {name: value for name, value in shortlist.to_note().items() if name != "query_map"}
    return {"seconds": seconds.parts, "shortlist": note | {"distilled": shortlist.query_map is not None}}


def measure(index_type: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """How a saved index is searched: recall of the truth, queries a second, memory."""
    # Only the queries are kept: the index has vectors of its own.
    z, queries = gallery(arguments.vectors)
    best = truth(z, queries, arguments.cache, arguments.device)[:QUERIES, :K].tolist()
    space = as_space(network(arguments.cache, "cpu"))
    del z
    search(space, queries[:2], queries, k=1)  # whatever is set up at the first call
    forget_peak()
    before = resident("VmRSS")
    seconds = Seconds()
    index = open_index(arguments.cache / f"index-{index_type}-{arguments.vectors}")
    shortlist = shortlist_of(space, index)
    if shortlist is None or shortlist.size is None:
        queries = queries[:FEW]  # everything is compared: a few tell as much
    answers = search_index(space, index, queries[:1], K)
    seconds.lap("open and first search")
    took, one_by_one = [], []
    for _ in range(arguments.repeats):
        answers = search_index(space, index, queries, K)
        took.append(seconds.lap("search"))
    for query in queries[:50]:
        search_index(space, index, query[None], K)
        one_by_one.append(seconds.lap("one by one"))
    held = (resident("VmRSS") - before) / 1024
    peak = (resident("VmHWM") - before) / 1024
    shares = [
        len({int(id) for id in row} & set(wanted)) / K for row, wanted in zip(answers.ids, best, strict=False)
    ]
    everything = exhaustive_seconds(space, index, queries, arguments.repeats)
    return {
        "size in use": shortlist.size_for(K, len(index)) if shortlist is not None else None,
        "recall": statistics.mean(shares),
        "recall half-width": 1.96 * statistics.pstdev(shares) / math.sqrt(len(shares)),
        "queries a second": len(queries) / statistics.median(took),
        "one by one": 1 / statistics.median(one_by_one),
        "exhaustive queries a second": 1 / everything,
        "MiB": held,
        "peak MiB": peak,
        "open and first search, s": seconds.parts["open and first search"],
    }


def exhaustive_seconds(space: MetricSpace, index: Index, queries: Tensor, repeats: int) -> float:
    """Seconds a query where everything is compared with the network: a few of them together, the median."""
    few, took = queries[:FEW], []
    for _ in range(repeats):
        began = time.perf_counter()
        with torch.no_grad():
            index.search(few, K, scorer=space.scorer())
        took.append((time.perf_counter() - began) / len(few))
    return statistics.median(took)


class Seconds:
    """Seconds of each part since the part before."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}
        self.last = time.perf_counter()

    def lap(self, name: str) -> float:
        now = time.perf_counter()
        took, self.last = now - self.last, now
        self.parts[name] = self.parts.get(name, 0.0) + took
        return took


# --- all of them ----------------------------------------------------------------------------------------


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def compute(_: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """The truth, for all types."""
    return {"queries": len(truth(*gallery(arguments.vectors), arguments.cache, arguments.device))}


STAGES: dict[str, Callable[[str, argparse.Namespace], dict[str, Any]]] = {
    "truth": compute,
    "build": build,
    "measure": measure,
}


def in_its_own_process(stage: str, index_type: str) -> dict[str, Any]:
    threads = {"OMP_NUM_THREADS": str(THREADS), "OMP_WAIT_POLICY": "PASSIVE"}
    command = [sys.executable, __file__, *sys.argv[1:], "--stage", stage, "--types", index_type]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | threads)
    figures: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return figures


def show(vectors: int, types: dict[str, dict[str, Any]], everything: float | None) -> None:
    print(f"\n{vectors:,} x {DIMENSION}, pairs network {DEPTH} x {HIDDEN}, {THREADS} threads\n")
    print(table(types, everything))


def table(types: dict[str, dict[str, Any]], everything: float | None) -> str:
    """A row a type, as Markdown; ``everything``: those a second of comparing all in exact, for ratios."""
    lines = ["| " + " | ".join(HEADS) + " |", "|---|" + "--:|" * (len(HEADS) - 1)]
    for index_type, figures in types.items():
        parts, size = figures["seconds"], figures["size in use"]
        by_cosine = "" if figures["shortlist"]["distilled"] else " (by the cosine)"
        cells = (
            NAMES[index_type],
            f"{figures['queries a second'] / everything:.0f} times" if everything else "",
            f"{figures['recall']:.3f} ± {figures['recall half-width']:.3f}",
            f"{size:,}{by_cosine}" if size else "everything",
            _rate(figures["queries a second"], 3),
            _rate(figures["exhaustive queries a second"], 2),
            f"{parts['add'] + parts['build and save']:.1f}",
            f"{parts['shortlist']:.0f}",
            f"{figures['MiB']:,.0f}",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _rate(queries: float, digits: int) -> str:
    """So many a second, in so many digits; of hundreds all."""
    return f"{queries:,.0f}" if queries >= 100 else f"{queries:.{digits}g}"


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vectors", type=int, default=1_000_000)
    parser.add_argument("--types", nargs="+", choices=(*FOLDER_TYPES, *SERVERS), default=FOLDER_TYPES)
    parser.add_argument("--postgres", help="the address of a PostgreSQL server with pgvector")
    parser.add_argument("--milvus", help="the address of a Milvus server")
    parser.add_argument("--device", default="cpu", help="where the network is trained and the truth computed")
    parser.add_argument("--truth-only", action="store_true", help="make the network and the truth, no more")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cache", type=Path, default=Path("runs/search"), help="network, truth and indexes")
    parser.add_argument("--out", type=Path, default=Path("results/search"))
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    arguments = asked()
    torch.set_num_threads(THREADS)
    arguments.cache.mkdir(parents=True, exist_ok=True)
    if arguments.stage:
        print(json.dumps(STAGES[arguments.stage](arguments.types[0], arguments)))
        return
    in_its_own_process("truth", "exact")
    if arguments.truth_only:
        return
    path = arguments.out / f"vectors-{arguments.vectors}.json"
    # Kinds take long, and may be measured in several runs.
    before = json.loads(path.read_text())["kinds"] if path.exists() else {}
    types: dict[str, dict[str, Any]] = {}
    for index_type in arguments.types:
        say(f"{index_type}: building")
        built = in_its_own_process("build", index_type)
        types[index_type] = built | in_its_own_process("measure", index_type)
        figures = {"vectors": arguments.vectors, "threads": THREADS, "wanted": RECALL}
        write_text(path, json.dumps({**figures, "kinds": before | types}, indent=2) + "\n")
    exact = (before | types).get("exact", {})
    show(arguments.vectors, types, exact.get("exhaustive queries a second"))
    if any(figures["recall"] + figures["recall half-width"] < RECALL for figures in types.values()):
        sys.exit("a type of index finds fewer than its shortlist promises")


if __name__ == "__main__":
    main()
