"""The options that several commands share."""

import ast
import json
from pathlib import Path

import pytest
from typer.main import get_command

from samekind.cli import options
from samekind.cli.main import app
from samekind.cli.options import OPENED
from samekind.data.sources import KNOWN
from samekind.errors import SettingError
from samekind.reports.confidence import MOST_CLASSES
from samekind.settings import LARGEST_SEED


def test_the_space_may_be_named_in_the_environment(samekind, trained, pictures, monkeypatch):
    monkeypatch.setenv("SAMEKIND_SPACE", str(trained))
    answer = samekind("compare", pictures / "0.png", pictures / "0.png", "--json")
    assert json.loads(answer.out)["same"] is True
    # and the option goes before it
    answer = samekind("compare", pictures / "0.png", pictures / "0.png", "--space", "nowhere")
    assert answer.err.startswith("samekind: there is no space at nowhere;")


@pytest.mark.parametrize(
    ("command", "defaults"),
    [
        ("train", ["runs/RECIPE", "that of the run, 0", "that of the run file, or digits", "eer", "auto"]),
        ("demo", ["samekind-demo", "that of the run, 0", "600", "auto"]),
        ("evaluate", ["600", "0", "auto"]),
        ("compare", ["the space's choice"]),
    ],
)
def test_the_help_tells_the_defaults(samekind, command, defaults, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    page = samekind(command, "--help").out
    for default in defaults:
        assert f"[default: {default}]" in page or f"[default: ({default})]" in page


PROGRAM = get_command(app)
#: Every command as it is typed.
TYPED = [[name] for name in PROGRAM.commands if name != "index"]
TYPED += [["index", name] for name in PROGRAM.commands["index"].commands]


@pytest.mark.parametrize("command", [[], ["index"], *TYPED], ids=" ".join)
def test_a_flag_is_shown_without_a_value(samekind, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    page = samekind(*command, "--help").out
    assert "--help" in page
    assert "bool" not in page.lower()


def squeezed(page):
    """A page of help without its frames and line breaks."""
    return " ".join(page.replace("│", " ").split())


@pytest.mark.parametrize("command", ["check", "init", "train", "leave-one-out"])
def test_the_help_names_all_that_can_be_opened(samekind, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    assert KNOWN in squeezed(samekind(command, "--help").out)


def test_the_help_of_draw_names_the_numbers_of_classes_it_takes(samekind, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    page = squeezed(samekind("draw", "--help").out)
    assert MOST_CLASSES == {"plane": 7, "sphere": 3}
    assert "2 to 7 on the plane, 2 or 3 on the sphere" in page


@pytest.mark.parametrize(
    ("command", "spellings"),
    [
        (["evaluate"], {"--enroll", "--enrol"}),
        (["evaluate"], {"--enrollments", "--enrolments"}),
        (["calibrate"], {"--most", "--most-items"}),
        (["classes"], {"-k", "--nearest"}),
        (["search"], {"-k", "--nearest"}),
        (["index", "build"], {"-k", "--nearest"}),
    ],
)
def test_either_spelling_is_taken(command, spellings):
    parser = PROGRAM
    for name in command:
        parser = parser.commands[name]
    assert spellings in [set(parameter.opts) for parameter in parser.params]


def test_kmeans_takes_the_largest_seed_and_none_above():
    from sklearn.cluster import KMeans

    points = [[0.0], [1.0]]
    KMeans(n_clusters=2, n_init=1, random_state=LARGEST_SEED).fit(points)
    with pytest.raises(ValueError, match="random_state"):
        KMeans(n_clusters=2, n_init=1, random_state=LARGEST_SEED + 1).fit(points)


def test_the_help_lists_the_formats_that_are_read():
    assert OPENED == KNOWN


def test_an_option_with_a_metavar_says_its_name():
    """Some versions of typer take the metavar for the name of an option that has no other."""
    offences = []
    for path in sorted(Path(options.__file__).parent.glob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "Option":
                names = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
                if any(keyword.arg == "metavar" for keyword in call.keywords) and not names:
                    offences.append(f"{path.name}:{call.lineno}")
    assert offences == []


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("7,8,9", ["7", "8", "9"]),
        (' b , "a, underside" ,"c"', ["a, underside", "b", "c"]),
        ('"6"" nail",7', ['6" nail', "7"]),
    ],
)
def test_a_class_with_a_comma_in_its_name_stands_in_quotes(written, names):
    assert options.names(written) == options.unseen_names(written) == tuple(names)


@pytest.mark.parametrize("written", ["a\nb", '"leaf,8,9', '"a" b,c'])
def test_refuses_ambiguous_lists_of_names(written):
    """Before, the second was one class, the third another name, and the first an error of csv's."""
    with pytest.raises(SettingError, match="names separated by commas, on one line") as caught:
        options.names(written)
    assert str(caught.value).endswith(f"; got {written}")


def test_a_half_of_the_classes_is_no_name():
    assert (options.unseen_names("half"), options.unseen_names("")) == ("half", ())
