"""What every test run shares: the environment before torch starts, Hypothesis' settings, a stand-in for timm.

Nothing is seeded here. Randomness enters the library as a generator, and a test that needs some makes
its own; one seed for all would hide a function that draws from the global generator unasked.
"""

import functools
import importlib
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

# The libraries read these when they are first imported, so they are set before any test is; the tests'
# subprocesses inherit them. A value that is already set wins.
os.environ.setdefault("MPLBACKEND", "Agg")  # no window, no display needed
os.environ.setdefault("OMP_NUM_THREADS", "1")  # pytest runs one process per core: more threads only wait
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")  # see the Makefile

# Temporary files lie in memory where there is room: many tests write small files, and a disk takes
# milliseconds to make each of them durable.
MEMORY, ROOM = Path("/dev/shm"), 4 << 30
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# The same examples in every run, so a failure is about the change at hand; and no failure because the
# machine was busy.
settings.register_profile("samekind", deadline=None, derandomize=True)
settings.load_profile("samekind")


@pytest.fixture(scope="module")
def few_draws():
    """Intervals from a few draws: for tests of whole evaluations that do not look at their width."""
    samples, open_set, trials = (
        importlib.import_module(f"samekind.{name}")
        for name in ("evaluation.samples", "evaluation.open_set", "measures.trial_bootstrap")
    )
    weights = trials.class_weights
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samples, "COMPUTED", 20)
        patch.setattr(open_set, "COMPUTED", 20)
        patch.setattr(samples, "REPLICATES", 100)
        patch.setattr(trials, "class_weights", lambda classes, _, seed: weights(classes, 50, seed))
        yield


@pytest.fixture(scope="module")
def quick_maps():
    """Maps by a quarter of the steps of t-SNE: for tests that do not judge where its dots are."""
    from sklearn import manifold

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifold, "TSNE", functools.partial(manifold.TSNE, max_iter=250))
        yield


@pytest.fixture
def load(request, monkeypatch):
    """A function that imports a module of a study in benchmarks/, as its own command would; the file of the
    test names the study as ``STUDY``.
    """
    folder = Path(__file__).parents[1] / "benchmarks" / request.module.STUDY
    own = {path.stem for path in folder.glob("*.py")} - {"__main__"}
    for place in (folder.parent, folder):
        monkeypatch.syspath_prepend(str(place))

    def forget():
        for name in [name for name in sys.modules if name in own or name.partition(".")[0] == "grids"]:
            monkeypatch.delitem(sys.modules, name)

    forget()
    yield importlib.import_module
    forget()


@pytest.fixture
def timm(monkeypatch):
    """timm, which need not be installed, played by a module with one network, "tiny", for pictures of any
    size; its published weights are all 0.5. What is returned lists whether weights were asked for.
    """
    from torch import nn

    asked = []

    def create_model(name, *, pretrained, num_classes, global_pool=""):
        assert (num_classes, global_pool) == (0, "")
        if name != "tiny":
            raise RuntimeError(f"Unknown model ({name})")
        asked.append(pretrained)
        network = nn.Sequential()
        network.stem = nn.Conv2d(3, 6, 3, padding=1, bias=False)
        network.norm = nn.BatchNorm2d(6)
        network.act = nn.ReLU()
        network.num_features = 6
        if pretrained:
            nn.init.constant_(network.stem.weight, 0.5)
        return network

    library, data = ModuleType("timm"), ModuleType("timm.data")
    library.create_model = create_model
    data.resolve_model_data_config = lambda _: {"mean": (0.5, 0.5, 0.5), "std": (0.25, 0.25, 0.25)}
    monkeypatch.setitem(sys.modules, "timm", library)
    monkeypatch.setitem(sys.modules, "timm.data", data)
    return asked


@pytest.fixture(scope="session")
def known_space():
    """A space of vectors that knows everything a space can know about its scores; no test may change it."""
    import torch

    from samekind.data import VectorReader
    from samekind.decisions import Balance, Choices, Decision, Temperature
    from samekind.encoders import MLP, Standardised
    from samekind.inference.discriminant import fit_discriminant
    from samekind.prototypes import SupportMeans
    from samekind.similarities import Neighbourhood, PairsNetwork, TwoCovariance
    from samekind.space import MetricSpace

    torch.manual_seed(0)
    encoder = Standardised(
        encoder=MLP(inputs=4, dimension=5, hidden=[8]), means=[0.1] * 4, deviations=[2.0] * 4
    )
    similarity = PairsNetwork(dimension=5, hidden=16, depth=2)
    space = MetricSpace(encoder, similarity, SupportMeans(classes=[], dimension=5)).eval()
    space.reader = VectorReader(dimension=4)
    labels = torch.arange(60) % 6
    with torch.no_grad():
        z = encoder(torch.randn(6, 4)[labels] + 0.3 * torch.randn(60, 4))
    for label in range(6):
        space.enroll("abcdef"[label], z[labels == label])
    space.enrolled = ["e", "f"]
    space.fitted = TwoCovariance(dimension=5).fit(z, labels)
    space.normalised = Neighbourhood(similarity, size=60, dimension=5).with_cohort(z)
    trained = labels < 4
    space.discriminant = fit_discriminant(z[trained], labels[trained], tuple("abcd"))
    space.eval()
    for kind in space.kinds:
        space.decisions[kind] = Decision(
            kind,
            0.1,
            "eer",
            "60 items",
            0.02,
            0.03,
            calibration=(2.0, -0.3),
            false_accept_interval=(0.01, 0.04),
        )
    space.open_set = Decision("cosine", 0.99, "eer", "60 items", 0.1, 0.1, calibration=(5.0, -4.0))
    space.temperatures = {"similarity": Temperature(0.4, "60 items", 60)}
    space.balances = {"fused": Balance(0.02, "60 items")}
    space.choices = Choices("fitted", "normalised", "fused", "60 items")
    return space


@pytest.fixture(scope="session")
def exported(known_space, tmp_path_factory):
    """The folder of that space, exported with a gallery of twenty items; no test may change it."""
    import torch

    from samekind.exporting import export_contents, write_export
    from samekind.exporting.writing import GalleryItems

    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    with torch.no_grad():
        z = known_space.embed(torch.randn(20, 4, generator=torch.Generator().manual_seed(5)))
    gallery = GalleryItems(z, [f"item {place}" for place in range(20)], ["a", None] * 10)
    contents = export_contents(
        known_space, name="known", gallery=gallery, tradeoffs={"cosine": {"kind": "cosine"}}
    )
    folder = tmp_path_factory.mktemp("exported") / "known"
    write_export(contents, folder, lambda _: None)
    return folder
