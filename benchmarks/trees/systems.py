"""The run of each system: the recipes of the paper, and the other losses and spaces beside them."""

from dataclasses import replace

from grid import Data, Experiment
from grids.running import Place

from samekind.data import Items
from samekind.recipes.proxies import BY_TREE, PROXIES
from samekind.training import Batches, Optimiser, Part, Penalty, Run, Schedule, Term

EPOCHS: dict[Data, int] = {"birds": 8, "plankton": 12}
BATCH: dict[Data, int] = {"birds": 128, "plankton": 256}
#: Photographs keep the statistics of ImageNet; plankton looks too different.
BATCH_NORM: dict[Data, str] = {"birds": "frozen", "plankton": "train"}
AUGMENT: dict[Data, tuple[Part, ...]] = {
    "birds": (Part("RandomResizedCrop", {"scale": [0.25, 1.0]}), Part("Flip")),
    "plankton": (Part("Flip", {"vertical": True}),),
}
QUICK_EPOCHS = 1


def run_of(experiment: Experiment, items: Items, place: Place) -> Run:
    """The run of a system. All have the same encoder, features without a new layer, and the same schedule."""
    data = experiment.data
    network = {"variant": 0, "batch_norm": BATCH_NORM[data], "weights": experiment.system != "random"}
    run = _base(experiment.system, items)
    epochs = QUICK_EPOCHS if place.quick else EPOCHS[data]
    return replace(
        run,
        recipe=experiment.system,
        space=replace(run.space, encoder=Part("EfficientNetLite", network)),
        batches=Batches("Shuffled", {"size": 32 if place.quick else BATCH[data]}),
        optimiser=Optimiser("AdamW", rate=3e-4, weight_decay=1e-4),
        schedule=Schedule("cosine", warmup_epochs=0.5),
        epochs=epochs,
        seed=experiment.seed,
        augment=AUGMENT[data],
        channels_last=True,
        tf32=True,
    )


def _base(system: str, items: Items) -> Run:
    """The recipe of a system, changed where it is none of the paper's."""
    for recipes in (PROXIES, BY_TREE):
        if system in recipes:
            return recipes[system](items)
    norm_face, corr = PROXIES["norm-face"](items), PROXIES["corr"](items)
    match system:
        case "random" | "pretrained":
            return replace(norm_face, space=replace(norm_face.space, prototypes=Part("SupportMeans")))
        case "hxe" | "soft-labels" | "conditional":
            losses = {"hxe": "hxe", "soft-labels": "soft_labels", "conditional": "conditional_softmax"}
            arguments = {"hxe": {"alpha": 0.4}}.get(system, {})
            return _with_term(norm_face, Term(losses[system], against="prototypes", arguments=arguments))
        case "distortion":
            penalty = Penalty("distortion", settings={"normalise": True})
            return replace(norm_face, penalties={"distortion": penalty})
        case "corr-exact":
            placed = Part("FixedProxies", {"layout": "exact"})
            return replace(corr, space=replace(corr.space, prototypes=placed))
        case "hyperspherical":
            return _with_term(corr, Term("corr", against="prototypes", arguments={"squared": True}))
        case "euclidean":
            return replace(norm_face, space=replace(norm_face.space, similarity=Part("SquaredEuclidean")))
        case "poincare":
            return replace(norm_face, space=replace(norm_face.space, similarity=Part("Poincare")))
        case "proxy-dr-published":
            run = PROXIES["proxy-dr-dynamic"](items)
            scale = {"name": "DynamicScale", "form": "log-distance", "as_published": True}
            similarity = Part("LogDistance", {"normalise": True, "scale": scale})
            return replace(run, space=replace(run.space, similarity=similarity))
    raise ValueError(f"there is no system {system}")


def _with_term(run: Run, term: Term) -> Run:
    return replace(run, terms={"class": term})
