"""A small trained model, in double precision: what an attack finds depends on its items alone."""

import pytest
import torch
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
