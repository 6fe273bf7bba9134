"""Which of the classes that were trained on is it? A linear discriminant on the embeddings of a space.

A logistic regression learns from all classes at once where they meet; a similarity has to serve classes that
it never saw. With tens of items a class the regression has to be held back, and most in directions in which
items of one class differ: it is fitted to embeddings that are mapped as `WithinClass` maps them. Map and
regression together are one linear layer.
"""

import torch
from torch import Tensor

from samekind.auxiliary_head import AuxiliaryHead
from samekind.data import Items
from samekind.inference.embed import device_of, in_batches
from samekind.inference.known_classes import labels_in
from samekind.measures import temperature_calibration
from samekind.prototypes import SupportMeans
from samekind.similarities import Dot, FixedScale, WithinClass
from samekind.similarities.distances import unit_vectors
from samekind.space import MetricSpace

#: The shrinkage of the map and the strength C of the regression: `benchmarks/small_folders.py`.
SHRINKAGE, STRENGTH = 3.0, 3.0
#: More numbers (items x dimensions x classes) take minutes to fit to.
MOST_NUMBERS = 10**9


def fit_discriminant(z: Tensor, labels: Tensor, classes: tuple[str, ...]) -> AuxiliaryHead | None:
    """The discriminant of embeddings (n, d) with labels (n,), on their device; None for fewer than two
    classes, if no class has two items, or for more numbers than `MOST_NUMBERS`.
    """
    from sklearn.linear_model import LogisticRegression

    present, places, sizes = torch.unique(labels.cpu(), return_inverse=True, return_counts=True)
    if len(present) < 2 or sizes.max() < 2 or z.numel() * len(present) > MOST_NUMBERS:
        return None
    vectors = unit_vectors(z.detach().cpu().double())
    form = WithinClass(dimension=z.shape[1], shrinkage=SHRINKAGE, centre=True).double().fit(vectors, places)
    mapped = (vectors - form.mean) @ form.map
    length = mapped.square().sum(1).mean().sqrt().clamp(min=1e-12)
    regression = LogisticRegression(C=STRENGTH, max_iter=200, tol=1e-3)
    regression.fit((mapped / length).numpy(), places.numpy())
    weights, offsets = torch.from_numpy(regression.coef_), torch.from_numpy(regression.intercept_)
    if len(present) == 2:  # the regression then has one logit, that of the second class
        weights, offsets = (torch.stack([-one[0], one[0]]) / 2 for one in (weights, offsets))
    weights = weights @ form.map.T / length
    head = AuxiliaryHead(Dot(), SupportMeans(dimension=z.shape[1]), normalise=True, bias=True)
    head.prototypes.assign([classes[label] for label in present.tolist()], weights[:, None].float())
    head.offsets = torch.nn.Parameter((offsets - weights @ form.mean).float(), requires_grad=False)
    return head.to(z.device).eval()


def add_discriminant(space: MetricSpace, known: Items, asked: Items) -> None:
    """Give a space the discriminant of ``known`` items; inputs are embeddings. Its logits get the unit of the
    space's score for classes: where both are most probable for the ``asked`` items of known classes, which
    neither was fitted to.
    """
    assert isinstance(known.inputs, Tensor)
    assert isinstance(asked.inputs, Tensor)
    space.discriminant = None
    head = fit_discriminant(known.inputs.to(device_of(space)), known.labels, known.classes)
    truth = labels_in(space, asked)
    rows = (truth >= 0).nonzero().flatten()
    if head is None or not len(rows):
        return
    z = asked.inputs[rows.to(asked.inputs.device)]
    places = torch.tensor([head.prototypes.classes.index(name) for name in space.classes])
    by_score = temperature_calibration(in_batches(space, z, space.log_probabilities), truth[rows])
    by_head = temperature_calibration(in_batches(space, z, head.score_classes)[:, places], truth[rows])
    head.similarity.scale = FixedScale(by_score.temperature / by_head.temperature)
    space.discriminant = head
