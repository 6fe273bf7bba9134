"""The fingerprint of a space, kept with the vectors it gave."""

import hashlib
import json

from samekind.parts import describe, fingerprint, is_ours, raw_bytes
from samekind.space import MetricSpace


def space_fingerprint(space: MetricSpace) -> str:
    """SHA-256, in hex, of the encoder with its weights, and of the reader.

    Two spaces with the same fingerprint give the same vectors. Classes, thresholds and the similarity do not
    count: enrolling a class leaves an index valid.
    """
    digest = hashlib.sha256(fingerprint(space.encoder).encode())
    # A foreign encoder cannot be described; its class and weights count.
    parts = [describe(part) for part in (space.encoder, space.reader) if is_ours(part)]
    digest.update(json.dumps(parts, sort_keys=True).encode())
    for name, tensor in sorted(space.encoder.state_dict().items()):
        digest.update(name.encode())
        digest.update(raw_bytes(tensor))
    return digest.hexdigest()
