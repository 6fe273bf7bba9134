"""Losses against pytorch-metric-learning: time and memory of forward and backward, as ratios in one run.

    python benchmarks/losses.py [--batch 1024] [--only NAME ...] [--json FILE] [--large]

Both start from the same embeddings (batch x 128, four items a class) and end with their gradient. Times are
interleaved medians; peak memory is that of a fresh process for each. A peer that does not finish within a
minute, or within 12 GiB, is said to have failed, and no ratio is given. With ``--large`` every loss of
samekind runs once at batch 8,192, and its peak memory is shown.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from inspect import signature
from pathlib import Path

import torch
from processes import forget_peak, resident
from torch import Tensor

from samekind import losses
from samekind.pairs import class_masks, pair_masks
from samekind.prototypes import pool
from samekind.similarities import Cosine, Dot, Euclidean, SquaredEuclidean

DIMENSION, PER_CLASS = 128, 4
LARGE = 8192
SECONDS, GIBIBYTES = 60, 12

Cost = Callable[[Tensor, Tensor], Tensor]  # embeddings (n, d), labels (n,) -> a number


def against_batch(loss: Callable[..., Tensor], similarity: torch.nn.Module, *, between: bool = False) -> Cost:
    """A loss of all pairs of the batch."""

    def cost(z: Tensor, y: Tensor) -> Tensor:
        scores = similarity.score_all(z, z)
        positive, negative = pair_masks(y)
        handed = {"between": scores.masked_fill(~negative, -torch.inf)} if between else {}
        return loss(scores, positive, negative, **handed).mean()

    return cost


def one_pair_a_class(loss: Callable[..., Tensor], similarity: torch.nn.Module) -> Cost:
    """A loss of one pair for each class, as the peer's N-pair loss takes them."""

    def cost(z: Tensor, y: Tensor) -> Tensor:
        scores = similarity.score_all(z[::PER_CLASS], z[1::PER_CLASS])
        return loss(scores, *class_masks(y[::PER_CLASS], len(scores))).mean()

    return cost


def against_proxies(
    loss: Callable[..., Tensor], similarity: torch.nn.Module, classes: int, count: int = 1
) -> Cost:
    """A loss against learned proxies; one that asks for lengths is given them."""
    proxies = torch.randn(classes * count, DIMENSION, requires_grad=True)

    def cost(z: Tensor, y: Tensor) -> Tensor:
        scores = similarity.score_all(z, proxies)
        if count > 1:
            scores = pool(scores.reshape(len(z), classes, count), "soft")
        handed = {}
        if "lengths" in signature(loss).parameters:
            handed["lengths"] = z.norm(dim=1)[:, None] * proxies.norm(dim=1)
        return loss(scores, *class_masks(y, classes), **handed).mean()

    return cost


def ours(classes: int) -> dict[str, Cost]:
    """Every loss of samekind in the setting it is made for."""
    cosine, distance, squared = Cosine(), Euclidean(normalise=True), SquaredEuclidean(normalise=True)
    batch = {name: against_batch(getattr(losses, name), cosine) for name in BATCH_COSINE}
    batch |= {name: against_batch(getattr(losses, name), distance) for name in BATCH_DISTANCE}
    batch |= {
        name: against_batch(getattr(losses, name), distance, between=True)
        for name in ("lifted_structure", "quadruplet", "swapped_triplet")
    }
    batch["angular"] = against_batch(losses.angular, cosine, between=True)
    batch["n_pair"] = one_pair_a_class(losses.n_pair, Dot())
    batch["pair_likelihood"] = against_batch(losses.pair_likelihood, Dot())
    batch["softmax over the batch"] = against_batch(losses.softmax, cosine)
    proxies = {name: against_proxies(getattr(losses, name), cosine, classes) for name in PROXY_COSINE}
    proxies["large_margin"] = against_proxies(losses.large_margin, Dot(), classes)
    proxies["proxy_nca"] = against_proxies(losses.proxy_nca, squared, classes)
    proxies["soft_triple"] = against_proxies(losses.soft_triple, cosine, classes, count=2)
    return batch | proxies


BATCH_COSINE = (
    "multi_similarity", "circle", "supervised_contrastive", "nca", "histogram", "smooth_ap", "fast_ap",
    "intra_pair_variance",
)  # fmt: skip
BATCH_DISTANCE = (
    "contrastive", "exponential_contrastive", "linear_contrastive", "margin_based", "ranked_list",
    "generalised_lifted_structure", "triplet",
)  # fmt: skip
PROXY_COSINE = ("softmax", "additive_margin", "arc_face", "sphere_face", "proxy_anchor", "corr")


def peers(classes: int) -> dict[str, Cost]:
    """The same losses of pytorch-metric-learning, where it has them."""
    from pytorch_metric_learning import losses as theirs

    with_proxies = {"num_classes": classes, "embedding_size": DIMENSION}
    return {
        "multi_similarity": theirs.MultiSimilarityLoss(),
        "circle": theirs.CircleLoss(),
        "supervised_contrastive": theirs.SupConLoss(),
        "nca": theirs.NCALoss(),
        "histogram": theirs.HistogramLoss(n_bins=200),
        "smooth_ap": theirs.SmoothAPLoss(),
        "fast_ap": theirs.FastAPLoss(),
        "intra_pair_variance": theirs.IntraPairVarianceLoss(),
        "linear_contrastive": theirs.ContrastiveLoss(),
        "margin_based": theirs.MarginLoss(),
        "ranked_list": theirs.RankedListLoss(margin=0.4, alpha=1.2, Tn=10),
        "contrastive": theirs.ContrastiveLoss(),
        "generalised_lifted_structure": theirs.GeneralizedLiftedStructureLoss(),
        "lifted_structure": theirs.LiftedStructureLoss(),
        "triplet": theirs.TripletMarginLoss(),
        "angular": theirs.AngularLoss(),
        "n_pair": theirs.NPairsLoss(),
        "softmax over the batch": theirs.NTXentLoss(),
        "softmax": theirs.NormalizedSoftmaxLoss(**with_proxies),
        "additive_margin": theirs.CosFaceLoss(**with_proxies),
        "arc_face": theirs.ArcFaceLoss(**with_proxies),
        "sphere_face": theirs.SphereFaceLoss(**with_proxies),
        "large_margin": theirs.LargeMarginSoftmaxLoss(**with_proxies),
        "proxy_nca": theirs.ProxyNCALoss(**with_proxies),
        "proxy_anchor": theirs.ProxyAnchorLoss(**with_proxies),
        "soft_triple": theirs.SoftTripleLoss(**with_proxies, centers_per_class=2),
    }


def embeddings(batch: int) -> tuple[Tensor, Tensor]:
    """Overlapping classes on the sphere, and their labels."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(batch) // PER_CLASS
    centres = torch.randn(batch // PER_CLASS, DIMENSION, generator=generator)
    noise = torch.randn(batch, DIMENSION, generator=generator)
    return torch.nn.functional.normalize(centres[labels] + noise, dim=1), labels


def run_once(cost: Cost, z: Tensor, y: Tensor) -> float:
    """Seconds of one forward and backward."""
    leaf = z.clone().requires_grad_()
    began = time.perf_counter()
    cost(leaf, y).backward()
    return time.perf_counter() - began


def peak(side: str, name: str, batch: int) -> float | None:
    """MiB that a fresh process needs for one forward and backward; None where it fails."""
    command = [sys.executable, __file__, "--batch", str(batch), "--peak", side, name]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS + 30, check=False)
    except subprocess.TimeoutExpired:
        return None
    return float(answer.stdout.split()[-1]) if answer.returncode == 0 else None


def print_own_peak(side: str, name: str, batch: int) -> None:
    """What `peak` asks of the fresh process."""
    resource.setrlimit(resource.RLIMIT_AS, (GIBIBYTES * 2**30,) * 2)
    cost = (ours if side == "ours" else peers)(batch // PER_CLASS)[name]
    small, large = embeddings(2 * PER_CLASS), embeddings(batch)
    run_once(cost, *small)  # whatever is set up at the first call is not part of the loss
    forget_peak()
    before = resident("VmRSS")
    run_once(cost, *large)
    print((resident("VmHWM") - before) / 1024)


def compare(name: str, batch: int, repeats: int) -> dict[str, float | None]:
    """Memory of both sides, and the interleaved median seconds of both where the peer can do it at all."""
    figures: dict[str, float | None] = {
        "our MiB": peak("ours", name, batch),
        "their MiB": peak("theirs", name, batch),
    }
    z, y = embeddings(batch)
    mine, other = ours(batch // PER_CLASS)[name], peers(batch // PER_CLASS)[name]
    run_once(mine, z, y)
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(repeats):
        times["ours"].append(run_once(mine, z, y))
        if figures["their MiB"] is not None:
            times["theirs"].append(run_once(other, z, y))
            if times["theirs"][0] > 5:
                break
    figures |= {
        f"{side} seconds": statistics.median(seconds) if seconds else None for side, seconds in times.items()
    }
    return figures


def ratio(theirs: float | None, mine: float | None) -> str:
    return f"{theirs / mine:.2f}x" if theirs is not None and mine else "peer fails"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--only", nargs="*", help="names of losses")
    parser.add_argument("--large", action="store_true", help="peak memory of our losses at batch 8,192")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak:
        print_own_peak(*arguments.peak, arguments.batch)
        return
    classes = arguments.batch // PER_CLASS
    names = arguments.only or list(ours(classes) if arguments.large else peers(classes))
    results: dict[str, dict[str, float | None]] = {}
    if arguments.large:
        print(f"{'':32}{'MiB at batch 8,192':>20}")
        for name in names:
            results[name] = {"our MiB": peak("ours", name, LARGE)}
            print(f"{name:32}{results[name]['our MiB'] or float('nan'):>20.0f}", flush=True)
    else:
        print(f"batch {arguments.batch} x {DIMENSION}, {torch.get_num_threads()} threads; peer / samekind\n")
        print(f"{'':32}{'time':>12}{'memory':>12}")
        for name in names:
            figures = results[name] = compare(name, arguments.batch, arguments.repeats)
            speed, memory = (
                ratio(figures["theirs seconds"], figures["ours seconds"]),
                ratio(figures["their MiB"], figures["our MiB"]),
            )
            print(f"{name:32}{speed:>12}{memory:>12}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
