"""Runs with a class adversary: one pass, the same embeddings, any loss, and entries in the record."""

import dataclasses
import math

import pytest
import torch
from torch import nn

from samekind import losses
from samekind.data import ImageReader, Items, Stored, write_image
from samekind.errors import SettingError, TrainingError
from samekind.training import Adversary, Nobody, Part, Record, Term, build_space, launch, train
from samekind.training.build import build_optimiser
from samekind.training.extras import build_extras, parameter_groups_of
from samekind.training.extras.class_adversary import ClassAdversary, build_class_adversary
from samekind.training.forward import Forward
from samekind.training.loop import Trainer
from samekind.training.run_folder import RunFolder

SMALL = Adversary(hidden=8, dropout=0.0)


@pytest.fixture
def watched(run):
    """The small run of this room, with an adversary."""
    return dataclasses.replace(run, adversary=SMALL)


@pytest.fixture
def constant():
    return lambda space: {"eer": 0.5}


def trainer_of(run, items, folder):
    return Trainer(
        run, items, RunFolder(folder), launch("cpu", "32-true"), lambda space: {"eer": 0.5}, Nobody(), None
    )


ENCODERS = {
    "MLP": ({"hidden": [8], "dimension": 5}, (6,), 8),
    "LeNet": ({"dimension": 5}, (1, 28, 28), 320),
    "SmallConvnet": ({"dimension": 5, "width": 2}, (1, 8, 8), 16),
    "Conv4": ({"dimension": 5}, (3, 16, 16), 64),
    "ResNet18": ({}, (3, 16, 16), 512),  # its features are the embeddings
}


@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize("name", ENCODERS)
def test_the_embeddings_are_the_encoders_and_the_features_are_seen_once(run, name, standardise):
    arguments, shape, count = ENCODERS[name]
    kind = ("features" if len(shape) == 1 else "channels") if standardise else "none"
    space = dataclasses.replace(run.space, encoder=Part(name, arguments), standardise=kind)
    run = dataclasses.replace(run, space=space, adversary=SMALL)
    items = Items(torch.rand(6, *shape), torch.arange(6) % 3, ("a", "b", "c"), "items")
    space = build_space(run, items)
    before = {name: tensor.clone() for name, tensor in space.state_dict().items()}
    adversary = build_class_adversary(run, space, items)
    assert adversary.layers[0].in_features == count
    assert adversary.classes == 3
    assert space.training  # as it was, and nothing of it moved
    assert all(torch.equal(tensor, before[name]) for name, tensor in space.state_dict().items())

    passes = []
    first = next(module for module in space.encoder.modules() if isinstance(module, nn.Linear | nn.Conv2d))
    first.register_forward_hook(lambda *_: passes.append(1))
    space.eval()
    z, outputs = Forward(space, [adversary])(items.inputs)
    logits = outputs["adversary"]
    assert len(passes) == 1
    torch.testing.assert_close(z, space(items.inputs))
    torch.testing.assert_close(logits, adversary(space.encoder.features(items.inputs)))


def test_a_run_without_an_adversary_has_no_extra(run, items):
    space = build_space(run, items)
    assert build_class_adversary(run, space, items) is None
    assert build_extras(run, space, items) == []


def test_stored_pictures_are_decoded_to_be_counted(run, tmp_path):
    paths = [tmp_path / f"{number}.png" for number in range(4)]
    for path in paths:
        write_image(path, torch.rand(1, 8, 8))
    stored = Stored(paths, ImageReader(channels=1, height=8, width=8))
    items = Items(stored, torch.tensor([0, 0, 1, 1]), ("a", "b"), "pictures")
    space = dataclasses.replace(run.space, encoder=Part("SmallConvnet", {"width": 2, "dimension": 5}))
    run = dataclasses.replace(run, space=space, adversary=SMALL)
    assert build_class_adversary(run, build_space(run, items), items).layers[0].in_features == 16


class Bare(nn.Linear):
    """An encoder without features."""

    dimension = 5


@pytest.mark.parametrize("standardise", ["none", "features"])
def test_an_encoder_without_features_is_refused(watched, items, standardise):
    run = watched.override([f"space.standardise={standardise}"])
    space = build_space(run, items)
    if standardise == "none":
        space.encoder = Bare(6, 5)
    else:
        space.encoder.encoder = Bare(6, 5)
    with pytest.raises(
        SettingError, match=r"needs features\(x\) and embedding of the encoder; Bare does not"
    ):
        build_class_adversary(run, space, items)


# --- rates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "rates", "expected"),
    [
        (None, {}, 0.05),
        (None, {"prototypes": 0.5}, 0.05),
        (None, {"encoder": 0.3, "encoder.embedding": 0.2}, 0.2),
        (0.7, {"encoder.embedding": 0.2}, 0.7),
        (0.0, {}, 0.0),
    ],
)
def test_its_rate_is_its_own_or_that_of_the_embedding_or_of_the_run(run, rate, rates, expected):
    small = {"encoder": {"name": "Conv4", "dimension": 5}, "prototypes": {"name": "LearnedProxies"}}
    run = dataclasses.replace(run.update({"space": small}), adversary=dataclasses.replace(SMALL, rate=rate))
    run = run.update({"optimiser": {"rates": rates}})
    items = Items(torch.rand(4, 3, 16, 16), torch.tensor([0, 0, 1, 1]), ("a", "b"), "pictures")
    space = build_space(run, items)
    adversary = build_class_adversary(run, space, items)
    optimiser = build_optimiser(run.optimiser, space, beside=parameter_groups_of([adversary]))
    group = optimiser.param_groups[-1]
    assert (group["name"], group["lr"]) == ("adversary", expected)
    assert {id(weight) for weight in group["params"]} == {id(weight) for weight in adversary.parameters()}
    assert [group["name"] for group in optimiser.param_groups[:-1]] == [
        group["name"] for group in build_optimiser(run.optimiser, space).param_groups
    ]


# --- one step -------------------------------------------------------------------------------------


def gradients(run, items, folder, **adversary):
    """The gradients of the encoder's weights after one step, without the random states of dropout."""
    settings = dataclasses.replace(SMALL, **adversary) if adversary else None
    run = dataclasses.replace(run, adversary=settings, clip=None)
    trainer = trainer_of(
        run.override(["space.encoder.dropout=0", "space.similarity.dropout=0"]), items, folder
    )
    costs = trainer.learner.step(items.inputs[:16], items.labels[:16], number=0)
    by_name = {name: weight.grad.clone() for name, weight in trainer.space.encoder.named_parameters()}
    return by_name, costs, trainer


def test_the_encoder_gets_the_gradient_of_the_loss_less_the_coefficient_times_the_classifiers(
    run, items, tmp_path
):
    run = run.override(["terms.class.smoothing=0", "terms.pair.smoothing=0"])
    alone, costs, _ = gradients(run, items, tmp_path / "alone")
    joined, seen, trainer = gradients(run, items, tmp_path / "joined", method="adaptive", threshold=0.5)
    summed, _, _ = gradients(run, items, tmp_path / "summed", method="soft", weight=1.0)
    torch.testing.assert_close(seen[:-2], costs)  # the terms are what they were
    coefficient = trainer.learner.extras[0].coefficient
    assert coefficient.item() == pytest.approx(-0.5 * math.tanh(math.log(4) - 0.5))
    for name, plain in alone.items():
        of_classifier = summed[name] - plain
        torch.testing.assert_close(joined[name], plain - coefficient * of_classifier, rtol=1e-4, atol=1e-6)
    assert not torch.equal(summed["layers.1.weight"], alone["layers.1.weight"])
    torch.testing.assert_close(joined["embedding.weight"], alone["embedding.weight"])  # it sees features only


def gradient_norm(weights):
    return torch.cat([weight.grad.flatten() for weight in weights if weight.grad is not None]).norm().item()


def test_clip_bounds_the_space_and_the_adversary_apart(watched, items, tmp_path):
    """In one norm, the steeper of the two would shorten the step of the other."""
    free = trainer_of(dataclasses.replace(watched, clip=None), items, tmp_path / "free")
    free.learner.step(items.inputs[:16], items.labels[:16], number=0)
    norms = [gradient_norm(module.parameters()) for module in (free.space, free.learner.extras[0])]
    assert min(norms) > 0.05
    tight = trainer_of(watched.override(["clip=0.05"]), items, tmp_path / "tight")
    tight.learner.step(items.inputs[:16], items.labels[:16], number=0)
    for part in (tight.space, tight.learner.extras[0]):
        assert gradient_norm(part.parameters()) == pytest.approx(0.05, rel=1e-3)
    # One of them long, the other short: that one stays as it is.
    between = sum(norms) / 2
    one = trainer_of(watched.override([f"clip={between}"]), items, tmp_path / "one")
    one.learner.step(items.inputs[:16], items.labels[:16], number=0)
    clipped = [gradient_norm(module.parameters()) for module in (one.space, one.learner.extras[0])]
    assert clipped == pytest.approx([min(norm, between) for norm in norms], rel=1e-3)


def test_scaled_gradients_are_unscaled_once_before_they_are_clipped(watched, items, tmp_path, monkeypatch):
    trainer = trainer_of(watched.override(["clip=0.05"]), items, tmp_path)
    seen = []

    def unscale(optimiser):
        seen.append((type(optimiser).__name__, gradient_norm(trainer.space.parameters())))

    monkeypatch.setattr(trainer.fabric.strategy.precision, "unscale_gradients", unscale)
    trainer.learner.step(items.inputs[:16], items.labels[:16], number=0)
    [(name, norm)] = seen
    assert name.startswith("SGD")
    assert norm > 0.06


def test_the_initial_space_does_not_depend_on_the_adversary(run, watched, items, tmp_path):
    one = trainer_of(run, items, tmp_path / "one").space
    other = trainer_of(watched, items, tmp_path / "other").space
    for name, tensor in one.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name]), name


AROUND = {
    "triplet": (Part("Euclidean", {"normalise": True}), Term("triplet", miner="semi_hard")),
    "n_pair": (Part("Dot"), Term("n_pair", miner="one_pair")),
    "pair_likelihood": (Part("PairsNetwork", {"hidden": 8, "depth": 1}), Term("pair_likelihood")),
    "proxy_anchor": (Part("Cosine"), Term("proxy_anchor", against="prototypes")),
    "arc_face": (Part("Cosine"), Term("arc_face", against="prototypes")),
    "multi_similarity": (Part("Cosine"), Term("multi_similarity", against="memory")),
}


@pytest.mark.parametrize("method", ["soft", "adaptive"])
@pytest.mark.parametrize("name", AROUND)
def test_an_adversary_works_with_any_loss(run, items, name, method, constant, tmp_path):
    assert name in losses.__all__
    similarity, term = AROUND[name]
    prototypes = Part("LearnedProxies" if term.against == "prototypes" else "SupportMeans")
    parts = dataclasses.replace(run.space, similarity=similarity, prototypes=prototypes, auxiliary=None)
    adversary, memory = dataclasses.replace(SMALL, method=method), 20 if term.against == "memory" else 0
    run = dataclasses.replace(run, space=parts, terms={"only": term}, adversary=adversary, memory=memory)
    train(run.override(["epochs=2"]), items, folder=tmp_path, validate=constant)
    for line in Record(tmp_path / "record.jsonl").lines():
        assert list(line["terms"]) == ["only"]
        assert line["loss"] == line["terms"]["only"]
        assert line["adversary"].keys() == {"coefficient", "loss", "plain_loss"}


# --- a run ----------------------------------------------------------------------------------------


def test_the_record_tells_the_coefficient_of_each_epoch_by_the_loss_of_the_one_before(
    watched, items, constant, tmp_path
):
    train(watched.override(["epochs=4"]), items, folder=tmp_path, validate=constant)
    lines = [line["adversary"] for line in Record(tmp_path / "record.jsonl").lines()]
    before = math.log(4)
    for line in lines:
        assert line["coefficient"] == pytest.approx(-0.5 * math.tanh(before - 1.5), rel=1e-5)
        before = line["plain_loss"]
    assert lines[-1]["plain_loss"] < lines[0]["plain_loss"]
    assert all(line["loss"] != line["plain_loss"] for line in lines)


def test_the_space_is_saved_without_the_adversary(watched, items, constant, tmp_path):
    space = train(watched, items, folder=tmp_path, validate=constant)
    assert not any("adversary" in name for name in space.state_dict())
    space.save(tmp_path / "space")
    assert "adversary" not in (tmp_path / "space" / "space.json").read_text()


def test_a_nan_loss_of_the_adversary_stops_the_run(watched, items, constant, tmp_path, monkeypatch):
    def broken(*arguments):
        adversary = build_class_adversary(*arguments)
        with torch.no_grad():
            adversary.layers[0].weight.fill_(torch.nan)
        return adversary

    monkeypatch.setattr("samekind.training.extras.BUILDERS", [broken])
    with pytest.raises(TrainingError, match='the term "adversary" became nan at step 1'):
        train(watched, items, folder=tmp_path, validate=constant)


def test_infinite_weights_of_the_adversary_are_never_saved(watched, items, constant, tmp_path, monkeypatch):
    judge = ClassAdversary.judge

    def spoiling(self, logits, y):
        with torch.no_grad():
            self.layers[0].bias[0] = torch.inf
        return judge(self, logits, y)

    monkeypatch.setattr(ClassAdversary, "judge", spoiling)
    every_step = watched.override(["checkpoint_steps=1"])
    with pytest.raises(
        TrainingError, match="the weights of the adversary were no longer finite after step 1"
    ):
        train(every_step, items, folder=tmp_path, validate=constant)


def test_one_class_is_refused(watched, tmp_path, constant):
    items = Items(torch.rand(20, 6), torch.zeros(20, dtype=torch.long), ("only",), "items")
    with pytest.raises(SettingError, match="a classifier needs two classes or more; got 1"):
        train(watched, items, folder=tmp_path, validate=constant)


@pytest.mark.parametrize("setting", ["channels_last=true", "compile=true", "precision=bf16-mixed"])
def test_settings_for_speed_work_with_an_adversary(watched, constant, tmp_path, setting, monkeypatch):
    """The features are compiled, not the embedding; a stand-in for the compiler saves time."""
    compiled = []
    monkeypatch.setattr(torch, "compile", lambda method, **_: compiled.append(method) or method)
    images = Items(torch.rand(32, 3, 16, 16), torch.arange(32) % 4, tuple("abcd"), "images")
    run = watched.update({"space": {"encoder": {"name": "Conv4", "dimension": 5}}}).override(["epochs=1"])
    plain = train(run, images, folder=tmp_path / "plain", validate=constant)
    quick = train(run.override([setting]), images, folder=tmp_path / "quick", validate=constant)
    assert [method.__name__ for method in compiled] == (["features"] if "compile" in setting else [])
    assert "features" not in vars(quick.encoder)
    for name, tensor in quick.state_dict().items():
        torch.testing.assert_close(tensor, plain.state_dict()[name], rtol=0.1, atol=0.05, msg=name)
