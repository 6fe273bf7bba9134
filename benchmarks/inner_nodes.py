"""Answers at inner nodes of a tree, against always answering with a class: plankton and birds.

    python benchmarks/inner_nodes.py --data DIR [--device cuda] [--quick] [--only plankton] [--seeds 3]
    python benchmarks/inner_nodes.py --table [--page docs/results/trees.md]

DIR holds cub200.zip, cub200_taxonomy.csv, plankton.zip and plankton_taxonomy.csv. Items are split 60/20/20
at random by the seed. The space is what the house recipe keeps without training a network (pretrained
features, a similarity fitted to them, or a head on them); thresholds are fitted on validation items, all
figures are of test items. A run whose JSON exists is not run again. ``--quick`` takes a few classes.
"""

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from samekind.data import DataSettings, Items, SplitSettings, open_data, prepare
from samekind.inference import embed
from samekind.inference.inner_nodes import threshold_at, way_down
from samekind.inference.known_classes import labels_in
from samekind.measures import student_interval
from samekind.recipes import climb
from samekind.storage import write_text

RESULTS = Path(__file__).parents[1] / "results" / "inner-nodes"
#: The archive, its taxonomy, how pictures are read, and the channels.
DATA = {
    "plankton": ("plankton.zip", "plankton_taxonomy.csv", 96, "pad", 1),
    "birds": ("cub200.zip", "cub200_taxonomy.csv", 224, "crop", 3),
}
LEVELS = (0.9, 0.95, 0.99)
FEWEST = 10  # items of a class, so that every part has some
QUICK_CLASSES, QUICK_ITEMS, QUICK_PIXELS = 12, 30, 64
BEGIN, END = "<!-- inner nodes: begin -->", "<!-- inner nodes: end -->"


def opened(name: str, folder: Path, *, quick: bool) -> Items:
    """The items of a set with their tree; with ``quick`` a few of a dozen classes, small."""
    archive, taxonomy, size, fit, channels = DATA[name]
    settings = DataSettings(
        size=QUICK_PIXELS if quick else size,
        fit=fit,
        channels=channels,
        memory="never" if quick else "always",
        taxonomy=str(folder / taxonomy),
    )
    items = open_data(folder / archive, settings=settings)
    sizes = torch.bincount(items.labels, minlength=len(items.classes)).tolist()
    names = [name for name, count in zip(items.classes, sizes, strict=True) if count >= FEWEST]
    if quick:
        names = names[:: max(1, len(names) // QUICK_CLASSES)][:QUICK_CLASSES]
        items = items.only(names)
        places = [(items.labels == label).nonzero().flatten()[:QUICK_ITEMS] for label in range(len(names))]
        return items.take(torch.cat(places))
    return items.only(names)


def measured(name: str, folder: Path, seed: int, *, device: str, quick: bool) -> dict:
    """The figures of one split."""
    sets = prepare(opened(name, folder, quick=quick), SplitSettings(seed=seed))
    with TemporaryDirectory() as scratch:
        space = climb(sets, folder=scratch, minutes=0, seed=seed, device=device, tell=print).to(
            "cpu" if device == "cpu" else "cuda"
        )
    truth, z = labels_in(space, sets.test), embed(space, sets.test.inputs)
    way = way_down(space, z)
    depths = torch.tensor(way.tree.depths)
    inside, is_class = (
        way.tree.membership(space.classes),
        torch.tensor([node in set(space.classes) for node in way.tree.names]),
    )
    leaves = torch.tensor([way.tree.depth(one) for one in space.classes])
    with torch.no_grad():
        named = space.classify(z.to(next(space.parameters()).device)).probabilities.argmax(1).cpu()
    rows = {"a class, always": _row(named == truth, leaves[named], torch.ones(len(truth)))}
    for level in LEVELS:
        threshold, fitted = threshold_at(space, level)
        nodes, _ = way.ends(threshold)
        rows[f"wanted {level:.0%}"] = {
            **_row(inside[nodes, truth], depths[nodes], is_class[nodes]),
            "threshold": threshold,
            "fitted": fitted,
        }
    about = {"data": name, "seed": seed, "quick": quick, "kept": space.ladder.kept, "items": len(truth)}
    return {**about, "classes": len(space.classes), "answers": rows}


def _row(right: torch.Tensor, depth: torch.Tensor, named: torch.Tensor) -> dict[str, float]:
    return {
        "right": float(right.double().mean()),
        "depth": float(depth.double().mean()),
        "class named": float(named.double().mean()),
    }


def _share(values: list[float]) -> str:
    """The mean in per cent, with its 95% interval over splits."""
    if len(values) < 2:
        return f"{values[0]:.1%}"
    interval = student_interval(values)
    return f"{interval.mean:.1%} ± {100 * interval.half:.1f}"


def table(results: list[dict]) -> str:
    """The means over seeds as Markdown."""
    lines = ["| data | answers | right | mean depth | a class is named |", "|---|---|--:|--:|--:|"]
    for name in dict.fromkeys(result["data"] for result in results):
        runs = [result["answers"] for result in results if result["data"] == name]
        for answers in runs[0]:
            right, depth, named = (
                [run[answers][key] for run in runs] for key in ("right", "depth", "class named")
            )
            lines.append(
                f"| {name} | {answers} | {_share(right)} | {sum(depth) / len(depth):.2f} | {_share(named)} |"
            )
    seeds = max((sum(one["data"] == other["data"] for one in results) for other in results), default=0)
    return "\n".join(
        [*lines, "", f"Means over {seeds} splits, with 95% intervals; depth in edges from the root."]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=list(DATA))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    if not options.table:
        for name in [options.only] if options.only else DATA:
            for seed in range(1 if options.quick else options.seeds):
                path = options.results / f"{name}-{seed}{'-quick' if options.quick else ''}.json"
                if not path.exists():
                    result = measured(name, options.data, seed, device=options.device, quick=options.quick)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    write_text(path, json.dumps(result, indent=2) + "\n")
    files = sorted(options.results.glob("*.json"))
    results = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    text = table([result for result in results if result["quick"] == options.quick])
    print(text)
    if options.page is not None:
        page = options.page.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        write_text(options.page, f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
