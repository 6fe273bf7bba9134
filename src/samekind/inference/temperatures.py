"""How sure are the heads of a space? A temperature for each, so that they are right as often as they say."""

import torch
from torch import Tensor

from samekind.data import Items
from samekind.decisions import Head, Temperature
from samekind.inference.embed import asking, device_of
from samekind.measures import temperature_calibration
from samekind.space import MetricSpace

#: Of fewer items a temperature is not fitted: drawn scores that are well calibrated already lose three points
#: of calibration error to 30 items, and those that are half as sure again as they should be gain seven.
FEWEST = 30
BATCH = 4096


def heads(space: MetricSpace) -> list[Head]:
    """The heads that can answer for all classes of the space."""
    trained = space.auxiliary is not None and set(space.auxiliary.prototypes.classes) == set(space.classes)
    return ["similarity", "auxiliary", "fused"] if trained else ["similarity"]


def fit_temperatures(
    space: MetricSpace, items: Items, z: Tensor, *, description: str | None = None
) -> dict[str, Temperature]:
    """The temperature of each head that knows all classes of the space, fitted on the items (their
    embeddings: z) of its classes; the others are left out.

    The items must be some the space was not trained on and whose examples made no prototype. With fewer
    than 30 of them, or of a space of one class, there is nothing to tell, and no temperature.
    """
    position = {name: index for index, name in enumerate(space.classes)}
    truth = torch.tensor([position.get(name, -1) for name in items.classes])[items.labels.cpu()]
    known = (truth >= 0).nonzero().flatten()
    if len(known) < FEWEST or len(position) < 2:
        return {}
    name = f"{description or items.name}: {len(known):,} items of known classes"
    found: dict[str, Temperature] = {}
    for head in heads(space):
        with asking(space):
            scores = torch.cat(
                [
                    space.log_probabilities(some.to(device_of(space)), head=head).cpu()
                    for some in torch.split(z[known.to(z.device)], BATCH)
                ]
            )
        best = temperature_calibration(scores, truth[known])
        found[head] = Temperature(best.temperature, name, len(known), best.at_bound)
    return found
