"""What every measure promises, checked on all of them; a new one is covered by being exported.

Arguments are made from the names in the signature, so a new measure that speaks of ``scores`` and
``same`` needs nothing here; one with a new word needs one line in ITEMS or SETTINGS.
"""

import inspect
import subprocess
import sys

import pytest
import torch

from samekind import measures

DRAWN = torch.randn(4, 8, 8, generator=torch.Generator().manual_seed(0), dtype=torch.double)

ITEMS = {
    "scores": torch.tensor([0.9, 0.8, 0.4, 0.7, 0.3, 0.2, 0.1, 0.4]),
    "same": torch.tensor([True, True, True, False, False, False, False, False]),
    "neighbours": torch.tensor([[0, 1, 2, 0, 1, 2, 0, 1]] * 4 + [[2, 2, 1, 2, 1, 2, 1, 2]] * 4),
    "labels": torch.tensor([0, 1, 2, 0, 0, 1, 2, 2]),
    "predicted": torch.tensor([0, 1, 2, 0, 1, 2, 0, 1]),
    "assigned": torch.tensor([5, 5, 5, 3, 3, 4, 4, 4]),
    "truth": torch.tensor([0, 1, 2, 0, 0, 1, 2, 2]),
    "values": torch.tensor([0.5, 0.25, 0.75, 0.5, 1.0, 0.0, 0.25, 0.125]),
    # Values of two systems, or the classes of the two sides of a trial: equal where ``same`` is true.
    "first": torch.tensor([0.0, 1.0, 2.0, 0.0, 0.0, 1.0, 0.0, 1.0]),
    "second": torch.tensor([0.0, 1.0, 2.0, 1.0, 2.0, 2.0, 1.0, 2.0]),
    "others": torch.tensor([0.5, 0.5, 0.25, 0.125, 1.0, 0.0, 0.5, 0.25]),
    "features": DRAWN[0, :, :3],
    "old": DRAWN[0, :, :3],
    "support": torch.arange(len(DRAWN[0])) % 2 == 0,
    "new": 1.1 * DRAWN[0, :, :3] + 0.1 * DRAWN[1, :, :3],
    "motions": 1 + 0.1 * DRAWN[2, :, :3],
    "one": DRAWN[2, :, 0].exp(),
    "other": DRAWN[2, :, 1].exp(),
    "newness": DRAWN[2, :, 2],
    "is_new": torch.tensor([True, False, True, False, False, False, True, True]),
    "kernel": DRAWN[3],
    "in_first": torch.tensor([True, False, True, False, False, False, True, True]),
    "distances": (DRAWN[3] + DRAWN[3].T).abs().fill_diagonal_(0),
    "in_tree": (DRAWN[2] + DRAWN[2].T).abs().fill_diagonal_(0),
    "right": torch.tensor([True, True, True, False, True, False, True, True]),
    "right_after": torch.tensor([True, False, True, False, False, False, False, True]),
    "broken_at": torch.tensor([0.0, 0.1, 0.2, torch.inf, 0.3, 0.0, 0.5, 0.1]),
    "relevant": torch.tensor([3, 3, 2, 3, 0, 3, 5, 5]),  # as many as there are in neighbours
    "systems": DRAWN[1, :, :3],
    "logits": DRAWN[1, :, 3],
    "cosines": DRAWN[1, :, 4].tanh(),
    "first_cohort": DRAWN[1],
    "second_cohort": DRAWN[2],
    "class_scores": DRAWN[3, :, :6],
    "probabilities": DRAWN[3, :, :3].softmax(1),
}
#: Tables of every item against every item: what happens to the rows happens to the columns.
SQUARE = {"kernel", "distances", "in_tree"}
PROTOTYPES = {"old_prototypes": DRAWN[1, :3, None, :3], "new_prototypes": DRAWN[1, 3:6, None, :3]}
SETTINGS = {
    "proper": "below 1",
    **PROTOTYPES,
    "threshold": 0.4,
    "false_accepts": 0.4,
    "classes": 3,
    "epsilons": (0.1, 0.4),
}

#: A value for each item, which follow the items; where there is nothing to measure it may be NaN.
OF_EACH_ITEM = {
    "adjust_prior",
    "adversarial_distances",
    "as_norm",
    "fused_score",
    "majority_vote",
    "mean_norm",
    "relevant_counts",
    "retrieval_values",
    "s_norm",
    "tree_distances",
    "tree_precisions",
}
#: A value for every two items.
OF_EACH_PAIR = {"chords", "tree_neighbourhoods"}
SETTINGS |= {"before": torch.tensor([1, 2, 3]), "after": torch.tensor([2, 2, 1])}
#: Of two counts, or of other measures, and no items at all.
OF_COUNTS = {"proportion_interval", "retrieval_means"}
#: Of prices alone, and of trials that are walked, not given.
OF_COUNTS |= {"bayes_threshold", "streamed"}
#: Of draws of one item, and of p-values.
OF_COUNTS |= {"certified_radii", "holm", "lowest_share"}
#: One of several settings that could be given instead.
CHOSEN = {"false_accepts"}
#: The vectors of as many classes as there are items.
ITEMS["vectors"] = DRAWN[0, :, :3]
SETTINGS |= {"top": 3, "class_distances": (torch.arange(6)[:, None] - torch.arange(6)).abs()}
MEASURES = [
    name for name in measures.__all__ if inspect.isfunction(getattr(measures, name)) and name not in OF_COUNTS
]


def arguments(measure, change=torch.clone):
    """What the measure's signature asks for, each tensor passed through ``change``."""
    values = {}
    for name, parameter in inspect.signature(measure).parameters.items():
        if name in ITEMS:
            changed = change(ITEMS[name])
            values[name] = change(changed.T).T if name in SQUARE else changed
        elif parameter.default is inspect.Parameter.empty or name in CHOSEN:
            values[name] = SETTINGS[name]
    return values


def leaves(result):
    """The tensors and numbers of a result, in order; anything else is not plain and fails."""
    if isinstance(result, dict):
        assert all(type(key) in (int, str) for key in result)
        return [leaf for value in result.values() for leaf in leaves(value)]
    if isinstance(result, tuple):
        return [leaf for value in result for leaf in leaves(value)]
    assert isinstance(result, torch.Tensor) or type(result) in (float, int), f"{type(result)} is not plain"
    return [result]


def test_there_are_measures_to_check():
    assert len(MEASURES) >= 13


def failure(check, name):
    """Why a measure does not pass a check; None if it does."""
    try:
        check(getattr(measures, name))
    except (Exception, pytest.fail.Exception) as error:
        return f"{name}: {error}"
    return None


def every_measure(check):
    """A test that runs a check on every measure and lists those that fail."""

    def test():
        assert [reason for name in MEASURES if (reason := failure(check, name))] == []

    test.__doc__ = check.__doc__
    return test


def test_a_measure_that_fails_is_listed():
    def check(measure):
        assert measure is not measures.accuracy, "no"

    with pytest.raises(AssertionError, match="accuracy: no"):
        every_measure(check)()


@every_measure
def test_returns_plain_numbers_and_tensors(measure):
    for leaf in leaves(measure(**arguments(measure))):
        assert measure.__name__ == "retrieval_values" or not torch.as_tensor(leaf).isnan().any()


@every_measure
def test_leaves_its_inputs_unchanged(measure):
    options = arguments(measure)
    measure(**options)
    for name in options.keys() & ITEMS.keys():
        assert torch.equal(options[name], ITEMS[name]), name


@every_measure
def test_refuses_empty_input(measure):
    with pytest.raises(ValueError, match=r"expected .* got"):
        measure(**arguments(measure, lambda items: items[:0]))


@every_measure
def test_does_not_depend_on_the_order_of_items(measure):
    shuffle = torch.randperm(8, generator=torch.Generator().manual_seed(1))
    shuffled = measure(**arguments(measure, lambda items: items[shuffle]))
    expected = leaves(measure(**arguments(measure)))
    if measure.__name__ in OF_EACH_ITEM:
        expected = [values[shuffle] for values in expected]
    if measure.__name__ in OF_EACH_PAIR:
        expected = [values[shuffle][:, shuffle] for values in expected]
    torch.testing.assert_close(leaves(shuffled), expected, equal_nan=True)


@every_measure
def test_does_not_track_gradients(measure):
    def tracked(items):
        return items.clone().requires_grad_(items.is_floating_point())

    for leaf in leaves(measure(**arguments(measure, tracked))):
        assert not torch.as_tensor(leaf).requires_grad


@every_measure
def test_takes_tensors_that_are_not_contiguous(measure):
    spread = measure(**arguments(measure, lambda items: items.repeat_interleave(2, 0)[::2]))
    torch.testing.assert_close(leaves(spread), leaves(measure(**arguments(measure))), equal_nan=True)


@every_measure
def test_settings_are_keyword_only(measure):
    for name, parameter in inspect.signature(measure).parameters.items():
        if name not in ITEMS and name != "threshold":
            assert parameter.kind is inspect.Parameter.KEYWORD_ONLY, name


@every_measure
def test_has_an_example(measure):
    assert ">>> " in inspect.getdoc(measure)


def test_the_room_is_light_to_import():
    """scikit-learn and scipy take a second to import; nobody waits for them who needs neither."""
    script = "import sys, samekind.measures; print({'sklearn', 'scipy'} & set(sys.modules) or 'light')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "light"
