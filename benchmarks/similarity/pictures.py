"""The two pictures of the page, from spaces trained on the digits in a minute or two on a CPU.

    python benchmarks/similarity/pictures.py [--out docs/results/pictures] [--results results/similarity]

Embeddings of two numbers, trained by the pair likelihood alone, drawn as they are; and how far the learned
distance of a full space is from a metric. What the captions say is in ``pictures.json``.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from carry_out import plain

from samekind.data import Sets, digits, prepare
from samekind.inference import all_trials, embed, metric_axioms
from samekind.measures import equal_error_rate
from samekind.recipes import fit, verification
from samekind.reports import axiom_histograms, embedding_map
from samekind.space import MetricSpace
from samekind.storage import write_text
from samekind.training import Part, Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def in_two_dimensions(run: Run) -> Run:
    """The same run with embeddings of two numbers and no auxiliary term: the pairs alone place the items."""
    terms = {"pair": run.terms["pair"]}
    space = replace(run.space, encoder=Part("SmallConvnet", {"dimension": 2}), auxiliary=None)
    return replace(run, space=space, terms=terms, epochs=40)


def trained(run: Run, sets: Sets) -> MetricSpace:
    with tempfile.TemporaryDirectory() as folder:
        return fit(run, sets, folder=folder, device="cpu")


def rates(space: MetricSpace, sets: Sets) -> dict[str, float]:
    """The EER of all pairs of test items by each kind of score."""
    z = embed(space, sets.test.inputs)
    found = {kind: all_trials(space, z, sets.test.labels, kind=kind) for kind in space.kinds}
    return {kind: equal_error_rate(trials.scores, trials.same).rate for kind, trials in found.items()}


def draw(sets: Sets) -> tuple[dict[str, "Figure"], dict[str, Any]]:
    """The figures by name, and what is known of the spaces they show."""
    run = verification(sets.train.shape)
    flat, full = trained(in_two_dimensions(run), sets), trained(run, sets)
    items = sets.test
    axioms = metric_axioms(full, embed(full, items.inputs))
    figures = {
        "digits-two-dimensions": embedding_map(embed(flat, items.inputs), items.labels, items.classes),
        "digits-metric-axioms": axiom_histograms(axioms),
    }
    known = {
        "items": len(items),
        "EER in two dimensions": rates(flat, sets),
        "EER in 64 dimensions": rates(full, sets),
        "axioms": plain(axioms),
    }
    return figures, known


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/results/pictures"))
    parser.add_argument("--results", type=Path, default=Path("results/similarity"))
    arguments = parser.parse_args()
    figures, known = draw(prepare(digits()))
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, figure in figures.items():
        figure.savefig(arguments.out / f"{name}.png")
    write_text(arguments.results / "pictures.json", json.dumps(known, indent=1) + "\n")
    for name in ("EER in two dimensions", "EER in 64 dimensions"):
        print(name, {kind: f"{100 * rate:.2f}" for kind, rate in known[name].items()})


if __name__ == "__main__":
    main()
