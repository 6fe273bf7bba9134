"""The queue of past embeddings against a list that is pushed to from the front."""

import torch

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
