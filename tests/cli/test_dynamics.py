"""samekind dynamics: two folders, one table."""

import json

import pytest

from samekind.training import Record

KEYS = ("norm_ratio", "con_alpha", "div_alpha", "con_div")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Two folders with records, and one without dynamics."""
    monkeypatch.chdir(tmp_path)
    for name, factor in (("softmax", 0.97), ("ratio", 0.99)):
        for epoch in range(1, 9):
            values = [round(factor + 0.001 * epoch, 6)]
            entry = {"steps": [100 * epoch], **dict.fromkeys(KEYS, values)}
            Record(tmp_path / name / "record.jsonl").add(
                {"epoch": epoch, "step": 100 * epoch, "dynamics": entry}
            )
    Record(tmp_path / "plain" / "record.jsonl").add({"epoch": 1, "step": 100})
    return tmp_path


@pytest.mark.usefixtures("runs")
def test_the_table_has_means_shares_and_p_values(samekind):
    answer = samekind("dynamics", "softmax", "ratio")
    assert answer.status == 0
    assert answer.out.splitlines()[:2] == ["A: softmax, 8 steps", "B: ratio, 8 steps"]
    ratio, con, div, _ = answer.out.splitlines()[-4:]
    assert ratio.split() == ["norm", "ratio", "0.97450", "0.99450", "0.00016"]
    assert con.split() == ["con-alpha", "0.97450", "0.99450", "0.00016", "100.0%", "100.0%", "1.00000"]
    assert div.split()[4:6] == ["0.0%", "0.0%"]
    assert "p-values are smaller than they should be" in answer.err


def test_json_and_a_picture(samekind, runs):
    answer = samekind("dynamics", "softmax", "ratio", "--plot", "steps.png", "--json")
    assert (answer.status, answer.err) == (0, "")
    content = json.loads(answer.out)
    assert (content["runs"], content["steps"], content["picture"]) == (
        ["softmax", "ratio"],
        [8, 8],
        "steps.png",
    )
    assert content["measures"]["con_alpha"]["first_mean"] == pytest.approx(0.9745, abs=1e-5)
    assert (runs / "steps.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("folder", "says"),
    [
        ("nowhere", "there is no folder nowhere; samekind train makes the folder of a run"),
        ("plain", "plain has no record of its dynamics; train it with dynamics=100 (samekind train --set …"),
    ],
)
def test_a_folder_without_dynamics_is_refused(samekind, folder, says):
    answer = samekind("dynamics", "softmax", folder)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("samekind: " + says.removesuffix("…"))
