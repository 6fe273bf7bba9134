"""The same content twice: found in memory and in files, across labels and across parts."""

import torch

from samekind.data import DataSettings, Items, Split, open_data
from samekind.data.duplicates import duplicate_problems, duplicates, trained_on_copies
from samekind.data.sets import divide

LABELS = torch.tensor([0, 1, 0, 1, 0])
INPUTS = torch.tensor([[1.0, 2], [3, 4], [1, 2], [1, 2], [5, 6]])
ITEMS = Items(INPUTS, LABELS, ("a", "b"), "five")


def sentences(items, split=None):
    return [problem.sentence for problem in duplicate_problems(items, duplicates(items), split)]


def test_agrees_with_comparing_every_pair():
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randint(0, 2, (40, 4), generator=generator).float()
    items = Items(inputs, torch.zeros(40, dtype=torch.int64), ("a",), "x")
    together = {frozenset((i, j)) for group in duplicates(items) for i in group for j in group if i < j}
    by_hand = {
        frozenset((i, j)) for i in range(40) for j in range(i + 1, 40) if torch.equal(inputs[i], inputs[j])
    }
    assert together == by_hand


def test_says_how_many_and_what_they_contradict():
    assert duplicates(ITEMS) == [[0, 2, 3]]
    assert sentences(ITEMS) == [
        "2 items repeat the content of another (item 0 = item 2)",
        '1 content has more than one label: item 0 ("a") = item 3 ("b")',
    ]
    assert sentences(ITEMS.take(torch.tensor([0, 1, 4]))) == []


def test_warns_of_test_items_in_the_training_part():
    published = Items(INPUTS, LABELS, ("a", "b"), "five", parts=("train", "train", "test", "train", "test"))
    assert "1 content is in more than one part: item 0 (train) = item 2 (test)" in sentences(published)
    parts = {"train": torch.tensor([0, 1]), "test": torch.tensor([3, 4])}
    split = Split(parts=parts, fingerprint="")
    assert sentences(ITEMS, split)[-1].startswith("1 content is in more than one part")
    apart = Split(parts={"train": torch.tensor([0, 2, 3]), "test": torch.tensor([1, 4])}, fingerprint="")
    assert len(sentences(ITEMS, apart)) == 2


def test_stored_pictures_are_compared_by_their_files(make_folder):
    root = make_folder({"cat": 2, "dog": 2})
    (root / "dog" / "1.png").write_bytes((root / "cat" / "0.png").read_bytes())
    for memory in ("always", "never"):
        items = open_data(root, settings=DataSettings(memory=memory))
        assert duplicates(items) == [[0, 3]]


def test_the_copies_that_are_named_are_in_different_parts():
    published = Items(INPUTS, LABELS, ("a", "b"), "five", parts=("train", "train", "train", "test", "test"))
    assert "1 content is in more than one part: item 0 (train) = item 3 (test)" in sentences(published)
    parts = {"train": torch.tensor([2, 1]), "test": torch.tensor([3, 4])}
    split = Split(parts=parts, fingerprint=ITEMS.fingerprint())
    assert "1 content is in more than one part: item 2 (train) = item 3 (test)" in sentences(ITEMS, split)


def test_test_items_that_were_trained_on_are_counted():
    def told(**parts):
        chosen = {name: torch.tensor(places) for name, places in parts.items()}
        return trained_on_copies(divide(ITEMS, Split(parts=chosen, fingerprint=ITEMS.fingerprint())))

    assert told(train=[0, 1], validation=[2], test=[4]) == ""
    assert told(train=[0, 1], validation=[4], test=[2, 3]).startswith(
        "2 of 2 test items have the content of a training item (item 0 = item 0), so that measures"
    )
    assert told(train=[0, 1], validation=[2], test=[3, 4]).startswith("1 of 2 test items has the content")
