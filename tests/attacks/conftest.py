"""A small trained model, in double precision: what an attack finds depends on its items alone."""

import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn


class Net(nn.Module):
    """Items (n, 6) or (n, 2, 3) to four logits, with batch statistics, dropout and a normalisation inside."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(), nn.Linear(6, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Dropout(0.3), nn.Linear(16, 4)
        )

    def forward(self, x):
        return self.layers((x - 0.5) / 0.25)


def items_of_four_classes(count, *, generator):
    """Items (n, 6) in [0, 1] around four corners, and their classes."""
    labels = torch.arange(count) % 4
    means = torch.rand(4, 6, generator=torch.Generator().manual_seed(5)) * 0.6 + 0.2
    noise = 0.12 * torch.randn(count, 6, generator=generator)
    return (means[labels] + noise).clamp(0, 1).double(), labels


@pytest.fixture(scope="session")
def trained():
    """A model, items it was not trained on, and their classes; some are wrong already."""
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Net().double()
        x, labels = items_of_four_classes(256, generator=generator)
        optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
        for _ in range(60):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(x), labels).backward()
            optimiser.step()
    model.zero_grad()
    return model.eval(), *items_of_four_classes(48, generator=generator)


@pytest.fixture(scope="session")
def pictures():
    """A small network for scikit-learn's digits, 40 pictures (1, 8, 8) that it knows, and their classes."""
    data = load_digits()
    x, labels = torch.tensor(data.images).float()[:, None] / 16, torch.tensor(data.target)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
        for _ in range(10):
            for rows in torch.randperm(1400).split(128):
                optimiser.zero_grad()
                nn.functional.cross_entropy(model(x[rows]), labels[rows]).backward()
                optimiser.step()
    with torch.no_grad():
        rows = 1400 + (model(x[1400:]).argmax(1) == labels[1400:]).nonzero()[:40, 0]
    return model.eval(), x[rows], labels[rows]


@pytest.fixture(scope="session")
def linear():
    """A linear model, items around 0, their classes, and the least changes (n,) by the dual of a norm."""
    generator = torch.Generator().manual_seed(1)
    model = nn.Linear(7, 5, dtype=torch.float64)
    with torch.no_grad():
        model.weight.copy_(torch.randn(5, 7, generator=generator))
        model.bias.copy_(torch.randn(5, generator=generator))
        x = torch.randn(12, 7, generator=generator).double()
        logits = model(x)
    labels = logits.argmax(1)

    def least(dual):
        """|margin| / dual norm of the difference of two rows of the weights, for the nearest other class."""
        answers = []
        for i, label in enumerate(labels.tolist()):
            margins = (logits[i, label] - logits[i]).tolist()
            slopes = (model.weight[label] - model.weight).norm(p=dual, dim=1).tolist()
            answers.append(min(margins[k] / slopes[k] for k in range(5) if k != label))
        return torch.tensor(answers, dtype=torch.float64)

    return model, x, labels, least
