"""Training and asking on a GPU: mixed precision, exact resume, and the same answers as on the CPU."""

import pytest
import torch

from samekind import recipes
from samekind.data import digits, prepare
from samekind.evaluation import evaluate
from samekind.inference import embed
from samekind.recipes import fit
from samekind.space import MetricSpace

pytestmark = pytest.mark.device


@pytest.fixture(scope="module")
def sets():
    return prepare(digits(), unseen=["7", "8", "9"], seed=0)


@pytest.mark.parametrize("recipe", recipes.RECIPES)
@pytest.mark.parametrize("precision", ["auto", "32-true"])
def test_every_recipe_trains_on_the_device(recipe, precision, sets, tmp_path):
    run = getattr(recipes, recipe)(sets.train.shape).override(["epochs=6", f"precision={precision}"])
    space = fit(run, sets, folder=tmp_path, device="cuda")
    rows = evaluate(space, {"seen": sets.test}, tasks=10)
    rate = next(row.value for row in rows if row.measure == "EER" and row.kind == "cosine")
    assert rate < 0.1


def test_a_broken_run_on_the_device_ends_like_an_unbroken_one(sets, tmp_path):
    run = recipes.prototypical(sets.train.shape).override(["epochs=4", "precision=32-true"])
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        whole = fit(run, sets, folder=tmp_path / "whole", device="cuda")

        class StoppedError(Exception):
            pass

        class Watcher:
            def begin(self, *, steps, done): ...
            def step(self, *, loss, items_per_second): ...
            def end(self): ...

            def epoch(self, entry):
                if entry["epoch"] == 2:
                    raise StoppedError

        with pytest.raises(StoppedError):
            fit(run, sets, folder=tmp_path / "broken", device="cuda", watcher=Watcher())
        again = fit(run, sets, folder=tmp_path / "broken", device="cuda")
    finally:
        torch.use_deterministic_algorithms(False)
    for name, tensor in whole.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], tensor, rtol=0, atol=0, msg=name)


def test_the_device_gives_the_answers_of_the_cpu(sets, tmp_path):
    run = recipes.prototypical(sets.train.shape).override(["epochs=2"])
    space = fit(run, sets, folder=tmp_path, device="cuda")
    z = embed(space, sets.test.inputs)
    scores = space.score_all(z, z)
    there = MetricSpace.load(tmp_path / "space").cuda()
    z_there = embed(there, sets.test.inputs)
    torch.testing.assert_close(z_there, z, rtol=1e-2, atol=1e-2)
    torch.testing.assert_close(there.score_all(z.cuda(), z.cuda()).cpu(), scores, rtol=1e-2, atol=1e-2)
