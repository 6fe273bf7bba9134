"""The study of the house recipe: its comparisons by hand, the rule that names classes, and the page against
the stored runs.
"""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from samekind.data import SplitSettings, clusters, prepare
from samekind.encoders import MLP, Compressed, Headed, SideBySide, Unchanged
from samekind.inference import compress, embed, settle
from samekind.measures import student_interval
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace

ROOT = Path(__file__).parents[1]
STUDY = "house"


def a_run(kept, **values):
    """What a run stores: the first rung has 0.5 of everything, the kept one what is given."""
    first = {
        "accuracy": 0.5,
        "Recall@1": 0.5,
        "EER": 0.5,
        "beside known": {"5-way 5-shot harmonic mean": 0.5},
    }
    return {"systems": {"raw input": first, "encoder trained": {**first, **values}}, "kept": kept}


def test_points_more_than_the_first_rung(load):
    kept = load("kept")
    runs = [a_run("encoder trained", accuracy=0.75, EER=0.25), a_run("raw input", accuracy=0.75)]
    assert kept.gains(runs, "accuracy") == [25, 0]
    assert kept.gains(runs, "EER") == [-25, 0]
    assert kept.gains(runs, "5-shot beside known") == [0, 0]
    del runs[1]["systems"]["raw input"]["beside known"]
    assert kept.gains(runs, "5-shot beside known") == [0]


def test_worse_is_an_interval_on_the_wrong_side(load):
    kept = load("kept")
    lost = [a_run("encoder trained", **{"Recall@1": share}) for share in (0.40, 0.41, 0.39)]
    assert student_interval([-10, -9, -11]).high < 0
    assert kept.worse(lost) == ["Recall@1"]
    unsure = [a_run("encoder trained", **{"Recall@1": share}) for share in (0.40, 0.60, 0.30)]
    assert kept.worse(unsure) == []
    assert kept.worse([a_run("encoder trained", EER=0.6)]) == ["EER"]  # a single run: its difference
    assert kept.worse([a_run("encoder trained", EER=0.4)]) == []
    assert kept.worse([a_run("raw input")] * 3) == []


def test_the_sentence_says_where_it_is_worse(load):
    kept = load("kept")
    fine, lost = [a_run("raw input")] * 3, [a_run("encoder trained", accuracy=0.4)] * 3
    assert kept.NONE_WORSE in kept.kept_table({"a": fine}, str.upper)
    table = kept.kept_table({"a": fine, "b": lost}, str.upper)
    assert kept.NONE_WORSE not in table
    assert "more than its interval: B (accuracy)." in table
    assert "| B | 3 | -10.00 ± 0.00 | 0.00 ± 0.00 |" in table


def test_a_form_is_compared_with_the_cosine_of_the_same_rung(load):
    forms = load("forms")
    plain, fitted = {"Recall@1": 0.5, "EER": 0.25}, {"Recall@1": 0.75, "EER": 0.125}
    run = {"systems": {"fitted similarity": {"by kind": {"similarity": plain, "fitted": fitted}}}}
    pairs = {"by kind": {"cosine": plain, "similarity": {"Recall@1": 0.25, "EER": 0.0}}}
    other = {"systems": {**run["systems"], "network over pairs": pairs}}
    assert forms.gains([run, other], forms.FORMS[0], "Recall@1") == [25, 25]
    assert forms.gains([run, other], forms.FORMS[-1], "EER") == [-25]
    table = forms.forms_table({"a": [run, other]}, str.upper)
    assert table.splitlines()[4:] == [
        "| A | first rung | fitted | 2 | 25.00 ± 0.00 | -12.50 ± 0.00 |",
        "| A | trained encoder | network over pairs | 1 | -25.00 | -25.00 |",
    ]


def test_the_page_has_the_tables_of_what_was_run(load):
    page = (ROOT / "docs/results/house.md").read_text(encoding="utf-8")
    written = load("tables").tables(load("grids.results").results_in(ROOT / "results/house"))
    assert load("grids.tables").page_with(page, written) == page


def test_each_rule_asks_by_what_it_chose(load):
    """A discriminant that is better by one of four items in what chooses, and worse in what is asked."""
    rules = load("naming_rule")
    none, some = torch.tensor([0.0, 0, 0, 1]), torch.tensor([0.0, 0, 1, 1])
    told = rules.summary([rules.Trial((none, some), (torch.ones(4), none))])
    assert told.pop("never") == told.pop("better by more than chance") == 100
    assert set(told.values()) == {25}
    worse = rules.summary([rules.Trial((torch.ones(40), torch.zeros(40)), (torch.ones(4), none))])
    assert set(worse.values()) == {100}


def test_no_rule_named_more_than_that_of_the_house_recipe(load):
    """What the page says of the stored trials."""
    rules = list(load("naming_rule").RULES)
    stored = json.loads((ROOT / "results/house/naming-rule.json").read_text(encoding="utf-8"))
    assert len(stored) == 11
    for name, shares in stored.items():
        assert shares[rules[-1]] == max(shares[rule] for rule in rules), name


def test_a_folder_is_cut_from_the_classes_that_chose_the_settings(load):
    rules = load("naming_rule")
    items = clusters(classes=60, items=30, dimension=8, spread=0.1, seed=0)
    trial = rules.on_folder(items.inputs, items.labels, 0)
    assert [len(part) for side in trial for part in side] == [180] * 4
    half = torch.randperm(60, generator=torch.Generator().manual_seed(7))[:30]
    strange = items.inputs.clone()
    strange[~torch.isin(items.labels, half)] = torch.nan  # the other classes are not read
    assert torch.equal(rules.on_folder(strange, items.labels, 0).asked[1], trial.asked[1])


class Counted(torch.nn.Module):
    """Twice three numbers of four; it counts the items that it has seen."""

    dimension = 3
    items = 0

    def __init__(self):
        super().__init__()
        self.twice = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        self.items += len(x)
        return self.twice * x[:, :3]


def test_rungs_that_share_a_network_show_it_an_item_once(load, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.import_module("samekind.inference.features"), "describe", repr)
    network, items = Counted(), clusters(classes=3, items=5, dimension=4, seed=0)
    row = SideBySide(encoders=[network, Unchanged(inputs=4)])
    below = Compressed(encoder=row, dimension=2)
    below.embedding.matrix = torch.randn(2, 7, generator=torch.Generator().manual_seed(0))
    for encoder in (network, row, below, Headed(encoder=below, head=MLP(inputs=2, hidden=[4], dimension=2))):
        space = MetricSpace(encoder, Cosine(), SupportMeans(dimension=encoder.dimension)).eval()
        expected, network.items = embed(space, items.inputs), 0
        z = load("seen").embedded(space, items, tmp_path / "cache")
        torch.testing.assert_close(z, expected)
        assert network.items == (len(items) if encoder is network else 0)


def test_the_compressed_space_is_that_of_the_items(load, monkeypatch):
    """What is fitted to embeddings answers as what is fitted to the items."""
    items = clusters(classes=6, items=30, dimension=8, seed=0)
    sets = prepare(items, SplitSettings(unseen=("4", "5"), seed=0))
    monkeypatch.setattr(load("carry_out"), "NUMBERS", 3)
    space = MetricSpace(MLP(inputs=8, hidden=[16], dimension=6), Cosine(), SupportMeans(dimension=6)).eval()
    vectors = load("seen").embedded_sets(space, sets, None)
    short = load("carry_out")._compressed(space, vectors)
    whole = compress(space, sets.train, dimension=3)
    settle(whole, sets.train, sets.validation)
    scores = short.score_all(short.embed(vectors.unseen.inputs), short.embed(vectors.unseen.inputs))
    z = whole.embed(sets.unseen.inputs)
    torch.testing.assert_close(scores, whole.score_all(z, z))
    assert short.decisions.keys() == whole.decisions.keys()


def write_clothes(folder, count):
    """Four files in the form of Fashion-MNIST, of ten classes; the pictures of one class are grey alike."""
    folder.mkdir()
    for part in ("train", "t10k"):
        labels = (np.arange(count) % 10).astype(np.uint8)
        images = np.broadcast_to(labels[:, None, None] * 20, (count, 28, 28))
        for name, array in {"images-idx3": images, "labels-idx1": labels}.items():
            heading = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
            (folder / f"{part}-{name}-ubyte").write_bytes(heading + array.tobytes())


@pytest.mark.parametrize("seed", [0, 1])
def test_the_cut_of_clothes_is_of_the_same_classes_as_all_of_them(load, tmp_path, monkeypatch, seed):
    write_clothes(tmp_path / "fashion", 400)
    grid, sets = load("grid"), load("sets")
    monkeypatch.setattr(sets, "CUT", 30)
    place = load("grids.running").Place(tmp_path, tmp_path, tmp_path, "cpu", float("inf"), False)
    whole, cut = (
        sets.sets_of(grid.Experiment(data, "house", seed), place) for data in ("fashion", "fashion-cut")
    )
    assert cut.unseen.classes == whole.unseen.classes
    assert len(cut.unseen.classes) == 2
    assert (len(whole.unseen), len(cut.unseen)) == (160, 60)
    assert (len(cut.train), len(cut.validation), len(cut.test)) == (192, 24, 24)


def test_what_a_user_would_do_instead_on_raw_input(load):
    instead, grid = load("instead"), load("grid")
    items = clusters(classes=6, items=30, dimension=8, seed=0)
    sets = prepare(items, SplitSettings(unseen=("4", "5"), seed=0))
    start = instead.start_of(sets, seed=0)
    assert [name for name, _ in start.named_parameters()] == []  # nothing is trained
    rows = instead.classical(grid.Experiment("digits", "instead", 0), sets, device="cpu")
    assert set(rows) == {
        "logistic regression", "five nearest neighbours", "linear discriminants", "nearest mean"
    }  # fmt: skip
    assert all(row["accuracy"] > 0.8 for row in rows.values())
