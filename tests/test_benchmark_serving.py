"""The load test of the server: its requests are whole, and its ratios are medians over turns."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "benchmarks" / "serving.py"


@pytest.fixture(scope="module")
def serving():
    spec = importlib.util.spec_from_file_location("benchmark_serving", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(turn, system, rate):
    figures = {"p50 ms": 1.0, "p99 ms": 1 / rate, "processor ms a request": 2.0}
    return {"turn": turn, "connections": 4, "system": system, "requests a second": rate, **figures}


def test_ratios_are_those_of_one_turn(serving):
    """A turn in which the machine was slow counts as much as any other."""
    rates = {"together": (20.0, 2.0, 30.0), "alone": (10.0, 1.0, 10.0)}
    rows = [row(turn, system, rate) for system in rates for turn, rate in enumerate(rates[system])]
    [answer] = serving.ratios(rows, ["together", "alone"], [4])
    assert answer["requests a second / alone"] == 2
    assert answer["p99 ms / alone"] == 0.5
    assert answer["requests a second, together"] == 20


def test_a_request_is_whole(serving):
    heading, _, content = serving.request_for("/enroll", {"name": "seven"}).partition(b"\r\n\r\n")
    length = int(heading.partition(b"Content-Length: ")[2])
    assert length == len(content)
    assert b'name="name"\r\n\r\nseven\r\n' in content
    assert serving.picture() in content
