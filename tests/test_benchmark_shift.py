"""The study of domains: PACS in its folder form on a made stand-in, characters, the table and its page."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

ROOT = Path(__file__).parents[1]
STUDY = "shift"


@pytest.fixture
def pacs(tmp_path):
    """Three styles of three shapes, six pictures each, in domain/class/picture."""
    generator = np.random.default_rng(0)
    for style, colour in {"photo": (200, 90, 40), "sketch": (0, 0, 0), "cartoon": (30, 60, 220)}.items():
        for shape, (height, width) in {"bar": (4, 20), "pole": (20, 4), "block": (12, 12)}.items():
            folder = tmp_path / "pacs" / style / shape
            folder.mkdir(parents=True)
            for number in range(6):
                picture = np.full((24, 24, 3), 255, dtype=np.uint8)
                top, left = generator.integers(0, 24 - height), generator.integers(0, 24 - width)
                picture[top : top + height, left : left + width] = colour
                Image.fromarray(picture).save(folder / f"{number}.png")
    return tmp_path


def test_pacs_is_read_by_its_folders_and_left_out_style_by_style(load, pacs, monkeypatch):
    grid, sets, carry_out = load("grid"), load("sets"), load("carry_out")
    monkeypatch.setattr(sets, "SIDE", 16)
    small = ["space.encoder={name='SmallConvnet', dimension=8}", "channels_last=false", "batches.size=4"]
    plain = grid.run_of
    monkeypatch.setattr(carry_out, "run_of", lambda *given: plain(*given).override(small))
    place = load("grids.running").Place(pacs, pacs / "out", pacs / "work", "cpu", float("inf"), True)
    experiment = grid.Experiment("pacs", "prototypical", 0)
    items = sets.items_of(experiment, pacs)
    assert sorted(items.domain_names) == ["cartoon", "photo", "sketch"]
    assert items.classes == ("bar", "block", "pole")
    assert carry_out.carry_out(experiment, place).endswith(" s")
    content = json.loads(place.result_of(experiment).read_text(encoding="utf-8"))
    assert sorted(one["left out"] for one in content["sets"]) == ["cartoon", "photo", "sketch"]
    written = load("tables").tables(load("grids.results").results_in(place.out))
    assert "| prototypical | similarity |" in written
    assert "another domain" in written


def test_what_is_not_there_is_left_out(load, tmp_path):
    grid, carry_out = load("grid"), load("carry_out")
    place = load("grids.running").Place(tmp_path, tmp_path, tmp_path, "cpu", float("inf"), True)
    for data in grid.FILES:
        assert carry_out.carry_out(grid.Experiment(data, "dense", 0), place) == "left out: no files"


def test_drawers_are_five_to_a_domain_and_strangers_are_of_another_alphabet(load):
    sets, carry_out = load("sets"), load("carry_out")
    items = sets.by_drawers("Greek")
    assert torch.bincount(items.domains).tolist() == [120] * 4
    known = items.take(torch.arange(0, len(items), 7))
    both = carry_out._with_new_classes(known, 0)
    strange = both.labels >= len(known.classes)
    assert int((~strange).sum()) == len(known)
    assert 0 < int(strange.sum()) <= len(known)


def test_the_dense_classifier_has_the_same_encoder(load):
    grid = load("grid")
    items = load("sets").by_drawers("Greek")
    ours, dense = (grid.run_of(grid.Experiment("characters", name, 0), items) for name in grid.SYSTEMS)
    assert ours.space.encoder == dense.space.encoder
    assert (ours.batches.sampler, dense.batches.sampler) == ("OnePerDomain", "Shuffled")
    assert dense.space.auxiliary is None


def test_the_page_has_the_tables_of_what_was_run(load):
    results = load("grids.results").results_in(ROOT / "results/shift")
    page = (ROOT / "docs/results/shift.md").read_text(encoding="utf-8")
    assert load("grids.tables").page_with(page, load("tables").tables(results), mark="tables") == page
