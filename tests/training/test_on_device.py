"""Training and asking on a GPU: mixed precision, exact resume, and the same answers as on the CPU."""

import dataclasses

import pytest
import torch

from samekind import recipes
from samekind.data import Items, digits, prepare
from samekind.evaluation import evaluate
from samekind.inference import embed
from samekind.recipes import fit
from samekind.similarities import recomputed
from samekind.similarities.recomputed import walk_for
from samekind.space import MetricSpace
from samekind.training import Adversary, Nobody, Part, Parts, Term, launch, train
from samekind.training.loop import LOOK_EVERY, Trainer
from samekind.training.objective import objective
from samekind.training.run_folder import RunFolder

pytestmark = pytest.mark.device


@pytest.fixture(scope="module")
def sets():
    return prepare(digits(), unseen=["7", "8", "9"], seed=0)


@pytest.mark.parametrize(
    "recipe", [name for name in recipes.RECIPES if not name.startswith("unseen-") or "adapt" in name]
)
@pytest.mark.parametrize("precision", ["auto", "32-true"])
def test_every_recipe_trains_on_the_device(recipe, precision, sets, tmp_path):
    run = recipes.RECIPES[recipe](sets.train.shape).override(["epochs=6", f"precision={precision}"])
    space = fit(run, sets, folder=tmp_path, device="cuda")
    rows = evaluate(space, {"seen": sets.test}, tasks=10)
    kind = "cosine" if "cosine" in space.kinds else "similarity"  # which then is the cosine
    rate = next(row.value for row in rows if row.measure == "EER" and row.kind == kind)
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


@pytest.mark.parametrize("similarity", ["PairsNetwork", "CorrectedCosine"])
def test_mixed_scores_go_by_kernels(sets, tmp_path, monkeypatch, similarity):
    """As they do by themselves from some thousand items a batch on; without the setting in float32."""
    walks = set()

    def watched(half, depth):
        chosen = walk_for(half, depth)
        walks.add((chosen.__name__, half.dtype))
        return chosen

    monkeypatch.setattr(recomputed, "walk_for", watched)
    monkeypatch.setitem(recomputed.KEPT_BYTES, "other", 0)
    table = {"name": similarity, "hidden": 128, "depth": 3}
    run = recipes.verification(sets.train.shape).update({"space": {"similarity": table}})
    run = run.override(["precision=bf16-mixed", "epochs=6"])
    space = fit(run.override(["mixed_scores=true"]), sets, folder=tmp_path / "mixed", device="cuda")
    assert walks == {("KernelWalk", torch.bfloat16)}
    rows = evaluate(space, {"seen": sets.test}, tasks=10)
    assert next(row.value for row in rows if row.measure == "EER" and row.kind == "similarity") < 0.1
    walks.clear()
    fit(run.override(["epochs=1"]), sets, folder=tmp_path / "plain", device="cuda")
    assert walks == {("Walk", torch.float32)}


# --- fine-tuning of images ------------------------------------------------------------------------


def of_images(*settings):
    """Images as bytes, augmented, against learned proxies; no mining, which has to look at what it finds."""
    run = recipes.prototypical((3, 16, 16)).override(["epochs=2", "batches.size=16", *settings])
    parts = Parts(Part("Conv4", {"dimension": 8}), Part("Cosine"), Part("LearnedProxies"), None, "channels")
    listed = (Part("PadAndCrop"), Part("Flip"), Part("Rotation"), Part("ColourJitter"), Part("AdditiveNoise"))
    return dataclasses.replace(
        run, space=parts, terms={"class": Term("softmax", against="prototypes")}, augment=listed
    )


#: Sums in another order differ in their last bits, which a high rate would make into other weights.
SLOWLY = ("precision=32-true", "epochs=1", "optimiser.rate=0.002")


@pytest.fixture
def images():
    draw = torch.Generator().manual_seed(0)
    inputs = torch.randint(256, (16 * (LOOK_EVERY - 1), 3, 16, 16), dtype=torch.uint8, generator=draw)
    return Items(inputs, torch.arange(len(inputs)) % 4, ("a", "b", "c", "d"), "images")


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
@pytest.mark.parametrize("adversary", [None, "soft", "adaptive"])
@pytest.mark.parametrize("prototypes", ["LearnedProxies", "RunningAverages"])
def test_no_step_makes_the_device_wait(images, tmp_path, prototypes, adversary):
    run = of_images("optimiser.name=AdamW", "schedule={name='cosine', warmup_epochs=0.5}")
    run = dataclasses.replace(run, adversary=Adversary(adversary) if adversary else None)
    run = run.update({"space": {"prototypes": {"name": prototypes}}})
    fabric = launch("cuda", "bf16-mixed")
    trainer = Trainer(run, images, RunFolder(tmp_path), fabric, lambda space: {"eer": 0.5}, Nobody(), None)
    trainer.train_epoch()  # what is set up at the first steps may wait
    trainer.close_epoch()
    batches = trainer.sampler.batches(1)
    there = [(trainer.items.inputs[batch.cuda()], trainer.items.labels[batch.cuda()]) for batch in batches]
    torch.cuda.set_sync_debug_mode("error")
    try:
        pending = [trainer.learner.step(x, y, number=0) for x, y in there]
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert all(cost.isfinite() for costs in pending for cost in costs)


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
def test_values_of_the_objective_restore_the_random_state_of_the_device_without_waiting(images, tmp_path):
    """A pairs network with dropout, which draws on the device."""
    run = of_images().update(
        {"space": {"similarity": {"name": "PairsNetwork", "hidden": 8, "depth": 1, "dropout": 0.5}}}
    )
    run = dataclasses.replace(run, terms={"pair": Term("pair_likelihood")})
    run = run.update({"space": {"prototypes": {"name": "SupportMeans"}}})
    fabric = launch("cuda", "32-true")
    trainer = Trainer(run, images, RunFolder(tmp_path), fabric, lambda space: {"eer": 0.5}, Nobody(), None)
    learner, z, y = trainer.learner, torch.randn(16, 8, device="cuda"), trainer.items.labels[:16]
    with learner.training():
        learner.value(z, y)  # what is set up at the first call may wait
        state = torch.cuda.get_rng_state()
        torch.cuda.set_sync_debug_mode("error")
        try:
            values = [learner.value(z, y).total for _ in range(2)]
        finally:
            torch.cuda.set_sync_debug_mode("default")
        assert values[0] == values[1]
        assert torch.equal(torch.cuda.get_rng_state(), state)
        objective(trainer.space, z, y, learner.context)
        assert not torch.equal(torch.cuda.get_rng_state(), state)  # a step draws


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_a_nan_weight_is_found_on_the_device_too(images, tmp_path, broken):
    fabric = launch("cuda", "bf16-mixed")
    trainer = Trainer(
        of_images(), images, RunFolder(tmp_path), fabric, lambda space: {"eer": 0.5}, Nobody(), None
    )
    assert trainer.learner.not_finite() == []
    with torch.no_grad():
        next(trainer.space.encoder.parameters()).view(-1)[1] = broken
    assert trainer.learner.not_finite() == ["encoder"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")  # the compiler's own
@pytest.mark.parametrize("adversary", [None, Adversary(dropout=0.0)], ids=["alone", "under an adversary"])
@pytest.mark.parametrize("setting", ["channels_last=true", "compile=true", "tf32=true"])
def test_settings_for_speed_change_little(images, tmp_path, setting, adversary):
    run = dataclasses.replace(of_images(*SLOWLY), adversary=adversary)
    constant = lambda space: {"eer": 0.5}  # noqa: E731
    plain = train(run, images, folder=tmp_path / "plain", validate=constant, device="cuda")
    quick = train(
        run.override([setting]), images, folder=tmp_path / "quick", validate=constant, device="cuda"
    )
    for name, weights in quick.state_dict().items():
        torch.testing.assert_close(weights, plain.state_dict()[name], rtol=2e-2, atol=2e-2, msg=name)
        assert weights.is_contiguous()


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")  # the compiler's own
@pytest.mark.parametrize("compiled", [False, True])
def test_a_recorded_step_learns_the_same(images, tmp_path, compiled):
    """Few-shot tasks; a network without biases before normalisation, whose gradients are rounding alone."""
    run = recipes.few_shot(images, way=2, queries=2, encoder=Part("ResNet10", {"channels": images.shape[0]}))
    run = run.override(["epochs=2", "batches.steps=10", "precision=32-true", "augment=[]"])
    constant = lambda space: {"recall@1": 0.5}  # noqa: E731
    plain = run.override(["capture=false"])
    expected = train(plain, images, folder=tmp_path / "plain", validate=constant, device="cuda")
    quick = run.override([f"compile={str(compiled).lower()}"])
    space = train(quick, images, folder=tmp_path / "quick", validate=constant, device="cuda")
    for name, weights in space.state_dict().items():
        torch.testing.assert_close(weights, expected.state_dict()[name], rtol=2e-2, atol=2e-2, msg=name)


def test_images_that_do_not_fit_are_sent_batch_by_batch(images, tmp_path, monkeypatch):
    run = of_images(*SLOWLY)
    constant = lambda space: {"eer": 0.5}  # noqa: E731
    whole = train(run, images, folder=tmp_path / "whole", validate=constant, device="cuda")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (0, 0))
    parts = train(run, images, folder=tmp_path / "parts", validate=constant, device="cuda")
    for name, weights in parts.state_dict().items():
        torch.testing.assert_close(weights, whole.state_dict()[name], rtol=1e-3, atol=1e-3, msg=name)
