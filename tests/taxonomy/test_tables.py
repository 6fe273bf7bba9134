"""Tables of paths and of parents, as people write them."""

import pytest

from samekind.errors import DataError
from samekind.taxonomy import read_tree
from samekind.taxonomy.tables import parse_table, paths_text


def test_the_columns_may_have_other_names_and_neighbours():
    tree = parse_table("Name;count;Lineage\ndog;3;/animals/dog/\n\ncat;4;animals/cat\n")
    assert tree.names == ("animals", "dog", "cat")
    tree = parse_table("parent\tnode\n\tanimals\nanimals\tdog\n")
    assert tree.names == ("animals", "dog")


def test_parents_may_have_lengths_and_the_root_no_row():
    tree = parse_table("child,parent,length\ndog,animals,0.5\ncat,animals,2\n")
    assert tree.lengths == (0, 0.5, 2)


def test_slashes_in_names_are_kept():
    tree = parse_table("class,path\nGreek/alpha,letters/Greek\\/alpha\nback\\slash,letters/back\\slash\n")
    assert tree.names == ("letters", "Greek/alpha", "back\\slash")
    assert parse_table(paths_text(tree)) == tree


def test_the_cifar_table(request):
    tree = read_tree(request.path.with_name("cifar100_taxonomy.csv"))
    assert (len(tree.leaves()), tree.root, tree.height("root")) == (100, "root", 4)
    assert tree.path("bee") == ("root", "Animals", "Invertebrates", "insects", "bee")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\nc,d\n", "expected the columns class and path, or child and parent .*; got a, b"),
        ("class,path,parent\n", "expected the columns"),
        ("class,path\n", "expected the path of a class or more; got none"),
        ("class,path\n,a/b\n", "row 2 has none"),
        ("class,path\na,\n", 'for the class "a"'),
        ("class,path\na,x/a\na,x/a\n", '"a" is listed twice'),
        ("class,path\na,x//a\n", 'for the class "a"; got "x//a"'),
        ("child,parent\na,x\na,y\n", '"a" has "x" and "y"'),
        ("child,parent\na,b\nb,a\n", 'circle: "b" under "a" under "b"|circle: "a" under "b" under "a"'),
        ("child,parent\na,x\nb,y\n", '"x" and "y"'),
        ("child,parent,length\na,x,long\n", 'above "a"; got "long"'),
        ("child,parent,length\na,x,\n", 'above "a"; got ""'),
        ('class,path\n"a,x\n', "cannot be read"),
        ("child,parent\n", "it is empty"),
    ],
)
def test_what_is_no_tree_is_refused(text, words):
    with pytest.raises(DataError, match=words):
        parse_table(text)
