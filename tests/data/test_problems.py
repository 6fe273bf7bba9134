"""What is wrong with items: each check finds its own mistake, and none in items that are fine."""

import dataclasses

import pytest
import torch

from samekind.data import Items, Problem, TableReader, digits
from samekind.data.problems import class_sizes, problems_of
from samekind.data.words import listed


def rows(counts=(6, 6), names=("cat", "dog"), **beside):
    """Items of four numbers that differ, so many in each class."""
    labels = torch.tensor(
        [label for label, count in enumerate(counts) for _ in range(count)], dtype=torch.int64
    )
    inputs = torch.randn(len(labels), 4, generator=torch.Generator().manual_seed(0))
    return Items(inputs, labels, names, "rows", **beside)


def with_column(values):
    items = rows()
    inputs = items.inputs.clone()
    inputs[:, 2] = values
    return dataclasses.replace(items, inputs=inputs, reader=TableReader(columns=["a", "b", "c", "d"]))


def test_items_that_are_fine_have_no_problems():
    assert problems_of(rows()) == []
    assert problems_of(digits()) == []


@pytest.mark.parametrize(
    ("items", "severity", "says"),
    [
        (rows((0, 0)), "error", "there are no items"),
        (rows((5, 0)), "error", 'there is one class only, "cat"'),
        (rows((5, 0)), "warning", "1 class has no items: dog"),
        (rows((1, 1)), "error", "each of the 2 items has a class of its own"),
        (rows((5, 1)), "warning", "1 class has a single item, which makes no pair"),
        (rows((5, 2)), "warning", "1 class has fewer items than a split has parts: dog"),
        (rows((301, 3)), "warning", 'very unequal: "cat" has 301 items, "dog" 3'),
        (rows(names=("Cat", "cat ")), "warning", '"Cat" and "cat " differ only by case or spaces'),
        (rows((4, 4, 4), ("1", "1.0", "01")), "warning", '"1" and "1.0" and "01" are the same number'),
        (
            rows(names=("Stra\u00dfe \u00c4", "Stra\u00dfe A\u0308")),
            "warning",
            "differ only in how their accents are stored; are they one?",
        ),
        (rows(names=("cat", " dog")), "warning", 'begin or end with a space: " dog"'),
        (
            rows((4, 4, 4), ("1.5", "2.25", "0.1")),
            "error",
            "look like measurements, not classes (1.5, 2.25, 0.1",
        ),
        (
            rows((2,) * 21, tuple(f"{n}.0" for n in range(100, 121))),
            "warning",
            "the 21 labels are numbers, with fewer than 5 items of each on average",
        ),
        (with_column(3.0), "warning", '1 column is constant and tells nothing: "c"'),
        (with_column(torch.arange(12)), "warning", 'the column "c" counts the rows'),
        (with_column(float("nan")), "error", "12 items hold values that are not finite: item 0, item 1"),
        (dataclasses.replace(rows(), inputs=torch.ones(12, 4)), "error", "all items are identical"),
        (
            dataclasses.replace(rows(), inputs=torch.full((12, 1, 2, 2), 9, dtype=torch.uint8)),
            "warning",
            "12 pictures are blank",
        ),
        (rows(parts=("train",) * 11 + ("trial",)), "error", 'unknown parts: "trial"'),
        (rows(parts=("test",) * 12), "error", "no item is of the part train"),
        (
            rows(parts=("train",) * 6 + ("test",) * 6),
            "warning",
            "1 class is tested but not in the part train: dog",
        ),
        (
            rows(domains=torch.tensor([0] * 6 + [1] * 6)),
            "warning",
            "2 classes occur in one domain only: cat, dog",
        ),
    ],
)
def test_finds_each_problem(items, severity, says):
    problems = problems_of(items)
    assert [problem.severity for problem in problems if says in problem.sentence] == [severity], problems


def test_errors_come_first():
    problems = problems_of(rows((5, 0), ("cat", " dog")))
    assert [problem.severity for problem in problems] == sorted(problem.severity for problem in problems)
    assert isinstance(problems[0], Problem)


def test_whole_numbers_are_classes():
    assert problems_of(rows((6, 6, 6), ("1", "2", "10"))) == []
    assert problems_of(rows((6, 6), ("9007199254740993", "9007199254740992"))) == []


def test_a_long_list_is_cut():
    assert listed("ab") == "a, b"
    assert listed(str(number) for number in range(12)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"


def test_classes_are_counted():
    assert class_sizes(rows((2, 3, 0), ("a", "b", "c"))) == {"a": 2, "b": 3, "c": 0}
