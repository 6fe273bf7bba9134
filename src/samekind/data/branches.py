"""Branches of classes: "Greek/alpha" is a class of the branch "Greek", like a folder in a folder."""

from collections.abc import Iterable, Sequence

from samekind.data.words import spelt_as


def branch_of(name: str) -> str:
    """The branch of a class: what stands before the first slash; a class without one is its own branch.

    >>> branch_of("birds/owls/barn owl"), branch_of("fern")
    ('birds', 'fern')
    """
    return name.partition("/")[0]


def branches_of(classes: Iterable[str]) -> dict[str, list[str]]:
    """The classes of each branch, in the order of the classes.

    >>> branches_of(["Greek/alpha", "fern", "Greek/beta"])
    {'Greek': ['Greek/alpha', 'Greek/beta'], 'fern': ['fern']}
    """
    members: dict[str, list[str]] = {}
    for name in classes:
        members.setdefault(branch_of(name), []).append(name)
    return members


def whole_branches(names: Sequence[str], classes: Iterable[str]) -> list[str]:
    """The names, with each branch or folder replaced by all its classes. A name that is both a class and a
    branch is the class; an unknown name stays.

    >>> whole_branches(["Greek", "fern", "moss"], ["Greek/alpha", "Greek/beta", "fern"])
    ['Greek/alpha', 'Greek/beta', 'fern', 'moss']
    """
    known = list(classes)
    single = set(known)
    whole: list[str] = []
    for name in spelt_as(names, known):
        below = [] if name in single else [one for one in known if one.startswith(f"{name.rstrip('/')}/")]
        whole += below or [name]
    return list(dict.fromkeys(whole))
