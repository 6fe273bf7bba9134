"""Classes in branches: what stands before the first slash."""

import pytest

from samekind.data import branch_of, branches_of, whole_branches

CLASSES = ("Greek/alpha", "Greek/beta", "fern", "Greek Extended/alpha", "birds/owls/barn owl")


@pytest.mark.parametrize(("name", "branch"), [("Greek/alpha", "Greek"), ("a/b/c", "a"), ("fern", "fern")])
def test_a_branch_is_what_stands_before_the_first_slash(name, branch):
    assert branch_of(name) == branch


def test_every_class_is_in_one_branch():
    members = branches_of(CLASSES)
    assert list(members) == ["Greek", "fern", "Greek Extended", "birds"]
    assert sorted(name for names in members.values() for name in names) == sorted(CLASSES)


@pytest.mark.parametrize(
    ("names", "whole"),
    [
        (["Greek"], ["Greek/alpha", "Greek/beta"]),
        (["Greek/"], ["Greek/alpha", "Greek/beta"]),
        (["birds"], ["birds/owls/barn owl"]),
        (["birds/owls"], ["birds/owls/barn owl"]),
        (["fern", "Greek/beta", "Greek"], ["fern", "Greek/beta", "Greek/alpha"]),
        (["Grek"], ["Grek"]),  # whoever looks it up refuses it
        ([], []),
    ],
)
def test_a_branch_stands_for_all_its_classes(names, whole):
    assert whole_branches(names, CLASSES) == whole


def test_a_class_goes_before_a_branch_of_its_name():
    assert whole_branches(["oak"], ["oak", "oak/leaf"]) == ["oak"]


def test_accents_may_be_stored_either_way():
    assert whole_branches(["M\u00f6wen/klein"], ["Mo\u0308wen/klein"]) == ["Mo\u0308wen/klein"]
