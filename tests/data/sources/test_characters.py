"""The drawn characters: what is in the package, and what a name with alphabets opens."""

from importlib.resources import files

import pytest
import torch

import samekind
from samekind.data import branches_of, characters
from samekind.errors import DataError


def test_all_drawings_are_there():
    items = characters()
    assert items.inputs.shape == (32460, 1, 28, 28)
    assert items.inputs.dtype == torch.uint8
    assert items.inputs.unique().tolist() == [0, 255]
    assert torch.equal(items.labels.bincount(), torch.full((1623,), 20))
    assert len(branches_of(items.classes)) == 50
    assert (items.classes[0], items.classes[963]) == (
        "Alphabet_of_the_Magi/01",
        "Tifinagh/55",
    )


def test_no_drawing_is_empty_and_ink_is_a_tenth():
    ink = (characters().inputs > 0).flatten(1).float().mean(1)
    assert ink.min() > 0
    assert 0.08 < ink.mean() < 0.12


def test_people_are_domains_and_each_has_a_hand_of_their_own():
    """Within an alphabet a number is one person: of the ink that differs between drawings of a character,
    more is explained by who drew it than chance would explain.
    """
    items = characters()
    assert torch.equal(items.domains, torch.arange(20).repeat(1623))
    assert items.domain_names[:2] == ("person 1", "person 2")
    assert items.ids[20 * 963 + 6] == "Tifinagh/55, person 7"
    ink = (items.inputs > 0).float().mean((1, 2, 3)).view(1623, 20)
    ink = ink - ink.mean(1, keepdim=True)
    in_order = [class_.partition("/")[0] for class_ in items.classes]
    by_person = sum(
        (ink[[name == alphabet for name in in_order]].mean(0) ** 2).sum() for alphabet in set(in_order)
    )
    assert by_person / 50 / (ink**2).sum(1).mean() > 0.3  # 0.03 for shuffled numbers


def test_the_copy_is_small_and_has_its_licence_and_citation():
    folder = files("samekind.data").joinpath("omniglot")
    assert len(folder.joinpath("characters.npz").read_bytes()) < 2_000_000
    assert "Brenden Lake" in folder.joinpath("LICENSE").read_text()
    assert "350(6266)" in folder.joinpath("README.md").read_text()


def test_a_name_may_choose_alphabets_and_characters():
    items = samekind.open_data("characters/Greek,Hebrew/02")
    assert len(items.classes) == 25
    assert set(branches_of(items.classes)) == {"Greek", "Hebrew"}
    assert items.source.name == "characters/Greek,Hebrew/02"
    assert len(samekind.open_data("digits/7,9").classes) == 2


def test_an_unknown_alphabet_is_refused_with_the_nearest():
    with pytest.raises(DataError, match='has no class "Grek"; did you mean "Greek"'):
        samekind.open_data("characters/Grek")


def test_a_folder_goes_before_a_choice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "characters" / "Greek").mkdir(parents=True)
    with pytest.raises(DataError, match="no pictures"):
        samekind.open_data("characters/Greek")
