"""The table of the study, from the JSONs of whatever runs there are."""

from grid import CLASSES, DRAWINGS, SYSTEMS, batches_in
from grids.results import Results
from grids.tables import cost, markdown, mean_of, with_interval

from samekind.evaluation.cosine_references import CENTRED, NORMALISED


def tables(results: Results) -> str:
    """How many classes it takes, as Markdown."""
    if not results.contents:
        return "No run is done yet."
    heading = ["system", "classes", "drawings", "seeds", "Recall@1, learned", "cosine", "fused"]
    heading += ["learned - cosine", "EER, learned", "cosine", "centred cosine", "AS-norm cosine"]
    heading += ["learned - cosine", "kept after batches"]
    expect_one_length(results)
    rows = []
    for system in SYSTEMS:
        for classes in CLASSES:
            variant = f"{system}-of-{classes}"
            if results.seeds(variant):
                rows.append(
                    [
                        CALLED.get(system, system),
                        str(classes),
                        f"{classes * DRAWINGS:,}",
                        str(len(results.seeds(variant))),
                        *(mean_of(results, variant, "Recall@1", kind) for kind in KINDS),
                        gain(results, variant, "Recall@1"),
                        *(
                            mean_of(results, variant, "EER", kind)
                            for kind in (*KINDS[:2], CENTRED, NORMALISED)
                        ),
                        gain(results, variant, "EER"),
                        ", ".join(f"{count:,}" for count in kept_after(results, variant)),
                    ]
                )
    return "\n\n".join([markdown(heading, rows), cost(results)])


#: Of runs with older settings the table is the same; they have no better cosines.
older_tables = tables

KINDS = ("similarity", "cosine", "fused")
CALLED = {
    "corrected": "verification, the network added to the cosine",
    "verification-sum": "verification, the sum of the two means",
    "prototypical-first": "prototypical, averages from the first items",
}


def expect_one_length(results: Results) -> None:
    """All runs have about as many batches; runs with another ``--steps`` must not stand beside them."""
    lengths = {
        name: content["run"]["epochs"] * batches_in(_classes(name[0]))
        for name, content in results.contents.items()
    }
    if max(lengths.values()) > 1.1 * min(lengths.values()):
        span = f"{min(lengths.values())} to {max(lengths.values())}"
        raise SystemExit(f"expected runs of about as many batches, got {span}: keep one kind of them")


def kept_after(results: Results, variant: str) -> list[int]:
    """The batches that a space had seen at the epoch that was kept for the learned score, of each seed."""
    chosen = [results.contents[variant, seed]["chosen"] for seed in results.seeds(variant)]
    epochs = [choice.get("similarity", choice)["epoch"] for choice in chosen]
    return [epoch * batches_in(_classes(variant)) for epoch in epochs]


def _classes(variant: str) -> int:
    return int(variant.rpartition("-")[2])


def gain(results: Results, variant: str, measure: str) -> str:
    """By how much the learned score is above the cosine of the same embeddings, seed by seed."""
    learned, cosine = (results.values(variant, measure, kind) for kind in KINDS[:2])
    return with_interval([learned[seed] - cosine[seed] for seed in sorted(learned)])
