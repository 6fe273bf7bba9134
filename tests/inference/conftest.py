"""Blocks of a few pairs, so that small tests walk through many of them."""

import importlib

import pytest


@pytest.fixture
def memory_budget(request, monkeypatch):
    """The default budget in bytes: 1, unless a test names others as the parameter."""
    blocks = importlib.import_module(
        "samekind.similarities.blocks"
    )  # the package has the function by this name
    budget = getattr(request, "param", 1)
    if budget is not None:
        monkeypatch.setattr(blocks, "MEMORY_BUDGET", {"cpu": budget, "other": budget})
    return budget
