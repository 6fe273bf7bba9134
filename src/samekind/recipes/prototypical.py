"""Prototypical classifiers with a learned similarity (Algorithm 1).

Monteiro et al., "Learning Semantic Similarities for Prototypical Classifiers", 2021: L = L_class + L_pair +
L_aux, prototypes as running averages, one similarity for classes and pairs.
"""

from samekind.recipes.encoder import Subject, encoder_for, standardise_for
from samekind.training import Batches, Head, Optimiser, Part, Parts, Run, Schedule, Term


def prototypical(items: Subject) -> Run:
    """The run for items, or for their shape: classification, few-shot, verification and retrieval with one
    similarity. The settings are those of the paper's code for CIFAR-10.

    ``space.prototypes.initial="first"`` has the averages begin with the first items of a class in place of
    the paper's noise.

    Differs from the paper:

    - ``space.encoder``: that of the medium, with 64 numbers; the paper has a pre-activation ResNet-18 of 512.
    - ``space.standardise``, ``augment``: for items of any medium; the run file of CIFAR-10 in
      benchmarks/similarity has the paper's.
    - ``epochs``, ``schedule.milestones``: 30 for a first answer, the rate falling at 20 and 26; the paper
      trains for 500, the rate falling at 10, 150, 250 and 350.
    - ``optimiser.rate``, ``clip``: 0.05, and a gradient of norm 10 at most; at the paper's 0.1 without a
      bound the loss is no number after ten steps with the small networks of small pictures.
    - ``terms.pair.weighting``: all pairs, as the text says. The authors' code counts a pair as often as it is
      in a triplet of the batch.
    """
    return Run(
        recipe="prototypical",
        space=Parts(
            encoder=encoder_for(items, dimension=64),
            similarity=Part("PairsNetwork", {"hidden": 512, "depth": 1, "dropout": 0.25}),
            prototypes=Part("RunningAverages", {"momentum": 0.9}),
            auxiliary=Head(Part("Dot"), bias=True),
            standardise=standardise_for(items),
        ),
        terms={
            "class": Term("softmax", against="prototypes", arguments={"smoothing": 0.2}),
            "pair": Term("pair_likelihood", against="batch", arguments={"smoothing": 0.1}),
            "auxiliary": Term("softmax", against="auxiliary", arguments={"smoothing": 0.2}),
        },
        batches=Batches("Shuffled", {"size": 64}),
        optimiser=Optimiser("SGD", rate=0.05, momentum=0.9, weight_decay=5e-4),
        schedule=Schedule("multi-step", factor=0.1, milestones=(20, 26)),
        epochs=30,
        clip=10.0,
    )
