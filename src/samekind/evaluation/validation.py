"""What a training run is told after each epoch, on items it does not train on."""

from collections.abc import Callable

from samekind.data import Items
from samekind.inference import all_trials, embed
from samekind.measures import equal_error_rate
from samekind.space import MetricSpace


def validation(items: Items) -> Callable[[MetricSpace], dict[str, float]]:
    """A function from a space to its EER with each kind of score, and ``eer``, the lowest of them."""

    def validate(space: MetricSpace) -> dict[str, float]:
        z = embed(space, items.inputs)
        rates = {
            f"eer {kind}": equal_error_rate(*all_trials(space, z, items.labels, kind=kind)).rate
            for kind in space.kinds
        }
        return {"eer": min(rates.values()), **rates}

    return validate
