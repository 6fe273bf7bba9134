"""What is in the data, and what training would do with it."""

import pytest

from samekind.questions import check
from samekind.recipes.plans import read_plan


@pytest.fixture
def table(tmp_path):
    """A table of numbers: two classes, nine rows each."""
    rows = [f"{place},{place % 2},{'ab'[place % 2]}" for place in range(18)]
    path = tmp_path / "numbers.csv"
    path.write_text("\n".join(["x,y,label", *rows, ""]))
    return path


def test_tells_what_is_there_and_what_training_would_do(table):
    answer = check(read_plan("triplet", ["epochs=2"], source=str(table)))
    assert (answer.errors, answer.examination.classes) == ((), {"a": 9, "b": 9})
    assert (answer.training.encoder, answer.training.epochs, answer.training.shape) == ("MLP", 2, (2,))
    assert sum(answer.training.items.values()) == 18
    assert answer.warnings[-1].endswith("; 200 epochs make it long enough")
    assert answer.enough_epochs == 200
    content = answer.to_json()
    assert list(content)[-5:] == ["warnings", "errors", "enough epochs", "training", "sizes"]
    assert content["training"]["recipe"] == "triplet"


def test_tells_what_training_would_refuse(table):
    answer = check(read_plan("triplet", ["batches.name=balanced", "batches.classes=5"], source=str(table)))
    assert len(answer.errors) == 1
    assert (answer.training, answer.to_json()["training"]) == (None, None)
