"""Raw inputs as a space: another model that attacks may come from, and what the nearest other item keeps."""

import torch
from torch import Tensor, nn

from samekind.data import Items
from samekind.encoders import Standardised, Unchanged
from samekind.inference import all_trials, fit_decision
from samekind.parts import make
from samekind.prototypes import SupportMeans, class_means
from samekind.similarities import SquaredEuclidean
from samekind.space import MetricSpace

#: Items that are compared with all others at a time.
CHUNK = 64


def plain_encoder(items: Items) -> nn.Module:
    """The encoder without weights that stands for raw input of this medium."""
    name, arguments = items.medium.plain(items.shape)
    rate = items.medium.facts(items.shape, items.reader).get("rate")
    module: nn.Module = make("encoders", name, arguments if rate is None else {**arguments, "rate": rate})
    return module


def raw_space(
    x: Tensor,
    labels: Tensor,
    classes: list[str],
    *,
    scale: Tensor | None = None,
    encoder: nn.Module | None = None,
) -> MetricSpace:
    """A space whose embeddings are the items (n, …) themselves, divided by a ``scale``, or what an
    ``encoder`` makes of them; whose prototypes are their class means, and whose threshold is that of all
    their pairs; classes without items are at 0.
    """
    encoder = Unchanged(inputs=x[0].numel()) if encoder is None else encoder
    if scale is not None:
        deviations = scale.flatten().tolist()
        encoder = Standardised(encoder=encoder, means=[0.0] * len(deviations), deviations=deviations)
    encoder = encoder.to(x.device).eval()
    z, labels = encoder(x), labels.to(x.device)
    prototypes = SupportMeans(dimension=z.shape[1])
    prototypes.assign(classes, class_means(z, labels, len(classes))[0][:, None])
    space = MetricSpace(encoder, SquaredEuclidean(), prototypes).to(x.device).eval()
    trials = all_trials(space, z, labels)
    if trials.same.any() and not trials.same.all():
        space.decisions["similarity"] = fit_decision(trials, kind="similarity", description="raw inputs")
    return space


def guaranteed_radii(x: Tensor, labels: Tensor, *, order: float) -> Tensor:
    """The distance (n,) within which the nearest other item of every item surely stays of its class. It is
    half the gap between the nearest item of another class and of the own class; negative if the other is
    nearer.

    A change of r brings every distance of the norm of this ``order`` nearer or farther by at most r.
    """
    flat, labels = x.flatten(1).double().cpu(), labels.cpu()
    radii = []
    for places in torch.split(torch.arange(len(flat)), CHUNK):
        distances = torch.cdist(flat[places], flat, p=order)
        same = labels[places, None] == labels
        distances[torch.arange(len(places)), places] = torch.inf
        own = distances.masked_fill(~same, torch.inf).amin(1)
        other = distances.masked_fill(same, torch.inf).amin(1)
        radii.append(torch.where(own < torch.inf, (other - own) / 2, -1.0))
    return torch.cat(radii)
