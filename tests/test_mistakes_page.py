"""docs/mistakes.md says what the program says: every row is made anew and compared.

``python tests/test_mistakes_page.py`` writes the page.
"""

import importlib.util
import sys
import tempfile
from pathlib import Path

from samekind.errors import SamekindError
from samekind.recipes.plans import read_plan

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "mistakes.md"

HEADING = """# Mistakes, and what is said about them

A mistake gets a sentence that says what was expected, what came and what to do, before any training begins;
on the command line it is one line and exit status 2, without a traceback, and nothing is left half-written.
`samekind check DATA` says everything that is wrong with data at once. This page is made by
`python tests/test_mistakes_page.py`, which commits every one of these mistakes.
"""

#: Mistakes whose sentence ends in the words of a library, which may change with its version.
WORDS_OF_LIBRARIES = {
    "a broken Parquet file",
    "a zip that is none",
    "a zip with a password",
    "Python objects in an archive",
    "a picture cut short",
}

#: Mistakes in a run file: what was done, the file, and --set.
IN_RUN_FILES = (
    ("a misspelt setting", 'recipe = "triplet"\nepohcs = 3\n', []),
    ("a misspelt table", 'recipe = "triplet"\n[trainin]\nepochs = 3\n', []),
    ("a misspelt recipe", 'recipe = "prototypcal"\n', []),
    ("no recipe", "epochs = 3\n", []),
    ("a text for a number", 'recipe = "triplet"\nepochs = "ten"\n', []),
    ("a number that cannot be", 'recipe = "triplet"\nepochs = 0\n', []),
    ("an unknown loss", 'recipe = "triplet"\n[terms.triplet]\nloss = "tripplet"\n', []),
    ("a misspelt setting of the data", 'recipe = "triplet"\n[data]\nlable = "kind"\n', []),
    ("an unknown way to split", 'recipe = "triplet"\n[split]\nby = "chance"\n', []),
    ("a domain to test on, but a random split", 'recipe = "triplet"\n[split]\ntest_domains = ["a"]\n', []),
    ("an unknown choice", 'recipe = "triplet"\n[optimiser]\nname = "Adams"\n', []),
    ("--set without a value", 'recipe = "triplet"\n', ["epochs"]),
    ("--set in a table that is not there", 'recipe = "triplet"\n', ["optimizer.rate=0.1"]),
    (
        "a loss and a similarity that do not fit",
        'recipe = "triplet"\n[terms.triplet]\nloss = "arc_face"\n',
        [],
    ),
)


#: Mistakes in Python, where the wrong one of two things is easily given.
IN_PYTHON = (
    "embed(space, items)",
    "embed(space, items.inputs.tolist())",
    "embed(folder, items.inputs)",
    "evaluate(space, sets)",
    "examine(sets)",
    'examine("digits", settings={"size": 8})',
    "fit(prototypical, sets, folder=folder)",
    "fit(run, items, folder=folder)",
    "Items(inputs=items.inputs.numpy(), labels=items.labels, classes=items.classes, name=items.name)",
    "Items(inputs=items.inputs, labels=items.labels.tolist(), classes=items.classes, name=items.name)",
    "open_data(items)",
    'open_data("digits", settings={"size": 8})',
    'prepare("digits")',
    'prepare(items, {"by": "group"})',
    'prepare(items, unseen="78")',
    'space.enroll("new", items)',
    "train(run, sets, folder=folder, validate=validate)",
)


def data_mistakes():
    """What was done and what was said, for every mistake of the tests of the data room."""
    path = ROOT / "tests" / "data" / "test_mistakes.py"
    description = importlib.util.spec_from_file_location("mistakes_with_data", path)
    module = importlib.util.module_from_spec(description)
    sys.modules[description.name] = module
    description.loader.exec_module(module)
    for mistake in module.MISTAKES:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "data"
            folder.mkdir()
            if mistake.what not in WORDS_OF_LIBRARIES:
                yield mistake.what, module.answer(mistake, folder)


def run_file_mistakes():
    from samekind.data import digits
    from samekind.training.build import build_space
    from samekind.training.terms import build_terms

    for what, text, changes in IN_RUN_FILES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.toml"
            path.write_text(text)
            try:
                run = read_plan(str(path), changes).run((1, 8, 8))
                build_terms(run, build_space(run, digits()))
            except SamekindError as error:
                yield what, str(error).replace(f"{folder}/", "")
            else:
                raise AssertionError(f"{what}: no mistake at all")


def python_mistakes():
    import samekind
    from samekind.inference import embed
    from samekind.recipes import prototypical
    from samekind.training import build_space

    items = samekind.digits()
    sets, run = samekind.prepare(items), prototypical(items.shape)
    known = {name: getattr(samekind, name) for name in samekind.__all__}
    known |= {"items": items, "sets": sets, "run": run, "prototypical": prototypical, "embed": embed}
    known |= {"space": build_space(run, items), "folder": "runs/mine", "validate": lambda space: {}}
    for code in IN_PYTHON:
        try:
            eval(code, known)
        except SamekindError as error:
            yield f"`{code}`", str(error)
        else:
            raise AssertionError(f"{code}: no mistake at all")


def table(rows):
    lines = ["| what was done | what is said |", "|---|---|"]
    for what, said in rows:
        words = " ".join(said.split()).replace("|", "\\|").replace("<", "&lt;")
        lines.append(f"| {what} | {words} |")
    return "\n".join(lines)


def page():
    return (
        f"{HEADING}\n## In data\n\n{table(data_mistakes())}\n\n"
        f"## In run files and settings\n\n{table(run_file_mistakes())}\n\n"
        f"## In Python\n\n`items` are those of `digits()`, `sets` what `prepare` makes of them.\n\n"
        f"{table(python_mistakes())}\n"
    )


def test_the_page_says_what_the_program_says():
    expected, written = page().splitlines(), PAGE.read_text(encoding="utf-8").splitlines()
    assert expected == written, "the page is out of date; run python tests/test_mistakes_page.py"
    assert sum(line.startswith("| ") for line in expected) - 2 >= 80


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
