"""Every recipe that has a paper's name has the paper's settings, but for what its docstring lists.

The tables below say what the documents have: the path of a setting, its value, and where it stands (the
section of the reading of the documents that the project was built from). A value that is `OTHER` is one that
a run cannot have, such as another network. A setting that differs must be listed in the docstring of the
recipe, after "Differs from the paper", and what is listed there must differ: neither can go unnoticed.
"""

import re
from inspect import signature
from pathlib import Path
from typing import NamedTuple

import pytest

from samekind import augmentations, miners, recipes
from samekind.recipes.defended import DEFENDED
from samekind.recipes.few_shot import FEW_SHOT
from samekind.recipes.plans import read_plan
from samekind.recipes.proxies import BY_TREE, PROXIES
from samekind.recipes.retrieval import RETRIEVAL
from samekind.recipes.speakers import SPEAKERS
from samekind.recipes.unseen import UNSEEN

#: What no run has: a network, a start, a way to count that is not there; the docstring says what is instead.
OTHER = object()


class Row(NamedTuple):
    """A setting of a document: its path in a run, its value, and the section."""

    path: str
    value: object
    section: str


def rows(section, **settings):
    """Rows of one section; __ stands for the dots of a path."""
    return [Row(path.replace("__", "."), value, section) for path, value in settings.items()]


AM = {"name": "Cosine", "scale": {"name": "FixedScale", "value": 30.0}}
PAIRS_001 = [
    *rows("2.3", terms__pair__loss="pair_likelihood", terms__pair__smoothing=0.1, terms__pair__total="mean"),
    *rows("2.3", terms__pair__weighting="triplets", terms__pair__weight=1.0, terms__auxiliary__weight=1.0),
    *rows("2.3", terms__auxiliary__loss="additive_margin", space__auxiliary__similarity=AM),
]
CIFAR_001 = [
    *rows("2.5", space__encoder=OTHER, space__standardise="channels", epochs=600, batches__size=64),
    *rows("2.5", batches__sampler="Shuffled", optimiser__name="SGD", optimiser__rate=0.01),
    *rows("2.5", optimiser__momentum=0.9, optimiser__nesterov=False),
    *rows("2.5", terms__auxiliary__smoothing=0.2, terms__auxiliary__margin=0.35),
    *rows("2.5", augment=["PadAndCrop", "Flip"], select_on="test", clip=None),
    *rows("2.2", space__auxiliary__projection=None, space__prototypes={"name": "SupportMeans"}),
    *rows("2.4", schedule__name="plateau", schedule__factor=0.5, schedule__patience=10),
]
SIMILARITY_000 = [
    *rows("1.1", space__similarity={"name": "PairsNetwork", "hidden": 512, "depth": 1, "dropout": 0.25}),
    *rows("1.2", space__prototypes={"name": "RunningAverages", "momentum": 0.9}),
    *rows("1.3", terms__class__loss="softmax", terms__class__smoothing=0.2, terms__class__weight=1.0),
    *rows("1.3", terms__pair__loss="pair_likelihood", terms__pair__weight=1.0, terms__pair__total=None),
    *rows("1.3", terms__auxiliary__smoothing=0.2, terms__auxiliary__weight=1.0),
    *rows("1.3", terms__pair__weighting="triplets"),
    *rows("1.1", space__auxiliary__similarity={"name": "Dot"}, space__auxiliary__bias=True),
    *rows("1.1", terms__auxiliary__loss="softmax", space__auxiliary__projection=None),
]
#: The text spreads 0.15 over all classes: over the others, as runs have it, less by the share of the true one
#: of the hundred that train.
ADVERSARY = [
    *rows("4.4", adversary__smoothing=0.15 * 99 / 100, adversary__dropout=0.1, adversary__weight=0.5),
    *rows("4.4", adversary__threshold=1.5, adversary__updated="epoch"),
    *rows("10", adversary__hidden=512, adversary__steered_by="plain_loss"),
]
SOFT = [*rows("4.4", adversary__method="soft"), *ADVERSARY]
ADAPTIVE = [*rows("4.4", adversary__method="adaptive"), *ADVERSARY]
PROTOCOL_003 = [
    *rows("4.2", space__encoder=OTHER),
    *rows("4.5", optimiser__name="Adam", optimiser__rate=1e-3, optimiser__epsilon=0.01),
    *rows("4.5", optimiser__weight_decay=1e-4, schedule__name="constant", select_on="test"),
    *rows("4.5", augment=["RandomCrop", "Flip"], clip=None),
    *rows("10", epochs=25),
]
LOSSES_003 = {
    "triplet": [
        *rows("4.3", terms__triplet__loss="triplet", terms__triplet__miner="semi_hard"),
        *rows("4.3", terms__triplet__margin=0.01, terms__triplet__mining={"margin": 0.01}),
        *rows("4.3", space__similarity={"name": "Euclidean", "normalise": True}),
        *rows("4.5", batches__sampler="Shuffled"),
    ],
    "angular": [
        *rows("4.3", terms__angular__loss="angular", terms__angular__alpha=45.0),
        *rows("4.3", terms__angular__miner="one_pair"),
        *rows("10", terms=["angular"], space__similarity={"name": "Cosine"}),
        *rows("4.5", batches__sampler="Shuffled"),
    ],
    "proxy-nca": [
        *rows("4.3", terms__proxies__loss="proxy_nca", terms__proxies__smoothing=0.1),
        *rows("4.3", space__similarity__scale={"name": "FixedScale", "value": 9.0}),
        *rows("4.3", space__similarity__name="SquaredEuclidean", space__similarity__normalise=True),
        *rows("4.3", space__prototypes={"name": "LearnedProxies"}),
        *rows("4.5", optimiser__rates__prototypes=0.01, batches__sampler="Shuffled", batches__size=64),
    ],
}
EXTENSIONS_003 = {
    "": rows("4.3", penalties={}, adversary=None),
    "-energy": rows("10", penalties__energy__penalty="energy_confusion", penalties__energy__weight=0.1),
    "-soft-adv": SOFT,
    "-adapt-adv": ADAPTIVE,
}
RETRIEVAL_BOTH = rows("1.6", start=OTHER, epochs=OTHER, select_on="test", clip=10.0, space__encoder=OTHER)
RETRIEVAL_BOTH += rows("1.6", space__standardise="none")  # the pretrained network has its own
TUPLES_001 = rows("2.5", batches__sampler="Tuples", batches__tuples=24, batches__size=5)
NOAM = rows("2.4", schedule__name="inverse-square-root", schedule__warmup=2000, optimiser__nesterov=True)
SPEAKERS_BOTH = [
    *rows("2.5", optimiser__rate=1.5, optimiser__momentum=0.95, optimiser__weight_decay=1e-3, clip=10.0),
    *NOAM,
    *TUPLES_001,
    *rows("2.5", epochs=OTHER, terms__pair__weighting="triplets"),
    *rows("2.6", space__encoder__encoder__name="XVector", space__encoder__encoder__variant="authors"),
]
#: Section 2.7 names what is mixed in; 2.5 cuts to at most 800 frames.
SPEAKERS_001 = [
    *SPEAKERS_BOTH,
    *rows("2.3", terms__pair__smoothing=0.05, terms__pair__total="mean"),
    *rows("2.5", space__similarity={"name": "PairsNetwork", "hidden": 256, "depth": 4, "dropout": 0.1}),
    *rows("2.5", select_on="test", augment=["Reverberation", "Noise", "Music", "Babble", "RandomChunk"]),
    *rows("2.6", space__encoder__encoder__dimension=512),
]
SYSTEM_000 = [*SIMILARITY_000[:2], *rows("1.3", terms__class__smoothing=0.2, terms__pair__smoothing=0.1)]
SYSTEM_000 += rows("1.1", terms__auxiliary__margin=0.35)
FEW_SHOT_002 = [
    *rows("3.3.2", batches__way=5, batches__shot=1, batches__queries=16, batches__steps=100, epochs=600),
    *rows("3.3.2", batches__sampler="Episodes", batches__tasks=1),
    *rows("3.3.2", optimiser__name="Adam", optimiser__rate=1e-3, schedule__name="constant"),
    *rows("3.3.2", optimiser__weight_decay=0.0, clip=None, watch=OTHER),
    *rows("3.3.2", space__encoder={"name": "Conv4"}, space__standardise=OTHER),
    *rows("3.3.2", augment=["RandomResizedCrop", "Flip", "ColourJitter"]),
    *rows("3.3.1", terms__task__loss="softmax", terms__task__against="support"),
]
#: What stands for a class: the mean of its examples, or (appendix D) the one nearest to the query.
BY_002 = {
    "proto": rows("3.3.1", space__prototypes={"name": "SupportMeans"}),
    "nearest": rows("3.3.1", space__prototypes={"name": "SupportMeans", "count": 1, "pooling": "max"}),
}
PROXIES_002 = [
    *rows("3.4.3", optimiser__name="Adam", optimiser__rate=1e-4, optimiser__weight_decay=0.0, epochs=50),
    *rows("3.4.3", batches__sampler="Shuffled", batches__size=32, augment=["Affine", "Flip"]),
    *rows("3.4.3", space__encoder=OTHER, space__standardise="none", watch=OTHER, clip=None),
]
TEN = {"name": "FixedScale", "value": 10.0}
#: The score of each classifier, unless its scale is dynamic.
SCORES_002 = {
    "softmax": rows("3.4.3", space__similarity={"name": "Dot"}, terms__class__loss="softmax"),
    "norm-face": rows("3.4.3", space__similarity={"name": "Cosine", "scale": TEN}),
    "proxy-dr": rows("3.4.3", space__similarity__normalise=True, space__similarity__scale=TEN),
    "corr": rows("3.4.2", space__similarity={"name": "Cosine"}, terms__class__loss="corr"),
}


def score_002(name):
    """The rows of a recipe of proxies about its score."""
    ratio = rows("3.4.3", space__similarity__epsilon=1e-12) if name.startswith("proxy-dr") else []
    if not name.endswith("-dynamic"):
        return [*ratio, *next(found for key, found in SCORES_002.items() if name.startswith(key))]
    forms = {"norm-face": "cosine", "proxy-dr": "log-distance"}
    form = next(form for key, form in forms.items() if name.startswith(key))
    published = rows("3.4.6", space__similarity__scale__as_published=True) if ratio else []
    return [*ratio, *published, *rows("3.4.6", space__similarity__scale__form=form)]


SQUARED = {"name": "SquaredEuclidean"}
AVERAGED = rows("3.4.4", space__prototypes__name="EMAProxies", space__prototypes__rate=0.001)

#: What the documents have, by the name of the recipe.
DOCUMENTS = {
    "verification": [
        *CIFAR_001,
        *PAIRS_001,
        *rows("2.5", space__similarity={"name": "PairsNetwork", "hidden": 350, "depth": 3, "dropout": 0.2}),
        *rows("2.5", optimiser__weight_decay=1e-3),
        *rows("2.4", watch="eer best"),
    ],
    "triplet": [
        *CIFAR_001,
        *rows("2.5", optimiser__weight_decay=1e-4, terms__auxiliary__loss="additive_margin"),
        *rows("2.5", terms__triplet__miner="hardest", terms__triplet__order="one"),
        *rows(
            "2.5", terms__triplet__loss="triplet", terms__triplet__weight=1.0, terms__auxiliary__weight=1.0
        ),
        *rows("2.5", space__similarity={"name": "Euclidean", "normalise": True}),
        *rows("2.5", penalties__spread__penalty="spread"),
        *rows("10", terms__triplet__margin=0.3, penalties__spread__weight=0.1),
        *rows("2.5", terms__triplet__mining={}),  # by the miner's own margin, 0.1
        *rows("1.1", space__auxiliary__similarity=AM),
    ],
    "prototypical": [
        *SIMILARITY_000,
        *rows("1.3", terms__pair__smoothing=0.1),
        *rows("1.6", space__encoder=OTHER, space__standardise="channels", batches__size=64, epochs=500),
        *rows("1.6", optimiser__name="SGD", optimiser__rate=0.1, optimiser__momentum=0.9, clip=None),
        *rows("1.6", optimiser__nesterov=False, optimiser__weight_decay=5e-4),
        *rows("1.6", schedule__name="multi-step", schedule__factor=0.1),
        *rows("1.6", schedule__milestones=[10, 150, 250, 350]),
        *rows("1.6", augment=["RandAugment", "PadAndCrop", "Flip", "AdditiveNoise"]),
    ],
    "prototypical-retrieval": [
        *SIMILARITY_000,
        *RETRIEVAL_BOTH,
        *rows("1.3", terms__pair__smoothing=0.2),
        *rows("1.6", optimiser__name="Adam", optimiser__rate=1e-4, optimiser__weight_decay=1e-4),
        *rows("1.6", schedule__name="multi-step", schedule__milestones=[20, 50, 120], optimiser__rates={}),
        *rows("1.6", schedule__factor=0.1),
        *rows("1.6", batches__sampler="Tuples", batches__tuples=64, batches__size=5),
        *rows("1.6", augment=["RandAugment", "RandomResizedCrop", "Flip", "AdditiveNoise"]),
    ],
    "verification-retrieval": [
        *PAIRS_001,
        *RETRIEVAL_BOTH,
        *TUPLES_001,
        *NOAM,
        *rows("2.3", terms__auxiliary__margin=0.4),
        *rows("2.5", space__similarity={"name": "PairsNetwork", "hidden": 256, "depth": 5, "dropout": 0.1}),
        *rows("2.5", optimiser__rate=1.0, optimiser__name="SGD"),
        # Of these the document says what was selected for speakers, and nothing of retrieval.
        *rows("2.5", optimiser__momentum=0.95, optimiser__weight_decay=1e-3, terms__auxiliary__smoothing=0.1),
        *rows(
            "2.5",
            augment=["RandomResizedCrop", "Flip", "Rotation", "Perspective", "Greyscale", "GaussianNoise"],
        ),
    ],
    **{
        f"unseen-{loss}{extension}": [*PROTOCOL_003, *LOSSES_003[loss], *EXTENSIONS_003[extension]]
        for loss in LOSSES_003
        for extension in EXTENSIONS_003
    },
    **{
        f"{by}-softmax": [*FEW_SHOT_002, *BY_002[by], *rows("3.3.1", space__similarity=SQUARED)]
        for by in BY_002
    },
    **{
        f"{by}-dr": [
            *FEW_SHOT_002,
            *BY_002[by],
            *rows("3.3.1", space__similarity__name="LogDistance"),
            *rows("3.3.1", space__similarity__scale__name="LearnedScale"),
            *rows("3.3.1", space__similarity__scale__initial=pytest.approx(7.389056)),
        ]
        for by in BY_002
    },
    **{name: [*PROXIES_002, *score_002(name), *(AVERAGED if "-ema" in name else [])] for name in PROXIES},
    "siamese": [
        *rows("3.2", optimiser__name="SGD", optimiser__rate=0.01, optimiser__momentum=0.9, epochs=30),
        *rows("3.2", batches__triplets=20, batches__steps=5000, terms__triplet__margin=1.0),
        *rows("3.2", terms__triplet__later=[{"after": 20, "margin": 1.3}, {"after": 30, "margin": 1.5}]),
        *rows("3.2", space__encoder=OTHER, terms__triplet__miner=OTHER, keep="last", augment=[]),
        *rows("3.2", space__similarity={**SQUARED, "normalise": True}),
        *rows("3.2", schedule__factor=0.9, schedule__milestones=list(range(1, 30))),
    ],
    "speaker": [
        *SPEAKERS_001,
        *rows("2.5", terms__auxiliary__margin=0.35, terms__auxiliary__smoothing=0.1),
        *rows("2.6", space__auxiliary__projection=OTHER),
    ],
    "speaker-alone": SPEAKERS_001,
    "speaker-prototypical": [
        *SPEAKERS_BOTH,
        *SYSTEM_000,
        *rows("1.6", space__encoder__encoder__dimension=256, space__auxiliary__projection=None),
        *rows("1.6", augment=["FeatureMasking", "GaussianNoise", "TimeReversal", "RandomChunk"]),
    ],
}
#: The function whose docstring lists what differs, where several recipes share one.
SHARED = {
    **dict.fromkeys(UNSEEN, recipes.unseen),
    **dict.fromkeys(RETRIEVAL, recipes.retrieval),
    **dict.fromkeys(FEW_SHOT, recipes.few_shot),
    **dict.fromkeys(PROXIES, recipes.proxies),
    **dict.fromkeys(SPEAKERS, recipes.speakers),
}
#: Recipes without a document: the house recipe, and classifiers in other spaces.
OWN = {"house", "euclidean", "poincare", *BY_TREE, *DEFENDED}
SHAPE, SOUND = (3, 256, 256), (1, 16000)
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def value_at(run, path):
    """A setting of a run by its path; augmentations and terms by their names. None where there is none."""
    value = run.to_dict()
    if path in ("augment", "terms"):
        return [part["name"] if path == "augment" else part for part in value[path]]
    for key in path.split("."):
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def shape_for(name):
    """A shape of what a recipe is for: sounds of a second, or pictures."""
    return SOUND if name in SPEAKERS else SHAPE


def differences(name):
    """The paths of a recipe's settings that are not the document's."""
    run = recipes.RECIPES[name](shape_for(name))
    return {row.path for row in DOCUMENTS[name] if value_at(run, row.path) != row.value}


def listed(function):
    """The paths that a docstring lists after "Differs from the paper", each in double backticks."""
    _, _, after = (function.__doc__ or "").partition("Differs from the paper")
    heads = re.findall(r"^ *- ((?:``[\w.]+``(?:, )?)+):", after, re.MULTILINE)
    return {path for head in heads for path in re.findall(r"``([\w.]+)``", head)}


def covers(path, names):
    """Whether a path, or a table that it is in, is among the names."""
    return any(path == name or path.startswith(f"{name}.") for name in names)


def test_every_recipe_has_its_document():
    assert DOCUMENTS.keys() | OWN == recipes.RECIPES.keys()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_setting_that_is_not_the_documents_is_listed_with_its_reason(name):
    names = listed(SHARED.get(name, recipes.RECIPES[name]))
    undeclared = {path for path in differences(name) if not covers(path, names)}
    assert not undeclared, f"{name} differs from its document in {sorted(undeclared)}"


@pytest.mark.parametrize(
    "function", dict.fromkeys(SHARED.get(name, recipes.RECIPES[name]) for name in DOCUMENTS)
)
def test_what_is_listed_differs(function):
    """A list that is older than the settings would excuse what nobody meant."""
    names = [name for name in DOCUMENTS if SHARED.get(name, recipes.RECIPES[name]) is function]
    differing = {path for name in names for path in differences(name)}
    stale = {path for path in listed(function) if not any(covers(other, {path}) for other in differing)}
    assert not stale, f"{function.__name__} lists {sorted(stale)}, which is as in the document"


#: How items are changed, by recipe or run file: the settings of each augmentation that a document names.
NOISE, CROP = {"probability": 0.5, "factors": (0.1, 0.2, 0.3)}, {"size": 224}
AUGMENTATIONS = {
    "prototypical-retrieval": {  # 1.6
        "RandAugment": {"operations": 2, "magnitude": 15},
        "RandomResizedCrop": CROP,
        "AdditiveNoise": NOISE,
    },
    "verification-retrieval": {  # 2.5
        "RandomResizedCrop": CROP,
        "Rotation": {"degrees": 10.0},
        "Perspective": {"probability": 0.1},
        "Greyscale": {"probability": 0.1},
    },
    "unseen-triplet": {"RandomCrop": CROP},  # 4.5
    "proto-dr": {"ColourJitter": {"brightness": 0.4, "contrast": 0.4, "saturation": 0.4}},  # 3.3.2
    "norm-face": {"Affine": {"degrees": 15.0, "translate": 0.1, "scale": [0.9, 1.1], "shear": 10.0}},  # 3.4.3
    "speaker": {"RandomChunk": {"seconds": 8.0, "least": 0.25}},  # 2.5: 800 frames, a quarter of them
    "speaker-prototypical": {"RandomChunk": {"least": 0.25}},  # 1.6
    "similarity/runs/verification.toml": {"PadAndCrop": {"padding": 4}},  # 2.5
    "similarity/runs/triplet.toml": {"PadAndCrop": {"padding": 4}},
    "similarity/runs/prototypical.toml": {  # 1.6
        "RandAugment": {"operations": 1, "magnitude": 15},
        "PadAndCrop": {"padding": 4},
        "AdditiveNoise": NOISE,
    },
}


def run_named(name):
    """The run of a recipe, or of a run file of the benchmarks."""
    if not name.endswith(".toml"):
        return recipes.RECIPES[name](shape_for(name))
    return read_plan(str(BENCHMARKS / name)).run((3, 32, 32))


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_items_are_changed_as_far_as_in_the_document(name):
    built = {
        part.name: getattr(augmentations, part.name)(**part.arguments) for part in run_named(name).augment
    }
    for augmentation, settings in AUGMENTATIONS[name].items():
        assert {key: getattr(built[augmentation], key) for key in settings} == settings, augmentation


@pytest.mark.parametrize("name", ["verification", "triplet", "prototypical"])
def test_the_run_files_of_cifar_have_the_settings_that_a_recipe_leaves_to_them(name):
    """The docstring says so of network, channels and augmentations; 120 epochs stand for 500 and 600."""
    run = run_named(f"similarity/runs/{name}.toml")
    assert (run.space.encoder.name, run.space.standardise, run.epochs) == ("PreActResNet18", "channels", 120)
    paths = {row.path for row in DOCUMENTS[name] if value_at(run, row.path) != row.value}
    length = {"epochs", "schedule.milestones"} if name == "prototypical" else {"epochs"}
    pairs = set() if name == "triplet" else {"terms.pair.weighting"}
    choice = set() if name == "prototypical" else {"select_on"}
    assert paths == {"space.encoder", *length, *pairs, *choice}


def test_the_hardest_negatives_are_mined_with_a_margin_of_their_own():
    """2.5: 0.1, whatever the margin of the loss."""
    assert signature(miners.hardest).parameters["margin"].default == 0.1


def test_the_adversary_has_the_smoothing_that_the_document_names():
    """4.4; the table has what of it goes to the other classes."""
    adversaries = [recipes.RECIPES[name](SHAPE).adversary for name in UNSEEN]
    assert {adversary.smoothing for adversary in adversaries if adversary} == {0.15}


def test_pretrained_layers_learn_at_a_tenth_of_the_rate_of_new_ones():
    """4.5; the second key has a dot of its own."""
    for name in UNSEEN:
        rates = recipes.RECIPES[name](SHAPE).optimiser.rates
        assert (rates["encoder"], rates["encoder.embedding"]) == (1e-4, 1e-3), name


def test_an_undeclared_difference_is_seen(monkeypatch):
    monkeypatch.setitem(DOCUMENTS, "verification", rows("2.5", optimiser__momentum=0.5, epochs=600))
    assert differences("verification") == {"optimiser.momentum", "epochs"}
    assert "epochs" in listed(recipes.verification)
    with pytest.raises(AssertionError, match=r"in \['optimiser.momentum'\]"):
        test_a_setting_that_is_not_the_documents_is_listed_with_its_reason("verification")
