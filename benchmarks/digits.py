"""The tables of docs/results/digits.md: five systems, five seeds, with intervals and paired differences.

    python benchmarks/digits.py [--seeds 5] [--results results/digits] [--work runs/digits]

Classes 7, 8 and 9 are unseen. Each seed draws its own split, weights and order; epochs and thresholds are
chosen on validation items. One JSON a run; a run whose JSON is there is not run again. Prints the tables as
Markdown.
"""

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path

import torch

from samekind import recipes
from samekind.data import digits, prepare
from samekind.evaluation import Row, evaluate, retrieval, verification
from samekind.evaluation.cosine_references import CENTRED, NORMALISED, cosine_references
from samekind.inference import embed
from samekind.measures import Interval, paired_difference, student_interval
from samekind.prototypes import SupportMeans
from samekind.recipes import fit
from samekind.similarities import Cosine
from samekind.space import MetricSpace

UNSEEN = ("7", "8", "9")
#: As the tables name them.
LEARNED = {
    "prototypical": "prototypical",
    "verification": "verification",
    "prototypical-corrected": "prototypical, the network added to the cosine",
    "verification-corrected": "verification, the network added to the cosine",
}
BASELINE = ("triplet", "similarity")
SCORES = {"similarity": "learned similarity", "cosine": "cosine", "fused": "fused"}
SCORES |= {CENTRED: CENTRED, NORMALISED: NORMALISED}
SHOWN = {
    f"{system} | {score}": (name, kind) for name, system in LEARNED.items() for kind, score in SCORES.items()
}
SHOWN["triplet baseline | distance on the sphere (ranks as cosine)"] = BASELINE
PIXELS = ("raw pixels", "cosine")
SHOWN["no training | cosine of the pixels, nearest training item"] = PIXELS

Measured = dict[tuple[str, str, str, str], list[float]]  # (system, kind, items, measure) -> a value a seed


def run_once(system: str, seed: int, results: Path, work: Path) -> list[Row]:
    """The rows of one system and seed, from its JSON if it is there."""
    name = f"{system}-{seed}"
    path = results / f"{name}.json"
    if path.exists():
        return [Row(**row) for row in json.loads(path.read_text())["rows"]]
    items = digits()
    sets = prepare(items, unseen=UNSEEN, seed=seed)
    recipe, _, corrected = system.partition("-")
    changes = ["space.similarity.name=CorrectedCosine"] if corrected else []
    run = getattr(recipes, recipe)(items.shape).override([f"seed={seed}", *changes])
    space = fit(run, sets, folder=work / name, device="cpu")
    rows = evaluate(space, sets.tests(), seed=seed)
    known = embed(space, sets.train.inputs)
    for tested, part in sets.tests().items():
        rows += cosine_references(part, embed(space, part.inputs), known, name=tested, seed=seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"run": run.to_dict(), "rows": [row._asdict() for row in rows]}
    path.write_text(json.dumps(content, indent=1) + "\n")
    print(f"{name} done", flush=True)
    return rows


def raw_pixels(seed: int) -> Iterator[tuple[str, str, float]]:
    """Set, measure and value of what is had without training: by the cosine of the pixels themselves."""
    sets = prepare(digits(), unseen=UNSEEN, seed=seed)
    space = MetricSpace(torch.nn.Flatten(), Cosine(), SupportMeans(dimension=math.prod(sets.train.shape)))
    known, asked = (items.inputs.flatten(1) for items in (sets.train, sets.test))
    nearest = sets.train.labels[space.similarity.score_all(asked, known).argmax(1)]
    yield "seen", "accuracy", float((nearest == sets.test.labels).double().mean())
    for name, items in sets.tests().items():
        z = embed(space, items.inputs)
        for row in (*verification(space, items, z, name=name), *retrieval(space, items, z, name=name)):
            if row.kind == "similarity":
                yield name, row.measure, row.value


def collect(seeds: int, results: Path, work: Path) -> Measured:
    """Every value of every run, by what was measured."""
    measured: Measured = {}
    for seed in range(seeds):
        for items, measure, value in raw_pixels(seed):
            measured.setdefault((*PIXELS, items, measure), []).append(value)
    for system in (*LEARNED, BASELINE[0]):
        for seed in range(seeds):
            for row in run_once(system, seed, results, work):
                measured.setdefault((system, row.kind, row.items, row.measure), []).append(row.value)
    return measured


def percent(interval: Interval) -> str:
    return f"{100 * interval.mean:z.2f} ± {100 * interval.half:.2f}"


def table(measured: Measured) -> str:
    """Mean and 95% interval over seeds, in per cent."""
    asked = [("accuracy", "seen")]
    asked += [(measure, items) for measure in ("EER", "Recall@1") for items in ("seen", "unseen")]
    lines = ["| system | score | " + " | ".join(f"{measure}, {items}" for measure, items in asked) + " |"]
    lines.append("|---|---|" + "--:|" * len(asked))
    for name, (system, kind) in SHOWN.items():
        values = [measured.get((system, kind, items, measure)) for measure, items in asked]
        if not any(values):  # of runs from before the two better cosines were measured
            continue
        cells = [percent(student_interval(by_seed)) if by_seed else "" for by_seed in values]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def differences(measured: Measured) -> str:
    """Paired differences over seeds, in per cent: the first is better below 0 by EER, above 0 by Recall@1."""
    asked = [(measure, items) for measure in ("EER", "Recall@1") for items in ("seen", "unseen")]
    lines = ["| difference | " + " | ".join(f"{measure}, {items}" for measure, items in asked) + " |"]
    lines.append("|---|" + "--:|" * len(asked))
    pairs = [(system, kind, (system, "cosine")) for system in LEARNED for kind in ("similarity", "fused")]
    pairs += [(system, kind, BASELINE) for system in LEARNED for kind in ("similarity", "cosine")]
    for system, kind, other in pairs:
        cells = [
            percent(
                paired_difference(measured[system, kind, items, measure], measured[*other, items, measure])
            )
            for measure, items in asked
        ]
        against = "triplet baseline" if other == BASELINE else "cosine"
        first = {"similarity": "learned"}.get(kind, kind)
        lines.append(f"| {LEARNED[system]}: {first} - {against} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--results", type=Path, default=Path("results/digits"))
    parser.add_argument("--work", type=Path, default=Path("runs/digits"))
    arguments = parser.parse_args()
    measured = collect(arguments.seeds, arguments.results, arguments.work)
    print(f"\n{table(measured)}\n\n{differences(measured)}")


if __name__ == "__main__":
    main()
