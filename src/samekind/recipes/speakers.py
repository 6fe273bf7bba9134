"""Speakers: the two papers on learned similarities, with their settings for VoxCeleb.

"speaker" is Monteiro et al., "An end-to-end approach for the verification problem: learning the right
distance", ICML 2020, and "speaker-alone" its ablation without the auxiliary loss; "speaker-prototypical" is
Monteiro et al., "Learning Semantic Similarities for Prototypical Classifiers", 2021.
"""

from functools import partial
from typing import Literal

from samekind.errors import SettingError, nearest
from samekind.recipes.encoder import Recipes, Subject, encoder_for, shape_and_medium, standardise_for
from samekind.training import Batches, Head, Optimiser, Part, Parts, Run, Schedule, Term

System = Literal["speaker", "speaker-alone", "speaker-prototypical"]
SYSTEMS: tuple[System, ...] = ("speaker", "speaker-alone", "speaker-prototypical")

#: The widths of the layer that pairs are compared by, and of the later one that separates the speakers of the
#: training. The third system has one layer for both, with the second width.
INNER, OUTPUT = 512, 256
#: The head of the margin softmax, and its margin.
MARGIN = 0.35
#: Seconds of a sound in training at most, and the least part of them: 800 frames, and a quarter.
CHUNK = Part("RandomChunk", {"seconds": 8.0, "least": 0.25})


def speakers(items: Subject, *, system: System = "speaker") -> Run:
    """The run for items, or for their shape; any items that come in several recordings of one class will do.

    Batches are 24 tuples of 5 items of a class. Sounds get the x-vector network as the authors had it; the
    pairs network and the cosine take its layer behind the pooling, of 512 numbers, and the margin softmax a
    later one, of 256. Steps that were for millions of recordings are long for a few: with fewer than 10,000
    steps take ``schedule.warmup=500``. "speaker-prototypical" masks and reverses sounds as its authors did.

    Differs from the papers:

    - ``space.auxiliary.projection``: an `MLP` without the batch normalisation of the authors' later layer.
    - ``epochs``: 100; the papers count steps, up to two million.
    - ``augment``: noise, music, voices and rooms need recordings of them: name their folders in a run file.
      The Gaussian noise on features of the later paper is left out: here sounds are changed.
    - ``select_on``: validation items choose the epoch; the first paper's code looks at speakers of the test.
    - ``terms.pair.weighting``: all pairs, as the texts say. The authors' code counts a pair as often as it is
      in a triplet of the batch, which for the positives of equally large classes is the same.
    """
    if system not in SYSTEMS:
        raise SettingError(f'there is no system "{system}" here; {nearest(system, SYSTEMS)}')
    prototypical = system == "speaker-prototypical"
    shape, medium = shape_and_medium(items)
    layers = {"hidden": 256, "depth": 4, "dropout": 0.1}
    if prototypical:
        layers = {"hidden": 512, "depth": 1, "dropout": 0.25}
    changes = (Part("FeatureMasking"), Part("TimeReversal"), CHUNK) if prototypical else (CHUNK,)
    return Run(
        recipe=system,
        space=Parts(
            encoder=_encoder(items, dimension=OUTPUT if prototypical else INNER),
            similarity=Part("PairsNetwork", layers),
            prototypes=Part("RunningAverages", {"momentum": 0.9}) if prototypical else Part("SupportMeans"),
            auxiliary=None if system == "speaker-alone" else _head(prototypical),
            standardise=standardise_for(items),
        ),
        terms=_terms(system),
        batches=Batches("Tuples", {"tuples": 24, "size": 5}),
        optimiser=Optimiser("SGD", rate=1.5, momentum=0.95, nesterov=True, weight_decay=1e-3),
        schedule=Schedule("inverse-square-root", warmup=2000),
        epochs=100,
        clip=10.0,
        augment=changes if medium.family(shape) == "sounds" else (),
    )


def _terms(system: System) -> dict[str, Term]:
    """The losses: of pairs; a margin softmax beside it, except with "speaker-alone"; with
    "speaker-prototypical" also of classes.
    """
    prototypical = system == "speaker-prototypical"
    smoothing, total = (0.2, {}) if prototypical else (0.1, {"total": "mean"})
    terms = {
        "class": Term("softmax", against="prototypes", arguments={"smoothing": smoothing}),
        "pair": Term("pair_likelihood", against="batch", arguments={"smoothing": smoothing / 2} | total),
        "auxiliary": Term(
            "additive_margin", against="auxiliary", arguments={"margin": MARGIN, "smoothing": smoothing}
        ),
    }
    left_out = {"speaker": {"class"}, "speaker-alone": {"class", "auxiliary"}}.get(system, set())
    return {name: term for name, term in terms.items() if name not in left_out}


def _encoder(items: Subject, *, dimension: int) -> Part:
    """The encoder of the medium; the x-vector network in the authors' variant."""
    encoder = encoder_for(items, dimension=dimension)
    inside = encoder.arguments.get("encoder", {})
    if inside.get("name") != "XVector":
        return encoder
    return Part(encoder.name, {**encoder.arguments, "encoder": {**inside, "variant": "authors"}})


def _head(prototypical: bool) -> Head:
    """The margin softmax: on the embedding itself, or behind two more layers."""
    later = None if prototypical else Part("MLP", {"hidden": [INNER], "dimension": OUTPUT})
    return Head(Part("Cosine", {"scale": {"name": "FixedScale", "value": 30.0}}), projection=later)


#: The systems by the name of the recipe.
SPEAKERS: Recipes = {system: partial(speakers, system=system) for system in SYSTEMS}
