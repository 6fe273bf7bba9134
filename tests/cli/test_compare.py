"""samekind compare: two files, one answer."""

import json
import math

import numpy
import pytest
import torch
from PIL import Image

from samekind.inference import embed_files
from samekind.space import MetricSpace


@pytest.fixture
def compare(samekind, trained, pictures):
    def ask(one, other, *more):
        return samekind("compare", pictures / one, pictures / other, "--space", trained, *more)

    return ask


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [("similarity", "0.png", "1.png"), ("cosine", "0.png", "0.png"), ("fused", "1.png", "0.png")],
)
def test_compares_the_score_with_the_threshold(compare, trained, pictures, kind, one, other):
    answer = compare(one, other, "--kind", kind, "--json")
    assert (answer.status, answer.err) == (0, "")
    content = json.loads(answer.out)
    assert content.keys() == {
        *("same", "score", "threshold", "probability", "kind", "point"),
        *("false_accepts", "false_accept_interval", "false_rejects"),
    }
    space = MetricSpace.load(trained / "space")
    decision = space.decisions[kind]
    z = embed_files(space, [pictures / one, pictures / other])
    with torch.no_grad():
        score = float(space.score(z[:1], z[1:], kind=kind))
    slope, offset = decision.calibration
    assert content["score"] == pytest.approx(score)
    assert content["threshold"] == decision.threshold
    assert content["same"] is (score >= decision.threshold)
    assert content["probability"] == pytest.approx(1 / (1 + math.exp(-(slope * score + offset))), abs=1e-6)
    assert (content["kind"], content["point"]) == (kind, "eer")


def test_a_picture_is_the_same_as_itself(compare):
    content = json.loads(compare("0.png", "0.png", "--json").out)
    answer = compare("0.png", "0.png")
    assert content["same"] is True
    assert answer.out == (
        f"same  similarity score {content['score']:.3f}, threshold {content['threshold']:.3f} (eer), "
        f"probability of same {content['probability']:.3f}\n"
    )


def test_what_scores_below_the_threshold_is_different(compare):
    assert compare("0.png", "1.png", "--kind", "cosine").out.startswith("different  cosine score ")


def test_a_picture_of_another_size_and_an_array_are_read_too(compare, pictures, tmp_path):
    with Image.open(pictures / "0.png") as picture:
        picture.resize((24, 24), Image.Resampling.NEAREST).convert("RGB").save(tmp_path / "large.png")
        numpy.save(tmp_path / "0.npy", numpy.asarray(picture)[None])
    exact = json.loads(compare("0.png", tmp_path / "0.npy", "--json").out)
    itself = json.loads(compare("0.png", "0.png", "--json").out)
    assert exact == itself
    assert compare("0.png", tmp_path / "large.png").status == 0


def test_the_space_itself_will_do(samekind, trained, pictures):
    files = (pictures / "0.png", pictures / "1.png")
    of_run, of_space = (
        samekind("compare", *files, "--space", folder) for folder in (trained, trained / "space")
    )
    assert of_run == of_space


def test_another_prior_moves_the_probability_and_nothing_else(compare):
    even = json.loads(compare("0.png", "1.png", "--kind", "cosine", "--json").out)
    rare = json.loads(compare("0.png", "1.png", "--kind", "cosine", "--prior", "0.1", "--json").out)
    odds = [content.pop("probability") for content in (even, rare)]
    assert even == rare
    even_odds, rare_odds = (chance / (1 - chance) for chance in odds)
    assert rare_odds == pytest.approx(even_odds / 9, rel=1e-3)
    refused = compare("0.png", "1.png", "--prior", "1.5")
    assert refused.status == 2
    assert refused.err == "samekind: expected a prior between 0 and 1, got 1.5\n"
