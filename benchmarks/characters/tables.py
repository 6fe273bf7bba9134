"""The table of the study, from the JSONs of whatever runs there are."""

from grid import CLASSES, DRAWINGS, SYSTEMS
from grids.results import Results
from grids.tables import cost, markdown, mean_of, with_interval


def tables(results: Results) -> str:
    """How many classes it takes, as Markdown."""
    if not results.contents:
        return "No run is done yet."
    heading = ["system", "classes", "drawings", "seeds", "Recall@1, learned", "cosine", "fused"]
    heading += ["learned - cosine", "EER, learned", "cosine"]
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
                        gain(results, variant),
                        *(mean_of(results, variant, "EER", kind) for kind in KINDS[:2]),
                    ]
                )
    return "\n\n".join([markdown(heading, rows), cost(results)])


KINDS = ("similarity", "cosine", "fused")
CALLED = {"corrected": "verification, the network added to the cosine"}


def gain(results: Results, variant: str) -> str:
    """What the learned score finds more than the cosine of the same embeddings, seed by seed."""
    learned, cosine = (results.values(variant, "Recall@1", kind) for kind in KINDS[:2])
    return with_interval([learned[seed] - cosine[seed] for seed in sorted(learned)])
