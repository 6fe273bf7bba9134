"""The baseline the learned similarity is measured against: triplets of Euclidean distances with hard
negatives.

The triplet baseline of Monteiro et al., "An end-to-end approach for the verification problem", ICML 2020,
in full: an additive-margin softmax beside the embedding, the triplet margin on distances of normalised
embeddings with the hardest negative of each positive pair, and the spread of the embeddings. It is scored
with the cosine.
"""

from samekind.recipes.encoder import Subject, encoder_for, standardise_for
from samekind.training import Batches, Head, Optimiser, Part, Parts, Penalty, Run, Schedule, Term


def triplet(items: Subject) -> Run:
    """The run for items, or for their shape, with the settings that the paper selected for CIFAR-10.

    Differs from the paper:

    - ``space.encoder``: that of the medium, with 64 numbers; the paper has a pre-activation ResNet-18 of 512.
    - ``space.standardise``, ``augment``: for items of any medium; the run file of CIFAR-10 in
      benchmarks/similarity has the paper's.
    - ``epochs``: 30 for a first answer; the paper trains for 600.
    - ``select_on``: validation items; the authors' code takes the test images of CIFAR-10.
    """
    return Run(
        recipe="triplet",
        space=Parts(
            encoder=encoder_for(items, dimension=64),
            similarity=Part("Euclidean", {"normalise": True}),
            prototypes=Part("SupportMeans"),
            auxiliary=Head(Part("Cosine", {"scale": {"name": "FixedScale", "value": 30.0}})),
            standardise=standardise_for(items),
        ),
        terms={
            "triplet": Term(
                "triplet", against="batch", miner="hardest", order="one", arguments={"margin": 0.3}
            ),
            "auxiliary": Term(
                "additive_margin", against="auxiliary", arguments={"margin": 0.35, "smoothing": 0.2}
            ),
        },
        penalties={"spread": Penalty("spread", weight=0.1)},
        batches=Batches("Shuffled", {"size": 64}),
        optimiser=Optimiser("SGD", rate=0.01, momentum=0.9, weight_decay=1e-4),
        schedule=Schedule("plateau", factor=0.5, patience=10),
        epochs=30,
    )
