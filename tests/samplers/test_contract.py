"""What every sampler promises, checked on all of them; a new one is covered by joining the family."""

import inspect

import pytest
import torch

from samekind import samplers

LABELS = torch.tensor([label for label in range(10) for _ in range(7)])

# What a sampler cannot do without beside labels and seed: three domains of 24, 23 and 23 items.
NEEDED = {"domains": torch.arange(len(LABELS)) % 3, "names": tuple("abcdefgh")}

# Where an item can be twice in a batch: two tasks may share one, a short domain is gone through again, and
# triplets are drawn with
# replacement.
MAY_REPEAT = {"Episodes", "OnePerDomain", "UniformTriplets"}


@pytest.fixture(params=samplers.SAMPLERS)
def kind(request):
    return getattr(samplers, request.param)


def sampler_of(kind, labels=LABELS, **arguments):
    """A sampler with what it needs."""
    taken = inspect.signature(kind).parameters
    needed = {name: value for name, value in NEEDED.items() if name in taken}
    return kind(labels, **needed, **arguments)


def listed(batches):
    return [batch.tolist() for batch in batches]


def test_the_family_is_public():
    assert set(samplers.SAMPLERS) <= set(samplers.__all__)


def test_works_with_its_defaults_and_asks_for_a_seed(kind):
    parameters = inspect.signature(kind).parameters
    needed = [name for name, parameter in parameters.items() if parameter.default is inspect.Parameter.empty]
    assert [name for name in needed if name not in NEEDED] == ["labels", "seed"]
    assert all(
        parameter.kind is parameter.KEYWORD_ONLY for name, parameter in parameters.items() if name != "labels"
    )


def test_stores_its_arguments_under_their_names(kind):
    sampler = sampler_of(kind, seed=3)
    assert sampler.labels is LABELS
    assert sampler.seed == 3
    for name, parameter in inspect.signature(kind).parameters.items():
        if name in NEEDED:
            assert getattr(sampler, name) is NEEDED[name]
        elif name not in ("labels", "seed"):
            assert getattr(sampler, name) == parameter.default
            assert getattr(sampler_of(kind, **{name: 2}, seed=3), name) == 2


def test_gives_index_tensors_as_many_as_it_says(kind):
    sampler = sampler_of(kind, seed=0)
    for epoch in range(3):
        batches = sampler.batches(epoch)
        assert len(batches) == len(sampler) >= 1
        for batch in batches:
            assert batch.dtype == torch.int64
            assert batch.dim() == 1
            assert len(batch) >= 2
            assert ((batch >= 0) & (batch < len(LABELS))).all()
            assert len(batch.unique()) == len(batch) or kind.__name__ in MAY_REPEAT


def test_depends_on_seed_and_epoch_alone(kind):
    sampler = sampler_of(kind, seed=4)
    torch.manual_seed(0)
    third = listed(sampler.batches(3))
    torch.manual_seed(1)
    sampler.batches(0)
    assert listed(sampler.batches(3)) == third
    assert listed(sampler_of(kind, LABELS.clone(), seed=4).batches(3)) == third


def test_epochs_and_seeds_differ(kind):
    drawn = [listed(sampler_of(kind, seed=seed).batches(epoch)) for seed in range(3) for epoch in range(3)]
    assert all(one != other for place, one in enumerate(drawn) for other in drawn[:place])


def test_leaves_the_global_generator_alone(kind):
    before = torch.get_rng_state()
    sampler_of(kind, seed=0).batches(0)
    assert torch.equal(torch.get_rng_state(), before)
