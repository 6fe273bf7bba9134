"""Prototypical classifiers with a learned similarity (Algorithm 1).

Monteiro et al., "Learning Semantic Similarities for Prototypical Classifiers", 2021: L = L_class + L_pair +
L_aux, prototypes as running averages, one similarity for classes and pairs.
"""

from samekind.recipes.encoder import Subject, encoder_for, standardise_for
from samekind.training import Batches, Head, Optimiser, Part, Parts, Run, Schedule, Term


def prototypical(items: Subject) -> Run:
    """The run for items, or for their shape: classification, few-shot, verification and retrieval with one
    similarity.
    """
    return Run(
        recipe="prototypical",
        space=Parts(
            encoder=encoder_for(items, dimension=64),
            similarity=Part("PairsNetwork", {"hidden": 256, "depth": 1, "dropout": 0.25}),
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
