"""The command line called from inside, and one small run that all tests of it look at."""

import contextlib
import io
import sys
from typing import NamedTuple

import pytest
import torch

from samekind.cli.main import main
from samekind.data import digits, scaled, write_image
from samekind.inference import embed, fit_temperatures
from samekind.training import RunFolder

#: A run of a second or two, 7, 8 and 9 never shown.
COMMAND = (
    "train",
    "prototypical",
    "--unseen",
    "7,8,9",
    "--set",
    "epochs=2",
    "--set",
    "optimiser.rate=0.05",
    "--set",
    "schedule.name=constant",
    "--set",
    "space.similarity.hidden=32",
)


class Answer(NamedTuple):
    """What a command left: its exit status and what it said."""

    status: int
    out: str
    err: str


def call(*arguments):
    """`samekind` with these arguments, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr(sys, "argv", ["samekind", *map(str, arguments)])
        patch.setattr(sys, "excepthook", sys.excepthook)  # typer puts its own there
        try:
            main()
            status = 0
        except SystemExit as stopped:
            status = stopped.code
    return Answer(status, out.getvalue(), err.getvalue())


@pytest.fixture(scope="session")
def samekind():
    return call


@pytest.fixture(scope="session")
def again():
    """The command of the trained run, in a folder, with more options."""
    return lambda folder, *more: call(*COMMAND, "--out", folder, *more)


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """The folder of that run. Not to be changed.

    Its space answers every question by its own similarity, so that the tests of a command are about one kind
    of score; `test_default_kinds` is about the choices.
    """
    folder = tmp_path_factory.mktemp("runs") / "trained"
    answer = call(*COMMAND, "--out", folder)
    assert answer.status == 0, answer.err
    run = RunFolder(folder)
    space, items = run.space(), run.sets().validation
    space.choices = None
    space.temperatures = fit_temperatures(space, items, embed(space, items.inputs))
    space.save(run.space_folder())
    return folder


@pytest.fixture
def undrawn(monkeypatch):
    """An empty file instead of a report, which takes seconds to draw; returns what each would be about."""
    contents = []

    def write_report(path, **content):
        path.write_text("")
        contents.append(content)

    for module in ("reports", "questions.report"):
        monkeypatch.setattr(f"samekind.{module}.write_report", write_report)
    return contents


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    """The first pictures of the digits 0, 1 and 2."""
    folder = tmp_path_factory.mktemp("pictures")
    for digit in range(3):
        write_image(folder / f"{digit}.png", digits().inputs[(digits().labels == digit).nonzero()[0, 0]])
    return folder


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """Twelve pictures each of the digits 0, 1 and 7, a folder for each digit: 7 is a class never shown."""
    folder = tmp_path_factory.mktemp("data") / "folders"
    for digit in (0, 1, 7):
        for place, index in enumerate((digits().labels == digit).nonzero().flatten()[:12].tolist()):
            write_image(folder / str(digit) / f"{place:02d}.png", scaled(digits().inputs[index]))
    return folder


@pytest.fixture(scope="module", autouse=True)
def quick_answers(few_draws, quick_maps):
    """The commands only tell what an evaluation says and draw what a report does."""


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
