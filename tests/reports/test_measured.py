"""What is measured for the pictures: once for each system, and not more than a picture needs."""

from dataclasses import replace

import torch

from samekind.reports import System
from samekind.reports import measured as room
from samekind.reports.measured import measure, notes, pairs_notes


def test_embeddings_and_trials_are_those_of_the_space(vectors, space_for):
    space = space_for(vectors)
    result = measure({"mine": System(space, [])}, vectors)
    assert torch.equal(result.embeddings["mine"], vectors.inputs)
    assert list(result.trials["mine"]) == space.kinds == ["similarity", "cosine"]
    trials = result.trials["mine"]["similarity"]
    scores, same = trials.scores, trials.same
    # The first trial is the first item against the second.
    torch.testing.assert_close(scores[0], -(vectors.inputs[0] - vectors.inputs[1]).norm())
    assert len(same) == 24 * 23 // 2
    assert same[0]
    assert result.note == ""


def test_of_very_many_items_a_fixed_random_part_is_drawn(vectors, space_for, monkeypatch):
    monkeypatch.setattr(room, "MOST_ITEMS", 10)
    systems = {"mine": System(space_for(vectors), [])}
    result, again = measure(systems, vectors), measure(systems, vectors)
    assert len(result.items) == len(result.embeddings["mine"]) == 10
    assert torch.equal(result.items.inputs, again.items.inputs)
    assert len(result.items.inputs.unique(dim=0)) == 10
    assert not torch.equal(result.items.inputs, vectors.inputs[:10])
    assert result.note == " Shown are 10 items drawn at random from 24."
    assert notes({"seen": result, "unseen": result}) == result.note


def test_pairs_of_one_group_are_left_out_and_a_note_says_so(vectors, space_for):
    grouped = replace(vectors, groups=torch.arange(len(vectors)) // 2)
    systems = {"mine": System(space_for(vectors), [])}
    result, plain = measure(systems, grouped), measure(systems, vectors)
    assert len(result.trials["mine"]["cosine"].same) == 24 * 23 // 2 - 12
    assert result.note == plain.pairs_note == ""
    assert pairs_notes({"seen": result, "unseen": result}) == " Items of one group are not compared."
