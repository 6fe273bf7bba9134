"""The benchmark of attacks: everybody says which of the same pictures are wrong; the page has its table."""

import importlib.util
from argparse import Namespace
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("benchmark_attacks", ROOT / "benchmarks/attacks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.EPOCHS = 1
    return module


@pytest.fixture(scope="module")
def task(benchmark):
    with torch.random.fork_rng():
        return benchmark.task("small", 8, "cpu", only_right=False)


def test_every_side_answers_and_is_timed(benchmark, task, capsys):
    """foolbox is a peer of the tests; torchattacks takes part where it is installed."""
    peers = [name for name in ("foolbox", "torchattacks") if benchmark.installed(name)]
    arguments = Namespace(steps=2, repeats=1, device="cpu")
    figures = benchmark.show_rates(task, peers, arguments)
    assert list(figures) == ["PGD, as the others", "PGD, as it is", "CW, one weight", "CW, five searches"]
    for sides in figures.values():
        assert all(side["pictures_a_second"] > 0 for side in sides.values())
        assert sides["samekind"]["wrong"] is not None
    assert ("foolbox" in figures["CW, five searches"]) == ("foolbox" in peers)
    assert "PGD, as it is" in capsys.readouterr().out


def test_the_pass_that_judges_is_added_for_who_leaves_it_out(benchmark, task):
    alone = lambda: benchmark.Answer(task.x)  # noqa: E731
    answer = benchmark.judged(task, alone)()
    assert torch.equal(answer.wrong, task.model(task.x).argmax(1) != task.labels)


def test_a_change_is_infinite_where_the_answer_is_right(benchmark, task):
    right = task.model(task.x).argmax(1) == task.labels
    rows = right.nonzero()[:, 0]
    some = benchmark.Task(task.model, task.x[rows], task.labels[rows])
    assert benchmark.median_change(some, some.x, "l2") == float("inf")


def test_the_page_has_the_table_of_what_is_stored(benchmark):
    assert benchmark.table(benchmark.RESULTS) in (ROOT / "docs/attacks.md").read_text(encoding="utf-8")


def test_points_without_chance_are_those_of_the_peers(benchmark, task):
    """ART is compared by the benchmark alone."""
    peers = [name for name in ("foolbox", "torchattacks") if benchmark.installed(name)]
    right = (task.model(task.x).argmax(1) == task.labels).nonzero()[:, 0]
    some = benchmark.Task(task.model, task.x[right], task.labels[right])
    figures = benchmark.show_points(some, peers, Namespace(steps=4))
    assert list(figures) == ["FGSM, linf", "PGD, linf", "FGSM, l2", "PGD, l2"]
    assert all(difference < 1e-6 for sides in figures.values() for difference in sides.values())
