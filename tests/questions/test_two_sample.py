"""Two collections: from one distribution or not."""

import torch

from samekind.inference import two_sample as kernel_test
from samekind.questions import two_sample
from samekind.questions.two_sample import TwoSampleSettings


def test_tells_two_places_apart_and_not_one(plane, at):
    first, second = at(range(30)), at(range(90, 120))
    settings = TwoSampleSettings(permutations=99)
    answer = two_sample(plane, first, second, settings=settings, sources=("a.npy", "b.npy"))
    assert answer.different
    assert not two_sample(plane, first, first, settings=settings).different
    content = answer.to_json()
    assert content["A"] == {"source": "a.npy", "items": 30, "compared": 30, "skipped": first.skipped}
    expected = kernel_test(plane, first.inputs, second.inputs, permutations=99)
    assert {name: content[name] for name in expected._fields} == expected._asdict()


def test_draws_some_of_many(plane, at, progress):
    settings = TwoSampleSettings(permutations=9, limit=10)
    answer = two_sample(plane, at(range(30)), at(range(5)), settings=settings, progress=progress)
    assert [side.compared for side in answer.sides] == [10, 5]
    assert progress.titles == {"embed A": [10, 10], "embed B": [5, 5]}
    torch.manual_seed(1)  # the global generator has no part in it
    assert two_sample(plane, at(range(30)), at(range(5)), settings=settings).result == answer.result
