"""Which space a vector came from."""

import hashlib
import json

import torch

from samekind.parts import describe, fingerprint, is_ours
from samekind.space import MetricSpace


def space_fingerprint(space: MetricSpace) -> str:
    """SHA-256, in hex, of what turns an item into a vector: the encoder with its weights, and the reader.

    Two spaces with the same fingerprint give the same vectors, so that one may search what the other
    stored. Classes, thresholds and the similarity do not count: enrolling a class leaves an index valid.
    """
    digest = hashlib.sha256(fingerprint(space.encoder).encode())
    # A foreign encoder cannot be described; its class and its weights have to do.
    parts = [describe(each) for each in (space.encoder, space.reader) if is_ours(each)]
    digest.update(json.dumps(parts, sort_keys=True).encode())
    for name, each in sorted(space.encoder.state_dict().items()):
        digest.update(name.encode())
        # As raw bytes, because numpy does not know every dtype of torch.
        content = each.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
        digest.update(content.numpy().data)
    return digest.hexdigest()
