"""How sure a difference is, and how sure it stays when it is one of many.

Of twenty differences that are nothing but chance, one leaves out 0 with its 95 % interval. Holm, "A Simple
Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 1979, makes up for that:
what is below 0.05 after it is wrong, anywhere among them, in 5 % of all such tables at most.
"""

import math
from collections.abc import Sequence

from torch import Tensor

from samekind.measures.intervals import checked_values


def paired_p_value(
    first: Tensor | Sequence[float], second: Tensor | Sequence[float], *, by: float = 0.0
) -> float:
    """The two-sided p-value of Student's test that first minus second, entry by entry, is ``by`` in the mean.

    Below 0.05 where the interval of `paired_difference` leaves out ``by``. Differences that are all the same
    have a p-value of 0, or of 1 where they are ``by``.

    >>> round(paired_p_value([3.0, 5.0, 10.0], [2.0, 3.0, 7.0]), 3)
    0.074
    """
    one, other = checked_values(first, "first"), checked_values(second, "second")
    if len(one) != len(other) or len(one) < 2:
        raise ValueError(f"expected two pairs of values or more, got {len(one)} and {len(other)} values")
    from scipy.special import stdtr  # slow to import, and most users of the room never need it

    differences = one - other - by
    mean, spread = float(differences.mean()), float(differences.std()) / math.sqrt(len(one))
    if not spread:
        return float(mean == 0)
    return 2 * float(stdtr(len(one) - 1, -abs(mean) / spread))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values as they count when each is one of so many, in the order given.

    The smallest is multiplied by their number, the next by one less, and so on; none is below one that was
    smaller before, and none is above 1.

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
