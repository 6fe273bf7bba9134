"""Labelled items: what is refused, and that selections keep inputs and class names together."""

import dataclasses
import hashlib
import json
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.data import ImageReader, Items, Stored
from samekind.errors import DataError


def fruit():
    """Six items whose input says its own index and label."""
    labels = torch.tensor([0, 1, 2, 0, 1, 2])
    inputs = torch.stack([torch.arange(6.0), labels.float()], dim=1)
    return Items(inputs=inputs, labels=labels, classes=("apple", "pear", "plum"), name="fruit")


def named(items):
    """What is in there, as (index in the full set, class name) pairs."""
    return [(int(x[0]), items.classes[y]) for x, y in zip(items.inputs, items.labels, strict=True)]


def test_is_printed_in_one_line_whatever_it_holds():
    assert repr(fruit()) == "Items('fruit', 6 items of 2, 3 classes)"
    many = Items(
        torch.zeros(2000, 3, 8, 8),
        torch.zeros(2000, dtype=torch.int64),
        ("a", "b"),
        "pictures",
        domains=torch.arange(2000) % 2,
        domain_names=("x", "y"),
        groups=torch.arange(2000) // 4,
        ids=tuple(map(str, range(2000))),
    )
    assert repr(many) == "Items('pictures', 2,000 items of 3 x 8 x 8, 2 classes, 2 domains, 500 groups)"


def test_knows_its_length_and_the_shape_of_one_input():
    items = Items(
        inputs=torch.zeros(5, 3, 8, 6),
        labels=torch.zeros(5, dtype=torch.int64),
        classes=("a",),
        name="x",
    )
    assert len(items) == 5
    assert items.shape == (3, 8, 6)


@pytest.mark.parametrize(
    ("inputs", "labels", "classes", "says"),
    [
        (torch.zeros(3), torch.tensor([0, 0, 0]), ("a",), r"at least one vector per item; got \(3,\)"),
        (torch.zeros(3, 2), torch.tensor([0, 0]), ("a",), "3 inputs and 2 labels"),
        (torch.zeros(2, 2), torch.tensor([0.0, 1.0]), ("a", "b"), "int64.*float32"),
        (torch.zeros(2, 2), torch.tensor([[0], [1]]), ("a", "b"), r"\(2, 1\)"),
        (torch.zeros(2, 2), torch.tensor([0, 2]), ("a", "b"), "the 2 class names; got 0 to 2"),
        (torch.zeros(2, 2), torch.tensor([-1, 0]), ("a", "b"), "got -1 to 0"),
        (torch.zeros(2, 2), torch.tensor([0, 1]), ("a", "b", "a"), "repeated: a$"),
    ],
)
def test_refuses_what_does_not_fit_together(inputs, labels, classes, says):
    with pytest.raises(DataError, match=says):
        Items(inputs=inputs, labels=labels, classes=classes, name="x")


def test_a_batch_comes_in_the_order_asked():
    inputs, labels = fruit().batch(torch.tensor([4, 0, 4]))
    assert inputs[:, 0].tolist() == [4, 0, 4]
    assert labels.tolist() == [1, 0, 1]


def test_taking_items_keeps_all_the_classes():
    items = fruit()
    taken = items.take(torch.tensor([5, 3]))
    assert named(taken) == [(5, "plum"), (3, "apple")]
    assert taken.classes == items.classes
    assert len(items.take(torch.tensor([], dtype=torch.int64))) == 0


def test_only_some_classes_are_relabelled_in_the_order_given():
    fruits = fruit().only(["plum", "apple"])
    assert fruits.classes == ("plum", "apple")
    assert fruits.labels.tolist() == [1, 0, 1, 0]
    assert named(fruits) == [(0, "apple"), (2, "plum"), (3, "apple"), (5, "plum")]


def test_an_unknown_class_is_answered_with_the_nearest():
    with pytest.raises(DataError, match=r'fruit has no class "pair".*pear'):
        fruit().only(["apple", "pair"])


def test_refuses_repeated_or_no_classes():
    with pytest.raises(DataError, match="repeated: plum"):
        fruit().only(["plum", "plum"])
    with pytest.raises(DataError, match="at least one class"):
        fruit().only([])


def test_the_fingerprint_is_of_the_content():
    one = fruit()
    assert one.fingerprint() == fruit().fingerprint()
    assert len(one.fingerprint()) == 64
    # Neither the name nor how the memory is laid out is content.
    transposed = one.inputs.T.contiguous().T
    assert Items(transposed, one.labels, one.classes, "other name").fingerprint() == one.fingerprint()


@pytest.mark.parametrize(
    "change",
    [
        lambda x, y, c: (x + torch.eye(6, 2), y, c),
        lambda x, y, c: (x.view(torch.int32), y, c),  # the same bytes
        lambda x, y, c: (x.reshape(6, 1, 2), y, c),
        lambda x, y, c: (x, y.flip(0), c),
        lambda x, y, c: (x, y, (*c[:2], "fig")),
        lambda x, y, c: (x, y, (*c, "fig")),
    ],
)
def test_the_fingerprint_changes_with_the_content(change):
    items = fruit()
    changed = Items(*change(items.inputs, items.labels, items.classes), "fruit")
    assert changed.fingerprint() != items.fingerprint()


def test_the_fingerprint_knows_dtypes_that_numpy_does_not():
    items = fruit()
    rounded = Items(items.inputs.bfloat16(), items.labels, items.classes, "fruit")
    assert rounded.fingerprint() != items.fingerprint()


def test_moving_keeps_the_content():
    assert fruit().to("cpu").fingerprint() == fruit().fingerprint()


@pytest.mark.device
def test_moves_inputs_and_labels_to_a_device():
    moved = fruit().to("cuda")
    assert moved.inputs.device.type == moved.labels.device.type == "cuda"
    assert moved.fingerprint() == fruit().fingerprint()
    assert named(moved.only(["plum", "apple"])) == named(fruit().only(["plum", "apple"]))


@settings(max_examples=30)
@given(st.lists(st.integers(0, 5)), st.permutations(["apple", "pear", "plum"]), st.integers(1, 3))
def test_no_selection_separates_an_input_from_its_class(indices, order, count):
    items = fruit()
    truth = dict(named(items))
    chosen = items.take(torch.tensor(indices, dtype=torch.int64)).only(order[:count])
    assert all(truth[index] == name for index, name in named(chosen))
    assert len(chosen) == sum(truth[index] in order[:count] for index in indices)


def test_domains_go_where_their_items_go():
    items = Items(
        inputs=torch.arange(12.0).reshape(6, 2),
        labels=torch.tensor([0, 1, 0, 1, 2, 2]),
        classes=("a", "b", "c"),
        name="six",
        domains=torch.tensor([5, 6, 7, 5, 6, 7]),
    )
    assert items.take(torch.tensor([4, 0])).domains.tolist() == [6, 5]
    assert items.only(["c", "a"]).domains.tolist() == [5, 7, 6, 7]
    assert items.to("cpu").domains.tolist() == items.domains.tolist()
    plain = dataclasses.replace(items, domains=None)
    assert plain.take(torch.tensor([1])).domains is None
    assert plain.fingerprint() != items.fingerprint()


def test_refuses_domains_of_another_length():
    with pytest.raises(DataError, match="give a domain for all items"):
        Items(torch.zeros(3, 2), torch.zeros(3, dtype=torch.int64), ("a",), "three", torch.zeros(2))


# --- what may be known beside -----------------------------------------------------------------------


def annotated():
    """Six items that know everything an item can know."""
    return dataclasses.replace(
        fruit(),
        domains=torch.tensor([0, 1, 0, 1, 0, 1]),
        domain_names=("photo", "sketch"),
        groups=torch.tensor([3, 3, 4, 4, 5, 5]),
        parts=("train", "test", "train", "test", "train", "test"),
        ids=("i0", "i1", "i2", "i3", "i4", "i5"),
    )


@pytest.mark.parametrize(
    "chosen", [torch.tensor([4, 1]), torch.tensor([False, True, False, False, True, False])]
)
def test_extras_go_with_their_items(chosen):
    items = annotated()
    places = chosen.tolist() if chosen.dtype == torch.int64 else chosen.nonzero().flatten().tolist()
    taken = items.take(chosen)
    assert taken.ids == tuple(f"i{place}" for place in places)
    assert taken.parts == tuple(items.parts[place] for place in places)
    assert taken.groups.tolist() == [items.groups[place] for place in places]
    assert taken.domains.tolist() == [items.domains[place] for place in places]
    assert items.only(["plum"]).ids == ("i2", "i5")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"groups": torch.zeros(2)}, "give a group for all items"),
        ({"parts": ("train",)}, "6 items and 1 parts"),
        ({"ids": ("a", "b")}, "6 items and 2 ids"),
        ({"domains": torch.full((6,), 2)}, "indices into the 2 domain names; got 2 to 2"),
    ],
)
def test_refuses_extras_of_another_length(change, says):
    with pytest.raises(DataError, match=says):
        dataclasses.replace(annotated(), **change)


@pytest.mark.parametrize(
    ("change", "another"),
    [
        ({"groups": torch.tensor([3, 3, 4, 4, 5, 6])}, True),
        ({"parts": ("test",) * 6}, True),
        ({"domain_names": ("photo", "drawing")}, True),
        ({"ids": None}, False),
        ({"notes": ("one was skipped",)}, False),
    ],
)
def test_the_fingerprint_is_of_what_a_split_can_depend_on(change, another):
    changed = dataclasses.replace(annotated(), **change)
    assert (changed.fingerprint() != annotated().fingerprint()) is another


def test_older_fingerprints_hold():
    """Runs keep them; this one was computed by hand from the definition."""
    items = fruit()
    digest = hashlib.sha256(json.dumps([[6, 2], "torch.float32", list(items.classes)]).encode())
    digest.update(items.inputs.numpy().tobytes())
    digest.update(items.labels.numpy().tobytes())
    assert items.fingerprint() == digest.hexdigest()


# --- pictures that stay on the disk -----------------------------------------------------------------


@pytest.fixture
def stored(make_folder):
    folder = make_folder({"a": 3, "b": 3}, height=4, width=5)
    files = sorted(folder.rglob("*.png"))
    inputs = Stored(files, ImageReader(height=4, width=5, channels=3))
    return Items(inputs, torch.tensor([0, 0, 0, 1, 1, 1]), ("a", "b"), "stored")


def test_stored_items_are_batched_like_others_and_taken_without_being_read(stored):
    x, y = stored.batch(torch.tensor([5, 0]))
    assert torch.equal(x, stored.inputs[:][[5, 0]])
    assert y.tolist() == [1, 0]
    taken = stored.take(torch.tensor([5, 0])).only(["b"])
    assert isinstance(taken.inputs, Stored)
    assert taken.inputs.files == stored.inputs.files[5:]
    assert stored.shape == (3, 4, 5)


def test_the_fingerprint_of_stored_items_is_of_the_files_and_how_they_are_read(stored):
    before = stored.fingerprint()
    other = ImageReader(height=4, width=5, channels=3, fit="crop")
    assert dataclasses.replace(stored, inputs=Stored(stored.inputs.files, other)).fingerprint() != before
    again = dataclasses.replace(stored, inputs=Stored(stored.inputs.files, stored.inputs.reader))
    assert again.fingerprint() == before
    stored.inputs.files[0].write_bytes(stored.inputs.files[1].read_bytes())
    changed = dataclasses.replace(stored, inputs=Stored(stored.inputs.files, stored.inputs.reader))
    assert changed.fingerprint() != before


@pytest.mark.device
def test_batches_of_stored_items_go_where_the_labels_are(stored):
    x, y = stored.to("cuda").batch(torch.tensor([1, 2], device="cuda"))
    assert x.device.type == y.device.type == "cuda"


def test_the_default_white_does_not_change_the_fingerprint(stored):
    heading = [[6, 3, 4, 5], "torch.uint8", ["a", "b"]]
    read_by = {"height": 4, "width": 5, "channels": 3, "fit": "stretch", "background": "white"}
    heading.append({**read_by, "cut_from": None, "_brought_to": [4, 5]})
    digest = hashlib.sha256(json.dumps(heading).encode())
    for file in stored.inputs.files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    digest.update(stored.labels.numpy().data)
    assert stored.fingerprint() == digest.hexdigest()
    other = ImageReader(height=4, width=5, channels=3, white=4095)
    assert dataclasses.replace(stored, inputs=Stored(stored.inputs.files, other)).fingerprint() != (
        stored.fingerprint()
    )


def test_the_values_decide_what_items_without_a_reader_are():
    def medium(inputs):
        return Items(inputs, torch.zeros(len(inputs), dtype=torch.int64), ("a",), "x").medium.name

    bright = torch.rand(4, 1, 8, 8)
    assert (
        medium(bright)
        == medium((bright * 255).to(torch.uint8))
        == medium(torch.rand(4, 3, 8, 40))
        == "pictures"
    )
    assert (
        medium(bright * 3 - 5)
        == medium(torch.rand(4, 3, 8, 8) * 255)
        == medium(torch.rand(4, 1, 8, 40))
        == "arrays"
    )
    assert medium(torch.zeros(4, 1, 8, 40, dtype=torch.uint8)) == "pictures"
    assert medium(torch.randn(4, 6)) == "vectors"


def test_items_that_have_been_judged_can_still_be_pickled():
    items = Items(torch.rand(2, 1, 8, 8), torch.tensor([0, 0]), ("a",), "x")
    assert pickle.loads(pickle.dumps(items)).medium is items.medium
