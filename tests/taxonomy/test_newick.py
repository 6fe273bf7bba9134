"""Newick as other programs write it."""

import pytest

from samekind.errors import DataError
from samekind.taxonomy.newick import newick_text, parse_newick
from samekind.taxonomy.tree import Tree


def test_lengths_quotes_comments_and_line_breaks():
    tree = parse_newick("[&R] ( 'it''s (a) dog':1.5 [100],\n cat_2:2e-1 )mammals:0[x=1];\n")
    assert tree == Tree(("mammals", "it's (a) dog", "cat_2"), (-1, 0, 0), (0, 1.5, 0.2))
    assert newick_text(tree) == "('it''s (a) dog':1.5,'cat_2':0.2)mammals;\n"


def test_inner_nodes_without_names_get_one():
    assert parse_newick("((a,b),('node 1',c));").names == (
        "node 2",
        "node 3",
        "node 4",
        "a",
        "b",
        "node 1",
        "c",
    )


def test_numbers_that_come_twice_are_no_names_of_inner_nodes():
    assert parse_newick("((a,b)100,(c,d)100)0.9;").names[:3] == ("node 1", "node 2", "node 3")
    assert parse_newick("((0,1)8,(2,3)9);").names[:3] == ("node 1", "8", "9")


def test_the_name_of_a_file_is_not_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "(a,b);").write_text("(c,d);")
    assert parse_newick("(a,b);").leaves() == ("a", "b")
    assert parse_newick("alone;").names == ("alone",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (";", "expected Newick"),
        ("((a,b);", "expected Newick"),
        ("(a,b));", "expected Newick"),
        ("(a,'b);", "expected Newick"),
        ("(a,b:x);", "expected Newick"),
        ("(a,b);(c,d);", "expected one tree"),
        ("(a,b)\0;", "zero bytes"),
        ("(a,)top;", "one under top has none"),
        ("(a,a);", 'two nodes are called "a"'),
        ("((a)x,(b)x);", 'two nodes are called "x"'),
        ("(a:1,b);", 'that above "b" has none'),
        ("(a:1,b:-1);", 'above "b" has -1'),
        ("(a:1,b:inf);", 'above "b" has inf'),
    ],
)
def test_what_is_no_tree_is_refused(text, words):
    with pytest.raises(DataError, match=words):
        parse_newick(text)
