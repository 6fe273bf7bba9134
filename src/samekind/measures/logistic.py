"""Logistic regression of "same" on the scores of one or several systems, for a chosen prior.

Newton's method on the weighted likelihood with a small ridge, so that perfectly separated trials give a steep
curve and not an infinite one.
"""

import math

import torch
from torch import Tensor

STEPS = 100
RIDGE = 1e-4
#: Trials worked on at a time: memory then does not grow with their number.
CHUNK = 2**18


def logistic_line(systems: Tensor, same: Tensor, *, prior: float) -> tuple[list[float], float]:
    """Weights and offset of the best log likelihood ratio that is a line: (trials, systems), (trials,).

    The trials of both kinds weigh ``prior`` to 1 - ``prior`` together, however many of each there are.
    """
    if not 0 < prior < 1:
        raise ValueError(f"expected a prior between 0 and 1, got {prior}")
    unit = _units(systems)
    spread, centre = torch.std_mean(systems.double() * unit, dim=0)
    # A system whose scores are all equal is uninformative; its rounding errors must not be magnified.
    spread = spread.where(spread > 1e-12, 1.0)
    targets = int(same.sum())
    each_weight = (1 - prior) / (len(same) - targets), prior / targets
    weights = torch.tensor(each_weight, dtype=torch.double, device=systems.device)
    line = torch.zeros(systems.shape[1] + 1, dtype=torch.double, device=systems.device)
    for _ in range(STEPS):
        gradient, curvature = RIDGE * line, RIDGE * torch.eye(len(line), dtype=line.dtype, device=line.device)
        for chunk, truths in zip(torch.split(systems, CHUNK), torch.split(same, CHUNK), strict=True):
            numbers = (chunk.double() * unit - centre) / spread
            x = torch.cat([numbers, torch.ones_like(numbers[:, :1])], dim=1)
            probability = (x @ line + math.log(prior / (1 - prior))).sigmoid()
            weight = weights[truths.long()]
            gradient = gradient + x.T @ (weight * (probability - truths.double()))
            curvature = curvature + (x.T * (weight * probability * (1 - probability))) @ x
        move = torch.linalg.solve(curvature, gradient)
        # No step longer than one: Newton alone can overshoot.
        line = line - move / max(1.0, float(move.norm()))
        if move.norm() < 1e-10:
            break
    slopes = line[:-1] / spread
    return (slopes * unit).tolist(), float(line[-1] - slopes @ centre)


def _units(systems: Tensor) -> Tensor:
    """The power of two that brings the largest score of each system near 1: (systems,).

    Squares of huge scores would be infinite, those of tiny ones 0. Scores below 1e-300 count as 0: the slope
    of a line through them would be infinite.
    """
    largest = systems.detach().double().abs().amax(0)
    exponent = largest.where(largest > 1e-300, 1.0).frexp().exponent
    return torch.ldexp(torch.ones_like(largest), -exponent)
