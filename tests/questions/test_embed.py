"""Items to vectors."""

import torch

from samekind.questions import embed


def test_gives_the_vectors_with_their_ids(plane, at):
    items = at([0, 90], ["right", None])
    answer = embed(plane, items)
    torch.testing.assert_close(answer.z, items.inputs)
    assert (answer.ids, answer.labels) == (items.ids, items.labels)
    assert answer.to_json() == {"items": 2, "dimension": 2, "skipped": items.skipped}
