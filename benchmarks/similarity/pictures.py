"""The pictures of the page, after figures 2 and 3 of the paper: MNIST in the plane, and is it a metric?

    python benchmarks/similarity/pictures.py [--data MNIST] [--work runs/pictures]
        [--out docs/results/pictures] [--results results/similarity] [--page docs/results/similarity.md]
    python benchmarks/similarity/pictures.py --stored

``MNIST`` is a folder with its four IDX files, gzipped or not; without it the digits of scikit-learn are
drawn, into ``--work``. Embeddings of two numbers, trained by the pair likelihood alone, are drawn as is;
beside them, how far the learned distance of a full space is from a metric, and how far that of the run
``verification-0`` of CIFAR-10 is, where its result is there. What is known of them goes to
``pictures.json``, and from there as tables onto the ``--page``. A training that was stopped goes on, and one
that is done is not done again. With ``--stored`` what is stored there is drawn anew, without data or
training: all but the items in the plane.

Monteiro et al., "An end-to-end approach for the verification problem: learning the right distance", ICML
2020.
"""

import argparse
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from carry_out import plain
from grids.running import chosen_epoch, epochs_in
from grids.tables import markdown, page_with

from samekind.data import Sets, SplitSettings, digits, open_data, prepare
from samekind.decisions import Kind
from samekind.evaluation import validation
from samekind.inference import all_trials, embed, metric_axioms
from samekind.measures import Breaches, MetricAxioms, equal_error_rate
from samekind.recipes import verification
from samekind.reports import axiom_histograms, embedding_map
from samekind.reports.style import PAPER
from samekind.space import MetricSpace
from samekind.storage import write_text
from samekind.training import Optimiser, Part, Run, Schedule, train

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FULL = 64
#: Epochs of MNIST, and of the digits of scikit-learn, which are fifty times fewer.
EPOCHS, EPOCHS_OF_FEW = 3, 60
#: The scores that the page compares, as the space calls them.
SCORES: dict[str, Kind] = {"learned": "similarity", "cosine": "cosine"}
PROMISES = {
    "self_distance": "D(a, a) = 0",
    "asymmetry": "D(a, b) = D(b, a)",
    "triangle": "no detour is shorter",
}


def sets_of(data: Path | None) -> Sets:
    """MNIST with the test images it was published with, and a tenth of the others to choose the epoch by; or
    the digits, cut at random.
    """
    if data is None:
        return prepare(digits())
    return prepare(open_data(data), SplitSettings(by="part", fractions={"train": 0.9, "validation": 0.1}))


def run_in(dimension: int, sets: Sets, *, epochs: int) -> Run:
    """The recipe with a network that a processor trains in minutes, and embeddings of so many numbers. In the
    plane there is no auxiliary term, as in the paper: the pairs alone place the items.
    """
    run = verification(sets.train.shape)
    space = replace(
        run.space,
        encoder=Part("SmallConvnet", {"dimension": dimension, "width": 8}),
        similarity=Part("PairsNetwork", {"hidden": 128, "depth": 3, "dropout": 0.2}),
    )
    run = replace(
        run,
        space=space,
        optimiser=Optimiser("SGD", rate=0.03, momentum=0.9, weight_decay=1e-3),
        schedule=Schedule("cosine", warmup_epochs=0.5),
        epochs=epochs,
    )
    if dimension > 2:
        return run
    return replace(run, space=replace(space, auxiliary=None), terms={"pair": run.terms["pair"]})


def trained(run: Run, sets: Sets, folder: Path) -> tuple[MetricSpace, dict[str, Any]]:
    """The space at its best epoch, and what the record says of its training."""
    validate = validation(sets.validation, run.validate, watch=run.watch, most_items=1000)
    space = train(run, sets.train, folder=folder, validate=validate, device="cpu")
    seconds = sum(len(sets.train) / entry["items_per_second"] for entry in epochs_in(folder))
    known = {"run": run.to_dict(), "epochs": run.epochs, "kept": chosen_epoch(folder)["epoch"]}
    return space, {**known, "seconds": {"training": seconds}}


def rates(space: MetricSpace, z: Tensor, labels: Tensor) -> dict[str, float]:
    """The EER of all pairs of items by the learned score, the cosine and the Euclidean distance."""
    by_score = {}
    for name, kind in SCORES.items():
        trials = all_trials(space, z, labels, kind=kind)
        by_score[name] = equal_error_rate(trials.scores, trials.same).rate
    same = torch.cat([labels[place] == labels[place + 1 :] for place in range(len(labels))])
    return {**by_score, "euclidean": equal_error_rate(-torch.pdist(z), same).rate}


def nearest_mean(z: Tensor, labels: Tensor, known: Tensor, known_labels: Tensor) -> float:
    """The share of items (n, d) nearer to the mean of the known items of their class than to any other's."""
    means = torch.stack([known[known_labels == label].mean(0) for label in range(int(labels.max()) + 1)])
    return float((torch.cdist(z, means).argmin(1) == labels).double().mean())


def measured(
    dimension: int, sets: Sets, work: Path, *, epochs: int
) -> tuple[MetricSpace, Tensor, dict[str, Any]]:
    """A space, its embeddings of the test items, and what is known of them, which is measured once."""
    folder = work / f"{dimension}-dimensions"
    space, known = trained(run_in(dimension, sets, epochs=epochs), sets, folder)
    began = time.perf_counter()
    z, labels = embed(space, sets.test.inputs), sets.test.labels
    path = folder / "measured.json"
    if not path.is_file():
        by = embed(space, sets.validation.inputs)
        measures = {
            "EER": rates(space, z, labels),
            "nearest mean": nearest_mean(z, labels, by, sets.validation.labels),
        }
        seconds = {**known["seconds"], "evaluation": time.perf_counter() - began}
        write_text(path, json.dumps({**measures, "seconds": seconds}))
    return space, z, {**known, **json.loads(path.read_text(encoding="utf-8"))}


def draw(sets: Sets, work: Path, *, name: str, epochs: int) -> tuple[dict[str, "Figure"], dict[str, Any]]:
    """The figures by name, and what is known of the spaces they show."""
    _, places, of_flat = measured(2, sets, work, epochs=epochs)
    full, z, of_full = measured(FULL, sets, work, epochs=epochs)
    axioms = metric_axioms(full, z)
    figures = {
        f"{name}-two-dimensions": embedding_map(places, sets.test.labels, sets.test.classes, origin=True),
        f"{name}-metric-axioms": axiom_histograms(axioms),
    }
    count = len(sets.test)
    known = {
        "data": name,
        "items": {"train": len(sets.train), "validation": len(sets.validation), "test": count},
        "pairs": count * (count - 1) // 2,
        "seed": of_flat["run"]["seed"],
        "medians": {
            name: places[sets.test.labels == label].median(0).values.tolist()
            for label, name in enumerate(sets.test.classes)
        },
        "2 dimensions": of_flat,
        f"{FULL} dimensions": {**of_full, "axioms": plain(axioms)},
    }
    return figures, known


def axioms_in(content: Mapping[str, Mapping[str, Any]]) -> MetricAxioms:
    """What `plain` wrote down, as it was."""

    def breaches(stored: Mapping[str, Any]) -> Breaches:
        histogram = {name: torch.tensor(stored[name], dtype=torch.float64) for name in ("edges", "density")}
        return Breaches._make({**stored, **histogram}[name] for name in Breaches._fields)

    return MetricAxioms._make(breaches(content[promise]) for promise in MetricAxioms._fields)


def tables(known: Mapping[str, Any]) -> str:
    """What is known of the two spaces, in Markdown."""
    counts, scores = known["items"], ("learned", "cosine", "euclidean")
    heading = [
        "dimensions",
        *(f"EER, {score}" for score in scores),
        "nearest mean",
        "epoch kept",
        "training, s",
    ]
    rows = []
    for dimension in (2, FULL):
        figures = known[f"{dimension} dimensions"]
        shares = [*(figures["EER"][score] for score in scores), figures["nearest mean"]]
        epoch = f"{figures['kept']} of {figures['epochs']}"
        percents = [f"{100 * share:.2f}" for share in shares]
        rows.append([str(dimension), *percents, epoch, f"{figures['seconds']['training']:.0f}"])
    axioms = known[f"{FULL} dimensions"]["axioms"]
    promised = [
        [
            promise,
            *(f"{axioms[name][statistic]:.3g}" for statistic in ("mean", "median", "most")),
            f"{axioms[name]['cases']:,}",
        ]
        for name, promise in PROMISES.items()
    ]
    words = (
        f"{counts['train']:,} images to train with, {counts['validation']:,} to choose the epoch by, "
        f"{counts['test']:,} to test with, in {known['pairs']:,} pairs; seed {known['seed']}. Per cent:"
    )
    return "\n\n".join(
        (
            words,
            markdown(heading, rows),
            f"The promises of a metric, in {FULL} dimensions:",
            markdown(["promise", "mean", "median", "most", "cases"], promised),
        )
    )


def of_the_grid(results: Path) -> dict[str, "Figure"]:
    """The axioms on CIFAR-10, as the paper has them, from a run of the grid; none where it was not run."""
    path = results / "verification-0.json"
    if not path.exists():  # of runs with older settings
        path = results / "older" / "verification-0.json"
    if not path.is_file():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    return {"cifar10-metric-axioms": axiom_histograms(axioms_in(content["axioms"]))}


def stored(results: Path) -> dict[str, "Figure"]:
    """The figures that can be drawn from what was written down."""
    known = json.loads((results / "pictures.json").read_text(encoding="utf-8"))
    axioms = axioms_in(known[f"{FULL} dimensions"]["axioms"])
    return {f"{known['data']}-metric-axioms": axiom_histograms(axioms)} | of_the_grid(results)


def save(figures: Mapping[str, "Figure"], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in figures.items():
        figure.savefig(folder / f"{name}.png", dpi=120, facecolor=PAPER, metadata={"Software": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--work", type=Path, default=Path("runs/pictures"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--stored", action="store_true")
    given = parser.parse_args()
    if given.stored:
        figures = stored(given.results or Path("results/similarity"))
        save(figures, given.out or Path("docs/results/pictures"))
        return
    # Who tries it on the digits does not overwrite what the page shows.
    shown = given.data is not None
    out = given.out or (Path("docs/results/pictures") if shown else given.work)
    results = given.results or (Path("results/similarity") if shown else given.work)
    name, epochs = ("mnist", EPOCHS) if shown else ("digits", EPOCHS_OF_FEW)
    figures, known = draw(sets_of(given.data), given.work / name, name=name, epochs=epochs)
    save(figures | of_the_grid(results), out)
    write_text(results / "pictures.json", json.dumps(known, indent=1) + "\n")
    written = tables(known)
    print(written)
    if given.page is not None:
        page = given.page.read_text(encoding="utf-8")
        write_text(given.page, page_with(page, written, mark="pictures"))


if __name__ == "__main__":
    main()
