"""The pages are run: README, CONTRIBUTING and docs/ do what they say.

A page's ``python`` blocks run in order in one namespace, and its ``console`` blocks in the same
temporary folder. Pages do not know of each other.

- ``expression  # -> text`` in a python block: what it prints, or else its value, must begin with the
  text (a closing ``...`` or ``…`` is not part of it).
- ``$ samekind ...`` in a console block is run and must succeed. Any other command is not run and must be
  one of NOT_RUN; what is not a command is output and is not compared.
- ``<!-- not executed: reason -->`` above a block skips it.

The ``>>>`` examples in docstrings are run too.
"""

import ast
import contextlib
import doctest
import importlib
import io
import re
import shlex
import sys
import textwrap
import tokenize
import types
from dataclasses import dataclass
from pathlib import Path

import pytest

from samekind.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKED = [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md"]
SOURCE = ROOT / "src"
WITH_EXAMPLES = [path for path in sorted(SOURCE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
LANGUAGES = {"python", "console", "text", "toml", "json", "mermaid", "bibtex", ""}
NOT_RUN = (
    "make",
    "git clone",
    "cd",
    "pip install",
    ".venv/bin/pip install",
    "python3 -m venv",
    "source .venv/bin/activate",
)


class PageError(Exception):
    """What is wrong on a page, and on which line."""


@dataclass
class Block:
    """A fenced block: its language, its lines, and the line number of its first one."""

    language: str
    text: str
    line: int
    reason_to_skip: str | None


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


each_page = pytest.mark.parametrize("page", PAGES, ids=named)


# --- reading a page ---------------------------------------------------------------------------------


def blocks_of(page: str) -> list[Block]:
    """The fenced blocks of a page, in order; a fence may be indented, as in a list."""
    blocks = []
    opened = reason = None
    for number, line in enumerate(page.splitlines(), start=1):
        fence = re.match(r" *```(.*)$", line)
        if opened and fence and not fence[1].strip():
            opened.text = textwrap.dedent(opened.text)
            blocks.append(opened)
            opened = reason = None
        elif opened:
            opened.text += f"{line}\n"
        elif fence:
            opened = Block((fence[1].split() or [""])[0], "", number + 1, reason)
        elif comment := re.fullmatch(r" *<!--\s*not executed:(.*)-->\s*", line):
            reason = comment[1].strip()
            if not reason:
                raise PageError(f"line {number}: say why the block is not executed")
        elif line.strip():
            reason = None
    if opened:
        raise PageError(f"line {opened.line - 1}: this block is never closed")
    return blocks


def commands_of(block: Block) -> list[tuple[int, str]]:
    """Line number and text of each ``$ `` line; a trailing backslash continues it."""
    commands = []
    lines = enumerate(block.text.splitlines(), start=block.line)
    for number, line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command = command[:-1] + next(lines, (0, ""))[1]
            commands.append((number, command))
    return commands


def links_of(page: str) -> list[str]:
    """The relative targets of a page's links and images, without their anchors."""
    prose = re.sub(r"^ *```.*?^ *```", "", page, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    inline = re.findall(r"\]\(\s*<?([^)\s>]+)", prose)
    listed = re.findall(r"^\[[^\]]+\]:\s*(\S+)", prose, flags=re.MULTILINE)
    written_as_html = re.findall(r"(?:src|href)=\"([^\"]+)\"", prose)
    targets = [*inline, *listed, *written_as_html]
    return [target.partition("#")[0] for target in targets if not re.match(r"[a-z]+:|#|//", target)]


# --- running it -------------------------------------------------------------------------------------


def expectations(block: Block) -> dict[int, str]:
    """The ``# -> text`` comments by line number within the block."""
    tokens = tokenize.generate_tokens(io.StringIO(block.text).readline)
    comments = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
    return {
        line: re.sub(r"\s*(\.\.\.|…)$", "", match[1])
        for line, text in comments.items()
        if (match := re.match(r"#\s*->\s*(.+)", text))
    }


def run_python(block: Block, namespace: dict[str, object], page: str) -> None:
    """Run a block statement by statement, and hold each ``# -> text`` against what came."""
    tree = ast.parse(block.text, filename=page)
    expected = expectations(block)
    ast.increment_lineno(tree, block.line - 1)  # tracebacks then name the line on the page
    for node in tree.body:
        text = expected.pop((node.end_lineno or node.lineno) - block.line + 1, None)
        if text is None:
            exec(compile(ast.Module([node], []), page, "exec"), namespace)
        elif not isinstance(node, ast.Expr):
            raise PageError(f"line {node.lineno}: only an expression can promise '# -> {text}'")
        else:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                value = eval(compile(ast.Expression(node.value), page, "eval"), namespace)
            came = [printed.getvalue()] if printed.getvalue() else [str(value), repr(value)]
            if not any(squeezed(line).startswith(squeezed(text)) for line in came):
                raise PageError(f"line {node.lineno}: promised {text!r}, got {came[0]!r}")
    if expected:
        line, text = next(iter(expected.items()))
        raise PageError(f"line {block.line + line - 1}: nothing at the outer level shows '# -> {text}'")


def squeezed(text: str) -> str:
    """Without the spacing, which a tensor's printout uses freely."""
    return " ".join(text.split())


def run_command(command: str, line: int, folder: Path) -> None:
    """Run ``samekind ...`` in the folder; let pass what is on the list; refuse the rest."""
    words = shlex.split(command, comments=True)
    if words[:1] and Path(words[0]).name == "samekind":
        if set(words) & {"|", ">", ">>", "<", "&&", "||", ";", "&"}:
            raise PageError(f"line {line}: no shell runs this, so write one plain command: {command}")
        status, told = called(words[1:], folder)
        if status:
            raise PageError(f"line {line}: `{command}` ended with {status}\n{told[-3000:]}")
    elif words[:1] == ["make"]:
        if unknown := [word for word in words[1:] if "=" not in word and word not in make_targets()]:
            raise PageError(f"line {line}: the Makefile has no {' '.join(unknown)}")
    elif not any(words[: len(known.split())] == known.split() for known in NOT_RUN):
        raise PageError(f"line {line}: not run and not on the list NOT_RUN: {command}")


def called(arguments: list[str], folder: Path) -> tuple[object, str]:
    """The exit status of `samekind` and what it said: in this process, where PyTorch is loaded already."""
    said = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        patch.setattr(sys, "argv", ["samekind", *arguments])
        patch.setattr(sys, "excepthook", sys.excepthook)  # typer puts its own there
        try:
            main()
        except SystemExit as stopped:
            return stopped.code, said.getvalue()
    return 0, said.getvalue()


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def run_page(text: str, folder: Path, page: str = "page.md") -> dict[str, object]:
    """Run a page's blocks in order; returns what its python blocks defined."""
    # A real module, because pickle and dataclasses look a class's module up by name.
    module = types.ModuleType(re.sub(r"\W", "_", page))
    sys.modules[module.__name__] = module
    try:
        with contextlib.chdir(folder):
            for block in blocks_of(text):
                if block.language not in LANGUAGES:
                    raise PageError(f"line {block.line - 1}: expected one of {sorted(LANGUAGES)}")
                if block.reason_to_skip:
                    continue
                if block.language == "python":
                    run_python(block, vars(module), page)
                elif block.language == "console":
                    for line, command in commands_of(block):
                        run_command(command, line, folder)
    finally:
        del sys.modules[module.__name__]
    return vars(module)


# --- the pages hold ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("quick_maps")
@each_page
def test_a_page_runs_as_written(page, tmp_path):
    run_page(page.read_text(encoding="utf-8"), tmp_path, named(page))


def test_links_lead_somewhere():
    dead = []
    for page in LINKED:
        targets = links_of(page.read_text(encoding="utf-8"))
        dead += [f"{named(page)}: {target}" for target in targets if not (page.parent / target).exists()]
    assert dead == []


def test_examples_in_docstrings_hold():
    broken = []
    for path in WITH_EXAMPLES:
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        failed, tried = doctest.testmod(importlib.import_module(name))
        if failed or not tried:
            broken.append(f"{name}: {failed} of {tried}")
    assert broken == [], "what failed is printed above"


def long_cells(page: str, most: int) -> list[str]:
    """The cells of a page's tables with more words than that."""
    rows = [line for line in page.splitlines() if line.startswith("|") and not line.startswith("|---")]
    return [cell.strip() for row in rows for cell in row.split("|") if len(cell.split()) > most]


def test_the_first_pages_are_short():
    """README: 900 words and one picture. ARCHITECTURE: cells of at most 12 words."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.split()) <= 900
    assert readme.count("<img ") + readme.count("![") == 1
    assert long_cells((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), 12) == []


def test_a_long_cell_is_found():
    assert long_cells("| one two | three four five |\n|---|---|\nsix seven eight nine", 2) == [
        "three four five"
    ]


def test_the_worked_example_for_contributors_passes_its_own_test(tmp_path):
    page = ROOT / "CONTRIBUTING.md"
    defined = run_page(page.read_text(encoding="utf-8"), tmp_path)
    tests = [defined[name] for name in defined if name.startswith("test_")]
    assert tests
    for test in tests:
        test()


# --- and the runner can fail ------------------------------------------------------------------------


def fenced(language: str, *lines: str) -> str:
    return "\n".join([f"```{language}", *lines, "```", ""])


def test_blocks_share_a_namespace_and_a_folder(tmp_path):
    first = fenced("python", "from pathlib import Path", "Path('note').write_text('kept')", "n = 2")
    page = first + "prose\n" + fenced("python", "n + len(Path('note').read_text())  # -> 6")
    assert run_page(page, tmp_path)["n"] == 2
    assert (tmp_path / "note").exists()


def test_a_failing_block_fails_and_names_its_line(tmp_path):
    with pytest.raises(ZeroDivisionError) as caught:
        run_page("# Title\n\n" + fenced("python", "x = 0", "1 / x"), tmp_path, "page.md")
    last = caught.traceback[-1]
    assert (str(last.path).endswith("page.md"), last.lineno + 1) == (True, 5)


def test_a_class_of_a_page_can_be_found_by_name(tmp_path):
    lines = [
        "import pickle",
        "class Kind: pass",
        "type(pickle.loads(pickle.dumps(Kind()))) is Kind  # -> True",
    ]
    run_page(fenced("python", *lines), tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "0.1 + 0.2  # -> 0.3",
        "0.1 + 0.2  # -> 0.30...",
        "'word'  # -> word",
        "'word'  # -> 'word'",
        "print('word', 3)  # -> word 3",
        "[1,\n 2]  # -> [1, 2]",
        "'# -> not a promise'",
    ],
)
def test_a_kept_promise_passes(line, tmp_path):
    run_page(fenced("python", line), tmp_path)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("1 + 1  # -> 3", "line 2: promised '3', got '2'"),
        ("print('word')  # -> None", "promised 'None', got 'word"),
        ("x = 3  # -> 3", "only an expression"),
        ("for x in [3]:\n    x  # -> 3\n    x", "line 3: nothing at the outer level"),
    ],
)
def test_a_broken_promise_fails(line, complaint, tmp_path):
    with pytest.raises(PageError, match=re.escape(complaint)):
        run_page(fenced("python", line), tmp_path)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("$ samekind no-such-command", "line 2: `samekind no-such-command` ended with"),
        ("$ .venv/bin/samekind no-such-command", "ended with"),
        ("$ samekind demo > log", "no shell runs this"),
        ("$ rm -rf .", "not on the list"),
        ("$ pip uninstall samekind", "not on the list"),
        ("$ make coffee", "the Makefile has no coffee"),
        ("$ make \\\n  coffee", "the Makefile has no coffee"),
    ],
)
def test_a_failing_or_unknown_command_fails(line, complaint, tmp_path):
    with pytest.raises(PageError, match=re.escape(complaint)):
        run_page(fenced("console", line), tmp_path)


def test_listed_commands_and_output_pass(tmp_path):
    lines = ["$ git clone https://example.org/it", "$ make demo PYTHON=python3  # first", "rm: output"]
    run_page(fenced("console", *lines), tmp_path)


def test_a_block_is_skipped_for_a_reason_only(tmp_path):
    failing = fenced("python", "1 / 0")
    run_page("<!-- not executed: needs a GPU -->\n\n" + failing, tmp_path)
    with pytest.raises(PageError, match="say why"):
        run_page("<!-- not executed: -->\n" + failing, tmp_path)
    with pytest.raises(ZeroDivisionError):
        run_page("<!-- not executed: needs a GPU -->\nprose in between\n" + failing, tmp_path)
    with pytest.raises(ZeroDivisionError):
        run_page("<!-- not executed: needs a GPU -->\n" + failing + failing, tmp_path)


def test_an_indented_block_is_read_without_its_indent():
    (block,) = blocks_of("1. item\n\n   ```python\n   if True:\n       x = 1\n   ```\n")
    assert (block.language, block.text, block.line) == ("python", "if True:\n    x = 1\n", 4)


def test_a_block_of_unknown_form_is_refused(tmp_path):
    with pytest.raises(PageError, match="never closed"):
        run_page("```python\nx = 1\n", tmp_path)
    with pytest.raises(PageError, match="expected one of"):
        run_page(fenced("bash", "rm -rf ."), tmp_path)


def test_links_are_found_in_prose_only():
    page = '[a](docs/a.md#part) ![b](<b.png>) [c](https://x.org) [d](#here) `[e](e.md)` <img src="f.svg">\n'
    page += fenced("python", "g[0](h)") + "[i]: i.md\n"
    assert links_of(page) == ["docs/a.md", "b.png", "i.md", "f.svg"]
