"""The tables of the page, from the JSONs of whatever runs there are."""

from collections.abc import Sequence

import torch
from claims import BEST_PUBLISHED, CLAIMS, OWN, RECALL
from grid import LOSSES, SWEPT, WEIGHTS, called
from grids.results import Results
from grids.tables import claims_table, cost, markdown, mean_of, runs_done, sections, with_interval

from samekind.measures import paired_bootstrap_mean, paired_difference
from samekind.recipes.unseen import EXTENSIONS

RECALLS = ("Recall@1", "Recall@2", "Recall@4", "Recall@8")
NEIGHBOURS = "kNN accuracy"
PAIRS = ("EER", "minDCF at 1%")

#: Recall@1, 2, 4, 8, kNN accuracy and NMI on these birds, Table 3 of Al-Kaabi, Monsefi and Zabihzadeh: with
#: BN-Inception, the epoch with the best recall on the test classes.
PUBLISHED = {
    "triplet-base": (45.39, 58.86, 70.41, 80.44, 49.14, 58.17),
    "triplet-energy": (39.94, 52.65, 66.12, 78.53, 42.35, 55.87),
    "triplet-soft-adv": (51.5, 64.47, 75.83, 84.69, 53.98, 61.83),
    "triplet-adapt-adv": (53.66, 65.83, 76.65, 84.99, 56.14, 62.07),
    "angular-base": (49.59, 62.15, 73.36, 83.05, 51.98, 59.26),
    "angular-energy": (49.95, 62.19, 72.75, 82.63, 51.92, 59.91),
    "angular-soft-adv": (52.18, 64.96, 75.79, 84.47, 54.9, 61.65),
    "angular-adapt-adv": (52.68, 65.11, 75.86, 84.5, 55.6, 61.78),
    "proxy-nca-base": (54.02, 66.83, 78.07, 85.7, 56.74, 63.62),
    "proxy-nca-energy": (53.83, 66.49, 77.67, 86.38, 56.48, 63.62),
    "proxy-nca-soft-adv": (58.1, 69.95, 79.46, 87.22, 60.08, 66.26),
    "proxy-nca-adapt-adv": (57.38, 68.91, 78.58, 87.07, 60.2, 65.86),
}
#: Recall@1 of the same paper's Table 6, which is about flowers.
ABLATION = {
    "triplet-base": ("neither", "81.55"),
    "triplet-attention": ("attention alone", "86.41"),
    "triplet-adversary": ("adversary alone", "84.54"),
    "triplet-adapt-adv": ("both", "89.32"),
}


def tables(results: Results) -> str:
    """All tables and claims as Markdown; what was not run is left out."""
    if not results.contents:
        return "No run is done yet."
    return older_tables(results)


def older_tables(results: Results) -> str:
    """The same tables, of runs with older settings as well."""
    if not results.contents:
        return "No run is done yet."
    written = sections(
        {
            "Three losses, each with its extensions": losses_table(results),
            "What the extensions gain": gains_table(results),
            "Attention, adversary, or both": ablation_table(results),
            "How much the adversary counts": weights_table(results),
            "Before any training, and other ways to train": references_table(results),
            "Are these two the same?": pairs_table(results),
            "The claims": claims_table(results, CLAIMS),
        }
    )
    return "\n\n".join(part for part in (runs_done(results), *written, cost(results)) if part)


def pairs_table(results: Results) -> str:
    """How well each run tells whether two pictures are of one class; older runs were not asked."""
    measured = [
        [name, *(mean_of(results, name, measure, OWN) for measure in PAIRS)] for name in results.variants()
    ]
    rows = [cells for cells in measured if cells[1]]
    return markdown(["run", *PAIRS], rows)


def summary(results: Results) -> str:
    """Recall@1 of every variant, on validation and on test classes, for the terminal."""
    rows = []
    for name in results.variants():
        last = mean_of(results, name, RECALL, OWN, epoch="final")
        rows.append(
            [name, str(len(results.seeds(name))), _validated(results, name), _own(results, name), last]
        )
    return markdown(["variant", "seeds", "validation", "test", "test, last epoch"], rows)


def losses_table(results: Results, *, published: bool = True) -> str:
    """Each loss with each extension; ``published`` adds the paper's figures, of birds."""
    heading = ["loss", "extension", *RECALLS, "at the last epoch", "MAP@R", NEIGHBOURS, "NMI"]
    heading += ["published: Recall@1", "NMI"] if published else []
    rows = []
    for loss in LOSSES:
        for extension in EXTENSIONS:
            variant = called(loss, extension)
            if results.seeds(variant):
                last = mean_of(results, variant, RECALL, OWN, epoch="final")
                measured = [mean_of(results, variant, measure, OWN) for measure in RECALLS]
                rest = [
                    _own(results, variant, "MAP@R"),
                    _own(results, variant, NEIGHBOURS),
                    mean_of(results, variant, "NMI", "embedding"),
                ]
                theirs = [f"{PUBLISHED[variant][place]:.2f}" for place in (0, 5)] if published else []
                rows.append([loss, extension, *measured, last, *rest, *theirs])
    return markdown(heading, rows)


def gains_table(results: Results) -> str:
    """Differences to the same loss alone: over seeds, and over test classes drawn again."""
    heading = ["loss", "extension", "gain, over seeds", "gain, over test classes", "published"]
    rows = []
    for loss in LOSSES:
        base = called(loss, "base")
        for extension in EXTENSIONS[1:]:
            variant = called(loss, extension)
            both = sorted({*results.seeds(variant)} & {*results.seeds(base)})
            if both:
                published = PUBLISHED[variant][0] - PUBLISHED[base][0]
                gain = _gain(results, variant, base, both)
                rows.append(
                    [loss, extension, gain, over_classes(results, variant, base, both), f"{published:+.2f}"]
                )
    return markdown(heading, rows)


def over_classes(results: Results, first: str, second: str, seeds: Sequence[int]) -> str:
    """The difference in Recall@1, all seeds together, with its interval when the test classes are drawn
    again: what other birds might have said.
    """
    values: list[torch.Tensor] = []
    classes: list[int] = []
    for variant in (first, second):
        hits, classes = [], []
        for seed in seeds:
            for place, (right, count) in enumerate(results.contents[variant, seed]["by class"]):
                # Only the sums of a class count, so it does not matter which of its pictures were found.
                hits += [1.0] * right + [0.0] * (count - right)
                classes += [place] * count
        values.append(torch.tensor(hits))
    mean, low, high = paired_bootstrap_mean(*values, units=torch.tensor(classes)).interval
    return f"{100 * mean:+.2f} ({100 * low:+.2f} to {100 * high:+.2f})"


def ablation_table(results: Results, *, published: bool = True) -> str:
    heading = ["triplets with", *RECALLS, NEIGHBOURS, "NMI"]
    heading += ["published, flowers: Recall@1"] if published else []
    rows = [
        [words, *_measured(results, variant), *([theirs] if published else [])]
        for variant, (words, theirs) in ABLATION.items()
        if results.seeds(variant)
    ]
    return markdown(heading, rows)


def weights_table(results: Results) -> str:
    heading = [f"weight, {SWEPT}", *RECALLS, NEIGHBOURS, "NMI", "coefficient, last epoch"]
    by_weight = {weight: f"{SWEPT}-adapt-adv-weight-{weight:g}" for weight in WEIGHTS}
    by_weight[0.5] = called(SWEPT, "adapt-adv")
    rows = []
    for weight, variant in sorted(by_weight.items()):
        seeds = results.seeds(variant)
        if seeds:
            ends = [
                results.contents[variant, seed]["epochs"][-1]["adversary"]["coefficient"] for seed in seeds
            ]
            rows.append([f"{weight:g}", *_measured(results, variant), f"{sum(ends) / len(ends):+.3f}"])
    return markdown(heading, rows)


def references_table(results: Results) -> str:
    heading = [
        "run",
        "pixels",
        *RECALLS,
        "MAP@R",
        NEIGHBOURS,
        "NMI",
        "at the last epoch",
        "every other the gallery",
    ]
    in_other_tables = {
        called(loss, extension) for loss in LOSSES for extension in EXTENSIONS
    } | ABLATION.keys()
    rows = []
    for variant in results.variants():
        if variant in in_other_tables or "-weight-" in variant:
            continue
        content = results.contents[variant, results.seeds(variant)[0]]
        rows.append(
            [
                f"{variant} (all 100 classes, last epoch)" if content.get("full") else variant,
                str(content["size"]),
                *_measured(results, variant, precision=True),
                mean_of(results, variant, RECALL, OWN, epoch="final"),
                mean_of(results, variant, RECALL, OWN, epoch="every other"),
            ]
        )
    rows.sort(key=lambda row: float(row[2].partition(" ")[0]))
    best = [
        "best published",
        "",
        f"{BEST_PUBLISHED}",
        *(f"{value:.2f}" for value in PUBLISHED["proxy-nca-soft-adv"][1:4]),
        "",
        *(f"{value:.2f}" for value in PUBLISHED["proxy-nca-soft-adv"][4:]),
    ]
    return markdown(heading, [*rows, [*best, "", ""]] if rows else [])


def _measured(results: Results, variant: str, *, precision: bool = False) -> list[str]:
    measures = (*RECALLS, *(["MAP@R"] if precision else []), NEIGHBOURS)
    return [
        *(mean_of(results, variant, measure, OWN) for measure in measures),
        mean_of(results, variant, "NMI", "embedding"),
    ]


def _own(results: Results, variant: str, measure: str = RECALL) -> str:
    return mean_of(results, variant, measure, OWN)


def _validated(results: Results, variant: str) -> str:
    chosen = [results.contents[variant, seed]["chosen"] for seed in results.seeds(variant)]
    return with_interval([100 * epoch["validation"]["recall@1"] for epoch in chosen if epoch is not None])


def _gain(results: Results, variant: str, base: str, seeds: Sequence[int]) -> str:
    first, second = (results.values(name, RECALL, OWN) for name in (variant, base))
    ours, theirs = [first[seed] for seed in seeds], [second[seed] for seed in seeds]
    if len(seeds) < 2:
        return f"{ours[0] - theirs[0]:+.2f}"
    mean, low, high = paired_difference(ours, theirs)
    return f"{mean:+.2f} ({low:+.2f} to {high:+.2f})"
