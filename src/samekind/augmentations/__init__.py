"""Changes of a training batch on its way to the encoder: other views of the same items.

An augmentation stores its settings and is called as ``augmentation(x, generator=…)``. Those of `IMAGES` take
(n, channels, height, width) floats in [0, 1], those of `VECTORS` (n, d),
those of `SOUNDS` waveforms (n, 1, samples) padded with NaN. The result has the same shape, but
for a crop to another size, and the same type and range; the input is left as it was. Every item has chances
of its own. They are drawn from the generator on the CPU, whatever the device of the items, so a seed means
the same everywhere. A step's generator is a function of the run's seed and the step, so a resumed run draws
the same.

An augmentation that mixes the items of a batch by their classes also takes their ``labels``. One that only
moves pixels gives ``matrices(x, generator)``. `augment` applies several in a row, and resamples once where
neighbours only move pixels.
"""

from samekind.augmentations.additive_noise import AdditiveNoise
from samekind.augmentations.affine import Affine
from samekind.augmentations.babble import Babble
from samekind.augmentations.blur import Blur
from samekind.augmentations.chain import Augmentation, augment, step_generator
from samekind.augmentations.colour_jitter import ColourJitter
from samekind.augmentations.feature_dropout import FeatureDropout
from samekind.augmentations.feature_masking import FeatureMasking
from samekind.augmentations.flip import Flip
from samekind.augmentations.gaussian_noise import GaussianNoise
from samekind.augmentations.greyscale import Greyscale
from samekind.augmentations.music import Music
from samekind.augmentations.noise import Noise
from samekind.augmentations.pad_and_crop import PadAndCrop
from samekind.augmentations.perspective import Perspective
from samekind.augmentations.pixel_noise import PixelNoise
from samekind.augmentations.rand_augment import RandAugment
from samekind.augmentations.random_chunk import RandomChunk
from samekind.augmentations.random_crop import RandomCrop
from samekind.augmentations.random_resized_crop import RandomResizedCrop
from samekind.augmentations.reverberation import Reverberation
from samekind.augmentations.rotation import Rotation
from samekind.augmentations.speed import Speed
from samekind.augmentations.time_reversal import TimeReversal

__all__ = [
    "AUGMENTATIONS",
    "IMAGES",
    "SOUNDS",
    "VECTORS",
    "AdditiveNoise",
    "Affine",
    "Augmentation",
    "Babble",
    "Blur",
    "ColourJitter",
    "FeatureDropout",
    "FeatureMasking",
    "Flip",
    "GaussianNoise",
    "Greyscale",
    "Music",
    "Noise",
    "PadAndCrop",
    "Perspective",
    "PixelNoise",
    "RandAugment",
    "RandomChunk",
    "RandomCrop",
    "RandomResizedCrop",
    "Reverberation",
    "Rotation",
    "Speed",
    "TimeReversal",
    "augment",
    "step_generator",
]

#: The augmentations of images a run chooses from.
IMAGES = (
    "AdditiveNoise",
    "Affine",
    "Blur",
    "ColourJitter",
    "Flip",
    "Greyscale",
    "PadAndCrop",
    "Perspective",
    "PixelNoise",
    "RandAugment",
    "RandomCrop",
    "RandomResizedCrop",
    "Rotation",
)

#: And those of vectors.
VECTORS = ("FeatureDropout", "GaussianNoise")

#: And those of sounds.
SOUNDS = (
    "Babble",
    "FeatureMasking",
    "Music",
    "Noise",
    "RandomChunk",
    "Reverberation",
    "Speed",
    "TimeReversal",
)

AUGMENTATIONS = IMAGES + VECTORS + SOUNDS
