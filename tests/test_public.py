"""The public names: the package's list to the letter, and each room's list made good.

A change of PUBLIC is a change for users: it belongs in the changelog.
"""

import importlib
import inspect
import types
from pathlib import Path

import pytest

import samekind

PUBLIC = [
    "AuxiliaryHead",
    "DataSettings",
    "Decision",
    "Items",
    "MetricSpace",
    "Run",
    "SamekindError",
    "Sets",
    "SplitSettings",
    "Term",
    "characters",
    "digits",
    "evaluate",
    "examine",
    "fit",
    "open_data",
    "prepare",
    "train",
]

PACKAGE = Path(samekind.__file__).parent
FOLDERS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
MODULES = sorted(path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__")


def public_names(module: types.ModuleType) -> list[str]:
    """The module's ``__all__``, or else the functions and classes it defines itself."""
    defined_here = [
        name
        for name, member in vars(module).items()
        if not name.startswith("_") and getattr(member, "__module__", None) == module.__name__
    ]
    return list(getattr(module, "__all__", defined_here))


def offences(module: types.ModuleType) -> list[str]:
    """Names that are listed twice, missing, or a function or class without a docstring of its own."""
    sentences = []
    names = public_names(module)
    for name in names:
        member = getattr(module, name, None)
        if names.count(name) > 1:
            sentences.append(f"{name} is listed twice")
        if not hasattr(module, name):
            sentences.append(f"{name} does not exist")
        elif inspect.isclass(member) or inspect.isroutine(member):
            # Dataclasses and named tuples without a docstring get their signature for one.
            text = member.__doc__ or ""
            if not text.strip() or text.startswith(f"{name}("):
                sentences.append(f"{name} has no docstring")
    return sentences


def test_the_public_names_are_these():
    assert samekind.__all__ == PUBLIC


def test_a_public_name_can_be_reached_and_seen():
    assert [name for name in PUBLIC if getattr(samekind, name, None) is None] == []
    assert set(PUBLIC) <= set(dir(samekind))


def test_an_unknown_name_is_refused():
    """The names are looked up lazily; a misspelt one must still be an AttributeError."""
    with pytest.raises(AttributeError, match="MetricSpaze"):
        samekind.MetricSpaze  # noqa: B018


def test_a_room_lists_its_members():
    rooms = {name: importlib.import_module(f"samekind.{name}") for name in FOLDERS}
    assert [name for name, room in rooms.items() if not getattr(room, "__all__", None)] == []


def test_a_room_keeps_what_its_list_promises():
    rooms = {name: importlib.import_module(f"samekind.{name}") for name in [*FOLDERS, *MODULES]}
    broken = {name: offences(room) for name, room in rooms.items()}
    assert {name: promises for name, promises in broken.items() if promises} == {}


def test_the_package_keeps_what_its_list_promises():
    assert offences(samekind) == []


# --- and the rule can fail --------------------------------------------------------------------------


def module_with(source: str) -> types.ModuleType:
    module = types.ModuleType("made_up")
    exec(source, vars(module))
    return module


def test_broken_promises_are_found():
    source = '''
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Bare", "Row", "LIMIT", "absent", "bare", "fine", "fine"]
LIMIT = 3
@dataclass
class Bare: x: int
class Row(NamedTuple): x: int
def bare(): ...
def fine():
    """Says what it is."""
'''
    assert offences(module_with(source)) == [
        "Bare has no docstring",
        "Row has no docstring",
        "absent does not exist",
        "bare has no docstring",
        "fine is listed twice",
        "fine is listed twice",
    ]


def test_without_a_list_what_is_defined_is_public():
    source = "from pathlib import Path\ndef bare(): ...\ndef _private(): ...\nclass Kind:\n    'A kind.'"
    module = module_with(source)
    assert public_names(module) == ["bare", "Kind"]
    assert offences(module) == ["bare has no docstring"]
