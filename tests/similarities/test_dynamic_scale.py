"""The dynamic scale: its start against a table and against finite differences, its steps against Adam's."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SettingError
from samekind.similarities import AdaCosScale, Cosine, DynamicScale, LogDistance
from samekind.similarities.dynamic_scale import LOWEST, initial_scale, turning

#: Classes; the starts for cosines, chords, chords as the authors' code has them, and angles.
TABLE = [
    (52, 4.6777, 6.9577, 6.8807, 6.1461),
    (100, 5.7939, 7.9668, 7.8989, 7.0419),
    (102, 5.8262, 7.9975, 7.9298, 7.0691),
    (109, 5.9343, 8.1004, 8.0335, 7.1605),
    (555, 8.4563, 10.6488, 10.5973, 9.4212),
    (1000, 9.3358, 11.5800, 11.5324, 10.2468),
]
FORMS = ["cosine", "log-distance"]


@pytest.mark.parametrize(("classes", "cosine", "chord", "published", "angle"), TABLE)
def test_starts_as_the_table_has_it(classes, cosine, chord, published, angle):
    assert DynamicScale(classes=classes)().item() == pytest.approx(cosine, abs=1e-4)
    assert DynamicScale(classes=classes, form="log-distance")().item() == pytest.approx(chord, abs=1e-4)
    code = DynamicScale(classes=classes, form="log-distance", as_published=True)
    assert code().item() == pytest.approx(published, abs=1e-4)
    assert DynamicScale(classes=classes, form="log-angle")().item() == pytest.approx(angle, abs=1e-4)


def test_ten_classes_start_as_the_table_has_it():
    forms = [("log-distance", False, 4.4558), ("log-distance", True, 4.3425), ("log-angle", False, 3.9222)]
    for form, as_published, start in forms:
        assert initial_scale(10, form=form, as_published=as_published) == pytest.approx(start, abs=1e-4)


def test_as_published_it_descends_what_the_authors_code_descends():
    """ψ by the chord, and B = Σ (d²)^(-√scale) in place of Σ d^(-scale); by loops over plain numbers."""
    scores, positive, labels = batch("log-distance")
    scale = DynamicScale(classes=30, form="log-distance", rate=0.01, as_published=True).double()
    start = scale().item()
    sums, chords = [], []
    for row, label in zip(scores.tolist(), labels, strict=True):
        wrong = [math.exp(-score) for place, score in enumerate(row) if place != label]
        sums.append(sum((chord**2) ** -math.sqrt(start) for chord in wrong))
        chords.append(math.exp(-row[label]))
    chord = min(sorted(chords)[len(chords) // 2], 2 * math.sin(math.pi / 8))
    rivals = sum(sums) / len(sums)

    def cost(value):
        return (rivals * (value + 1) * chord**value - value + 1) ** 2

    scale.after_step(scores, positive)
    # The first step of Adam has the size of the rate, whatever the slope.
    downwards = cost(start * 1.001) > cost(start)
    assert scale().item() == pytest.approx(start * math.exp(-0.01 if downwards else 0.01), rel=1e-6)


def test_a_scale_of_angles_comes_to_its_root():
    """On one batch ψ = B (scale + 1) θ^scale - scale + 1 comes to 0."""
    positive = torch.arange(6)[:, None] == torch.arange(40)
    angles = torch.where(positive, 0.4, 1.3).double()
    scale = DynamicScale(classes=40, form="log-angle", rate=0.03).double()
    for _ in range(400):
        scale.after_step(-angles.log(), positive)
    value = scale().item()
    power = 39 * 1.3**-value * 0.4**value
    assert (power * (value + 1) - value + 1) / (1 + power) == pytest.approx(0, abs=1e-3)


def test_few_classes_have_a_start_too():
    """Up to 22 classes there is no root for cosines; the scale of AdaCos stands in."""
    assert DynamicScale(classes=10, form="log-distance")().item() == pytest.approx(4.4558, abs=1e-4)
    for classes in (3, 10, 22):
        torch.testing.assert_close(DynamicScale(classes=classes)(), AdaCosScale(classes=classes)())
    assert DynamicScale(classes=23)() < AdaCosScale(classes=23)()
    assert DynamicScale(classes=2, form="log-distance")().item() > 1


def probability(angle, scale, classes, form):
    """p of the true class at an angle, the wrong ones at right angles: the definition."""
    if form == "cosine":
        own, other = math.exp(scale * math.cos(angle)), 1.0
    else:
        own, other = (2 * math.sin(angle / 2)) ** -scale, math.sqrt(2) ** -scale
    return own / (own + (classes - 1) * other)


def bend(scale, classes, form, angle=math.pi / 4, step=1e-3):
    """The second derivative by finite differences."""
    low, middle, high = (probability(angle + value, scale, classes, form) for value in (-step, 0, step))
    return (low - 2 * middle + high) / step**2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("classes", [23, 52, 100, 555, 1000])
def test_at_the_start_the_probability_changes_fastest_at_a_quarter_turn(classes, form):
    scale = initial_scale(classes, form=form)
    assert abs(bend(scale, classes, form)) < 1e-4
    # It is a crossing, and the larger of two: above it the bend stays on one side.
    assert bend(0.98 * scale, classes, form) * bend(1.02 * scale, classes, form) < 0
    above = [bend(factor * scale, classes, form) for factor in (1.02, 1.2, 1.5, 2.0)]
    assert len({value > 0 for value in above}) == 1


@pytest.mark.parametrize("form", FORMS)
def test_the_turning_has_the_sign_of_the_second_derivative(form):
    """For chords; for cosines the opposite sign."""
    for scale in (0.5, 2.0, 5.0, 9.0):
        for angle in (0.2, 0.5, math.pi / 4):
            rivals = math.log(99) - (0 if form == "cosine" else scale / 2 * math.log(2))
            value = turning(*torch.tensor([scale, rivals, angle], dtype=torch.double), form=form).item()
            side = bend(scale, 100, form, angle=angle)
            assert (value > 0) == ((side < 0) if form == "cosine" else (side > 0))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rivals", [-3.0, 2.0, 9.0])
def test_the_turning_and_its_slope_are_the_documents_divided_by_a_number(form, rivals):
    scale = torch.tensor(5.0, dtype=torch.double, requires_grad=True)
    angle, large = torch.tensor(0.6, dtype=torch.double), torch.tensor(rivals, dtype=torch.double).exp()
    if form == "cosine":
        own = (scale * angle.cos()).exp()
        exact = angle.cos() * (own + large) + scale * angle.sin() ** 2 * (own - large)
        number = (own + large).item()
    else:
        chord = 2 * (angle / 2).sin()
        power = large * chord**scale
        exact = ((scale + 1) * power - scale + 1) * (1 - chord**2 / 4) + (1 + power) * chord**2 / 4
        number = (1 + power).item()
    value = turning(scale, large.log(), angle, form=form)
    torch.testing.assert_close(value, exact / number)
    slopes = [torch.autograd.grad(entry, scale)[0] for entry in (value, exact / number)]
    torch.testing.assert_close(*slopes)


def batch(form, items=7, classes=30, seed=0):
    """Scores of items around the proxies of their classes, the mask of the true ones, and the labels.

    As far around as there is an angle for ψ = 0: cosines have none for small angles.
    """
    noise = 1.0 if form == "cosine" else 0.4
    generator = torch.Generator().manual_seed(seed)
    proxies = torch.randn(classes, 32, dtype=torch.double, generator=generator)
    labels = torch.randint(classes, (items,), generator=generator)
    z = proxies[labels] + noise * torch.randn(items, 32, dtype=torch.double, generator=generator)
    similarity = Cosine() if form == "cosine" else LogDistance(normalise=True)
    return similarity.score_all(proxies, z).T, labels[:, None] == torch.arange(classes), labels.tolist()


def by_hand(scale, scores, labels, form):
    """ψ² (divided as above), with B the mean sum over wrong classes, held constant, and the median angle."""
    sums, angles = [], []
    for row, label in zip(scores.tolist(), labels, strict=True):
        sums.append(sum(math.exp(scale.item() * value) for place, value in enumerate(row) if place != label))
        own = row[label]
        angles.append(math.acos(own) if form == "cosine" else 2 * math.asin(math.exp(-own) / 2))
    angle = torch.tensor(min(math.pi / 4, sorted(angles)[len(angles) // 2]), dtype=torch.double)
    rivals = torch.tensor(math.log(sum(sums) / len(sums)), dtype=torch.double)
    return turning(scale, rivals, angle, form=form) ** 2


@pytest.mark.parametrize("form", FORMS)
def test_each_step_is_a_step_of_adam_down_the_square(form):
    scale = DynamicScale(classes=30, form=form, rate=0.01).double()
    logarithm = scale.logarithm.clone().requires_grad_()
    optimiser = torch.optim.Adam([logarithm], lr=0.01)
    for seed in range(5):
        scores, positive, labels = batch(form, seed=seed)
        with torch.no_grad():
            scale.after_step(scores, positive)
        optimiser.zero_grad()
        by_hand(logarithm.exp(), scores, labels, form).backward()
        optimiser.step()
        torch.testing.assert_close(scale.logarithm, logarithm.detach())
    assert abs(scale.logarithm.item() - math.log(initial_scale(30, form=form))) > 0.005


@pytest.mark.parametrize("form", FORMS)
def test_goes_to_where_the_probability_of_the_batch_changes_fastest(form):
    """Over many steps on one batch ψ comes to 0."""
    scale = DynamicScale(classes=200, form=form, rate=0.02).double()
    scores, positive, labels = batch(form, classes=200)
    for _ in range(300):
        scale.after_step(scores, positive)
    assert by_hand(scale().clone(), scores, labels, form).item() < 1e-4


@pytest.mark.parametrize("form", FORMS)
def test_goes_on_from_a_checkpoint_as_if_it_had_not_stopped(form):
    one, other = (DynamicScale(classes=30, form=form, rate=0.01) for _ in range(2))
    for seed in range(3):
        one.after_step(*batch(form, seed=seed)[:2])
    assert one() != other()
    other.load_state_dict(one.state_dict())
    for value in (one, other):
        value.after_step(*batch(form, seed=9)[:2])
    assert one() == other()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("value", [1e4, -1e4, 0.0, 23.0])
def test_no_scores_break_it(form, dtype, value):
    """Items on their proxies, on wrong ones, or nowhere."""
    scale = DynamicScale(classes=4, form=form, rate=0.01)
    positive = torch.eye(4, dtype=torch.bool)
    for scores in (
        torch.full((4, 4), value),
        torch.where(positive, value, 0.0),
        torch.where(positive, 0.0, value),
    ):
        scale.after_step(scores.to(dtype), positive)
        assert scale().isfinite()
        assert scale() > 0
        assert scale.moments.isfinite().all()


# --- roots, and where there is none -----------------------------------------------------------------


def around(own, rival, form, classes=12, items=6):
    """Items at one angle to their class and at another to all others, or at each its own."""
    positive = torch.arange(items)[:, None] == torch.arange(classes)
    angles = torch.where(positive, own, torch.as_tensor(rival)).double()
    return (angles.cos() if form == "cosine" else -(2 * (angles / 2).sin()).log()), positive


def psi(scale, scores, positive, form):
    """The published ψ divided by E + B or 1 + U, B at the same scale, by loops over plain numbers."""
    sums, angles = [], []
    for row, own in zip(scores.tolist(), positive.tolist(), strict=True):
        sums.append([scale * score for score, is_own in zip(row, own, strict=True) if not is_own])
        angles += [
            math.acos(score) if form == "cosine" else 2 * math.asin(math.exp(-score) / 2)
            for score, is_own in zip(row, own, strict=True)
            if is_own
        ]
    angle = min(math.pi / 4, sorted(angles)[(len(angles) - 1) // 2])
    if form == "cosine":
        shift = scale * math.cos(angle)
        large = sum(math.exp(min(value - shift, 600)) for row in sums for value in row) / len(sums)
        return math.cos(angle) + scale * math.sin(angle) ** 2 * (1 - large) / (1 + large)
    chord = 2 * math.sin(angle / 2)
    power = sum(math.exp(min(value + scale * math.log(chord), 600)) for row in sums for value in row) / len(
        sums
    )
    bend = (power * (scale + 1) - scale + 1) * (1 - chord**2 / 4) + (1 + power) * chord**2 / 4
    return bend / (1 + power)


def bisected(scores, positive, form):
    """All roots up to 10,000: where the sign changes from one scale to the next, a bisection."""
    places = [1.02**index for index in range(-50, 466)]
    values = [psi(value, scores, positive, form) for value in places]
    roots = []
    for place in range(len(places) - 1):
        low, high = places[place], places[place + 1]
        if (values[place] > 0) == (values[place + 1] > 0):
            continue
        for _ in range(60):
            middle = (low + high) / 2
            same = (psi(middle, scores, positive, form) > 0) == (values[place] > 0)
            low, high = (middle, high) if same else (low, middle)
        roots.append(low)
    return roots


@pytest.mark.parametrize(
    ("form", "own", "rival", "count"),
    [
        ("log-distance", 0.3, 1.0, 1),
        ("log-distance", 0.3, 0.33, 1),
        ("log-distance", 0.75, 1.5, 1),
        ("cosine", 0.75, 1.5, 2),
        ("cosine", 0.7, 0.8, 2),
    ],
)
def test_with_a_root_the_scale_comes_to_the_one_that_bisection_finds(form, own, rival, count):
    """And on the way each step is Adam's."""
    scores, positive = around(own, rival, form, classes=40, items=6)
    labels = positive.int().argmax(1).tolist()
    roots = bisected(scores, positive, form)
    assert len(roots) == count
    scale = DynamicScale(classes=40, form=form, rate=0.03).double()
    logarithm = scale.logarithm.clone().requires_grad_()
    optimiser = torch.optim.Adam([logarithm], lr=0.03)
    for step in range(400):
        scale.after_step(scores, positive)
        if step < 50:
            optimiser.zero_grad()
            by_hand(logarithm.exp(), scores, labels, form).backward()
            optimiser.step()
            torch.testing.assert_close(scale.logarithm, logarithm.detach())
    assert min(abs(scale().item() / root - 1) for root in roots) < 1e-3


@pytest.mark.parametrize(
    ("form", "own", "rival", "classes", "start", "end"),
    [
        ("log-distance", 0.7, 0.9, 30, 1.1, 1.0),  # before, down to 0, on the wrong side of a hill of ψ²
        ("cosine", 0.3, 0.3, 4, 1.5, math.sqrt(2)),  # likewise
        ("cosine", 0.3, 0.3, 4, 5000.0, 1e4),  # before, up to 1e17
        ("log-distance", 0.7, 0.9, 30, 0.5, 0.5),  # below already
        ("cosine", 0.3, 0.3, 4, 2e4, 2e4),  # above already
        ("log-distance", 0.3, 0.3, 12, 5000.0, 1e4),  # a crowd without any root
    ],
)
def test_it_never_moves_past_where_a_root_can_be(form, own, rival, classes, start, end):
    scores, positive = around(own, rival, form, classes=classes, items=4)
    scale = DynamicScale(classes=classes, form=form, rate=0.1).double()
    scale.logarithm.fill_(math.log(start))
    for _ in range(40):
        scale.after_step(scores, positive)
    assert scale().item() == pytest.approx(end)


@settings(max_examples=50, deadline=None)
@given(angle=st.floats(1e-3, math.pi / 4), share=st.floats(0, 1), rivals=st.floats(-50, 50))
def test_below_the_lowest_scale_no_batch_has_a_root(angle, share, rivals):
    for form in FORMS:
        values = torch.tensor([share * LOWEST[form], rivals, angle], dtype=torch.double)
        assert turning(*values, form=form) > -1e-12


def test_nothing_is_learned_by_the_gradient():
    scale = DynamicScale(classes=30)
    assert list(scale.parameters()) == []
    assert not scale().requires_grad


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"classes": 2}, "at least 3 classes, got 2"),
        ({"classes": 1, "form": "log-distance"}, "at least 2 classes, got 1"),
        ({"classes": 9, "form": "angle"}, '"cosine", "log-distance" or "log-angle"; got "angle"'),
        ({"classes": 9, "as_published": True}, 'only the form "log-distance" was published otherwise'),
        ({"classes": 9, "rate": -1.0}, "from 0 up; got -1.0"),
    ],
)
def test_refuses_settings_without_a_scale(arguments, says):
    with pytest.raises(SettingError, match=says):
        DynamicScale(**arguments)
