"""The program as a whole: help without waiting, one line for every mistake, and nothing written by it."""

import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from samekind import cli
from samekind.cli.main import app
from samekind.errors import SpaceError
from samekind.space import MetricSpace

INTERRUPTED = (
    "samekind: interrupted; no file is half written: the same command goes on with a training, and starts "
    "anything else again\n"
)
#: As they are typed; a file is named like its command, with _ for -.
COMMANDS = [command.callback.__name__.replace("_", "-") for command in app.registered_commands]
#: Commands that have commands of their own.
GROUPS = {group.name: group.typer_instance.registered_commands for group in app.registered_groups}


def everything_in(folder):
    """Every path below a folder with its content."""
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


# --- help -------------------------------------------------------------------------------------------


def test_there_is_a_file_for_every_command():
    shared = {"__init__", "main", "options", "output", "progress_bar", "spaces"}
    shared |= {"advice", "thresholds", "together"}
    files = {path.stem for path in Path(cli.__file__).parent.glob("*.py")} - shared
    assert {file.replace("_", "-") for file in files} == {*COMMANDS, *GROUPS}


def test_help_loads_nothing_heavy():
    """Nobody should wait seconds for a page of text; in a process of its own, because here all is loaded."""
    script = f"""
import sys
from samekind.cli import main

for arguments in [[], ["-h"], *([command, "--help"] for command in {[*COMMANDS, *GROUPS]!r})]:
    sys.argv = ["samekind", *arguments]
    main()
heavy = {{"torch", "sklearn", "scipy", "matplotlib", "numpy", "lightning_fabric"}} & set(sys.modules)
sys.exit(f"loaded: {{heavy}}" if heavy else 0)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout.count("Usage: samekind [OPTIONS] COMMAND") == 2


@pytest.mark.parametrize("arguments", [(), ("-h",), ("--help",)])
def test_the_help_lists_every_command(samekind, arguments):
    answer = samekind(*arguments)
    assert (answer.status, answer.err) == (0, "")
    for command in [*COMMANDS, *GROUPS]:
        assert f" {command} " in answer.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_json_and_says_what_it_does(samekind, command):
    answer = samekind(command, "--help")
    assert answer.status == 0
    assert "--json" in answer.out
    name = command.replace("-", "_")
    [registered] = [command for command in app.registered_commands if command.callback.__name__ == name]
    assert registered.callback.__doc__.split()[0] in answer.out


@pytest.mark.parametrize("group", GROUPS)
def test_every_subcommand_has_json_and_says_what_it_does(samekind, group):
    listed = samekind(group, "-h").out
    assert GROUPS[group]
    for command in GROUPS[group]:
        name = command.callback.__name__
        assert f" {name} " in listed
        page = samekind(group, name, "--help").out
        assert "--json" in page
        assert command.callback.__doc__.split()[0] in page


# --- mistakes ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def place(tmp_path_factory, trained, pictures):
    """A folder to make mistakes in: runs, damaged ones too, run files and items that are none."""
    place = tmp_path_factory.mktemp("place")
    shutil.copytree(trained, place / "run")
    shutil.copytree(trained, place / "unfinished", ignore=shutil.ignore_patterns("data.json", "space"))
    for name in ("data.json", "split.json", "space/space.json", "space/weights.safetensors"):
        folder = place / f"damaged {Path(name).stem}"
        damaged = shutil.copytree(trained, folder, ignore=shutil.ignore_patterns("*.pt")) / name
        damaged.write_bytes(damaged.read_bytes()[:-9] + b"\xff")
    for picture in pictures.iterdir():
        shutil.copy(picture, place)
    for name, text in {
        "text.png": "no picture",
        "empty.png": "",
        "text.npy": "no array",
        "file": "in the way",
        "misspelt.toml": 'recipe = "triplet"\nepohcs = 3\n',
        "cut.toml": 'recipe = "trip',
        "bare.toml": "epochs = 3\n",
        "foreign.toml": 'recipe = "barlow"\n',
        "typed.toml": 'recipe = "triplet"\n[optimiser]\nrate = "fast"\n',
    }.items():
        (place / name).write_text(text)
    (place / "latin.toml").write_bytes('recipe = "é"'.encode("latin-1"))
    numpy.save(place / "shape.npy", numpy.zeros((8, 8), dtype=numpy.float32))
    numpy.save(place / "nan.npy", numpy.full((1, 8, 8), numpy.nan, dtype=numpy.float32))
    return place


#: What each mistake is told; an ellipsis stands for another library's words, or a list that grows.
SAYS = {
    # what is typed
    "trian": "no such command 'trian'. Did you mean 'train'? (see samekind --help)",
    "--loud": "no such option: --loud (see samekind --help)",
    "train": "name the data to learn from: samekind train --data DATA",
    "train triplet --minutes 5": "--minutes is for the house recipe; triplet trains for its epochs",
    "train --data digits --from run": "--from goes on with the training of a paper's recipe; name …",
    "train triplet more": "got unexpected extra argument(s) (more) (see samekind train --help)",
    "train triplet --epochs 3": "no such option: --epochs (see samekind train --help)",
    "compare 0.png": "missing argument 'B' (see samekind compare --help)",
    "compare 0.png 1.png": "missing option '--space' (env var: 'SAMEKIND_SPACE') (see samekind compare "
    "--help)",
    "train triplet --seed x": "invalid value for '--seed': …",
    "train triplet --seed -1": "invalid value for '--seed': …",
    "evaluate run --seed 4294967296": "invalid value for '--seed': …",
    "evaluate run --tasks 1": "invalid value for '--tasks': …",
    # names
    "train prototypcal": 'there is no recipe "prototypcal"; did you mean "prototypical"? …',
    "train triplet --data digit": 'there is no data "digit", nor a file or folder of that name; '
    'did you mean "digits"? Known: characters, digits',
    "train triplet --unseen 7,x": 'digits has no class "x"; Known: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9',
    "train triplet --unseen 7": "--unseen needs two classes or more, to compare with each other; got 7",
    "train triplet --unseen 0,1,2,3,4,5,6,7,8": "digits, validation: expected two classes or more, one of "
    "them with two items, to validate on",
    "train triplet --unseen 0,1,2,3,4,5,6,7,8,9": "a split by class needs items of seen and of unseen "
    "classes; 1797 of 1797 items are unseen (10 classes)",
    "train triplet --at far=2": 'expected an operating point "eer", "far=0.01" or "frr=0.01" (a rate from 0 '
    'to 1), "cost=PRIOR" or "cost=PRIOR:MISS:FALSE_ACCEPT", or the threshold itself, "threshold=0.5", got '
    '"far=2"',
    "calibrate run --at far": 'expected an operating point "eer", …',
    "train triplet --device gpu": 'expected a device auto, cpu, cuda, mps or "cuda:1", got "gpu"',
    "evaluate run --device gpu": 'expected a device auto, cpu, cuda, mps or "cuda:1", got "gpu"',
    "demo --device gpu": 'expected a device auto, cpu, cuda, mps or "cuda:1", got "gpu"',
    "compare 0.png 1.png --space run --kind cosin": 'this space has no threshold for the score "cosin"; '
    'did you mean "cosine"? Known: cosine, fused, similarity',
    # settings
    "train triplet --set epochs": 'expected name=value, got "epochs"',
    "train triplet --set epohcs=3": 'run: there is no setting "epohcs"; did you mean "epochs"? …',
    "train triplet --set epochs=two": "run.epochs: expected a whole number, got 'two'",
    "train triplet --set epochs=nan": "run.epochs: expected a whole number, got nan",
    "train triplet --set optimiser.rate=nan": "run.optimiser.rate: expected a number (0 or more); got nan",
    "train triplet --set terms.triplet.weight=nan": "run.terms.triplet.weight: expected a number (0 or "
    "more); got nan",
    "train triplet --set penalties.spread.weight=-1": "run.penalties.spread.weight: expected a number (0 or "
    "more); got -1.0",
    "train triplet --set seed=-1": "run.seed: expected a whole number from 0 to 4294967295, got -1",
    "train triplet --set recipe=verification": "--set recipe=verification would only rename the run; say "
    '"verification" instead',
    "train triplet --set batches.sampler=Shufled": 'run.batches: there is no sampler "Shufled"; did you mean '
    '"Shuffled"? …',
    "train prototypical --set space.similarity.hidden=0": "the hidden layers of a pairs network need at "
    "least one unit, got hidden=0",
    "train prototypical --set space.prototypes.momentum=7": "the momentum of running averages is from 0 to "
    "1; got 7",
    "demo --set epochs=none": "run.epochs: expected a whole number, got 'none'",
    "demo --set terms.pair.weight=2": 'there is no table "pair" to set "pair.weight" in; did you mean '
    '"pairs"? Known: pairs',
    # run files
    "train none.toml": "cannot read the run file none.toml: No such file or directory",
    "train cut.toml": "the run file cut.toml is not valid TOML: …",
    "train latin.toml": "the run file latin.toml is not valid TOML: 'utf-8' codec …",
    "train misspelt.toml": 'misspelt.toml: there is no setting or table "epohcs"; did you mean "epochs"? …',
    "train bare.toml": 'bare.toml names no recipe; add a line such as recipe = "triplet" (one of …',
    "train foreign.toml": 'there is no recipe "barlow"; …',
    "train typed.toml": "run.optimiser.rate: expected a number, got 'fast'",
    # folders
    "train prototypical --out run --set epochs=2": "run holds a run on other data or another split; choose "
    "another folder",
    "train triplet --from nowhere": "there is no space at nowhere; expected a folder with space.json",
    "train triplet --from run": "cannot start from that space: its similarity (PairsNetwork) does not fit "
    "this run's (Euclidean); use the recipe and settings it was trained with",
    "train triplet --out file": "cannot use file: File exists",
    "train triplet --out file/run": "cannot use file/run: Not a directory",
    "train triplet --out 'damaged data'": "damaged data/data.json is damaged (…",
    "evaluate nowhere": "there is no folder nowhere; samekind train makes the folder of a run",
    "evaluate unfinished": "unfinished holds a training that has not ended: 2 of 2 epochs are done; the same "
    "samekind train command goes on with it",
    "evaluate run/space": "run/space is not the folder of a finished run: it has no data.json; samekind "
    "train makes one",
    "evaluate 'damaged data'": "damaged data/data.json is damaged (…",
    "evaluate 'damaged split'": "damaged split/split.json is not a split as samekind writes it: …",
    "evaluate 'damaged space'": "damaged space/space is damaged: space.json cannot be read (…",
    "evaluate 'damaged weights'": "damaged weights/space is damaged: weights.safetensors is not the file it "
    "was saved with; restore it or train again",
    "report nowhere": "there is no folder nowhere; …",
    "embed 0.png --space nowhere --out v.npy": "there is no space at nowhere; …",
    "embed 0.png --space run --out v.txt": "expected a file ending in .npy, .csv, .parquet; got v.txt",
    "predict 0.png --space run --out file": "expected a file ending in .csv, .parquet; got file",
    "cluster 0.png --space run --out run": "run holds something other than groups; choose another folder",
    "search 0.png --gallery 1.png --space run --save-index run": "run holds something other than an index; …",
    "search 0.png --gallery 'damaged space/space' --space run": "there is nothing to read in damaged …",
    "enroll 0 0.png --space run": 'the class "0" is already there; ask to replace it (--replace), …',
    "enroll new --space run": 'to enrol "new" give a few examples of it: files, folders or tables',
    "enroll new 0.png --space run --out file": "file holds something other than a space; …",
    "info nowhere": "there is no space at nowhere; expected a folder with space.json",
    "info file": "there is no space at file; expected a folder with space.json",
    "info unfinished": "unfinished holds a training that has not ended: 2 of 2 epochs are done; …",
    "info 'damaged space'": "damaged space/space is damaged: space.json cannot be read (…",
    # items
    "compare 0.png 3.png --space run": "there is no file 3.png; expected an image or a .npy array of shape "
    "(1, 8, 8)",
    "compare text.png 0.png --space run": "cannot read text.png: it is not an image, or of a format that "
    "cannot be read; expected an image or a .npy array of shape (1, 8, 8)",
    "compare 0.png empty.png --space run": "cannot read empty.png: it is not an image, or of a format that "
    "cannot be read; expected an image or a .npy array of shape (1, 8, 8)",
    "compare 0.png run --space run": "cannot read run: …",
    "compare 0.png text.npy --space run": "cannot read text.npy: …",
    "compare 0.png shape.npy --space run": "shape.npy does not fit: expected a .npy array of shape (1, 8, "
    "8), got shape (8, 8)",
    "identify 3.png --space run": "there is no file 3.png; …",
    "identify text.png 0.png --space run": "1 of 2 files cannot be read; …",
    "search text.png --gallery 0.png --space run": "cannot read text.png: it is not an image, …",
    "predict nan.npy --space run --out p.csv": "nan.npy holds values that are not finite (NaN or infinity)",
    "cluster 0.png --space run --out g.csv --groups 2": "asked for 2 groups of 1 items; ask for fewer",
    "compare 0.png nan.npy --space run": "nan.npy holds values that are not finite (NaN or infinity)",
}


@pytest.fixture
def here(place, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.delenv("SAMEKIND_SPACE", raising=False)
    return place


@pytest.mark.parametrize("command", SAYS)
def test_a_mistake_gets_one_line_and_leaves_nothing_behind(samekind, here, command):
    before = everything_in(here)
    answer = samekind(*shlex.split(command))
    [line] = answer.err.splitlines()
    sentence, ellipsis, _ = f"samekind: {SAYS[command]}".partition("…")
    assert line.startswith(sentence) if ellipsis else line == sentence
    assert (answer.status, answer.out) == (2, "")
    assert everything_in(here) == before


@pytest.mark.parametrize("command", ["train triplet", "evaluate run", "demo"])
def test_refuses_a_missing_device(samekind, here, monkeypatch, command):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    before = everything_in(here)
    answer = samekind(*command.split(), "--device", "cuda")
    assert answer == (2, "", "samekind: no CUDA device is available here; use --device cpu\n")
    assert everything_in(here) == before


# --- what becomes of errors -------------------------------------------------------------------------


def raising(error):
    def load(folder):
        raise error

    return load


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (SpaceError("two\n  lines"), "samekind: two lines"),
        (PermissionError(13, "Permission denied", "a/b"), "samekind: cannot use a/b: Permission denied"),
        # a draft that could not take the place of a file: the place is what the user knows
        (
            IsADirectoryError(21, "Is a directory", ".b.draft", None, "b"),
            "samekind: cannot use b: Is a directory",
        ),
        (OSError("no space left"), "samekind: no space left"),
    ],
)
def test_an_expected_error_is_one_line(samekind, monkeypatch, error, line):
    monkeypatch.setattr(MetricSpace, "load", raising(error))
    assert samekind("info", "anywhere") == (2, "", f"{line}\n")


def test_an_interrupt_is_one_line(samekind, monkeypatch):
    monkeypatch.setattr(MetricSpace, "load", raising(KeyboardInterrupt()))
    assert samekind("info", "anywhere") == (130, "", INTERRUPTED)


def test_a_bug_is_not_hidden(samekind, monkeypatch):
    monkeypatch.setattr(MetricSpace, "load", raising(RuntimeError("a bug")))
    with pytest.raises(RuntimeError, match="a bug"):
        samekind("info", "anywhere")


def test_characters_a_terminal_cannot_write_do_not_end_the_program(trained, undrawn, tmp_path, monkeypatch):
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    copy = shutil.copytree(trained, tmp_path / "söme")
    monkeypatch.setattr(sys, "argv", ["samekind", "report", str(copy), "--tasks", "2", "--no-references"])
    cli.main()
    out.flush()
    assert b"s\\xf6me/report.html" in out.buffer.getvalue()
    monkeypatch.setattr(sys, "argv", ["samekind", "info", "söme\udcff"])
    with pytest.raises(SystemExit):
        cli.main()
    err.flush()
    assert err.buffer.getvalue().startswith(b"samekind: there is no space at s\\xf6me\\udcff;")


INTERRUPTED_WHILE_LOADING = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background ignores it
sys.meta_path.insert(0, Interrupting())
from samekind.cli import main
main()
"""


def test_an_interrupt_while_loading_is_one_line():
    program = [sys.executable, "-c", INTERRUPTED_WHILE_LOADING, "--help"]
    process = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    assert (process.returncode, process.stdout) == (130, "")
    assert process.stderr == "samekind: interrupted before anything was started\n"


# A real SIGINT, sent by the process to itself: from outside it could come after the end of a short training.
INTERRUPTED_AT_THE_SECOND_EPOCH = """
import os, signal
from samekind.cli import main
from samekind.cli.progress_bar import Bar

def epoch(bar, entry, told=Bar.epoch):
    told(bar, entry)
    if entry["epoch"] == 2:
        os.kill(os.getpid(), signal.SIGINT)

Bar.epoch = epoch
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background ignores it
main()
"""


def test_an_interrupted_training_goes_on(samekind, tmp_path):
    """Ctrl-C in the middle; the same command does the epochs that are left, and none twice."""
    command = ["train", "triplet", "--out", str(tmp_path / "run"), "--set", "epochs=4"]
    command += ["--unseen", "3,4,5,6,7,8,9"]
    program = [sys.executable, "-c", INTERRUPTED_AT_THE_SECOND_EPOCH, *command]
    process = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    chosen, *content = process.stderr.splitlines(keepends=True)
    assert chosen.startswith("triplet: with few items to train on it takes Adam")
    assert (process.returncode, process.stdout) == (130, "")
    assert content.pop() == INTERRUPTED
    assert [line.split(" loss ")[0] for line in content] == [
        f"triplet: epoch {1 + n}" for n in range(len(content))
    ]
    answer = samekind(*command)
    assert answer.status == 0
    went_on = [int(line.split()[2]) for line in answer.err.splitlines()[1:]]
    assert went_on == list(range(went_on[0], 5))
    assert 2 <= went_on[0] <= len(content) + 1 <= 4
    record = [json.loads(line) for line in (tmp_path / "run" / "record.jsonl").read_text().splitlines()]
    assert [entry["epoch"] for entry in record] == list(range(1, 5))


def test_refuses_a_name_that_is_not_text(samekind, monkeypatch):
    error = UnicodeEncodeError("utf-8", "a/b\udcff.png", 3, 4, "surrogates not allowed")
    monkeypatch.setattr(MetricSpace, "load", raising(error))
    answer = samekind("info", "anywhere")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(r"samekind: cannot write 'a/b\udcff.png' as UTF-8: ")


def test_reads_a_huge_picture_if_the_environment_allows_it(samekind, folders, trained, monkeypatch):
    picture = next(folders.rglob("*.png"))  # of 64 pixels
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 10)
    refused = samekind("identify", picture, "--space", trained)
    assert refused.status == 2
    assert "more pixels than the 20 that are decoded without asking" in refused.err
    assert "set SAMEKIND_MOST_PIXELS in the environment" in refused.err
    for most, status in ((62, 2), (64, 0)):
        monkeypatch.setenv("SAMEKIND_MOST_PIXELS", str(most))
        assert samekind("identify", picture, "--space", trained).status == status


@pytest.mark.parametrize("said", ["", "many", "0", "-5"])
def test_refuses_an_invalid_number_of_pixels(samekind, monkeypatch, said):
    monkeypatch.setenv("SAMEKIND_MOST_PIXELS", said)
    answer = samekind("info", "nothing")
    assert answer.status == 2
    assert "SAMEKIND_MOST_PIXELS: expected a number of pixels" in answer.err


@pytest.mark.parametrize(("said", "policy"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_that_wait_sleep_unless_the_environment_says_otherwise(samekind, monkeypatch, said, policy):
    monkeypatch.setenv("OMP_WAIT_POLICY", said or "")
    if said is None:
        monkeypatch.delenv("OMP_WAIT_POLICY")
    assert samekind("--version").status == 0
    assert os.environ["OMP_WAIT_POLICY"] == policy
