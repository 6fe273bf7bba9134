"""How many candidates the learned similarity must look at, by the cosine and distilled, on digits.

    python benchmarks/shortlists.py [--epochs 15] [--copies 4] [--out results/search]

A space is trained on all digits of scikit-learn; its gallery is the digits, and the digits with copies of
each that are shifted by a pixel at most and noisy. For every score `fit_shortlist` measures, with 200 stored
items as queries, the shortest list whose recall of the 10 best is 0.95 at the lower end of its interval. The
last row scores the same vectors with a pairs network that was never trained.
"""

import argparse
import json
import tempfile
from pathlib import Path

import torch
from torch import Tensor

import samekind
from samekind import recipes
from samekind.data import scaled
from samekind.index import Exact
from samekind.inference import embed, fit_shortlist
from samekind.similarities import PairsNetwork
from samekind.space import MetricSpace
from samekind.storage import write_text


def trained(epochs: int) -> MetricSpace:
    """A space of the digits, by the recipe `prototypical`."""
    items = samekind.digits()
    with tempfile.TemporaryDirectory() as folder:
        run = recipes.prototypical(items.shape).override([f"epochs={epochs}"])
        return samekind.fit(run, samekind.prepare(items), folder=folder)


def copied(pictures: Tensor, copies: int) -> Tensor:
    """Pictures, and further ones of each: shifted by a pixel at most, with noise."""
    generator = torch.Generator().manual_seed(0)
    versions = [pictures]
    for _ in range(copies):
        shift = torch.randint(-1, 2, (2,), generator=generator).tolist()
        noise = 0.1 * torch.randn(pictures.shape, generator=generator)
        versions.append((torch.roll(pictures, shift, (2, 3)) + noise).clamp(0, 1))
    return torch.cat(versions)


def measured(space: MetricSpace, z: Tensor, kind: str) -> dict[str, object]:
    """The shortlists of a gallery: by the cosine, and by what is kept."""
    index = Exact(z.shape[1])
    index.add([str(place) for place in range(len(z))], z)
    shortlist = fit_shortlist(space, index, kind=kind)
    return {
        "gallery": len(z),
        "by the cosine": shortlist.plain_size,
        "kept": shortlist.size,
        "distilled": shortlist.query_map is not None,
        "recall": shortlist.recall,
        "interval": shortlist.interval,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--copies", type=int, default=4)
    parser.add_argument("--out", type=Path, help="a folder to write the figures to as well")
    arguments = parser.parse_args()
    space = trained(arguments.epochs)
    z = embed(space, copied(scaled(samekind.digits().inputs), arguments.copies))
    torch.manual_seed(3)
    untrained = PairsNetwork(dimension=z.shape[1], hidden=256, depth=1)
    blank = MetricSpace(space.encoder, untrained, space.prototypes).eval()
    few = samekind.digits().inputs.shape[0]
    figures = {
        "similarity": measured(space, z, "similarity"),
        "fused": measured(space, z, "fused"),
        "similarity, no copies": measured(space, z[:few], "similarity"),
        "a network never trained": measured(blank, z[:10_000], "similarity"),
    }
    print(f"{'':28}{'gallery':>9}{'by the cosine':>15}{'kept':>7}{'recall':>9}")
    for name, row in figures.items():
        # None stands for no list within a quarter of the gallery.
        sizes = [row[what] if row[what] is not None else "all" for what in ("by the cosine", "kept")]
        print(f"{name:28}{row['gallery']:>9}{sizes[0]!s:>15}{sizes[1]!s:>7}{row['recall']:>9.3f}")
    if arguments.out:
        write_text(arguments.out / "shortlists.json", json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
