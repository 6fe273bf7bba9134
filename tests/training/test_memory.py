"""The queue of past embeddings against a list that is pushed to from the front."""

import pytest
import torch

from samekind.data import clusters
from samekind.training import Batches, Nobody, Optimiser, Part, Parts, Run, Term, build_space, train
from samekind.training.memory import Memory


def test_holds_the_newest_first_and_forgets_the_oldest():
    memory = Memory(size=5, dimension=2)
    remembered = []
    generator = torch.Generator().manual_seed(0)
    for count in (2, 2, 3, 7, 1):
        z, y = torch.randn(count, 2, generator=generator), torch.randint(9, (count,), generator=generator)
        memory.push(z, y)
        remembered = [*zip(z.tolist(), y.tolist(), strict=True), *remembered][:5]
        vectors, labels = memory.content()
        assert vectors.tolist() == [vector for vector, _ in remembered]
        assert labels.tolist() == [label for _, label in remembered]


def test_is_empty_before_the_first_batch():
    vectors, labels = Memory(size=3, dimension=4).content()
    assert vectors.shape == (0, 4)
    assert labels.shape == (0,)


def test_keeps_no_gradient_and_lives_in_the_state():
    memory = Memory(size=3, dimension=2)
    memory.push(torch.ones(2, 2, requires_grad=True), torch.tensor([0, 1]))
    assert not memory.content()[0].requires_grad
    again = Memory(size=3, dimension=2)
    again.load_state_dict(memory.state_dict())
    assert again.content()[1].tolist() == [0, 1]
    again.push(torch.ones(2, 2), torch.tensor([2, 3]))
    assert again.content()[1].tolist() == [2, 3, 0]
    again.load_state_dict(memory.state_dict())
    assert again.content()[1].tolist() == [0, 1]


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.device)])
def test_a_broken_run_with_a_memory_ends_like_an_unbroken_one(tmp_path, device):
    """The queue is in the checkpoint, and so is the optimiser of a dynamic scale."""
    items = clusters(classes=4, items=12, dimension=6, seed=0)
    dynamic = {"name": "DynamicScale", "classes": 4, "form": "cosine", "rate": 0.01}
    run = Run(
        recipe="memory",
        space=Parts(
            Part("MLP", {"dimension": 5, "hidden": [8]}),
            Part("Cosine", {"scale": dynamic}),
            Part("EMAProxies"),
        ),
        terms={
            "past": Term("multi_similarity", against="memory"),
            "class": Term("softmax", against="prototypes"),
        },
        batches=Batches("Shuffled", {"size": 16}),
        optimiser=Optimiser("Adam", rate=0.01),
        epochs=4,
        memory=20,
        precision="32-true",
    )

    def validate(space):
        return {"eer": 0.0}

    class StoppedError(Exception):
        pass

    class Stopping(Nobody):
        def epoch(self, entry):
            if entry["epoch"] == 2:
                raise StoppedError

    whole = train(run, items, folder=tmp_path / "whole", validate=validate, device=device)
    with pytest.raises(StoppedError):
        train(run, items, folder=tmp_path / "broken", validate=validate, device=device, watcher=Stopping())
    again = train(run, items, folder=tmp_path / "broken", validate=validate, device=device)
    assert whole.similarity.scale().item() != pytest.approx(build_space(run, items).similarity.scale().item())
    for name, tensor in whole.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor), name
