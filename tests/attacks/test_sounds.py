"""Sounds under attack: padding stays, norms are over real samples, and a sound is attacked as if alone."""

import pytest
import torch
from torch import nn

from samekind import attacks
from samekind.acoustics import lengths_of, padded
from samekind.attacks import (
    APGD,
    BIM,
    FAB,
    FGSM,
    L1,
    L2,
    PGD,
    SOUNDS,
    Aimed,
    CarliniWagner,
    Classes,
    DeepFool,
    HopSkipJump,
    Limits,
    Linf,
    Logits,
    Raised,
    RandomSearch,
    Relative,
    Several,
    Shift,
    Square,
    Transfer,
    Trials,
    Within,
)
from samekind.decisions import Decision
from samekind.encoders import FrontEnd, XVector
from samekind.errors import DataError
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace

LENGTHS, LONGEST = (30, 17, 24, 5), 30


class Weighted(nn.Module):
    """Sounds (n, 1, samples) to two logits: a weighted sum of the samples, and 0. It insists on NaN."""

    def __init__(self, weights):
        super().__init__()
        self.register_buffer("weights", weights)

    def forward(self, x):
        assert (x[..., 1:].isnan() >= x[..., :-1].isnan()).all()  # padding is at the end alone
        total = (x.nan_to_num(0.0)[:, 0] * self.weights[: x.shape[-1]]).sum(1)
        return torch.stack([total, torch.zeros_like(total)], dim=1)


@pytest.fixture
def linear():
    """The model, sounds of unequal length that it names 0, and their lengths."""
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(LONGEST, generator=generator, dtype=torch.float64)
    sounds = []
    for length in LENGTHS:
        sound = 0.05 * torch.randn(1, length, generator=generator, dtype=torch.float64)
        sounds.append(sound + 0.2 * weights[:length].sign())
    return Weighted(weights), padded(sounds)


REGION = Linf(0.25)
MADE = {
    "Aimed": lambda goal: Aimed(PGD(REGION, steps=5)),
    "APGD": lambda goal: APGD(REGION, steps=8),
    "BIM": lambda goal: BIM(REGION, steps=5),
    "CarliniWagner": lambda goal: CarliniWagner(steps=60, searches=5),
    "DeepFool": lambda goal: DeepFool(steps=5),
    "FAB": lambda goal: FAB(steps=5, restarts=1),
    "FGSM": lambda goal: FGSM(REGION),
    "HopSkipJump": lambda goal: HopSkipJump(steps=3, draws=30),
    "PGD": lambda goal: PGD(REGION, steps=5, restarts=2),
    "RandomSearch": lambda goal: RandomSearch(REGION, tries=20),
    "Several": lambda goal: Several((Transfer(FGSM(Linf(0.01)), Raised(goal)), PGD(REGION, steps=5))),
    "Square": lambda goal: Square(REGION, queries=30),
    "Transfer": lambda goal: Transfer(PGD(REGION, steps=5), Raised(goal)),
    "Within": lambda goal: Within(FAB(steps=5, restarts=1), REGION),
}


def attacked(name, model, x):
    goal = Logits(model, torch.zeros(len(x), dtype=torch.long))
    return MADE[name](goal)(goal, x, limits=SOUNDS, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("name", attacks.ATTACKS)
def test_padding_stays_and_samples_are_valid(name, linear):
    model, x = linear
    result = attacked(name, model, x)
    assert torch.equal(lengths_of(result.x), torch.tensor(LENGTHS))
    assert torch.equal(result.x.isnan(), x.isnan())
    assert (result.x.nan_to_num(0.0).abs() <= 32767 / 32768).all()
    assert result.distance.isfinite().all()
    norm = MADE[name](Logits(model, torch.zeros(4, dtype=torch.long)))
    expected = norm.distance(result.x.nan_to_num(0.0), x.nan_to_num(0.0))
    torch.testing.assert_close(result.distance, expected)
    if name not in ("CarliniWagner", "DeepFool", "FAB", "HopSkipJump"):
        assert (result.distance <= 0.25 + 1e-9).all()
    if name not in ("RandomSearch", "Square"):
        assert result.succeeded.all()


@pytest.mark.parametrize("name", ["APGD", "BIM", "DeepFool", "FGSM"])
def test_a_sound_is_attacked_as_if_it_were_alone(name, linear):
    """Of attacks that draw nothing: draws are in the shape of the batch."""
    model, x = linear
    together = attacked(name, model, x)
    for place, length in enumerate(LENGTHS):
        alone = attacked(name, model, x[place : place + 1, :, :length])
        torch.testing.assert_close(together.x[place, :, :length], alone.x[0])
        torch.testing.assert_close(together.distance[place], alone.distance[0])


@pytest.mark.parametrize(("region", "dual"), [(Linf, 1), (L2, 2)])
def test_the_worst_score_of_a_linear_model_is_known(region, dual, linear):
    """The sum less epsilon times the dual norm of the weights of the real samples."""
    model, x = linear
    epsilon = 0.01
    goal = Raised(Logits(model, torch.zeros(4, dtype=torch.long), objective=lambda z, _: -z[:, 0]))
    result = PGD(region(epsilon), steps=40)(goal, x, limits=SOUNDS)
    for place, length in enumerate(LENGTHS):
        weights = model.weights[:length]
        expected = float((x[place, 0, :length] * weights).sum() - epsilon * weights.norm(p=dual))
        score = float((result.x[place, 0, :length] * weights).sum())
        assert score == pytest.approx(expected, rel=1e-3)


def test_the_least_change_of_a_linear_model_is_known(linear):
    model, x = linear
    result = DeepFool(steps=20)(
        Logits(model, torch.zeros(4, dtype=torch.long)), x, limits=Limits(padding=-9.0)
    )
    expected = [
        float((x[place, 0, :length] * model.weights[:length]).sum() / model.weights[:length].norm())
        for place, length in enumerate(LENGTHS)
    ]
    torch.testing.assert_close(result.radius, torch.tensor(expected).double(), rtol=0.03, atol=1e-6)


def test_a_ratio_counts_real_samples_alone(linear):
    model, x = linear
    goal = Raised(Logits(model, torch.zeros(4, dtype=torch.long)))
    region = Relative.below(20.0, padding=SOUNDS.padding)
    result = PGD(region, steps=30)(goal, x, limits=SOUNDS)
    change = (result.x - x).nan_to_num(0.0).flatten(1).norm(dim=1)
    ratio = change / x.nan_to_num(0.0).flatten(1).norm(dim=1)
    torch.testing.assert_close(ratio, torch.full((4,), 0.1).double(), rtol=1e-3, atol=0)
    torch.testing.assert_close(result.distance, ratio)


def test_what_is_no_sound_is_refused():
    model = Weighted(torch.ones(4))
    with pytest.raises(DataError, match="not finite"):
        PGD(L1(0.1))(Logits(model, torch.tensor([0])), torch.tensor([[[0.0, torch.inf]]]), limits=SOUNDS)
    with pytest.raises(DataError, match="outside the limits"):
        PGD(L1(0.1))(Logits(model, torch.tensor([0])), torch.tensor([[[0.0, 1.5]]]), limits=SOUNDS)
    nan = torch.tensor([[[0.0, torch.nan]]])
    with pytest.raises(DataError, match="not finite"):
        PGD(L1(0.1))(Logits(model, torch.tensor([0])), nan, limits=Limits())


@pytest.fixture(scope="module")
def space():
    """A small network of fresh weights with its front end, and two speakers by one sound each."""
    torch.manual_seed(0)
    encoder = FrontEnd(encoder=XVector(dimension=8, width=12, last_width=16), shortest=20)
    generator = torch.Generator().manual_seed(2)
    sounds = padded([0.1 * torch.randn(1, length, generator=generator) for length in (4000, 5600, 3000)])
    space = MetricSpace(encoder, Cosine(), SupportMeans(dimension=8)).eval()
    with torch.no_grad():
        z = space.embed(sounds)
    space.prototypes.assign(["anna", "ben"], z[:2, None])
    between = (1 + float(space.score(z[:1], z[2:]))) / 2
    space.decisions["similarity"] = Decision("similarity", between, "eer", "made", 0.0, 0.0)
    return space, sounds, z


def test_the_class_of_a_sound_is_changed_and_the_trial_of_two_speakers_accepted(space):
    space, sounds, z = space
    change = PGD(Linf(0.05), steps=20)
    named = change(Classes(space, torch.tensor([0, 1])), sounds[:2], limits=SOUNDS)
    assert named.succeeded.all()
    assert space.classify(space.embed(named.x)).classes == ["ben", "anna"]
    same = torch.tensor([True, False])
    trials = Trials(space, torch.stack([z[0], z[0]]), same, kind="similarity")
    tried = change(trials, sounds[[0, 2]], limits=SOUNDS)
    scores = space.score(torch.stack([z[0], z[0]]), space.embed(tried.x))
    threshold = space.decisions["similarity"].threshold
    assert tried.succeeded.all()
    assert scores[0] < threshold <= scores[1]


def test_an_embedding_is_shifted_far_more_by_an_attack_than_by_noise(space):
    space, sounds, z = space
    region = Relative.below(20.0, padding=SOUNDS.padding)
    shift = Shift(space, z)
    moved = PGD(region, steps=20)(shift, sounds, limits=SOUNDS)
    drawn = RandomSearch(region, tries=3)(shift, sounds, limits=SOUNDS)
    far, near = ((space.embed(result.x) - z).norm(dim=1) for result in (moved, drawn))
    assert (far > 2 * near).all()
