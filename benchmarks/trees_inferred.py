"""Neighbour joining beside scikit-bio's and biotite's: the same tree, and in what time.

    pip install scikit-bio biotite && python benchmarks/trees_inferred.py --classes 500 1000 2000

Points are drawn around the nodes of a tree. Each library is timed on the same distances, three times in turn,
and the shortest counts. biotite is left out above 1,000 classes, where it takes minutes.
"""

import argparse
import io
import time
from collections.abc import Callable

import torch

from samekind.taxonomy import Tree, infer_tree, robinson_foulds
from samekind.taxonomy.newick import parse_newick


def drawn(classes: int) -> torch.Tensor:
    """Distances of points, each drawn around the one that is its parent."""
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(classes, 64, generator=generator, dtype=torch.float64)
    for place in range(1, classes):
        points[place] = points[(place - 1) // 2] + points[place] / 2
    return torch.cdist(points, points)


def by_scikit_bio(distances: torch.Tensor, names: list[str]) -> Callable[[], Tree]:
    from skbio import DistanceMatrix
    from skbio.tree import nj

    matrix = DistanceMatrix(((distances + distances.T) / 2).fill_diagonal_(0).numpy(), names)
    return lambda: nj(matrix)


def by_biotite(distances: torch.Tensor) -> Callable[[], object]:
    from biotite.sequence.phylo import neighbor_joining

    matrix = ((distances + distances.T) / 2).fill_diagonal_(0).numpy()
    return lambda: neighbor_joining(matrix)


def seconds(run: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--classes", type=int, nargs="+", default=[500, 1000, 2000])
    for count in parser.parse_args().classes:
        distances, names = drawn(count), [f"c{place}" for place in range(count)]
        runs: dict[str, Callable[[], object]] = {
            "samekind": lambda d=distances, n=names: infer_tree(d, n),
            "scikit-bio": by_scikit_bio(distances, names),
        }
        if count <= 1000:
            runs["biotite"] = by_biotite(distances)
        best: dict[str, float] = {}
        results = {}
        for _ in range(3):
            for name, run in runs.items():
                taken, results[name] = seconds(run)
                best[name] = min(taken, best.get(name, taken))
        text = io.StringIO()
        results["scikit-bio"].write(text)  # type: ignore[attr-defined]
        splits = robinson_foulds(results["samekind"], parse_newick(text.getvalue()), names)  # type: ignore[arg-type]
        times = ", ".join(f"{name} {taken / best['samekind']:.2f}" for name, taken in best.items())
        print(f"{count} classes: times over ours: {times}; Robinson-Foulds to scikit-bio's {splits.distance}")


if __name__ == "__main__":
    main()
