"""Score fusion: one score from those of several systems.

Monteiro et al., "An end-to-end approach for the verification problem: learning the right distance", ICML
2020, for the mean of learned score and cosine; Brümmer et al., "Fusion of Heterogeneous Speaker Recognition
Systems in the STBU Submission for the NIST Speaker Recognition Evaluation 2006", IEEE TASLP 2007, for the
trained weights.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.measures.checks import check_finite
from samekind.measures.logistic import logistic_line
from samekind.measures.sorted_trials import check_both_answers


class Fusion(NamedTuple):
    """One weight a system and an offset; plain numbers, so JSON can hold them."""

    weights: Sequence[float]
    offset: float

    def score(self, systems: Tensor) -> Tensor:
        """The fused natural log likelihood ratio, in float64: (trials, systems) -> (trials,)."""
        if systems.ndim != 2 or systems.shape[1] != len(self.weights):
            expected = f"(trials, {len(self.weights)})"
            raise ValueError(f"expected scores of shape {expected}, got {tuple(systems.shape)}")
        weights = torch.tensor(self.weights, dtype=torch.double, device=systems.device)
        return systems.detach().double() @ weights + self.offset


def fused_score(logits: Tensor, cosines: Tensor) -> Tensor:
    """½ (sigmoid(logit) + ½ (cosine + 1)): the learned probability and the cosine, each in [0, 1], averaged.

    Both are of one shape. Nothing is fitted; 0 when both say different, 1 when both say the same.

    >>> fused_score(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor([0.7500])
    """
    if logits.shape != cosines.shape or logits.numel() == 0:
        shapes = f"{tuple(logits.shape)} and {tuple(cosines.shape)}"
        raise ValueError(f"expected logits and cosines of one shape, at least one of each, got {shapes}")
    broken = int((logits.isnan() | cosines.isnan()).sum())
    if broken:
        raise ValueError(f"expected numbers, got {broken} of {logits.numel()} pairs with NaN")
    return 0.5 * (logits.detach().sigmoid() + 0.5 * (cosines.detach() + 1))


def logistic_fusion(systems: Tensor, same: Tensor, *, prior: float = 0.5) -> Fusion:
    """Weights that make the scores of several systems one log likelihood ratio, by logistic regression.

    ``systems`` is (trials, systems), one column a system, over the same trials. ``prior`` says how much each
    kind of trial weighs, as in `logistic_calibration`, which this is for a single system. A small ridge
    keeps the weights finite on separated trials and shares them between systems that say the same.

    >>> scores, same = torch.tensor([3.0, 2.0, 2.0, 1.0]), torch.tensor([True, True, False, False])
    >>> fusion = logistic_fusion(torch.stack([scores, scores], dim=1), same)
    >>> round(fusion.weights[0] - fusion.weights[1], 9)
    0.0
    """
    if systems.ndim != 2 or same.ndim != 1 or len(systems) != len(same) or systems.shape[1] == 0:
        shapes = f"{tuple(systems.shape)} and {tuple(same.shape)}"
        raise ValueError(f"expected scores (trials, systems) and same (trials,), got {shapes}")
    check_both_answers(same)
    check_finite(systems, "scores")
    weights, offset = logistic_line(systems.detach(), same, prior=prior)
    return Fusion(tuple(weights), offset)
