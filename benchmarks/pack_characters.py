"""Makes the small copy of Omniglot that `samekind.characters` reads: 28 x 28 pixels of one bit.

    python benchmarks/pack_characters.py --data omniglot.npz

The archive holds the published pictures of 105 x 105 pixels, packed along the rows (ink is 1), as
``images_background`` and ``images_evaluation``, each with ``_labels`` and ``_names`` (alphabet/character).
The twenty drawings of a character are in the order of their published numbers: in one alphabet, a number is
always the same person. A pixel of the copy is ink where a quarter of its area is.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

SIDE, DRAWINGS, INK = 28, 20, 0.25
TO = Path(__file__).parents[1] / "src" / "samekind" / "data" / "omniglot" / "characters.npz"


def packed(bits: np.ndarray, labels: np.ndarray, names: np.ndarray) -> np.ndarray:
    """The drawings of one published part, (characters, 20, bytes)."""
    assert (labels == np.repeat(np.arange(len(names)), DRAWINGS)).all(), "expected 20 drawings after another"
    ink = torch.from_numpy(np.unpackbits(bits, axis=-1)[..., :105]).float()[:, None]
    small = F.interpolate(ink, size=(SIDE, SIDE), mode="area") > INK
    return np.packbits(small.flatten(1).numpy(), axis=1).reshape(len(names), DRAWINGS, -1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="omniglot.npz")
    parser.add_argument("--out", type=Path, default=TO)
    arguments = parser.parse_args()
    drawings, names = [], []
    with np.load(arguments.data) as arrays:
        for part in ("background", "evaluation"):
            parts = [arrays[f"images_{part}{end}"] for end in ("", "_labels", "_names")]
            drawings.append(packed(*parts))
            names.append(parts[2])
    np.savez_compressed(arguments.out, drawings=np.concatenate(drawings), names=np.concatenate(names))
    print(f"{arguments.out}: {arguments.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
