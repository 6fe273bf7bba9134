"""A browser, real servers of small spaces, and a page that is watched.

Pictures are served with a gallery, a tree and measures; sounds behind tokens; points of the plane with
nothing beside them.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
import soundfile
import torch
from typer.testing import CliRunner

from samekind.cli.main import app
from samekind.data import SoundReader, VectorReader, digits, scaled, write_image
from samekind.decisions import Decision
from samekind.encoders import MLP, FrameStatistics, FrontEnd
from samekind.inference import embed_files
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, FixedScale
from samekind.space import MetricSpace

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A graphics card is not needed, nor a camera and a microphone.
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
)
#: Milliseconds that an answer may take on a busy machine.
PATIENCE = 20_000
#: A tree of the digits that are known or not shown.
TREE = "digits\n  round\n    0\n    6\n  tall\n    1\n    4\n    7\n  curved\n    2\n    3\n    5\n"
TRAINING = ("epochs=2", "space.encoder.name=ResNet10")
RATE = 8000


def command(*arguments):
    """Run `samekind` in this process; it must succeed."""
    answer = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert answer.exit_code == 0, f"{answer.output}\n{answer.exception!r}"
    return answer.stdout


@pytest.fixture(scope="session")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="session")
def pictures(root):
    """Drawings of eight digits, 14 of each, in folders of their classes."""
    items = digits()
    for digit in range(8):
        for place in (items.labels == digit).nonzero().flatten()[:14].tolist():
            write_image(root / "pictures" / str(digit) / f"{place:04d}.png", scaled(items.inputs[place]))
    return root / "pictures"


@pytest.fixture(scope="session")
def drawn(pictures):
    """A drawing of a digit by its place, as a path."""
    return lambda digit, place=0: str(sorted((pictures / str(digit)).iterdir())[place])


class Servers:
    """Processes of `samekind serve`, which start side by side."""

    def __init__(self):
        self._processes, self._addresses = {}, {}

    def start(self, name, folder, *options):
        """Start a server; it is waited for when its address is asked for."""
        line = [sys.executable, "-m", "samekind", "serve", folder, "--port", "0", "--rate", "100000/minute"]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        self._processes[name] = subprocess.Popen(
            [*map(str, line), *map(str, options)], stdout=subprocess.PIPE, text=True, env=environment
        )

    def address(self, name):
        if name not in self._addresses:
            words = self._processes[name].stdout.readline()
            self._addresses[name] = re.search(r"http://\S+", words)[0]
            while not self._answers(name):
                time.sleep(0.05)
        return self._addresses[name]

    def _answers(self, name):
        assert self._processes[name].poll() is None
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"{self._addresses[name]}health", timeout=5).status_code == 200
        return False

    def stop(self):
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.communicate(timeout=30)


@pytest.fixture(scope="session")
def servers(root, pictures):
    """All servers of the session."""
    servers = Servers()
    servers.start("points", _points(root / "points"))
    sounds = _sounds(root / "sounds")
    servers.token = command("serve", sounds, "--new-token", "enrol", "--token-name", "ada").split()[0]
    servers.start("sounds", sounds, "--tokens")
    servers.start("pictures", _run(root, pictures), "--index", root / "gallery")
    yield servers
    servers.stop()


def _run(root, pictures):
    """A trained run with a tree, measures, a gallery beside it, and a threshold that few items stay below."""
    run, tree = root / "digits", root / "tree.txt"
    tree.write_text(TREE)
    settings = [word for setting in TRAINING for word in ("--set", setting)]
    command(
        "train",
        "norm-face",
        "--data",
        pictures,
        "--unseen",
        "5,7",
        "--taxonomy",
        tree,
        *settings,
        "--out",
        run,
    )
    command("index", "build", run, pictures, "--out", root / "gallery", "--thumbnails")
    command("evaluate", run, "--tasks", "20")
    space = MetricSpace.load(run / "space")
    scores = [
        item["score"] for item in json.loads(command("identify", pictures, "--space", run, "--json"))["items"]
    ]
    threshold = float(np.quantile(scores, 0.05))
    space.open_set = Decision(
        space.kind_for("classes"), threshold, "frr=0.05", "made up", 0.05, 0.05, (10, -5)
    )
    space.save(run / "space")
    return run


def _points(folder):
    """A space of points of the plane, embedded as they are; it has no threshold."""
    encoder = MLP(inputs=2, dimension=2, hidden=[])
    with torch.no_grad():
        encoder.embedding.weight.copy_(torch.eye(2))
        encoder.embedding.bias.zero_()
    prototypes = SupportMeans(["right", "up"], dimension=2)
    prototypes.assign(["right", "up"], torch.eye(2)[:, None])
    MetricSpace(
        encoder, Cosine(scale=FixedScale(10.0)), prototypes, reader=VectorReader(dimension=2)
    ).eval().save(folder)
    return folder


def buzz(pitch, seconds=1.0):
    """A tone with overtones."""
    return 0.2 * np.sign(np.sin(2 * np.pi * pitch * np.arange(round(seconds * RATE)) / RATE))


def _sounds(folder):
    """A space that knows two voices by the mean and deviation of their features; nothing was trained."""
    encoder = FrontEnd(encoder=FrameStatistics(coefficients=23), rate=RATE, normalise=0)
    prototypes = SupportMeans([], dimension=encoder.dimension)
    space = MetricSpace(
        encoder, Cosine(scale=FixedScale(50.0)), prototypes, reader=SoundReader(rate=RATE)
    ).eval()
    for name, pitch in (("low", 130), ("high", 410)):
        soundfile.write(folder.with_name(f"{name}.wav"), buzz(pitch), RATE)
        space.enroll(name, embed_files(space, [folder.with_name(f"{name}.wav")]))
    space.decisions["similarity"] = Decision("similarity", 0.95, "eer", "made up", 0.1, 0.1, (20.0, -18.0))
    space.save(folder)
    return folder


@pytest.fixture(scope="session")
def voices(servers, root):
    """Recordings of the two voices."""
    return [str(root / "low.wav"), str(root / "high.wav")]


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        pytest.fail("expected a browser; install the package chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, servers):
    """Opens a view of a server's page in a browser of its own, and watches it.

    At the end nobody else was asked, and no error was logged. ``expected`` holds the refusals of the server
    that are part of a test, as statuses; every one of them must have come.
    """
    watched = []

    def visit(view, *, server="pictures", expected=(), **settings):
        context = browser.new_context(viewport={"width": 1100, "height": 700}, **settings)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        address = servers.address(server)
        watched.append((context, watch(page, address), set(expected)))
        page.goto(f"{address}#{view}")
        return page

    yield visit
    for context, log, expected in watched:
        context.close()
        assert log.elsewhere == []
        assert log.errors == []
        assert log.refusals == expected


class Log:
    """What a page did."""

    def __init__(self):
        self.elsewhere, self.errors, self.refusals = [], [], set()


def watch(page, address):
    log, host = Log(), urlsplit(address).netloc

    def asked(request):
        parts = urlsplit(request.url)
        if parts.scheme not in ("blob", "data") and parts.netloc != host:
            log.elsewhere.append(request.url)

    def logged(message):
        # The browser logs refusals of the server by itself; they are looked at as answers.
        if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
            log.errors.append(message.text)

    page.on("request", asked)
    page.on("console", logged)
    page.on("pageerror", lambda error: log.errors.append(str(error)))
    page.on("response", lambda answer: answer.status >= 400 and log.refusals.add(answer.status))
    return log


@pytest.fixture
def ask(servers):
    """Asks a server without its page."""

    def ask(method, path, *, server="pictures", files=(), **settings):
        sent = [("files", (Path(name).name, Path(name).read_bytes())) for name in files]
        answer = httpx.request(
            method,
            servers.address(server).rstrip("/") + path,
            files=sent or None,
            params=settings,
            timeout=60,
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    return ask


def pytest_collection_modifyitems(items):
    """All tests of this folder need a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
