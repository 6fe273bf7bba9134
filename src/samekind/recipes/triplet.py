"""The baseline the learned similarity is measured against: triplets of Euclidean distances with hard
negatives.

The triplet baseline of Monteiro et al., "An end-to-end approach for the verification problem", ICML 2020,
in full: cross-entropy of a linear head on the normalised embedding, the triplet margin on their distances
with the hardest negative of each positive pair, and the spread of the embeddings. It is scored with the
cosine.
"""

from samekind.recipes.encoder import Subject, encoder_for, standardise_for
from samekind.training import Batches, Head, Optimiser, Part, Parts, Penalty, Run, Schedule, Term


def triplet(items: Subject) -> Run:
    """The run for items, or for their shape."""
    return Run(
        recipe="triplet",
        space=Parts(
            encoder=encoder_for(items, dimension=64),
            similarity=Part("Euclidean", {"normalise": True}),
            prototypes=Part("SupportMeans"),
            auxiliary=Head(Part("Dot"), normalise=True, bias=True),
            standardise=standardise_for(items),
        ),
        terms={
            "triplet": Term(
                "triplet", against="batch", miner="hardest", order="one", arguments={"margin": 0.3}
            ),
            "auxiliary": Term("softmax", against="auxiliary", arguments={"smoothing": 0.2}),
        },
        penalties={"spread": Penalty("spread", weight=0.1)},
        batches=Batches("Shuffled", {"size": 64}),
        optimiser=Optimiser("SGD", rate=0.01, momentum=0.9, weight_decay=1e-4),
        schedule=Schedule("plateau", factor=0.5, patience=10),
        epochs=30,
        clip=10.0,
    )
