"""The shape of the code: import order, small files, a test for each module, no web of inheritance.

The order of the rooms is read from the table in ARCHITECTURE.md, so page and code cannot drift apart.
Each rule is a function of a text that returns the offences; the last part shows that each one can fail.
"""

import ast
import functools
import importlib
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "samekind"
TESTS = ROOT / "tests"
MODULES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))

LONGEST_FILE = 400
RIDDLES = {"each", "found", "kept", "made", "them"}
LONGEST_FUNCTION = 60
MOST_CASES = 150
NAMES_THAT_SAY_NOTHING = {"util", "utils", "helper", "helpers", "common", "misc", "base", "core"}
HEAVY = ("torch", "matplotlib", "sklearn", "lightning_fabric")
TERMINAL = ("rich", "typer")
LOCAL_PATH = re.compile(r"(?<![\w.-])/(?:work|root|tmp|home|Users)/")


# --- the rules ------------------------------------------------------------------------------------


def rooms_in_order(page: str) -> list[str]:
    """The rooms of the page's table as it writes them: ``errors.py``, ``data/``, ..."""
    section = page.partition("\n## The rooms, in order\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+(?:\.py|/))` \|", section, flags=re.MULTILINE)


def room_of(module: str) -> str:
    """The room of a module: ``losses/triplet.py`` -> ``losses/``, ``space.py`` -> ``space.py``."""
    first, _, rest = module.partition("/")
    return f"{first}/" if rest else first


@functools.cache
def nodes_of(source: str) -> list[ast.AST]:
    """Every node of a module's tree: parsed and walked once for all rules."""
    return list(ast.walk(ast.parse(source)))


@pytest.fixture(scope="module", autouse=True)
def trees_are_given_up():
    """After the last test of this file: a million nodes slow down whatever runs next in the same process."""
    yield
    nodes_of.cache_clear()


def imported_names(source: str, module: str) -> list[tuple[str, str]]:
    """What a module imports: the name it uses and the full dotted name, relative imports resolved.

    At the top, inside a function, under TYPE_CHECKING or by ``import_module("...")``: all count alike.
    """
    package = ["samekind", *PurePosixPath(module).parts[:-1]]
    names = []
    for node in nodes_of(source):
        if isinstance(node, ast.Import):
            names += [(alias.asname or alias.name, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*above, *([node.module] if node.module else [])])
            names += [(alias.asname or alias.name, f"{stem}.{alias.name}") for alias in node.names]
        elif isinstance(node, ast.Call) and name_called(node) == "import_module":
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                names.append((first.value, first.value))
    return names


def name_called(call: ast.Call) -> str | None:
    """The last name of what is called: ``f(x)`` and ``a.b.f(x)`` call f."""
    return getattr(call.func, "id", None) or getattr(call.func, "attr", None)


def imports_against_the_order(source: str, module: str, rooms: list[str]) -> list[str]:
    """Imports of a room below one's own, or of the package's front door, which lies below them all."""
    if room_of(module) not in rooms:
        return []
    names = [room.rstrip("/").removesuffix(".py") for room in rooms]
    allowed = {*names[: rooms.index(room_of(module)) + 1], "__version__"}
    offences = []
    for _, full in imported_names(source, module):
        package, _, inside = full.partition(".")
        if package == "samekind" and inside.partition(".")[0] not in allowed:
            offences.append(full)
    return offences


def long_functions(source: str, limit: int) -> list[str]:
    return [
        f"{node.name}: {length} lines"
        for node in nodes_of(source)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > limit
    ]


def functions_with_open_keywords(source: str) -> list[str]:
    """Functions that take ``**anything``: a misspelt option would be swallowed instead of refused."""
    return [
        f"line {node.lineno}: {getattr(node, 'name', 'lambda')}(**{node.args.kwarg.arg})"
        for node in nodes_of(source)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and node.args.kwarg
    ]


def riddles(source: str) -> list[str]:
    """Variables and parameters whose names do not say what they are."""
    stored = [
        (node.id if isinstance(node, ast.Name) else node.arg, node.lineno)
        for node in nodes_of(source)
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    ]
    fields = {
        line.target.lineno
        for node in nodes_of(source)
        if isinstance(node, ast.ClassDef)
        for line in node.body
        if isinstance(line, ast.AnnAssign)
    }
    return [f"line {line}: {name}" for name, line in stored if name in RIDDLES and line not in fields]


def other_kinds(source: str) -> list[str]:
    """Parameters and fields called kind that are a choice of their own: a kind is a kind of score."""
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in nodes_of(source)
        if (isinstance(node, ast.arg) and node.arg == "kind")
        or (isinstance(node, ast.AnnAssign) and ast.unparse(node.target) in ("kind", "self.kind"))
        if node.annotation and ast.unparse(node.annotation).startswith(("Literal", "type"))
    ]


def classes_built_on_our_own(source: str, module: str) -> list[str]:
    """Classes with a base that samekind defines, here or in another module."""
    imports = dict(imported_names(source, module))
    classes = [node for node in nodes_of(source) if isinstance(node, ast.ClassDef)]
    here = {node.name for node in classes}
    offences = []
    for node in classes:
        for base in node.bases:
            written = ast.unparse(base.value if isinstance(base, ast.Subscript) else base)
            first, dot, rest = written.partition(".")
            full = f"{imports.get(first, first)}{dot}{rest}"
            if written in here or full.startswith("samekind."):
                offences.append(f"{node.name}({written})")
    return offences


def signs_of_a_terminal(source: str, module: str) -> list[str]:
    """What only the command line may do: print, and import the libraries that write at a terminal."""
    imported = [full for _, full in imported_names(source, module) if full.partition(".")[0] in TERMINAL]
    printed = [
        f"line {node.lineno}: print"
        for node in nodes_of(source)
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "print"
    ]
    return imported + printed


def empty_names(module: str) -> list[str]:
    parts = PurePosixPath(module).with_suffix("").parts
    return [part for part in parts if part.strip("_") in NAMES_THAT_SAY_NOTHING]


def mirror_of(module: str) -> str:
    """Where a module's test lies: ``losses/triplet.py`` -> ``losses/test_triplet.py``."""
    path = PurePosixPath(module)
    return str(path.with_name(f"test_{path.stem.strip('_')}.py"))


def local_paths(text: str) -> list[str]:
    """Lines that name a folder of somebody's machine."""
    return [line.strip() for line in text.splitlines() if LOCAL_PATH.search(line)]


def project_files() -> Iterator[Path]:
    """What is written by hand, outside the tests: pages, code, settings; nothing made or installed."""
    skipped = {"tests", "runs", "carry", "samekind-demo", "build", "dist", "__pycache__"}
    for folder, below, files in os.walk(ROOT):
        below[:] = [name for name in below if name not in skipped and (name[0] != "." or name == ".ci")]
        for name in files:
            if name in {"Makefile", "run"} or name.endswith((".md", ".py", ".toml", ".txt")):
                yield Path(folder, name)


ROOMS = rooms_in_order((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
PROJECT_FILES = sorted(path.relative_to(ROOT).as_posix() for path in project_files())
TEXTS = {module: (SOURCE / module).read_text(encoding="utf-8") for module in MODULES}


def offences_by_module(rule: Callable[[str, str], list[str]]) -> dict[str, list[str]]:
    """What a rule of a text and its module's path has to say, by module; nothing where all is well."""
    return {module: offences for module, text in TEXTS.items() if (offences := rule(text, module))}


# --- the code keeps them --------------------------------------------------------------------------


def test_the_page_and_the_package_name_the_same_rooms():
    rooms = {room_of(module) for module in MODULES} - {"__init__.py", "__main__.py"}
    assert len(ROOMS) == len(set(ROOMS))
    assert rooms == set(ROOMS)


def test_imports_point_one_way():
    assert offences_by_module(lambda text, module: imports_against_the_order(text, module, ROOMS)) == {}


def test_files_stay_short():
    lengths = {module: len(text.splitlines()) for module, text in TEXTS.items()}
    assert {module: lines for module, lines in lengths.items() if lines > LONGEST_FILE} == {}


def test_functions_fit_a_screen():
    assert offences_by_module(lambda text, _: long_functions(text, LONGEST_FUNCTION)) == {}


def test_options_are_named():
    offences = offences_by_module(lambda text, _: functions_with_open_keywords(text))
    assert {module: names for module, names in offences.items() if room_of(module) != "cli/"} == {}


def test_classes_are_combined_not_inherited():
    offences = offences_by_module(classes_built_on_our_own)
    offences.pop("errors.py", None)  # the one tree: what a user may want to catch together
    assert offences == {}


def test_variables_are_called_what_they_are():
    assert offences_by_module(lambda text, _: riddles(text)) == {}


def test_a_kind_is_a_kind_of_score():
    assert offences_by_module(lambda text, _: other_kinds(text)) == {}


def test_only_the_command_line_writes_at_a_terminal():
    offences = offences_by_module(signs_of_a_terminal)
    assert {module: signs for module, signs in offences.items() if room_of(module) != "cli/"} == {}


def test_names_say_what_is_inside():
    assert offences_by_module(lambda _, module: empty_names(module)) == {}


def test_every_module_has_its_test():
    mirrors = [mirror_of(module) for module in MODULES if not module.endswith("__init__.py")]
    missing = [mirror for mirror in mirrors if not (TESTS / mirror).is_file()]
    assert missing == [], "expected these files in tests/"


def test_every_module_can_be_imported():
    for module in MODULES:
        path = PurePosixPath("samekind", module).with_suffix("")
        importlib.import_module(".".join(path.parts).removesuffix(".__init__"))


def test_a_first_import_is_light():
    """``samekind --help`` should answer before anyone wonders."""
    script = f"import sys, samekind, samekind.cli; print(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_no_file_knows_a_local_path():
    lines = {name: local_paths((ROOT / name).read_text(encoding="utf-8")) for name in PROJECT_FILES}
    assert {name: paths for name, paths in lines.items() if paths} == {}


def test_no_test_has_hundreds_of_cases(request):
    """Of the tests that are run together with this one: a loop that lists its offences costs less."""
    cases = Counter(item.nodeid.partition("[")[0] for item in request.session.items)
    assert {name: count for name, count in cases.items() if count > MOST_CASES} == {}


# --- and each rule can fail -----------------------------------------------------------------------

PAGE = """# Title

| `not/` | a table before the section |

## The rooms, in order

| room | what it holds |
|---|---|
| `errors.py` | first |
| `losses/` | second |
| `space.py` | third |

## Conventions

| `later/` | a table after it |
"""
FEW_ROOMS = ["errors.py", "losses/", "space.py"]


def test_the_order_is_read_from_the_section_alone():
    assert rooms_in_order(PAGE) == FEW_ROOMS
    assert rooms_in_order("# no such section") == []


@pytest.mark.parametrize(
    "line",
    [
        "from samekind.space import MetricSpace",
        "import samekind.space",
        "import samekind.space as space",
        "from samekind import space",
        "from ..space import MetricSpace",
        "from .. import space",
        "def later():\n    from samekind.space import MetricSpace",
        "import importlib\nimportlib.import_module('samekind.space')",
        "from samekind import MetricSpace",
        "import samekind",
        "from samekind.unlisted import thing",
        "from samekind.errors import thing\ndef later():\n    from samekind.space import thing",
        "if TYPE_CHECKING:\n    from samekind.space import MetricSpace",
    ],
)
def test_an_import_against_the_order_is_caught(line):
    assert imports_against_the_order(line, "losses/triplet.py", FEW_ROOMS)


@pytest.mark.parametrize(
    "line",
    [
        "from samekind.errors import SamekindError",
        "from samekind.losses.shares import share",
        "from .shares import share",
        "from ..errors import SamekindError",
        "from samekind import __version__, errors",
        "import torch\nfrom samekindly.space import thing",
    ],
)
def test_an_import_in_order_is_not(line):
    assert imports_against_the_order(line, "losses/triplet.py", FEW_ROOMS) == []


def test_a_relative_import_inside_an_init_is_resolved():
    names = imported_names("from .triplet import triplet", "losses/__init__.py")
    assert names == [("triplet", "samekind.losses.triplet.triplet")]


def test_a_long_function_is_caught_and_a_screenful_is_not():
    body = "    pass\n" * 3
    assert long_functions(f"class A:\n  def method(self):\n{body}", 3) == ["method: 4 lines"]
    assert long_functions(f"async def function():\n{body}", 4) == []


def test_open_keywords_are_caught_in_signatures_only():
    assert functions_with_open_keywords("def f(a, **options): ...") == ["line 1: f(**options)"]
    assert functions_with_open_keywords("g = lambda **rest: rest") == ["line 1: lambda(**rest)"]
    assert functions_with_open_keywords("def f(a, *, b): return g(**a)") == []


@pytest.mark.parametrize(
    "source",
    [
        "class A: ...\nclass B(A): ...",
        "from samekind.space import MetricSpace\nclass B(MetricSpace): ...",
        "from samekind.space import MetricSpace as Space\nclass B(Space[int]): ...",
        "from samekind import space\nclass B(space.MetricSpace): ...",
        "from ..space import MetricSpace\nclass B(nn.Module, MetricSpace): ...",
        "import samekind.space\nclass B(samekind.space.MetricSpace): ...",
    ],
)
def test_inheritance_from_our_own_class_is_caught(source):
    assert len(classes_built_on_our_own(source, "losses/triplet.py")) == 1


def test_a_name_that_says_nothing_is_caught():
    assert len(riddles("def f(them):\n    for each in them:\n        found = each")) == 3
    assert riddles("class A:\n    kept: str\n\ndef f(a):\n    return a.found(kept=1)") == []


def test_another_meaning_of_kind_is_caught():
    assert (
        len(other_kinds("def f(*, kind: Literal['a', 'b']): ...\nclass A:\n    kind: Literal['a'] = 'a'"))
        == 2
    )
    assert other_kinds("def f(kind: Kind | None = None, *, quantity: Literal['a']): ...") == []


def test_inheritance_from_others_is_not():
    source = "from torch import nn\nclass A(nn.Module): ...\nclass B(Protocol[T]): ...\nclass C: ...\n"
    assert classes_built_on_our_own(source, "losses/triplet.py") == []


@pytest.mark.parametrize(
    "source",
    [
        "import rich",
        "from rich.console import Console",
        "def later():\n    import typer as t",
        "def later():\n    print('done')",
    ],
)
def test_writing_at_a_terminal_is_caught(source):
    assert len(signs_of_a_terminal(source, "losses/triplet.py")) == 1


def test_other_names_are_no_writing_at_a_terminal():
    source = "import richer\nfrom samekind.rich import typer\nfingerprint(x)\nx.print()\n'print(x)'\n"
    assert signs_of_a_terminal(source, "losses/triplet.py") == []


def test_empty_names_are_caught():
    assert empty_names("utils/strings.py") == ["utils"]
    assert empty_names("losses/_base.py") == ["_base"]
    assert empty_names("losses/baseline.py") == []


def test_a_module_is_mirrored_in_the_tests():
    assert mirror_of("losses/triplet.py") == "losses/test_triplet.py"
    assert mirror_of("space.py") == "test_space.py"


def test_local_paths_are_caught_and_addresses_are_not():
    assert local_paths("data = '/home/me/data'\nelse") == ["data = '/home/me/data'"]
    assert local_paths("see file:///tmp/x") == ["see file:///tmp/x"]
    assert local_paths("https://example.org/home/page and docs/tmp/x and $HOME/data/") == []


def test_the_files_searched_for_paths_are_the_written_ones():
    assert {"Makefile", "pyproject.toml", "ARCHITECTURE.md", ".ci/run"} <= set(PROJECT_FILES)
    assert not [name for name in PROJECT_FILES if name.startswith((".venv/", "tests/"))]
