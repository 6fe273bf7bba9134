"""The generator of an epoch: the one place where seed and epoch are mixed."""

import hashlib

import torch


def epoch_generator(seed: int, epoch: int) -> torch.Generator:
    """A new generator that depends only on seed and epoch.

    They are hashed, not added: otherwise epoch 1 of seed 0 would be epoch 0 of seed 1, and runs with
    neighbouring seeds would share nearly all batches.
    """
    digest = hashlib.sha256(f"seed {seed}, epoch {epoch}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)  # 63 bits: never negative
