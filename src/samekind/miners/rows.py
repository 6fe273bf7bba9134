"""Rows that are single triplets, or single positive pairs."""

import torch
from torch import Tensor


def triplet_rows(
    anchors: Tensor, positives: Tensor, negatives: Tensor, *, candidates: int
) -> tuple[Tensor, Tensor, Tensor]:
    """One row for each triplet of indices (rows,): its masks hold that positive and that negative alone."""
    positive = torch.zeros(len(anchors), candidates, dtype=torch.bool, device=anchors.device)
    negative = positive.clone()
    positive.scatter_(1, positives[:, None], True)
    negative.scatter_(1, negatives[:, None], True)
    return anchors, positive, negative


def pair_rows(anchors: Tensor, positives: Tensor, rivals: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """One row for each (anchor, positive) of indices (pairs,) that has a rival: its masks hold that positive
    and those rivals, (pairs, candidates).
    """
    rows = rivals.any(1)
    alone = torch.zeros_like(rivals[rows]).scatter_(1, positives[rows, None], True)
    return anchors[rows], alone, rivals[rows]
