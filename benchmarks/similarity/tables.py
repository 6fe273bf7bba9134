"""The tables of the page, from the JSONs of whatever runs there are."""

from claims import CLAIMS
from grid import SYSTEMS, VARIANTS, command_of
from grids.commands import commands_table
from grids.results import Results
from grids.tables import claims_table, cost, markdown, mean_of, runs_done, sections

from samekind.evaluation.cosine_references import CENTRED, NORMALISED

#: Of the runs with older settings those of four times the length.
LONG = ("prototypical-long",)
#: What was tried to make the learned score pay, and the other choices that the papers leave open.
TRIED = (
    "verification-sum",
    "verification-normalised",
    "verification-by-triplets",
    "verification-temperature",
    "verification-memory",
    "verification-corrected",
    "prototypical-first",
    "prototypical-normalised",
    "prototypical-temperature",
)
#: The depths of its network.
DEPTHS = (1, 2, 3, 4, 5)
KINDS = ("similarity", "cosine", CENTRED, NORMALISED, "fused")

#: EER and 1 - AUC in per cent: Monteiro et al., "An end-to-end approach for the verification problem", ICML
#: 2020, Table 1, CIFAR-10. Accuracy without an attack: Monteiro et al., "Learning Semantic Similarities for
#: Prototypical Classifiers", 2021, Table 1.
PUBLISHED = {
    ("verification", "similarity"): ("3.43", "0.60"),
    ("verification", "cosine"): ("3.56", "1.03"),
    ("verification", "fused"): ("3.42", "0.80"),
    ("triplet", "cosine"): ("3.80", "0.98"),
}
PUBLISHED_ACCURACY = {("prototypical", "similarity"): "96.14", ("prototypical", "auxiliary"): "96.20"}


def tables(results: Results) -> str:
    """All tables and claims as Markdown; what was not run is left out, but for its command."""
    commands = "### Each run as a command\n\n" + commands_table({name: command_of(name) for name in VARIANTS})
    if not results.contents:
        return f"No run is done yet.\n\n{commands}"
    studies = _studies(results, "Was the choice of the epoch decisive?")
    return "\n\n".join([runs_done(results), *_measured(results), *studies, commands])


def older_tables(results: Results) -> str:
    """The same of runs with older settings, and of those that were longer."""
    if not results.contents:
        return "No run is done yet."
    long = results.of(LONG)
    results = results.of([name for name in results.variants() if name not in LONG])
    studies = _studies(results, "Was the rate, or the choice of the epoch, decisive?", long=long)
    return "\n\n".join([runs_done(results), *_measured(results), *studies])


def _studies(results: Results, asked: str, *, long: Results | None = None) -> list[str]:
    """Depths, what was tried, runs that are ``long``, and what is ``asked`` of the choice of the epoch."""
    longer = {} if long is None else {"What does a longer training give?": long_table(long)}
    return sections(
        {
            "How deep must the network be?": depth_table(results),
            "What else might make it pay?": tried_table(results),
            **longer,
            asked: choices_table(results),
        }
    )


def _measured(results: Results) -> list[str]:
    tables = {
        "Are these two the same?": verification_table(results),
        "Which class is it?": accuracy_table(results),
        "Is it a metric?": axioms_table(results),
        "The claims": claims_table(results, CLAIMS),
    }
    return [*sections(tables), cost(results)]


def verification_table(results: Results) -> str:
    measures = ("EER", "1 - AUC", "minDCF at 1%", "Recall@1", "MAP@R")
    heading = ["system", "score", "EER", "EER, published", "1 - AUC", "1 - AUC, published", *measures[2:]]
    rows = []
    # The triplet baseline's own score, a distance on the sphere, ranks as the cosine does.
    shown = [
        (system, kind) for system in SYSTEMS for kind in KINDS if (system, kind) != ("triplet", KINDS[0])
    ]
    for variant, kind in [*shown, ("verification-alone", "similarity"), ("verification-alone", "cosine")]:
        error, area = PUBLISHED.get((variant, kind), ("", ""))
        cells = [mean_of(results, variant, measure, kind) for measure in measures]
        if cells[0]:
            called = results.called(variant, kind)
            rows.append([_called(variant), called, cells[0], error, cells[1], area, *cells[2:]])
    return markdown(heading, rows)


def accuracy_table(results: Results) -> str:
    measures = ("accuracy", "macro F1", "ECE, uncalibrated")
    heading = ["system", "by", "accuracy", "accuracy, published", *measures[1:], "EER of its score"]
    rows = []
    ablations = [name for name in results.variants() if name.startswith("prototypical-")]
    shown = [name for name in ablations if not name.endswith("-rate") and name not in TRIED]
    for variant in [*SYSTEMS, *shown]:
        for head in ("similarity", "auxiliary", "fused"):
            cells = [mean_of(results, variant, measure, head) for measure in measures]
            pairs = mean_of(results, variant, "EER", "similarity") if head == "similarity" else ""
            if cells[0]:
                published = PUBLISHED_ACCURACY.get((variant, head), "")
                by = results.called(variant, head)
                rows.append([_called(variant), by, cells[0], published, *cells[1:], pairs])
    return markdown(heading, rows)


def depth_table(results: Results) -> str:
    heading = ["hidden layers", "seeds", "EER, learned", "EER, cosine", "EER, fused"]
    rows = []
    for depth in DEPTHS:
        variant = "verification" if depth == 3 else f"verification-depth-{depth}"
        cells = [mean_of(results, variant, "EER", kind) for kind in ("similarity", "cosine", "fused")]
        if cells[0]:
            rows.append([str(depth), str(len(results.seeds(variant))), *cells])
    baseline = mean_of(results, "triplet", "EER", "cosine")
    if baseline:
        rows.append(["triplet baseline", str(len(results.seeds("triplet"))), "", baseline, ""])
    return markdown(heading, rows)


def tried_table(results: Results) -> str:
    """What was tried, each beside its system with the same seed."""
    heading = [
        "system",
        "seeds",
        "EER, learned",
        "less the system's",
        "EER, cosine",
        "EER, fused",
        "Recall@1, learned",
        "Recall@1, cosine",
        "accuracy",
    ]
    rows = []
    for variant in (name for name in TRIED if results.seeds(name)):
        system = variant.partition("-")[0]
        ours, theirs = (results.values(name, "EER", "similarity") for name in (variant, system))
        both = [ours[seed] - theirs[seed] for seed in sorted(ours.keys() & theirs.keys())]
        learned, cosine, fused = (
            mean_of(results, variant, "EER", kind) for kind in ("similarity", "cosine", "fused")
        )
        difference = f"{sum(both) / len(both):+.2f}" if both else ""
        errors = [learned, difference, cosine, fused]
        recalls = [mean_of(results, variant, "Recall@1", kind) for kind in ("similarity", "cosine")]
        right = mean_of(results, variant, "accuracy", "similarity")
        rows.append([_called(variant), str(len(results.seeds(variant))), *errors, *recalls, right])
    return markdown(heading, rows)


def long_table(results: Results) -> str:
    """The runs towards the papers' figures, with those beside them: of pairs the 2020 paper's."""
    heading = [
        "epochs",
        "images",
        "by",
        "EER",
        "EER, published",
        "1 - AUC",
        "accuracy",
        "accuracy, published",
    ]
    rows = []
    for variant in results.variants():
        content = results.contents[variant, results.seeds(variant)[0]]
        length = [str(content["run"]["epochs"]), f"{content['items']['train']:,}"]
        for kind in ("similarity", "cosine", "fused", "auxiliary"):
            errors, areas, right = (
                mean_of(results, variant, measure, kind) for measure in ("EER", "1 - AUC", "accuracy")
            )
            published = PUBLISHED.get(("verification", kind), ("", ""))[0]
            accuracy = PUBLISHED_ACCURACY.get(("prototypical", kind), "")
            by = results.called(variant, kind)
            rows.append([*length, by, errors, published, areas, right, accuracy])
    return markdown(heading, rows)


def axioms_table(results: Results) -> str:
    heading = ["system", "seed", "promise", "mean", "median", "most", "cases"]
    promises = {
        "self_distance": "D(a, a) = 0",
        "asymmetry": "D(a, b) = D(b, a)",
        "triangle": "no detour is shorter",
    }
    rows = []
    for variant in ("verification", "prototypical"):
        for seed in results.seeds(variant)[:1]:
            axioms = results.contents[variant, seed]["axioms"]
            for name, promise in promises.items():
                numbers = [f"{axioms[name][statistic]:.3g}" for statistic in ("mean", "median", "most")]
                rows.append([_called(variant), str(seed), promise, *numbers, f"{axioms[name]['cases']:,}"])
    return markdown(heading, rows)


def choices_table(results: Results) -> str:
    heading = [
        "system, seed 0",
        "rate",
        "epoch chosen on",
        "epoch",
        "EER, validation",
        "EER, test",
        "accuracy",
    ]
    rows = []
    wanted = [(system, f"{system}-rate") for system in SYSTEMS] + [("verification-selected-on-test",)]
    for variant in (name for pair in wanted for name in pair):
        if 0 not in results.seeds(variant):
            continue
        content = results.contents[variant, 0]
        kinds = content["chosen"]["validation"]
        measured = [kind for kind in ("similarity", "cosine", "fused") if f"eer {kind}" in kinds]
        kind = min(measured, key=lambda score: kinds[f"eer {score}"])
        test, right = (
            results.value(variant, 0, measure, head)
            for measure, head in (("EER", kind), ("accuracy", "similarity"))
        )
        rows.append(
            [
                f"{_called(variant.removesuffix('-rate'))}, {results.called(variant, kind)}",
                f"{content['run']['optimiser']['rate']:g}",
                "test" if content["run"]["select_on"] == "test" else "validation",
                str(content["chosen"]["epoch"]),
                f"{100 * kinds[f'eer {kind}']:.2f}" if content["run"]["select_on"] != "test" else "",
                f"{test:.2f}" if test is not None else "",
                f"{right:.2f}" if right is not None else "",
            ]
        )
    return "\n\n".join(text for text in (markdown(heading, rows), selection_sentence(results)) if text)


def selection_sentence(results: Results) -> str:
    """What the choice on the test items is worth, from the epochs of the one training that was measured on
    both; nothing where there is none.
    """
    content = results.contents.get(("verification-selected-on-test", 0), {})
    epochs = [(epoch["epoch"], epoch["validation"]) for epoch in content.get("epochs", ())]
    if not epochs:
        return ""
    watch = content["run"]["watch"]
    fair, unfair = (min(epochs, key=lambda epoch: epoch[1][name]) for name in (f"validation {watch}", watch))
    return (
        f"In one and the same training validation chooses epoch {fair[0]} and the test images choose epoch "
        f"{unfair[0]}: their EER there, by the best score and on 2,000 of them, is "
        f"{100 * fair[1][watch]:.2f} and {100 * unfair[1][watch]:.2f}."
    )


def _called(variant: str) -> str:
    """A variant in words."""
    names = {
        "triplet": "triplet baseline",
        "verification-alone": "verification without the auxiliary term",
        "verification-selected-on-test": "verification",
        "verification-normalised": "verification, embeddings normalised for the network",
        "verification-by-triplets": "verification, pairs weighted as in triplets",
        "verification-temperature": "verification, learned temperature of the auxiliary term",
        "verification-memory": "verification, pairs with a memory",
        "verification-corrected": "verification, the network added to the cosine",
        "prototypical-normalised": "prototypical, embeddings normalised for the network",
        "prototypical-temperature": "prototypical, learned temperature",
        "prototypical-alone": "prototypical without the auxiliary term",
        "prototypical-cosine": "prototypical with the cosine for the network",
        "verification-sum": "verification, the sum of the two means",
        "prototypical-first": "prototypical, averages from the first items",
        "prototypical-learned-prototypes": "prototypical with prototypes trained by SGD",
    }
    return names.get(variant, variant)
