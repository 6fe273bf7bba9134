"""The options that several commands share."""

import json

import pytest

from samekind.cli.options import LARGEST_SEED


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
        ("compare", ["similarity"]),
    ],
)
def test_the_help_tells_the_defaults(samekind, command, defaults, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    page = samekind(command, "--help").out
    for default in defaults:
        assert f"[default: {default}]" in page or f"[default: ({default})]" in page


def test_kmeans_takes_the_largest_seed_and_none_above():
    from sklearn.cluster import KMeans

    points = [[0.0], [1.0]]
    KMeans(n_clusters=2, n_init=1, random_state=LARGEST_SEED).fit(points)
    with pytest.raises(ValueError, match="random_state"):
        KMeans(n_clusters=2, n_init=1, random_state=LARGEST_SEED + 1).fit(points)
