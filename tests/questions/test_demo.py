"""The demo's sets and its reference; the whole of it is run by the test of the command."""

import pytest
import torch

from samekind.data import branches_of
from samekind.inference import embed
from samekind.questions import demo


@pytest.fixture(scope="module")
def sets():
    return demo._sets()


def test_alphabets_of_the_queries_are_not_trained_on(sets):
    train, validation, unseen = (
        set(branches_of(items.classes)) for items in (sets.train, sets.validation, sets.unseen)
    )
    assert unseen == set(demo.ASKED)
    assert validation == set(demo.VALIDATING)
    assert not train & (unseen | validation)
    assert len(train) == 27


def test_the_reference_is_the_cosine_of_the_pixels(sets):
    items = sets.unseen.take(torch.arange(6))
    space = demo.raw_space(items)
    z = embed(space, items.inputs)
    pixels = items.inputs[torch.arange(6)].flatten(1).float()
    expected = torch.nn.functional.cosine_similarity(pixels[:3], pixels[3:])
    assert torch.allclose(space.score(z[:3], z[3:]), expected, atol=1e-5)
