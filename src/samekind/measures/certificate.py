"""A certificate by randomised smoothing: within a radius, no change of an item changes the answer.

The answer to an item is the one that a classifier gives most often to the item with normal noise of standard
deviation sigma. If its probability is at least p, the answer is the same at every distance (l2) below
sigma x Φ⁻¹(p). Only a count among random draws is known of p, so the certificate is wrong with a small
probability: 1 - confidence.

Cohen, Rosenfeld and Kolter, "Certified Adversarial Robustness via Randomized Smoothing", ICML 2019.
"""

import torch
from torch import Tensor

#: How sure a certificate is.
CONFIDENCE = 0.999


def lowest_share(counts: Tensor, draws: int, *, confidence: float = CONFIDENCE) -> Tensor:
    """The lower end of the exact one-sided interval (Clopper and Pearson) of shares: (n,) -> (n,), float64.

    >>> lowest_share(torch.tensor([0, 100]), 100, confidence=0.95).tolist()
    [0.0, 0.9704869503929601]
    """
    if draws < 1 or not 0 < confidence < 1:
        raise ValueError(f"expected draws above 0, a confidence between 0 and 1; got {draws}, {confidence}")
    if len(counts) and not 0 <= int(counts.min()) <= int(counts.max()) <= draws:
        raise ValueError(f"expected counts from 0 to {draws}, got {int(counts.min())} to {int(counts.max())}")
    from scipy.special import betaincinv

    successes = counts.double().cpu()
    lowest = betaincinv(successes.clamp(min=1).numpy(), (draws - successes + 1).numpy(), 1 - confidence)
    return torch.as_tensor(lowest, dtype=torch.float64).where(successes > 0, 0.0)


def certified_radii(counts: Tensor, draws: int, *, sigma: float, confidence: float = CONFIDENCE) -> Tensor:
    """The certified radius of each item (n,), from how many of the draws gave its answer (n,). The radius is
    0, which certifies nothing, where the probability may be less than a half.

    >>> certified_radii(torch.tensor([40, 100]), 100, sigma=1.0, confidence=0.95).tolist()
    [0.0, 1.8879988918577366]
    """
    if not sigma > 0:
        raise ValueError(f"expected a sigma above 0, got {sigma}")
    share = lowest_share(counts, draws, confidence=confidence)
    radii: Tensor = sigma * torch.special.ndtri(share.clamp(min=0.5))
    return radii.clamp(min=0.0)


def largest_radius(draws: int, *, sigma: float, confidence: float = CONFIDENCE) -> float:
    """The radius where all draws agree: no item can have a larger one.

    >>> round(largest_radius(200, sigma=0.25), 3), round(largest_radius(20_000, sigma=0.25), 3)
    (0.456, 0.848)
    """
    return float(certified_radii(torch.tensor([draws]), draws, sigma=sigma, confidence=confidence))
