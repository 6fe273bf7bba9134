"""The temperature of a head: how sure its probabilities are, so that they are right as often as they say.

Guo et al., "On Calibration of Modern Neural Networks", ICML 2017.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from torch import Tensor

from samekind.errors import SettingError

Head = Literal["similarity", "auxiliary", "fused"]


@dataclass(frozen=True)
class Temperature:
    """What the logits of a head are divided by before the softmax, and where it came from.

    Above 1 the probabilities become more modest, below 1 surer; the order of the classes stays. It was
    fitted on so many ``items``, which ``fitted_on`` names. ``at_bound``: they asked for more than a
    temperature may be, as where the scores say nothing about the class.
    """

    value: float
    fitted_on: str
    items: int
    at_bound: bool = False

    def probabilities(self, logits: Tensor) -> Tensor:
        """The softmax of logits (…, classes) divided by the temperature."""
        # Below the highest, because what is divided by a low temperature may leave the range of its type.
        return ((logits - logits.detach().amax(-1, keepdim=True)) / self.value).softmax(-1)


def mixed(logits: Tensor) -> Tensor:
    """The logarithm of the mean of several softmaxes: (heads, n, classes) -> (n, classes), finite even where
    the probability itself is too small for its type.
    """
    return logits.log_softmax(-1).logsumexp(0) - math.log(len(logits))


def stored_temperature(head: str, stored: Mapping[str, Any]) -> Temperature:
    """A temperature as JSON has it."""
    found = Temperature(**stored)
    fits = head in get_args(Head) and type(found.items) is int and isinstance(found.fitted_on, str)
    fits = fits and type(found.value) in (int, float) and type(found.at_bound) is bool
    if not fits or not 0 < found.value < math.inf:
        raise SettingError(f'the temperature of the head "{head}" is none')
    return found
