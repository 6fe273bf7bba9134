"""Items attacked through one head, and written to a folder."""

import csv
import json

import pytest
import torch
from PIL import Image

from samekind.data import Items, TableReader, digits, prepare
from samekind.encoders import MLP, Standardised
from samekind.errors import SettingError, SpaceError
from samekind.inference import settle
from samekind.prototypes import SupportMeans
from samekind.questions.attack import METHODS, AttackSettings, attack, write_attacked
from samekind.similarities import Euclidean
from samekind.space import MetricSpace


def space_of(encoder, sets):
    space = MetricSpace(encoder, Euclidean(), SupportMeans(dimension=encoder.dimension))
    settle(space, sets.train, sets.validation)
    return space


@pytest.fixture(scope="module")
def pictures(few_draws):
    sets = prepare(digits().take(torch.arange(300)), seed=0)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return space_of(MLP(inputs=64, hidden=[32], dimension=16), sets), sets.test


@pytest.fixture(scope="module")
def rows(few_draws):
    """A table: a whole number that says the class, and a share that says it, too."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(90) % 3
    years = (30.0 + 20 * labels + 4 * torch.randn(90, generator=generator)).round()
    shares = 0.2 * labels + 0.05 * torch.rand(90, generator=generator)
    reader = TableReader(columns=("years", "share"))
    items = Items(torch.stack([years, shares], 1), labels, ("a", "b", "c"), "people", reader=reader)
    sets = prepare(items, seed=0)
    encoder = Standardised(
        encoder=MLP(inputs=2, hidden=[16], dimension=8), means=[50, 0.2], deviations=[17, 0.17]
    )
    return space_of(encoder, sets), items


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_pictures_are_broken_and_written(pictures, tmp_path):
    space, items = pictures
    answer = attack(space, items, AttackSettings(0.3, steps=10, limit=12))
    content = json.loads(json.dumps(answer.to_json()))
    assert content["items"] == 12
    assert content["adversarial accuracy"] < content["accuracy"]
    assert content["broken"] == sum(answer.broken) > 0
    assert float(answer.distance.max()) <= 0.3 + 1e-6
    write_attacked(tmp_path / "out", answer)
    written = read(tmp_path / "out" / "attacked.csv")
    assert [row["named after"] for row in written] == list(answer.after)
    for row, attacked in zip(written, answer.attacked, strict=True):
        assert row["picture"].startswith(f"{row['label']}/")
        with Image.open(tmp_path / "out" / row["picture"]) as picture:
            assert picture.size == (8, 8)
            assert max(abs(picture.getpixel((0, 0)) - 255 * float(attacked[0, 0, 0])), 0) <= 0.51
    write_attacked(tmp_path / "out", answer)  # earlier ones are replaced
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").touch()
    with pytest.raises(SettingError, match="holds something other"):
        write_attacked(tmp_path / "other", answer)


def test_rows_keep_whole_numbers_ranges_and_fixed_columns(rows, tmp_path):
    space, items = rows
    answer = attack(space, items, AttackSettings(1.5, norm="l2", steps=10, limit=40))
    assert answer.unit == "in standard deviations of a column"
    assert torch.equal(answer.attacked[:, 0], answer.attacked[:, 0].round())
    assert sum(answer.broken) > 5
    assert float(answer.attacked.amin()) >= float(items.inputs.amin())
    write_attacked(tmp_path / "rows", answer)
    written = read(tmp_path / "rows" / "attacked.csv")
    assert [float(row["years"]) for row in written] == answer.attacked[:, 0].tolist()
    fixed = attack(space, items, AttackSettings(1.5, norm="l2", steps=10, limit=40, fixed=("share",)))
    assert torch.equal(fixed.attacked[:, 1], fixed.clean[:, 1])
    assert not torch.equal(fixed.attacked, fixed.clean)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_attacks(rows, method):
    answer = attack(rows[0], rows[1], AttackSettings(2.0, steps=5, limit=20, method=method))
    assert answer.curve.rows[1].value < answer.curve.rows[0].value


def test_what_is_not_there_is_named(pictures):
    with pytest.raises(SettingError, match=r'no attack "pdg"; .*pgd'):
        attack(*pictures, AttackSettings(0.1, method="pdg"))
    with pytest.raises(SpaceError, match='no head "auxiliary"'):
        attack(*pictures, AttackSettings(0.1, head="auxiliary"))
