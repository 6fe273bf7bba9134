"""End-to-end verification with a learned pseudo-distance.

Monteiro et al., "An end-to-end approach for the verification problem: learning the right distance", ICML
2020: L = L_pair + L_aux, no prototypes in the loss.
"""

from samekind.recipes.encoder import Subject, encoder_for, standardise_for
from samekind.training import Batches, Head, Optimiser, Part, Parts, Run, Schedule, Term


def verification(items: Subject) -> Run:
    """The run for items, or for their shape: are these two the same? Classes are enrolled afterwards, as
    support means. The settings are those that the paper selected for CIFAR-10.

    Differs from the paper:

    - ``space.encoder``: that of the medium, with 64 numbers; the paper has a pre-activation ResNet-18 of 512.
    - ``space.standardise``, ``augment``: for items of any medium; the run file of CIFAR-10 in
      benchmarks/similarity has the paper's.
    - ``epochs``: 30 for a first answer; the paper trains for 600, 469,000 steps.
    - ``terms.pair.weighting``: all pairs, as the text says. The authors' code counts a pair as often as it is
      in a triplet of the batch, which for the positives of equally large classes is the same.
    - ``select_on``: validation items; the authors' code takes the test images of CIFAR-10.
    """
    return Run(
        recipe="verification",
        space=Parts(
            encoder=encoder_for(items, dimension=64),
            similarity=Part("PairsNetwork", {"hidden": 350, "depth": 3, "dropout": 0.2}),
            prototypes=Part("SupportMeans"),
            auxiliary=Head(Part("Cosine", {"scale": {"name": "FixedScale", "value": 30.0}})),
            standardise=standardise_for(items),
        ),
        terms={
            "pair": Term("pair_likelihood", against="batch", arguments={"smoothing": 0.1, "total": "mean"}),
            "auxiliary": Term(
                "additive_margin", against="auxiliary", arguments={"margin": 0.35, "smoothing": 0.2}
            ),
        },
        batches=Batches("Shuffled", {"size": 64}),
        optimiser=Optimiser("SGD", rate=0.01, momentum=0.9, weight_decay=1e-3),
        schedule=Schedule("plateau", factor=0.5, patience=10),
        epochs=30,
        watch="eer best",
    )
