"""samekind attack: one screen, JSON, and a folder of attacked items."""

import json


def test_one_screen_with_the_checks(samekind, trained, folders, tmp_path):
    answer = samekind(
        "attack", trained, folders, "--eps", "32/255", "--steps", 5, "--limit", 12, "--to", tmp_path / "out"
    )
    assert answer.status == 0, answer.err
    assert "epsilon 32/255 in the range of a pixel, 0 to 1" in answer.out
    for words in (
        "Named rightly",
        "more steps",
        "larger epsilon",
        "random search",
        "transfer",
        "huge epsilon",
    ):
        assert words in answer.out
    assert "12 items of unknown classes were left out" in answer.out
    assert len(answer.out.splitlines()) <= 24
    assert (tmp_path / "out" / "attacked.csv").is_file()
    assert len(list((tmp_path / "out").rglob("*.png"))) == 12


def test_json_of_the_test_items_by_another_head(samekind, trained):
    answer = samekind(
        "attack", trained, "--eps", "0.2", "--steps", 3, "--limit", 20, "--head", "auxiliary", "--json"
    )
    assert answer.status == 0, answer.err
    content = json.loads(answer.out)
    assert (content["head"], content["items"], content["epsilon"]) == ("auxiliary", 20, 0.2)
    assert content["adversarial accuracy"] <= content["accuracy"]
    assert len(content["soundness"]["checks"]) == 5


def test_an_unsound_attack_says_so(samekind, trained):
    """A single random square breaks fewer items than examples that were made for raw inputs."""
    answer = samekind("attack", trained, "--eps", "64/255", "--method", "square", "--steps", 1, "--limit", 60)
    assert "transfer        FAILED" in answer.out
    assert "is not a measure of robustness (transfer)" in answer.err


def test_mistakes_are_one_line(samekind, trained, folders):
    for arguments, message in (
        (["--eps", "8:255"], "a fraction such as 8/255"),
        (["--norm", "linfty"], 'there is no norm "linfty"'),
        (["--method", "pdg"], 'there is no attack "pdg"'),
        (["--head", "dense"], 'this space has no head "dense"'),
        (["--fixed", "age"], "only the columns of a table"),
    ):
        answer = samekind("attack", trained, folders, *arguments)
        assert answer.status == 2
        assert message in answer.err
        assert len(answer.err.strip().splitlines()) == 1
