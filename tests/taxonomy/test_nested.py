"""JSON and indented text, as people write them."""

import json

import pytest

from samekind.errors import DataError
from samekind.taxonomy.nested import indented_text, parse_indented, parse_nested
from samekind.taxonomy.tree import Tree

ANIMALS = Tree(("animals", "mammals", "fish", "dog", "cat", "shark"), (-1, 0, 0, 1, 1, 2))


@pytest.mark.parametrize(
    "plain",
    [
        {"animals": {"mammals": ["dog", "cat"], "fish": "shark"}},
        {"animals": [{"mammals": {"dog": None, "cat": {}}}, {"fish": ["shark"]}]},
        {
            "name": "animals",
            "children": [
                {"name": "mammals", "children": ["dog", {"name": "cat"}]},
                {"name": "fish", "length": 1, "children": [{"name": "shark", "children": []}]},
            ],
        },
        ANIMALS.to_json(),
    ],
)
def test_json_in_several_shapes(plain):
    assert parse_nested(json.dumps(plain)) == ANIMALS


def test_inner_nodes_without_names_and_classes_that_are_numbers():
    text = '{"children": [1, 2, {"name": "x"}, {"name": 3, "children": ["y"]}]}'
    assert parse_nested(text).names == ("node 1", "1", "2", "x", "3", "y")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "it cannot be read"),
        ("[" * 100_000, "nested too deeply|cannot be read"),
        ("{}", "it is empty"),
        ("null", "it is empty"),
        ("true", "it has true"),
        ("[[1]]", "a list in a list"),
        ('{"a": ["b"], "c": ["d"]}', '"a" and "c"'),
        ('{"a": {"b": 1, "b": 2}}', '"b" is there twice'),
        ('{"a": ["b", "b"]}', 'two nodes are called "b"'),
        ('{"name": "a", "length": "long"}', 'above "a"'),
        ('{"name": ["a"], "children": ["b"]}', "a text for the name"),
        ('{"name": "a", "children": ["\\ud800"]}', "names as text"),
        ('{"name": "a", "children": [{"children": []}]}', 'one under "a" has none'),
        ('{"name": "a", "children": [{"name": "b", "length": -1}]}', 'above "b" has -1'),
        ('{"names": ["a"], "parents": [0]}', 'that of "a" is node 0'),
    ],
)
def test_json_that_is_no_tree_is_refused(text, words):
    with pytest.raises(DataError, match=words):
        parse_nested(text)


def test_text_may_be_indented_by_any_spaces_or_tabs():
    text = "animals\n mammals\n\t \n    dog\r\n    cat\n fish\n\n \tshark\n"
    assert parse_indented(text) == ANIMALS
    assert indented_text(ANIMALS) == "animals\n  mammals\n    dog\n    cat\n  fish\n    shark\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a\n    b\n  c\n", 'expected line 3, "c"'),
        ("a\n\tb\n  c\n", 'expected line 3, "c"'),
        ("a\nb\n", '"a" and "b"'),
        ("a\n b\n b\n", 'two nodes are called "b"'),
        ("\n \n", "it is empty"),
    ],
)
def test_text_that_is_no_tree_is_refused(text, words):
    with pytest.raises(DataError, match=words):
        parse_indented(text)


def test_a_name_with_a_line_break_fits_no_line():
    with pytest.raises(DataError, match="names that fit a line"):
        indented_text(Tree(("a\nb",), (-1,)))
