"""The spectrum of features: over how many directions they are spread. Time grows with n·d².

``features`` are (n, d). ``normalise`` puts them on the unit sphere first, as the sources do; a vector of
length 0 stays 0.

Roth et al., "Revisiting Training Strategies and Generalization Performance in Deep Metric Learning", ICML
2020; Kim, "On the Significance of Distance in Machine Learning", 2023.
"""

from typing import Literal

import torch
from torch import Tensor

from samekind.measures.geometry.features import check_features, on_sphere

FLOOR = 1e-12


def spectral_decay(
    features: Tensor,
    *,
    normalise: bool = True,
    truncated: bool = False,
    skip_first: bool = False,
    reverse: bool = False,
    zeros: Literal["floor", "rank"] = "floor",
) -> float:
    """How far the singular values are from being equal: ρ = KL(uniform || their shares of the sum).

    0 for features spread equally over all d directions; larger if fewer directions carry them. With fewer
    than d items the empty directions count as singular values of 0. The features are not centred.
    ``truncated`` leaves out the last of d singular values, ``skip_first`` the largest, which is mostly the
    mean for features that are never negative. ``reverse`` is KL(shares || uniform), at most ln d. A singular
    value of 0 would make ρ infinite: ``zeros="floor"`` raises shares to at least 1e-12, ``"rank"`` ignores
    values that are only rounding.

    >>> abs(round(spectral_decay(torch.eye(3)), 6))
    0.0
    >>> round(spectral_decay(torch.tensor([[3.0, 0.0], [0.0, 1.0]]), normalise=False), 6)
    0.143841
    """
    if zeros not in ("floor", "rank"):
        raise ValueError(f'expected zeros to be met by "floor" or "rank", got "{zeros}"')
    values = _singular_values(features, normalise=normalise, truncated=truncated)[1 if skip_first else 0 :]
    if zeros == "rank":
        # The tolerance that numpy and torch use for the rank of a matrix.
        smallest = max(features.shape) * torch.finfo(torch.float64).eps * float(values[:1].sum())
        values = values[values > smallest]
    if len(values) == 0 or float(values.sum()) == 0:
        raise ValueError("expected a direction with a singular value above 0, got none")
    shares, uniform = values / values.sum(), 1 / len(values)
    if reverse:
        return float(torch.xlogy(shares, shares / uniform).sum())
    return float((uniform * (uniform / shares.clamp(min=FLOOR)).log()).sum())


def directions_of_variance(features: Tensor, *, normalise: bool = True) -> int:
    """How many directions carry more than an equal part: singular values above 1 / (d - 1) of their sum.

    Of d - 1 singular values, the last left out, as in the source. 0 when all are equal; few when a few
    directions carry nearly everything. Needs two dimensions or more.

    >>> directions_of_variance(torch.tensor([[4.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), normalise=False)
    1
    """
    values = _singular_values(features, normalise=normalise, truncated=True)
    if features.shape[1] < 2 or float(values.sum()) == 0:
        came = f"{features.shape[1]} dimensions" if features.shape[1] < 2 else "features that are all 0"
        raise ValueError(f"expected features of two dimensions or more that are not all 0, got {came}")
    # Rounding must not lift equal values above their equal part.
    return int((values / values.sum() > (1 + 1e-9) / (features.shape[1] - 1)).sum())


def _singular_values(features: Tensor, *, normalise: bool, truncated: bool) -> Tensor:
    """All d, largest first; of tall features those of their triangular factor, which are the same."""
    checked = check_features(features)
    if normalise:
        checked = on_sphere(checked)
    if len(checked) > 2 * checked.shape[1]:
        checked = torch.linalg.qr(checked, mode="r").R
    values: Tensor = torch.linalg.svdvals(checked)
    # Fewer items than dimensions leave directions empty, as many more items along the same ones do.
    values = torch.nn.functional.pad(values, (0, checked.shape[1] - len(values)))
    return values[:-1] if truncated else values
