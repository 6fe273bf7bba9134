"""A small space of pictures with a gallery, one of points, and clients of servers that serve them."""

import io
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import httpx
import numpy as np
import pytest
import torch
import uvicorn
from PIL import Image

from samekind.data import Collection, ImageReader, Items, VectorReader, digits, scaled
from samekind.encoders import MLP, SmallConvnet
from samekind.index import Exact, space_fingerprint
from samekind.prototypes import SupportMeans
from samekind.questions.calibrate import calibrate
from samekind.questions.galleries import fill
from samekind.serving.app import create_app
from samekind.serving.engine import Decoded
from samekind.serving.opening import open_engine
from samekind.serving.running import listening
from samekind.serving.settings import LOCAL_NAMES, Limits, ServerSettings
from samekind.similarities import Cosine, FixedScale
from samekind.space import MetricSpace

KNOWN = (0, 1, 2, 3)


class Served:
    """A server in a thread of its own, and a client of it."""

    def __init__(self, app):
        listener = listening("127.0.0.1", 0)
        self.port = listener.getsockname()[1]
        config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=5)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)
        self._thread.start()
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=60)
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.01)

    def stop(self):
        self.client.close()
        self._server.should_exit = True
        self._thread.join(30)


def rows_of(digit, count, start=0):
    """The places of some drawings of a digit."""
    return (digits().labels == digit).nonzero().flatten()[start : start + count]


def png_of(digit, place=0):
    """A drawing of a digit as the bytes of a PNG file."""
    pixels = (digits().inputs[rows_of(digit, 1, place)[0]][0] * 255).round().byte().numpy()
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, format="PNG")
    return content.getvalue()


@pytest.fixture(scope="session")
def png():
    return png_of


@pytest.fixture(scope="session")
def saved_space(tmp_path_factory):
    """The folder of a space of drawn digits, not trained, that knows 0 to 3. Not to be changed."""
    torch.manual_seed(0)
    encoder = SmallConvnet(channels=1, size=8, dimension=16)
    reader = ImageReader(height=8, width=8, channels=1)
    similarity = Cosine(scale=FixedScale(10.0))
    space = MetricSpace(encoder, similarity, SupportMeans(dimension=16), reader=reader).eval()
    with torch.no_grad():
        examples = {str(digit): space.embed(scaled(digits().inputs[rows_of(digit, 5)])) for digit in KNOWN}
    space.enroll_classes(examples)
    space.enrolled = []  # as if they had been trained on
    rows = torch.cat([rows_of(digit, 10, 10) for digit in range(10)])
    held_out = Items(digits().inputs[rows], digits().labels[rows], digits().classes, "held-out digits")
    calibrate(space, held_out)
    folder = tmp_path_factory.mktemp("spaces") / "drawn"
    space.save(folder)
    return folder


@pytest.fixture(scope="session")
def saved_gallery(saved_space, tmp_path_factory):
    """The folder of an index of 60 drawings, six of each digit, with thumbnails. Not to be changed."""
    space = MetricSpace.load(saved_space)
    rows = torch.cat([rows_of(digit, 6, 30) for digit in range(10)])
    labels = tuple(str(label) for label in digits().labels[rows].tolist())
    ids = tuple(f"{label}/{place}" for place, label in enumerate(labels))
    index = Exact(16, fingerprint=space_fingerprint(space))
    fill(space, index, Collection(digits().inputs[rows], ids, labels, ()), thumbnails=True)
    folder = tmp_path_factory.mktemp("galleries") / "gallery"
    index.save(folder)
    index.close()
    return folder


@pytest.fixture
def space_folder(saved_space, tmp_path):
    """A copy of the space, to be changed."""
    return shutil.copytree(saved_space, tmp_path / "drawn")


@pytest.fixture
def gallery_folder(saved_gallery, tmp_path):
    return shutil.copytree(saved_gallery, tmp_path / "gallery")


@pytest.fixture
def points_folder(tmp_path):
    """The folder of a space whose items are points of the plane, embedded as they are."""
    encoder = MLP(inputs=2, dimension=2, hidden=[])
    with torch.no_grad():
        encoder.embedding.weight.copy_(torch.eye(2))
        encoder.embedding.bias.zero_()
    prototypes = SupportMeans(["right", "up"], dimension=2)
    prototypes.assign(["right", "up"], torch.eye(2)[:, None])
    similarity = Cosine(scale=FixedScale(10.0))
    space = MetricSpace(encoder, similarity, prototypes, reader=VectorReader(dimension=2)).eval()
    space.save(tmp_path / "points")
    return tmp_path / "points"


@pytest.fixture
def serve(tmp_path):
    """Makes clients of servers of a space's folder; ``serve.stop(client)`` ends one."""
    opened = {}

    def client(folder, *, index=None, state=None, tokens=None, hosts=LOCAL_NAMES, **limits):
        state = state or tmp_path / "state"
        engine = open_engine(folder, state=state, index=index, device="cpu")
        limits.setdefault("rate", "100000/minute")
        settings = ServerSettings(
            tokens=tokens, hosts=hosts, audit=state / "audit.jsonl", limits=Limits(**limits)
        )
        served = Served(create_app(engine, settings))
        opened[served.client] = served
        return served.client

    client.stop = lambda made: opened.pop(made).stop()
    yield client
    for served in opened.values():
        served.stop()


class Program:
    """`samekind serve` as a process of its own, on any free port."""

    def __init__(self, folder, *options):
        command = [
            sys.executable,
            "-m",
            "samekind",
            "serve",
            folder,
            "--port",
            "0",
            "--device",
            "cpu",
            *options,
        ]
        self.process = subprocess.Popen(
            list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.said = ""
        while "Ctrl-C" not in self.said:
            line = self.process.stdout.readline()
            assert line, self.said
            self.said += line
        address = re.search(r"http://\S+:\d+", " ".join(self.said.split()))[0]
        self.client = httpx.Client(base_url=address.replace("0.0.0.0", "127.0.0.1"), timeout=60)

    def wait(self):
        """Until it answers."""
        while True:
            try:
                assert self.client.get("/health").status_code == 200
                return self
            except httpx.TransportError:
                time.sleep(0.05)

    def end(self, how=signal.SIGTERM):
        self.client.close()
        self.process.send_signal(how)
        self.said += self.process.communicate(timeout=60)[0]
        return self.said


@pytest.fixture
def program():
    """Starts `samekind serve` in processes of their own."""
    started = []

    def start(folder, *options):
        started.append(Program(folder, *options))
        return started[-1].wait()

    yield start
    for one in started:
        if one.process.poll() is None:
            one.end(signal.SIGKILL)


class PlainEngine:
    """An engine of points whose vectors are the points; ``batches`` has how many were embedded at a time."""

    medium = "vectors"

    def __init__(self):
        self.batches, self.entered, self.proceed = [], threading.Event(), threading.Event()
        self.proceed.set()
        self.names = ["here"]

    def info(self):
        return {"name": "plain", "endings": [".npy"], "score": float("nan")}

    def read(self, uploads):
        return Decoded(
            tuple(name for name, _ in uploads), tuple(np.frombuffer(content) for _, content in uploads)
        )

    def read_vectors(self, rows):
        return Decoded(tuple(map(str, range(len(rows)))), tuple(np.array(row, np.float64) for row in rows))

    def embed(self, items):
        self.entered.set()
        assert self.proceed.wait(20)
        self.batches.append(len(items))
        if any(len(item) != 2 for item in items):
            raise ValueError("a secret of the inside")
        with np.errstate(over="ignore"):
            return np.stack(items).astype(np.float32)

    def compare(self, z, *, kind, prior):
        score = float(z[0] @ z[1])
        return {"same": score > 0, "score": score, "threshold": 0.0, "kind": kind or "dot"}

    def classes(self):
        return {"classes": [{"name": name, "examples": 1, "enrolled": False} for name in self.names]}

    def close(self):
        self.closed = True


@pytest.fixture
def plain_engine():
    return PlainEngine()


@pytest.fixture
def plain_client(plain_engine):
    """Makes a client of the plain engine."""
    opened = []

    def client(**limits):
        limits.setdefault("rate", "100000/minute")
        served = Served(create_app(plain_engine, ServerSettings(limits=Limits(**limits))))
        opened.append(served)
        return served.client

    yield client
    for served in opened:
        served.stop()
