"""What a user would do instead: scikit-learn on the features of the untrained network (or the raw input), and
pytorch-metric-learning's Proxy-Anchor with its own trainer.
"""

import os
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from about import asked, cosine_figures
from grid import Experiment
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from torch import Tensor, nn

from samekind.data import Items, Sets, scaled
from samekind.data.groups import groups_apart
from samekind.evaluation.tasks import drawn_tasks
from samekind.inference import embed
from samekind.recipes.house import house, is_pretrained, untrained
from samekind.space import MetricSpace
from samekind.training import Run, build_space
from samekind.training.build import build_augmentations

TASKS, WAY, SHOTS, QUERIES = 20, 5, 5, 15
SLOW_TASKS, MANY = 3, 3000  # for logistic regression on so many items, which takes seconds to fit anew
#: Of logistic regression: the strengths of which validation items choose one, the tolerance at which it ends,
#: and the iterations after which it ends anyway.
STRENGTHS, TOLERANCE, ITERATIONS = (1.0, 0.1, 0.01), 1e-3, 50  # of equal strengths the first: the default
#: A trunk that is not pretrained learns at this rate.
SCRATCH_RATE = 1e-3


class Settings(NamedTuple):
    """How Proxy-Anchor is trained: the rates of a pretrained trunk, of the new layer and of the proxies, the
    optimiser of the proxies, items of a batch, and of one class in it (None: shuffled), epochs, and the
    numbers of an embedding.
    """

    name: str
    trunk: float
    layer: float
    proxies: float
    proxies_by: type[torch.optim.Optimizer]
    batch: int
    of_class: int | None
    epochs: int
    numbers: int


#: The settings of the examples of pytorch-metric-learning.
EXAMPLE = Settings("pytorch-metric-learning", 1e-5, 1e-4, 1e-2, torch.optim.SGD, 32, 4, 4, 64)
#: Rates, batches and numbers of the loss's own paper (Kim et al., CVPR 2020), with fewer epochs.
PAPER = Settings(
    "pytorch-metric-learning, rates of the paper", 1e-4, 1e-4, 1e-2, torch.optim.Adam, 120, None, 10, 512
)


def classical(experiment: Experiment, sets: Sets, *, device: str) -> dict[str, Any]:
    """Each method of scikit-learn on the embeddings of the first rung."""
    space = start_of(sets, seed=experiment.seed).to(device)
    train, test, others = (embed(space, items.inputs).cpu() for items in (sets.train, sets.test, asked(sets)))
    labels, truth, other = sets.train.labels, sets.test.labels, asked(sets).labels.cpu()
    mean = train.mean(0)
    validation = embed(space, sets.validation.inputs).cpu(), sets.validation.labels
    strength = _strength((train, labels), validation)
    methods: dict[str, Callable[[], Any]] = {
        "logistic regression": lambda: _regression(strength),
        "five nearest neighbours": lambda: make_pipeline(Normalizer(), KNeighborsClassifier(5)),
        "linear discriminants": lambda: LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
        "nearest mean": lambda: make_pipeline(Normalizer(), NearestCentroid()),
    }
    result: dict[str, Any] = {}
    for name, make in methods.items():
        model = _fitted(make(), train, labels)
        figures = {"accuracy": float((model.predict(test.numpy()) == truth.numpy()).mean())}
        match name:
            case "five nearest neighbours":
                figures |= cosine_figures(others, other)
            case "nearest mean":
                figures |= cosine_figures(others - mean, other)
            case "linear discriminants":
                figures |= cosine_figures(torch.from_numpy(model.transform(others.numpy())), other)
        if sets.unseen is not None and name in ("logistic regression", "nearest mean"):
            tasks = SLOW_TASKS if name == "logistic regression" and len(train) > MANY else TASKS
            figures["beside known"] = beside_known(
                make, (train, labels), (test, truth), asked(sets), others, tasks=tasks
            )
        result[name] = figures
    return result


def _regression(strength: float) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(C=strength, tol=TOLERANCE, max_iter=ITERATIONS))


def _strength(train: tuple[Tensor, Tensor], validation: tuple[Tensor, Tensor]) -> float:
    """The strength with which a logistic regression names most validation items rightly."""
    z, labels = validation

    def right(strength: float) -> float:
        return float(_fitted(_regression(strength), *train).score(z.numpy(), labels.numpy()))

    return max(STRENGTHS, key=right)


def _fitted(model: Any, z: Tensor, labels: Tensor) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about iterations, which are enough for the accuracy
        return model.fit(z.numpy(), labels.numpy())


def beside_known(
    make: Callable[[], Any],
    train: tuple[Tensor, Tensor],
    known: tuple[Tensor, Tensor],
    items: Items,
    z: Tensor,
    *,
    tasks: int = TASKS,
) -> dict[str, float]:
    """The method fitted anew with five items of each of five new classes, the ``items`` with embeddings z;
    right among all classes. The tasks are the first of `few_shot_beside_known`.
    """
    shares, new = [], (z, items.labels.cpu())
    episodes = drawn_tasks(
        items, groups_apart(items), way=WAY, shot=SHOTS, queries=QUERIES, tasks=TASKS, seed=0
    )
    generator = torch.Generator().manual_seed(1)
    for episode in episodes[:tasks]:
        offset = int(train[1].max()) + 1
        support, query = episode.support.flatten(), episode.query.flatten()
        x = torch.cat([train[0], new[0][support]])
        y = torch.cat([train[1], new[1][support] + offset])
        some = torch.randperm(len(known[1]), generator=generator)[: len(query)]
        model = _fitted(make(), x, y)
        old = float((model.predict(known[0][some].numpy()) == known[1][some].numpy()).mean())
        fresh = float((model.predict(new[0][query].numpy()) == (new[1][query] + offset).numpy()).mean())
        shares.append((old, fresh))
    old, fresh = np.array(shares).mean(0)
    harmonic = float(np.mean([0 if a + b == 0 else 2 * a * b / (a + b) for a, b in shares]))
    return {"known": float(old), "new": float(fresh), "harmonic mean": harmonic}


def start_of(sets: Sets, *, seed: int) -> MetricSpace:
    """The first rung: the untrained features, or the raw input."""
    torch.manual_seed(seed)
    return build_space(untrained(house(sets.train), sets.train), sets.train).eval()


def proxy_anchor(
    experiment: Experiment, sets: Sets, settings: Settings, *, device: str, quick: bool
) -> dict[str, Any]:
    """Proxy-Anchor by `MetricLossOnly`, on the network, views and augmentations of the house recipe."""
    os.environ.setdefault("TQDM_DISABLE", "1")
    from pytorch_metric_learning import losses, samplers, trainers

    torch.manual_seed(experiment.seed)
    run, labels = house(sets.train), sets.train.labels
    trunk = _Trunk(run, sets.train).to(device)
    embedder = nn.Linear(trunk.dimension, settings.numbers).to(device)
    loss = losses.ProxyAnchorLoss(len(sets.train.classes), settings.numbers, margin=0.1, alpha=32).to(device)
    # At the rate of a new network the features of a pretrained one become constant within twenty steps.
    rate = settings.trunk if is_pretrained(run) else SCRATCH_RATE
    sampler = None
    if settings.of_class is not None:
        sampler = samplers.MPerClassSampler(labels, settings.of_class, length_before_new_iter=len(labels))
    trainer = trainers.MetricLossOnly(
        {"trunk": trunk, "embedder": embedder},
        {
            "trunk_optimizer": torch.optim.Adam(trunk.parameters(), lr=rate, weight_decay=1e-4),
            "embedder_optimizer": torch.optim.Adam(
                embedder.parameters(), lr=settings.layer, weight_decay=1e-4
            ),
            "metric_loss_optimizer": settings.proxies_by(loss.parameters(), lr=settings.proxies),  # type: ignore[call-arg]
        },
        min(settings.batch, len(labels)),
        {"metric_loss": loss},
        _Pictures(sets.train),
        data_device=torch.device(device),
        sampler=sampler,
        dataloader_num_workers=0,
    )
    trainer.train(num_epochs=1 if quick else settings.epochs)
    network = nn.Sequential(trunk, embedder).eval()
    train, test, others = (
        _embedded(network, items, device) for items in (sets.train, sets.test, asked(sets))
    )
    nearest = make_pipeline(Normalizer(), NearestCentroid()).fit(train.numpy(), labels.numpy())
    accuracy = float((nearest.predict(test.numpy()) == sets.test.labels.numpy()).mean())
    figures: dict[str, Any] = {"accuracy": accuracy, **cosine_figures(others, asked(sets).labels.cpu())}
    if sets.unseen is not None:
        figures["beside known"] = beside_known(
            lambda: make_pipeline(Normalizer(), NearestCentroid()),
            (train, labels),
            (test, sets.test.labels),
            asked(sets),
            others,
        )
    return {f"Proxy-Anchor, {settings.name}": figures}


class _Trunk(nn.Module):
    """The encoder of a run; it scales pictures to [0, 1], and augments them in training, as the run says."""

    def __init__(self, run: Run, items: Items) -> None:
        super().__init__()
        self.encoder = build_space(run, items).encoder
        self.dimension = int(self.encoder.dimension)
        self.augmentations = build_augmentations(run, items)
        self.generator = torch.Generator().manual_seed(run.seed)

    def forward(self, x: Tensor) -> Tensor:
        x = scaled(x)  # here, on the device: bytes are a quarter of the numbers
        if self.training:
            for augmentation in self.augmentations:
                x = augmentation(x, generator=self.generator)
        z: Tensor = self.encoder(x)
        return z


class _Pictures(torch.utils.data.Dataset):  # type: ignore[type-arg]
    def __init__(self, items: Items) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> tuple[Tensor, int]:
        return self.items.inputs[place : place + 1][0], int(self.items.labels[place])


@torch.no_grad()
def _embedded(network: nn.Module, items: Items, device: str) -> Tensor:
    parts = [
        network(items.inputs[start : start + 256].to(device)).cpu() for start in range(0, len(items), 256)
    ]
    return torch.cat(parts)
