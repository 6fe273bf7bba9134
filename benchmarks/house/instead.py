"""What a user would do instead: scikit-learn on the features of the untrained network (or the raw input), and
pytorch-metric-learning's Proxy-Anchor with its own trainer.
"""

import os
import warnings
from collections.abc import Callable
from typing import Any

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
from samekind.recipes.house import house, untrained
from samekind.space import MetricSpace
from samekind.training import Run, build_space
from samekind.training.build import build_augmentations

TASKS, WAY, SHOTS, QUERIES = 20, 5, 5, 15
SLOW_TASKS = 3  # for a method that takes a minute to fit anew
#: The settings of pytorch-metric-learning's own examples: rates of a pretrained trunk and of what is new,
#: items of a batch, of each class in it, epochs; and the rate of the proxies.
TRUNK_RATE, NEW_RATE, PROXY_RATE = 1e-5, 1e-4, 1e-2
BATCH, EACH, EPOCHS, NUMBERS = 32, 4, 4, 64


def classical(experiment: Experiment, sets: Sets, *, device: str) -> dict[str, Any]:
    """Each method of scikit-learn on the embeddings of the first rung."""
    space = start_of(sets, seed=experiment.seed).to(device)
    train, test, others = (embed(space, items.inputs).cpu() for items in (sets.train, sets.test, asked(sets)))
    labels, truth, other = sets.train.labels, sets.test.labels, asked(sets).labels.cpu()
    mean = train.mean(0)
    methods: dict[str, Callable[[], Any]] = {
        "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=100)),
        "five nearest neighbours": lambda: make_pipeline(Normalizer(), KNeighborsClassifier(5)),
        "linear discriminants": lambda: LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
        "nearest mean": lambda: make_pipeline(Normalizer(), NearestCentroid()),
    }
    result: dict[str, Any] = {}
    for name, make in methods.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about iterations, which are enough for the accuracy
            model = make().fit(train.numpy(), labels.numpy())
        figures = {"accuracy": float((model.predict(test.numpy()) == truth.numpy()).mean())}
        match name:
            case "five nearest neighbours":
                figures |= cosine_figures(others, other)
            case "nearest mean":
                figures |= cosine_figures(others - mean, other)
            case "linear discriminants":
                figures |= cosine_figures(torch.from_numpy(model.transform(others.numpy())), other)
        if sets.unseen is not None and name in ("logistic regression", "nearest mean"):
            figures["beside known"] = beside_known(make, (train, labels), (test, truth), asked(sets), others)
        result[name] = figures
    return result


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
    tasks = drawn_tasks(items, groups_apart(items), way=WAY, shot=SHOTS, queries=QUERIES, tasks=TASKS, seed=0)
    generator = torch.Generator().manual_seed(1)
    for episode in tasks:
        offset = int(train[1].max()) + 1
        support, query = episode.support.flatten(), episode.query.flatten()
        x = torch.cat([train[0], new[0][support]]).numpy()
        y = torch.cat([train[1], new[1][support] + offset]).numpy()
        some = torch.randperm(len(known[1]), generator=generator)[: len(query)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make().fit(x, y)
        old = float((model.predict(known[0][some].numpy()) == known[1][some].numpy()).mean())
        fresh = float((model.predict(new[0][query].numpy()) == (new[1][query] + offset).numpy()).mean())
        shares.append((old, fresh))
    old, fresh = np.array(shares).mean(0)
    harmonic = float(np.mean([0 if a + b == 0 else 2 * a * b / (a + b) for a, b in shares]))
    return {"known": float(old), "new": float(fresh), "harmonic mean": harmonic}


def start_of(sets: Sets, *, seed: int) -> MetricSpace:
    """The first rung: the untrained features, or the raw input."""
    torch.manual_seed(seed)
    return build_space(untrained(house(sets.train)), sets.train).eval()


def proxy_anchor(experiment: Experiment, sets: Sets, *, device: str, quick: bool) -> dict[str, Any]:
    """Proxy-Anchor by `MetricLossOnly`, on the network and augmentations of the house recipe."""
    os.environ.setdefault("TQDM_DISABLE", "1")
    from pytorch_metric_learning import losses, samplers, trainers

    torch.manual_seed(experiment.seed)
    run = house(sets.train)
    trunk = _Trunk(run, sets.train).to(device)
    embedder = nn.Linear(trunk.dimension, NUMBERS).to(device)
    loss = losses.ProxyAnchorLoss(len(sets.train.classes), NUMBERS, margin=0.1, alpha=32).to(device)
    pretrained = run.space.encoder.name == "EfficientNetLite"
    optimisers = {
        "trunk_optimizer": torch.optim.Adam(
            trunk.parameters(), lr=TRUNK_RATE if pretrained else 10 * NEW_RATE, weight_decay=1e-4
        ),
        "embedder_optimizer": torch.optim.Adam(embedder.parameters(), lr=NEW_RATE, weight_decay=1e-4),
        "metric_loss_optimizer": torch.optim.SGD(loss.parameters(), lr=PROXY_RATE),
    }
    labels = sets.train.labels
    trainer = trainers.MetricLossOnly(
        {"trunk": trunk, "embedder": embedder},
        optimisers,
        BATCH,
        {"metric_loss": loss},
        _Pictures(sets.train),
        data_device=torch.device(device),
        sampler=samplers.MPerClassSampler(labels, EACH, length_before_new_iter=len(labels)),
        dataloader_num_workers=0,
    )
    trainer.train(num_epochs=1 if quick else EPOCHS)
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
    return {"Proxy-Anchor, pytorch-metric-learning": figures}


class _Trunk(nn.Module):
    """The encoder of a run; it augments its batches in training, as the run says."""

    def __init__(self, run: Run, items: Items) -> None:
        super().__init__()
        self.encoder = build_space(run, items).encoder
        self.dimension = int(self.encoder.dimension)
        self.augmentations = build_augmentations(run, items)
        self.generator = torch.Generator().manual_seed(run.seed)

    def forward(self, x: Tensor) -> Tensor:
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
        return scaled(self.items.inputs[place : place + 1])[0], int(self.items.labels[place])


@torch.no_grad()
def _embedded(network: nn.Module, items: Items, device: str) -> Tensor:
    parts = [
        network(scaled(items.inputs[start : start + 256]).to(device)).cpu()
        for start in range(0, len(items), 256)
    ]
    return torch.cat(parts)
