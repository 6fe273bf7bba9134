"""Learning rates step by step, against values worked out on paper."""

import io
import itertools
import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.training.schedules import Scheduler, cosine, inverse_square_root

BATCHES = 4  # in an epoch


def make(run, *changes, rate=1.0):
    weights = [torch.nn.Parameter(torch.zeros(1)), torch.nn.Parameter(torch.zeros(1))]
    groups = [{"params": weights[:1], "lr": rate}, {"params": weights[1:], "lr": 10 * rate}]
    optimiser = torch.optim.SGD(groups, lr=rate)
    return optimiser, Scheduler(optimiser, run.override(changes), batches=BATCHES)


def steps(optimiser, scheduler, count):
    """The rate that each of the next steps uses."""
    rates = []
    for _ in range(count):
        rates.append(scheduler.rate)
        optimiser.step()
        scheduler.after_step()
    return rates


def epochs(optimiser, scheduler, watched):
    rates = []
    for measure in watched:
        rates += steps(optimiser, scheduler, 1)
        scheduler.after_epoch(measure)
    return rates


@pytest.mark.parametrize(
    ("step", "rate"),
    [(1, 1.677e-05), (2000, 0.0335410), (600_000, 0.00193649), (2_000_000, 0.00106066)],
)
def test_the_inverse_square_root_has_the_published_values(step, rate):
    assert 1.5 * inverse_square_root(step, warmup=2000) == pytest.approx(rate, rel=1e-4)


def test_the_inverse_square_root_rises_in_a_line_and_falls_as_a_root():
    values = [inverse_square_root(step, warmup=4) for step in (1, 2, 3, 4, 16, 64)]
    assert values == pytest.approx([1 / 8, 2 / 8, 3 / 8, 4 / 8, 1 / 4, 1 / 8])
    assert inverse_square_root(1, warmup=1) == 1


def test_the_first_step_already_has_its_own_rate(run):
    optimiser, scheduler = make(run, "schedule={name='inverse-square-root', warmup=2000}", rate=1.5)
    expected = [1.5 * step * 2000**-1.5 for step in range(1, 6)]
    assert expected[0] == pytest.approx(1.677e-05, rel=1e-3)
    assert steps(optimiser, scheduler, 5) == pytest.approx(expected)


def test_the_inverse_square_root_turns_at_the_warmup_in_every_group(run):
    optimiser, scheduler = make(run, "schedule={name='inverse-square-root', warmup=3}")
    rates = steps(optimiser, scheduler, 6)
    peak = 3**-0.5
    assert rates == pytest.approx([peak / 3, 2 * peak / 3, peak, 4**-0.5, 5**-0.5, 6**-0.5])
    assert [group["lr"] for group in optimiser.param_groups] == pytest.approx([7**-0.5, 10 * 7**-0.5])
    scheduler.after_epoch(0.5)  # an epoch's end does not count as a step
    assert scheduler.rate == pytest.approx(7**-0.5)


def test_the_cosine_falls_from_the_rate_to_nothing_over_all_steps(run):
    optimiser, scheduler = make(run, "epochs=2", "schedule={name='cosine'}")
    rates = steps(optimiser, scheduler, 8)
    assert rates == pytest.approx([(1 + math.cos(math.pi * done / 8)) / 2 for done in range(8)])
    assert rates[0] == 1
    assert rates[4] == pytest.approx(0.5)
    assert [group["lr"] for group in optimiser.param_groups] == pytest.approx([0, 0])


def test_the_cosine_agrees_with_pytorchs(run):
    optimiser, scheduler = make(run, "epochs=3", "schedule={name='cosine'}")
    theirs = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    peer = torch.optim.lr_scheduler.CosineAnnealingLR(theirs, T_max=3 * BATCHES)
    for rate in steps(optimiser, scheduler, 3 * BATCHES):
        assert rate == pytest.approx(theirs.param_groups[0]["lr"], abs=1e-12)
        theirs.step()
        peer.step()


def test_the_cosine_begins_where_the_warm_up_ends(run):
    optimiser, scheduler = make(run, "epochs=3", "schedule={name='cosine', warmup_epochs=1}")
    rates = steps(optimiser, scheduler, 12)
    assert rates[:5] == pytest.approx([1 / 4, 2 / 4, 3 / 4, 1, 1])
    assert rates[8] == pytest.approx(0.5)
    assert all(later < earlier for earlier, later in itertools.pairwise(rates[4:]))
    assert optimiser.param_groups[1]["lr"] == pytest.approx(0)


@pytest.mark.parametrize(("epochs", "rising"), [(0.25, 1), (0.3, 2), (0.5, 2), (0.99, 3)])
def test_a_warm_up_of_part_of_an_epoch_is_that_many_steps_or_one_more(run, epochs, rising):
    """A run of 4 steps: the last is left to the cosine."""
    optimiser, scheduler = make(run, "epochs=1", f"schedule={{name='cosine', warmup_epochs={epochs}}}")
    rates = steps(optimiser, scheduler, 4)
    assert rates[:rising] == pytest.approx([(done + 1) / rising for done in range(rising)])
    assert rates[rising] == 1


def test_the_cosine_stays_at_nothing_after_its_end():
    assert cosine(10, steps=10, warmup=0) == 0
    assert cosine(15, steps=10, warmup=0) == 0
    assert cosine(0, steps=1, warmup=0) == 1


def test_a_constant_rate_stays(run):
    optimiser, scheduler = make(run, "schedule={name='constant'}")
    assert epochs(optimiser, scheduler, [0.5] * 5) == [1.0] * 5
    assert scheduler.state_dict() == {}


def test_multi_step_drops_after_each_milestone(run):
    optimiser, scheduler = make(run, "schedule={name='multi-step', factor=0.1, milestones=[2, 3]}")
    assert epochs(optimiser, scheduler, [0.5] * 5) == pytest.approx([1, 1, 0.1, 0.01, 0.01])
    assert optimiser.param_groups[1]["lr"] == pytest.approx(0.1)


def test_an_exponential_rate_falls_by_its_factor_after_every_epoch(run):
    optimiser, scheduler = make(run, "schedule={name='exponential', factor=0.94}")
    assert epochs(optimiser, scheduler, [0.5] * 4) == pytest.approx([0.94**epoch for epoch in range(4)])
    assert optimiser.param_groups[1]["lr"] == pytest.approx(10 * 0.94**4)


def test_multi_step_ignores_steps(run):
    optimiser, scheduler = make(run, "schedule={name='multi-step', factor=0.1, milestones=[2, 3]}")
    assert steps(optimiser, scheduler, 10) == [1.0] * 10


def test_plateau_drops_once_nothing_improved_for_longer_than_patience(run):
    optimiser, scheduler = make(run, "schedule={name='plateau', factor=0.5, patience=1}")
    watched = [0.5, 0.4, 0.4, 0.41, 0.3, 0.3, 0.3, 0.3]
    assert epochs(optimiser, scheduler, watched) == pytest.approx([1, 1, 1, 1, 0.5, 0.5, 0.5, 0.25])
    assert scheduler.rate == 0.25


def test_plateau_follows_the_direction_of_the_watched_measure(run):
    optimiser, scheduler = make(run, "schedule={name='plateau', factor=0.5, patience=0}", "watch=recall@1")
    assert epochs(optimiser, scheduler, [0.1, 0.2, 0.3, 0.2, 0.4]) == [1, 1, 1, 1, 0.5]
    optimiser, scheduler = make(
        run, "schedule={name='plateau', factor=0.5, patience=0}", "watch=mine", "better=higher"
    )
    assert epochs(optimiser, scheduler, [0.1, 0.2, 0.3, 0.2, 0.4]) == [1, 1, 1, 1, 0.5]


def test_plateau_overlooks_an_improvement_of_less_than_a_ten_thousandth_and_has_a_floor(run):
    optimiser, scheduler = make(run, "schedule={name='plateau', factor=0.5, patience=0}")
    assert epochs(optimiser, scheduler, [0.5, 0.49999, 0.49]) == [1, 1, 0.5]
    optimiser, scheduler = make(run, "schedule={name='plateau', factor=0.5, patience=0}", rate=1.5e-7)
    epochs(optimiser, scheduler, [0.5] * 10)
    assert scheduler.rate == pytest.approx(1e-7)


SCHEDULES = {
    "constant": "schedule={name='constant'}",
    "multi-step": "schedule={name='multi-step', factor=0.1, milestones=[2, 4]}",
    "exponential": "schedule={name='exponential', factor=0.94}",
    "plateau": "schedule={name='plateau', factor=0.5, patience=1}",
    "inverse-square-root": "schedule={name='inverse-square-root', warmup=3}",
    "cosine": "schedule={name='cosine', warmup_epochs=0.5}",
}
WATCHED = [0.5, 0.4, 0.4, 0.41, 0.3, 0.3, 0.3, 0.35]


@pytest.mark.parametrize("stop", [1, 2, 3, 5])
@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_goes_on_from_its_stored_state(run, name, stop):
    unbroken = epochs(*make(run, SCHEDULES[name]), WATCHED)
    optimiser, scheduler = make(run, SCHEDULES[name])
    first = epochs(optimiser, scheduler, WATCHED[:stop])
    file = io.BytesIO()
    torch.save({"optimiser": optimiser.state_dict(), "scheduler": scheduler.state_dict()}, file)
    file.seek(0)
    stored = torch.load(file, weights_only=True)
    optimiser, scheduler = make(run, SCHEDULES[name])
    optimiser.load_state_dict(stored["optimiser"])
    scheduler.load_state_dict(stored["scheduler"])
    assert first + epochs(optimiser, scheduler, WATCHED[stop:]) == unbroken


@pytest.mark.parametrize(("name", "expected"), [("constant", [1, 1, 1, 1]), ("cosine", None)])
def test_pretrained_groups_stand_still_while_new_layers_go_first(run, name, expected):
    """Half of the four steps of two epochs."""
    changed = run.override(
        [f"schedule={{name='{name}', new_first=1}}", "optimiser.pretrained=0.5", "epochs=2"]
    )
    new, old = (torch.nn.Parameter(torch.zeros(1)) for _ in range(2))
    groups = [{"params": [new]}, {"params": [old], "lr": 0.5, "pretrained": True}]
    optimiser = torch.optim.SGD(groups, lr=1.0)
    scheduler = Scheduler(optimiser, changed, batches=2)
    rates = []
    for _ in range(4):
        rates.append([group["lr"] for group in optimiser.param_groups])
        optimiser.step()
        scheduler.after_step()
    expected = expected or [cosine(done, steps=4, warmup=0) for done in range(4)]
    assert [rate for rate, _ in rates] == pytest.approx(expected)
    assert [rate for _, rate in rates] == pytest.approx([0, 0, expected[2] / 2, expected[3] / 2])


def test_new_layers_go_first_only_where_they_have_another_rate(run):
    with pytest.raises(SettingError, match=r"run\.schedule\.new_first: .* set optimiser\.pretrained"):
        run.override(["schedule.new_first=1"])
    with pytest.raises(
        SettingError, match='it is for the schedules "constant" and "cosine", not for "plateau"'
    ):
        run.override(["schedule={name='plateau', new_first=1}", "optimiser.pretrained=0.1"])
