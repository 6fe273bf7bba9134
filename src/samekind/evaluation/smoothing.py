"""Certified robustness: a space smoothed by noise, whose answers no attack within a radius can change.

The smoothed space answers with the class that it names most often for an item with normal noise. That answer
cannot be changed within a radius (l2) that `samekind.measures.certificate` computes. A space trained with
such noise (the augmentation `PixelNoise`, or `GaussianNoise` of vectors) has larger radii.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from samekind.attacks import Limits
from samekind.data import Items, draw
from samekind.decisions import Head
from samekind.errors import SettingError
from samekind.evaluation.robustness import known_items
from samekind.evaluation.robustness_curve import ROBUSTNESS
from samekind.evaluation.rows import Row
from samekind.inference import asking, device_of
from samekind.inference.known_classes import labels_in
from samekind.measures.catalogue import attacked
from samekind.measures.certificate import CONFIDENCE, certified_radii, largest_radius
from samekind.measures.intervals import Interval
from samekind.measures.robustness import adversarial_accuracy
from samekind.space import MetricSpace
from samekind.training.valid_inputs import ValidInputs, valid_inputs

#: Draws that choose the answer, and the radii that are shown, in sigmas.
FIRST, SHOWN = 100, (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
#: Noisy items that go through the space at a time.
BATCH = 1000


class Smoothing(NamedTuple):
    """The noise, in the unit of epsilon, and how often it is drawn for an item."""

    sigma: float
    draws: int = 1000
    confidence: float = CONFIDENCE
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Certified:
    """The certified radius of n items (n,), 0 where there is none, and whether the answer is right (n,)."""

    name: str
    head: Head
    smoothing: Smoothing
    unit: str
    radii: Tensor
    right: Tensor
    notes: tuple[str, ...] = ()

    def accuracy(self, radius: float) -> Interval:
        """The share of items that are right, and surely stay so at every distance below the radius."""
        return adversarial_accuracy(self.right & (self.radii > radius))

    @property
    def largest(self) -> float:
        """The radius that no item can exceed, however sure its answer is: there are only so many draws."""
        sigma, draws, confidence, _ = self.smoothing
        return largest_radius(draws, sigma=sigma, confidence=confidence)

    @property
    def shown(self) -> tuple[float, ...]:
        return tuple(self.smoothing.sigma * sigmas for sigmas in SHOWN)

    @property
    def rows(self) -> list[Row]:
        return [
            Row(
                ROBUSTNESS,
                self.name,
                attacked("certified accuracy", f"{radius:.4g}"),
                self.head,
                *self.accuracy(radius),
                unit="items",
            )
            for radius in self.shown
        ]

    def to_json(self) -> dict[str, Any]:
        return {
            "data": self.name,
            "items": len(self.radii),
            "head": self.head,
            **self.smoothing._asdict(),
            "unit": self.unit,
            "without an answer": int((self.radii == 0).sum()),
            "mean radius": float(self.radii.mean()),
            "largest possible radius": self.largest,
            "points": [{"radius": radius, **self.accuracy(radius)._asdict()} for radius in self.shown],
            "notes": self.notes,
        }


def certify(
    space: MetricSpace, items: Items, smoothing: Smoothing, *, head: Head = "similarity", most: int = 100
) -> Certified:
    """The certificates of ``most`` items of known classes, drawn by the seed."""
    if not smoothing.sigma > 0 or smoothing.draws < 1:
        raise SettingError(f"expected a sigma above 0 and a draw or more, got {smoothing[:2]}")
    known_part, notes = known_items(space, items)
    sample = draw(known_part, most=most, seed=smoothing.seed)
    inputs, labels = valid_inputs(space, sample).to(device_of(space)), labels_in(space, sample)
    generator = torch.Generator().manual_seed(smoothing.seed)
    answers, counts = [], []
    for x in inputs.x:
        votes = noisy_votes(space, x, inputs, smoothing.sigma, FIRST, head=head, generator=generator)
        answers.append(int(votes.argmax()))
        votes = noisy_votes(
            space, x, inputs, smoothing.sigma, smoothing.draws, head=head, generator=generator
        )
        counts.append(int(votes[answers[-1]]))
    radii = certified_radii(
        torch.tensor(counts), smoothing.draws, sigma=smoothing.sigma, confidence=smoothing.confidence
    )
    right = torch.tensor(answers) == labels.cpu()
    return Certified(sample.name, head, smoothing, inputs.unit, radii, right, tuple(notes))


def noisy_votes(
    space: MetricSpace,
    x: Tensor,
    inputs: ValidInputs,
    sigma: float,
    draws: int,
    *,
    head: Head,
    generator: torch.Generator,
) -> Tensor:
    """How often each class is named for one item (…) with noise: (classes,)."""
    votes = torch.zeros(len(space.classes), dtype=torch.long)
    scale = 1.0 if inputs.scale is None else inputs.scale.to(x)
    with asking(space):
        for start in range(0, draws, BATCH):
            noise = torch.randn(min(BATCH, draws - start), *x.shape, generator=generator)
            noisy = in_range(x + sigma * scale * noise.to(x), inputs.limits, x)
            predicted = space.log_probabilities(space.embed(noisy), head=head).argmax(1).cpu()
            votes += predicted.bincount(minlength=len(votes))
    return votes


def in_range(noisy: Tensor, limits: Limits, x: Tensor) -> Tensor:
    """Noisy items (n, …) cut off at the ends of the range; fixed numbers as in ``x``. No number is rounded:
    the classifier that is smoothed must be a function of the noisy item alone.
    """
    return Limits(limits.low, limits.high, fixed=limits.fixed).bound(noisy, x)
