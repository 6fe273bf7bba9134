"""The tree of errors, and the sentence about an unknown name."""

import doctest
import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind import errors
from samekind.errors import MOST_LISTED, SamekindError, SettingError, expect, nearest

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Exception)]


def test_the_tree_is_the_one_on_the_page():
    assert {kind.__name__ for kind in KINDS} == {
        "SamekindError",
        "DataError",
        "SettingError",
        "PackageError",
        "SpaceError",
        "TrainingError",
        "IndexServerError",
    }
    assert all(f" {kind.__name__} " in f"{errors.__doc__} ".replace("\n", " ") for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_catching_the_common_error_catches_all(kind):
    with pytest.raises(SamekindError, match=r"^what happened$"):
        raise kind("what happened")
    assert not issubclass(kind, ValueError | KeyError | OSError)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("cosin", "Cosine"), ("COSINE", "Cosine"), ("euclidian", "Euclidean"), ("PairNetwork", "PairsNetwork")],
)
def test_a_misspelt_name_is_answered_with_the_one_meant(name, hint):
    known = ["PairsNetwork", "Dot", "Cosine", "Euclidean", "SquaredEuclidean"]
    assert nearest(name, known).startswith(f'did you mean "{hint}"? Known: Cosine, Dot, ')


def test_an_unknown_name_without_a_near_one_gets_the_list():
    assert nearest("qqqq", ["b", "a"]) == "Known: a, b"
    assert nearest("", ["b", "a"]) == "Known: a, b"


def test_where_nothing_is_known_it_says_so():
    assert nearest("anything", []) == "Known: none"


def test_a_long_list_is_cut_and_counted():
    known = [f"class {index:03}" for index in range(MOST_LISTED + 3)]
    assert nearest("zzz", known[:MOST_LISTED]).endswith(f"class {MOST_LISTED - 1:03}")
    assert nearest("zzz", known).endswith(f"class {MOST_LISTED - 1:03}, and 3 more")
    # What is not listed can still be the one meant.
    assert nearest(known[-1].upper(), known).startswith(f'did you mean "{known[-1]}"?')


@settings(max_examples=50)
@given(st.text("abAB", max_size=4), st.sets(st.text("abAB", max_size=4), max_size=6))
def test_a_hint_is_always_a_known_name_and_any_iterable_will_do(name, known):
    sentence = nearest(name, iter(known))
    hint = sentence.split('"? Known: ')[0].removeprefix('did you mean "') if "did you" in sentence else None
    assert hint is None or hint in known
    if name and name in known:
        assert hint.lower() == name.lower()


@pytest.mark.parametrize("given", [True, 3, 2.5])
def test_accepts_the_expected_type(given):
    expect(given, (int, float), "a number")


@pytest.mark.parametrize(
    ("given", "came"), [("3", "str"), (None, "None"), ([3], "list"), (SettingError, "type")]
)
def test_names_the_type_of_a_wrong_argument(given, came):
    with pytest.raises(SettingError, match=rf"^expected a number, such as 3; got {came}$"):
        expect(given, (int, float), "a number, such as 3")


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(errors)
    assert outcome.attempted > 0
    assert outcome.failed == 0
