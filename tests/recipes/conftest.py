"""Small data and small runs for the recipes."""

import dataclasses

import pytest
import torch

from samekind.data import digits, prepare
from samekind.recipes import triplet


@pytest.fixture(scope="session")
def sets():
    """120 of the digits, 0 to 3 to train with and 4 never shown."""
    every = digits().only(["0", "1", "2", "3", "4"])
    return prepare(every.take(torch.arange(120)), unseen=["4"], seed=0)


@pytest.fixture
def run_with():
    """A plain run with another encoder."""

    def make(encoder):
        run = triplet((6,))
        return dataclasses.replace(
            run, space=dataclasses.replace(run.space, encoder=encoder, standardise="none")
        )

    return make


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
