"""The temperature of a head, which calibrates its probabilities.

Guo et al., "On Calibration of Modern Neural Networks", ICML 2017.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from samekind.settings import Between, Natural

if TYPE_CHECKING:
    from torch import Tensor

#: A head of a space: the similarity to the prototypes, the auxiliary head, or both fused.
Head = Literal["similarity", "auxiliary", "fused"]


@dataclass(frozen=True)
class Temperature:
    """The divisor of the logits of a head before the softmax, and how it was fitted.

    Above 1 the probabilities are less sure, below 1 surer; the order of the classes stays. ``fitted_on``
    names the items, ``items`` is their number. ``at_bound`` says that the best temperature lies beyond the
    bounds of the search, as where the scores say nothing about the class.
    """

    value: Annotated[float, Between(math.ulp(0.0))]  # above 0
    fitted_on: str
    items: Natural
    at_bound: bool = False

    def probabilities(self, logits: "Tensor") -> "Tensor":
        """The softmax of logits (…, classes) divided by the temperature."""
        # Relative to the highest: a logit divided by a low temperature could overflow.
        return ((logits - logits.detach().amax(-1, keepdim=True)) / self.value).softmax(-1)


def mixed(logits: "Tensor") -> "Tensor":
    """The logarithm of the mean of several softmaxes: (heads, n, classes) -> (n, classes).

    It is finite even where the probability itself underflows.
    """
    return logits.log_softmax(-1).logsumexp(0) - math.log(len(logits))
