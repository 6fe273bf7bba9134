"""What is measured for the pictures: once for each system, and not more than a picture needs."""

from dataclasses import replace

import torch

from samekind.reports import System
from samekind.reports import measured as room
from samekind.reports.measured import measure, notes, pairs_notes


def test_embeddings_and_trials_are_those_of_the_space(vectors, space_for):
    space = space_for(vectors)
    found = measure({"mine": System(space, [])}, vectors)
    assert torch.equal(found.embeddings["mine"], vectors.inputs)
    assert list(found.trials["mine"]) == space.kinds == ["similarity", "cosine"]
    trials = found.trials["mine"]["similarity"]
    scores, same = trials.scores, trials.same
    # The first trial is the first item against the second.
    torch.testing.assert_close(scores[0], -(vectors.inputs[0] - vectors.inputs[1]).norm())
    assert len(same) == 24 * 23 // 2
    assert same[0]
    assert found.note == ""


def test_of_very_many_items_a_fixed_random_part_is_drawn(vectors, space_for, monkeypatch):
    monkeypatch.setattr(room, "MOST_ITEMS", 10)
    systems = {"mine": System(space_for(vectors), [])}
    found, again = measure(systems, vectors), measure(systems, vectors)
    assert len(found.items) == len(found.embeddings["mine"]) == 10
    assert torch.equal(found.items.inputs, again.items.inputs)
    assert len(found.items.inputs.unique(dim=0)) == 10
    assert not torch.equal(found.items.inputs, vectors.inputs[:10])
    assert found.note == " Shown are 10 items drawn at random from 24."
    assert notes({"seen": found, "unseen": found}) == found.note


def test_pairs_of_one_group_are_left_out_and_said_to_be(vectors, space_for):
    grouped = replace(vectors, groups=torch.arange(len(vectors)) // 2)
    systems = {"mine": System(space_for(vectors), [])}
    found, plain = measure(systems, grouped), measure(systems, vectors)
    assert len(found.trials["mine"]["cosine"].same) == 24 * 23 // 2 - 12
    assert found.note == plain.pairs_note == ""
    assert pairs_notes({"seen": found, "unseen": found}) == " Items of one group are not compared."
