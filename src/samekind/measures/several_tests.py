"""How sure a difference is, and how sure it stays when it is one of many.

Of twenty differences that are only chance, one has a 95 % interval without 0. Holm, "A Simple Sequentially
Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 1979, corrects for that: at most 5 % of
all tables contain a p-value below 0.05 that is only chance.
"""

import math
from collections.abc import Sequence

from torch import Tensor

from samekind.measures.intervals import checked_values


def paired_p_value(
    first: Tensor | Sequence[float], second: Tensor | Sequence[float], *, by: float = 0.0
) -> float:
    """The two-sided p-value of Student's test that the mean of first minus second, entry by entry, is ``by``.

    It is below 0.05 if the interval of `paired_difference` does not contain ``by``. If all differences are
    equal, the p-value is 1 where they equal ``by`` and 0 otherwise.

    >>> round(paired_p_value([3.0, 5.0, 10.0], [2.0, 3.0, 7.0]), 3)
    0.074
    """
    first_values, second_values = checked_values(first, "first"), checked_values(second, "second")
    if len(first_values) != len(second_values) or len(first_values) < 2:
        raise ValueError(
            f"expected two pairs of values or more, got {len(first_values)} and {len(second_values)} values"
        )
    from scipy.special import stdtr  # slow to import, and most users of the room never need it

    differences = first_values - second_values - by
    mean, spread = float(differences.mean()), float(differences.std()) / math.sqrt(len(first_values))
    if not spread:
        return float(mean == 0)
    return 2 * float(stdtr(len(first_values) - 1, -abs(mean) / spread))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values corrected for their number by Holm's method, in the same order.

    The smallest is multiplied by their number, the next by one less, and so on. The order is kept, and no
    p-value is above 1.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    if any(not 0 <= value <= 1 for value in p_values):
        raise ValueError(f"expected p-values between 0 and 1, got {list(p_values)}")
    adjusted, largest = [0.0] * len(p_values), 0.0
    for place, number in enumerate(sorted(range(len(p_values)), key=lambda number: p_values[number])):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[number]))
        adjusted[number] = largest
    return adjusted
