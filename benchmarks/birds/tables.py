"""The tables about birds, from the JSONs of whatever runs there are."""

from claims import CENTRED, CLAIMS, EER, NMI, NORMALISED, ORACLE, PRECISION, STRICT
from grid import VARIANTS, command_of
from grids.commands import commands_table
from grids.results import Results
from grids.tables import claims_table, cost, markdown, mean_of, runs_done, sections

RECALLS = ("Recall@1", "Recall@2", "Recall@4", "Recall@8", "Recall@16")
KINDS = ("similarity", "cosine", CENTRED, NORMALISED, "fused")

#: Recall@1 to @16: Monteiro et al., "Learning Semantic Similarities for Prototypical Classifiers", 2021,
#: figure 2, with a ResNet-50. The figure does not say by which of the three scores that their code prints.
PUBLISHED = {
    "untrained": ("51.1", "64.2", "75.9", "85.7", "92.0"),
    "prototypical": ("60.1", "72.9", "82.9", "89.3", "93.8"),
}
#: NMI of k-means, and from the means of the true classes by the learned score: Monteiro et al., "An
#: end-to-end approach for the verification problem", ICML 2020, Table 5.
PUBLISHED_GROUPS = {
    "untrained": ("52.5", "53.9"),
    "verification": ("60.5", "64.1"),
    "verification-alone": ("58.5", "62.4"),
}
CALLED = {
    "untrained": "ImageNet alone",
    "verification-alone": "verification without the auxiliary term",
    "prototypical-alone": "prototypical without the auxiliary term",
    "prototypical-cosine": "prototypical with the cosine for the network",
    "prototypical-learned-prototypes": "prototypical with prototypes trained by SGD",
    "prototypical-first": "prototypical, averages from the first items",
    "verification-sum": "verification, the sum of the two means",
    "verification-128": "verification, 128 dimensions",
    "prototypical-128": "prototypical, 128 dimensions",
    "verification-memory": "verification, pairs with a memory",
    "verification-normalised": "verification, embeddings normalised for the network",
    "prototypical-normalised": "prototypical, embeddings normalised for the network",
    "verification-depth-1": "verification, one hidden layer",
    "verification-by-triplets": "verification, pairs weighted as in triplets",
    "verification-corrected": "verification, the network added to the cosine",
    "prototypical-corrected": "prototypical, the network added to the cosine",
    "prototypical-temperature": "prototypical, learned temperature",
}


def tables(results: Results) -> str:
    """All tables and claims as Markdown; what was not run is left out, but for its command."""
    commands = "### Each run as a command\n\n" + commands_table({name: command_of(name) for name in VARIANTS})
    if not results.contents:
        return f"No run is done yet.\n\n{commands}"
    return "\n\n".join([older_tables(results), commands])


def older_tables(results: Results) -> str:
    """The same without commands: those of runs with older settings are in the project's history."""
    if not results.contents:
        return "No run is done yet."
    written = sections(
        {
            "What is most like this?": retrieval_table(results),
            "What groups are here?": groups_table(results),
            "The claims": claims_table(results, CLAIMS),
        }
    )
    return "\n\n".join(part for part in (runs_done(results), *written, cost(results)) if part)


def _shown(results: Results) -> list[str]:
    """The variants in the order of the page; those that only older runs have come last."""
    order = ["untrained", *VARIANTS]
    return [*order, *(name for name in CALLED if name not in order and name in results.variants())]


def retrieval_table(results: Results) -> str:
    measures = [*RECALLS, *(name for name in (PRECISION, EER, STRICT) if _has(results, name))]
    heading = ["system", "score", *measures, "epoch"]
    rows = []
    for variant in _shown(results):
        called, shown = CALLED.get(variant, variant), len(rows)
        for kind in KINDS:
            cells = [mean_of(results, variant, measure, kind) for measure in measures]
            if cells[0]:
                rows.append([called, _kind(results, variant, kind), *cells, _epochs(results, variant, kind)])
        if variant in PUBLISHED and len(rows) > shown:
            rows.append([called, "published, score not named", *PUBLISHED[variant]])
            rows[-1] += [""] * (len(heading) - len(rows[-1]))
    return markdown(heading, rows)


def _has(results: Results, measure: str) -> bool:
    """Whether any run has measured this; older ones have no pairs."""
    return any(results.values(variant, measure, "similarity") for variant in results.variants())


def groups_table(results: Results) -> str:
    """NMI with the centres of k-means, which know no labels, and with the means of the true classes: the
    nearest centre at the cosine's epoch, the most alike by the score at the learned score's own.
    """
    heading = [
        "system",
        "k-means",
        "k-means' centres, by the score",
        "true means, nearest",
        "true means, by the score",
        "published: k-means",
        "true means, by the score",
    ]
    rows = []
    for variant in _shown(results):
        cells = [
            mean_of(results, variant, measure, kind)
            for measure in (NMI, ORACLE)
            for kind in ("embedding", "similarity")
        ]
        if cells[0]:
            rows.append([CALLED.get(variant, variant), *cells, *PUBLISHED_GROUPS.get(variant, ("", ""))])
    return markdown(heading, rows)


def _epochs(results: Results, variant: str, kind: str) -> str:
    """The epoch that was kept for a score, of each seed."""
    chosen = [results.contents[variant, seed]["chosen"] for seed in results.seeds(variant)]
    known = [epochs for epochs in chosen if epochs is not None]
    if kind in (CENTRED, NORMALISED):
        kind = "cosine" if any("cosine" in epochs for epochs in known) else "similarity"
    return ", ".join(str(epochs[kind]["epoch"]) for epochs in known if kind in epochs)


def _kind(results: Results, variant: str, kind: str) -> str:
    plain = variant == "untrained" and kind == "similarity"
    return "cosine" if plain else kind if variant == "untrained" else results.called(variant, kind)
