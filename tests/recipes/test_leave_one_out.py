"""Each domain left out in turn: never trained on, never chosen by unless asked, and summed up."""

import json
from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from torch import nn

from samekind import recipes
from samekind.data import Items, clusters
from samekind.encoders.foreign import Foreign
from samekind.errors import DataError, SettingError, TrainingError
from samekind.evaluation import Row, evaluate
from samekind.recipes import leave_one_out
from samekind.recipes.leave_one_out import (
    _as_begun,
    _without,
    fewest_of_each_class,
    fewest_trained_on,
    summary,
)
from samekind.space import MetricSpace
from samekind.training import Run

pytestmark = pytest.mark.usefixtures("one_thread", "few_draws")

PLAIN = clusters(classes=3, items=18, dimension=4, spread=0.7)
#: Photos, paintings and sketches: a third of each class each, moved a little.
DOMAINS = torch.arange(54) % 3
ITEMS = Items(
    PLAIN.inputs + 0.2 * DOMAINS[:, None],
    PLAIN.labels,
    PLAIN.classes,
    "shapes",
    DOMAINS,
    ("photo", "painting", "sketch"),
)
HOW = {"tasks": 2, "device": "cpu"}


def a_run():
    return recipes.triplet((4,)).override(["epochs=2", "batches.size=12", "space.encoder.hidden=[8]"])


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("domains")
    return folder, leave_one_out(a_run(), ITEMS, folder=folder, **HOW)


def test_every_domain_has_the_rows_of_its_own_space(result):
    folder, rows = result
    for domain, name in enumerate(ITEMS.domain_names):
        space = MetricSpace.load(folder / str(domain) / "space")
        part = ITEMS.take((ITEMS.domains == domain).nonzero().flatten())
        expected = evaluate(space, {name: part}, tasks=2, seed=0)
        assert [row for row in rows if row.items == name] == expected


def test_the_mean_and_the_worst_come_last(result):
    _, rows = result
    worst = {"EER": max, "accuracy": min}
    for measure, choose in worst.items():
        mine = [row for row in rows if row.measure == measure and row.kind == "similarity"]
        values = {row.items: row.value for row in mine[:3]}
        assert list(values) == ["photo", "painting", "sketch"]
        assert mine[3].items == "mean"
        assert mine[3].value == pytest.approx(sum(values.values()) / 3)
        assert mine[4].value == choose(values.values())
        assert values[mine[4].items.removeprefix("worst (").removesuffix(")")] == mine[4].value
    assert {row.unit for row in rows if row.items == "mean" and row.low is not None} == {"domains"}
    assert {row.note for row in rows} == {""}


def test_the_domain_left_out_does_not_change_the_space(tmp_path):
    """With nothing but NaN in it, the same space comes out."""
    spoilt = ITEMS.inputs.clone()
    spoilt[DOMAINS == 2] = torch.nan
    for name, items in {"clean": ITEMS, "spoilt": replace(ITEMS, inputs=spoilt)}.items():
        sets = _without(items, 2, held_out=0.2, seed=0, fingerprint=items.fingerprint())
        recipes.fit(a_run(), sets, folder=tmp_path / name, device="cpu")
    one, other = (MetricSpace.load(tmp_path / name / "space") for name in ("clean", "spoilt"))
    for key, value in one.state_dict().items():
        assert torch.equal(value, other.state_dict()[key])
    assert one.decisions == other.decisions


@pytest.mark.parametrize("domain", range(3))
def test_the_sets_of_a_domain(domain):
    sets = _without(ITEMS, domain, held_out=0.25, seed=0, fingerprint=ITEMS.fingerprint())
    parts = sets.split.parts
    assert sorted(torch.cat(list(parts.values())).tolist()) == list(range(54))
    assert (DOMAINS[parts["test"]] == domain).all()
    for name, count in (("validation", 2), ("train", 4)):
        cells = DOMAINS[parts[name]] * 3 + ITEMS.labels[parts[name]]
        # Every class of both source domains, and none of the domain left out.
        assert torch.bincount(cells, minlength=9).tolist() == [
            0 if cell // 3 == domain else count for cell in range(9)
        ]


def test_a_single_item_of_a_class_is_trained_on():
    few = ITEMS.take(torch.tensor([0, 1, 2, 3, 4, 18, 36]))
    sets = _without(few, 1, held_out=0.9, seed=0, fingerprint=few.fingerprint())
    assert {5, 6} <= set(sets.split.parts["train"].tolist())


def test_where_no_domain_has_two_items_of_a_class_a_share_of_each_class_validates():
    """As in Omniglot, whose drawers drew each character once."""
    drawn = Items(
        torch.rand(30, 4),
        torch.arange(30) % 3,
        ("a", "b", "c"),
        "drawn",
        torch.arange(30) // 3,
        tuple("abcdefghij"),
    )
    parts = _without(drawn, 4, held_out=0.2, seed=0, fingerprint="").split.parts
    assert torch.bincount(drawn.labels[parts["validation"]]).tolist() == [2, 2, 2]
    assert torch.bincount(drawn.labels[parts["train"]]).tolist() == [7, 7, 7]
    assert drawn.domains[parts["test"]].tolist() == [4, 4, 4]
    assert fewest_trained_on(drawn) == 21
    assert torch.bincount(fewest_of_each_class(drawn).labels).tolist() == [7, 7, 7]


@pytest.fixture
def quick(monkeypatch):
    """Evaluations of one row: for tests that do not look at what is measured."""

    def one_row(space, sets, **_):
        return [Row("q", next(iter(sets)), "EER", "cosine", 0.5)]

    monkeypatch.setitem(leave_one_out.__globals__, "evaluate", one_row)


def test_choosing_on_the_domain_left_out_is_noted(tmp_path, quick):
    rows = leave_one_out(a_run(), ITEMS, folder=tmp_path, select_on="test", **HOW)
    assert {row.note for row in rows} == {"selected on test"}
    stored = Run.from_dict(json.loads((tmp_path / "0" / "run.json").read_text()))
    assert stored.select_on == "test"
    with pytest.raises(TrainingError, match=r"other settings \(select_on\)"):
        leave_one_out(a_run(), ITEMS, folder=tmp_path, **HOW)


def test_every_domain_begins_with_a_fresh_copy_of_the_own_encoder(tmp_path, quick):
    """One that went from domain to domain would have been trained on the one left out."""
    torch.manual_seed(0)
    mine = Foreign(nn.Linear(4, 6), feature_dimension=6, dimension=5)
    before = {name: value.clone() for name, value in mine.state_dict().items()}
    rows = leave_one_out(a_run(), ITEMS, folder=tmp_path, encoder=mine, **HOW)
    assert all(torch.equal(before[name], value) for name, value in mine.state_dict().items())
    for domain, name in enumerate(ITEMS.domain_names):
        space = MetricSpace.load(tmp_path / str(domain) / "space", encoder=deepcopy(mine))
        sets = _without(ITEMS, domain, held_out=0.2, seed=0, fingerprint=ITEMS.fingerprint())
        alone = recipes.fit(
            a_run(), sets, folder=tmp_path / f"{name} alone", device="cpu", encoder=deepcopy(mine)
        )
        for key, value in space.state_dict().items():
            assert torch.equal(value, alone.state_dict()[key])
    assert leave_one_out(a_run(), ITEMS, folder=tmp_path, encoder=mine, **HOW) == rows


def test_a_measure_some_domain_does_not_have_is_left_out_of_the_summary():
    rows = {
        "a": [Row("q", "a", "EER", "cosine", 0.1), Row("q", "a", "AUC", "cosine", 0.9)],
        "b": [Row("q", "b", "EER", "cosine", 0.3)],
    }
    mean, worst = summary(rows)
    assert (mean.measure, mean.value, mean.unit) == ("EER", pytest.approx(0.2), "domains")
    assert (worst.items, worst.value) == ("worst (b)", 0.3)


def test_notes_of_a_value_stay(tmp_path, monkeypatch):
    """As of one that is of a part of the pairs."""
    notes = iter(["of 10 pairs", "of 12 pairs", "of 12 pairs"])

    def some(space, sets, **_):
        return [Row("q", next(iter(sets)), "Cllr", "cosine", 0.5, note=next(notes))]

    monkeypatch.setitem(leave_one_out.__globals__, "fit", lambda *_, **__: None)
    monkeypatch.setitem(leave_one_out.__globals__, "evaluate", some)
    rows = leave_one_out(a_run(), ITEMS, folder=tmp_path, select_on="test", **HOW)
    of_two = "of 10 pairs; of 12 pairs"
    assert [row.note.removesuffix("; selected on test") for row in rows] == [
        "of 10 pairs",
        "of 12 pairs",
        "of 12 pairs",
        of_two,
        "of 10 pairs",
    ]
    assert all(row.note.endswith("; selected on test") for row in rows)


def test_equal_domains_have_no_interval():
    rows = {name: [Row("q", name, "AUC", "cosine", 1.0, 0.9, 1.0, "classes")] for name in "ab"}
    assert summary(rows)[0] == Row("q", "mean", "AUC", "cosine", 1.0)


@pytest.mark.parametrize("items", [PLAIN, ITEMS.take(torch.arange(0, 54, 3))])
def test_refuses_fewer_than_two_domains(items, tmp_path):
    with pytest.raises(DataError, match="two domains or more"):
        leave_one_out(a_run(), items, folder=tmp_path)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_share_held_out_is_a_share(share, tmp_path):
    with pytest.raises(SettingError, match="between 0 and 1"):
        leave_one_out(a_run(), ITEMS, folder=tmp_path, held_out=share)


@pytest.mark.parametrize("indices", [range(54), range(40), [0, 1, 2, 3, 4, 18, 36], range(10)])
@pytest.mark.parametrize("held_out", [0.2, 0.9])
def test_counts_the_items_of_the_smallest_run(indices, held_out):
    some = ITEMS.take(torch.tensor([*indices]))
    counted = [
        len(_without(some, domain, held_out=held_out, seed=0, fingerprint="").train)
        for domain in torch.unique(some.domains).tolist()
        if (some.domains != domain).any()
    ]
    assert fewest_trained_on(some, held_out=held_out) == min(counted, default=0)
    assert fewest_trained_on(replace(some, domains=None, domain_names=())) == 0


def test_the_fewest_of_each_class_are_those_of_the_runs_that_have_it():
    """Class 1 has eight items in the first domain and four in the others; class 2 is in the first alone."""
    domains = torch.tensor([0] * 8 + [1] * 8 + [2] * 8 + [0] * 8 + [1] * 4 + [2] * 4 + [0] * 5)
    labels = torch.tensor([0] * 24 + [1] * 16 + [2] * 5)
    items = Items(torch.rand(45, 4), labels, ("a", "b", "c"), "some", domains, ("x", "y", "z"))
    some = fewest_of_each_class(items, held_out=0.25)
    runs = [_without(items, domain, held_out=0.25, seed=0, fingerprint="") for domain in range(3)]
    trained = torch.stack([torch.bincount(sets.train.labels, minlength=3) for sets in runs])
    assert torch.bincount(some.labels).tolist() == [12, 6, 4]
    assert trained.tolist() == [[12, 6, 0], [12, 9, 4], [12, 9, 4]]
    assert len(fewest_of_each_class(replace(items, domains=None, domain_names=()))) == 45


def test_validation_is_cut_out_in_whole_groups():
    """Pairs of items of one class and domain belong together."""
    groups = ITEMS.labels * 100 + DOMAINS * 10 + torch.arange(54) % 18 // 6
    grouped = replace(ITEMS, groups=groups)
    sets = _without(grouped, 1, held_out=0.25, seed=0, fingerprint=grouped.fingerprint())
    parts = sets.split.parts
    assert sorted(torch.cat(list(parts.values())).tolist()) == list(range(54))
    assert not set(groups[parts["train"]].tolist()) & set(groups[parts["validation"]].tolist())
    for name in ("train", "validation"):
        cells = DOMAINS[parts[name]] * 3 + ITEMS.labels[parts[name]]
        assert set(cells.tolist()) == {0, 1, 2, 6, 7, 8}


def test_groups_that_are_whole_domains_do_not_stop_it():
    """However many sources there are, a share of every class of every one of them validates."""
    grouped = replace(ITEMS, groups=DOMAINS)
    for items in (grouped, grouped.take(DOMAINS < 2)):
        sets = _without(items, 0, held_out=0.25, seed=0, fingerprint=items.fingerprint())
        plain = replace(items, groups=None)
        other = _without(plain, 0, held_out=0.25, seed=0, fingerprint=plain.fingerprint())
        for name in ("train", "validation", "test"):
            assert torch.equal(sets.split.parts[name], other.split.parts[name])


def test_groups_over_domains_are_noted_and_a_run_keeps_its_split(tmp_path, quick):
    torn = replace(ITEMS, groups=torch.arange(54) // 3)
    rows = leave_one_out(a_run(), torn, folder=tmp_path, **HOW)
    assert all("groups in more than one part" in row.note for row in rows)
    whole = replace(ITEMS, groups=torch.arange(54))
    rows = leave_one_out(a_run(), whole, folder=tmp_path / "whole", **HOW)
    assert not any("in more than one part" in row.note for row in rows)
    # As if groups had been dealt in another way when it began.
    stored = json.loads((tmp_path / "0" / "split.json").read_text())
    moved = dict(stored["parts"], validation=stored["parts"]["validation"][:-1])
    moved["train"] = sorted([*moved["train"], stored["parts"]["validation"][-1]])
    sets = _without(torn, 0, held_out=0.2, seed=a_run().seed, fingerprint=torn.fingerprint())
    for settings, used in ((None, moved), (stored["settings"], moved), ({"by": "other"}, stored["parts"])):
        content = {"fingerprint": torn.fingerprint(), "settings": settings, "parts": moved}
        (tmp_path / "0" / "split.json").write_text(json.dumps(content))
        parts = _as_begun(torn, sets, tmp_path / "0").split.parts
        assert {name: part.tolist() for name, part in parts.items()} == used
    # Without settings, as in old versions, another share for validation is another split.
    half = _without(torn, 0, held_out=0.5, seed=a_run().seed, fingerprint=torn.fingerprint())
    content["settings"] = None
    (tmp_path / "0" / "split.json").write_text(json.dumps(content))
    assert _as_begun(torn, half, tmp_path / "0") is half
