"""The page about groups: what it says and what it shows."""

import re
from collections import Counter

import pytest
import torch

from samekind.inference.cluster import Groups
from samekind.reports import groups_page
from samekind.reports.groups_page import Grouped, write_groups_page


def grouped_items(count=12, **more):
    draw = torch.Generator().manual_seed(0)
    assigned = torch.arange(count) % 3
    centres = torch.tensor([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    arguments = {
        "inputs": torch.randint(256, (count, 1, 4, 4), generator=draw, dtype=torch.uint8),
        "z": centres[assigned] + 0.1 * torch.randn(count, 2, generator=draw),
        "ids": [f"pictures/{place}.png" for place in range(count)],
        "labels": [None] * count,
        "groups": Groups(assigned, centres),
    }
    return Grouped(**arguments | more)


@pytest.fixture
def written(tmp_path):
    def write(grouped):
        write_groups_page(tmp_path / "page.html", grouped, title="Groups in <here>")
        return (tmp_path / "page.html").read_text(encoding="utf-8")

    return write


def test_every_group_has_its_size_and_its_pictures(written):
    page = written(grouped_items())
    assert "<h1>Groups in &lt;here&gt;</h1>" in page
    assert "12 items in 3 groups, found without labels." in page
    assert re.findall(r"<h3>(Group \d)</h3><p>(\d+) items</p>", page) == [
        (f"Group {n}", "4") for n in (1, 2, 3)
    ]
    assert page.count('src="data:image/png;base64,') == 12
    assert "<h2>How many groups</h2>" not in page


def test_the_pictures_nearest_to_the_centre_come_first(written, monkeypatch):
    monkeypatch.setattr(groups_page, "SHOWN", 2)
    grouped = grouped_items()
    shown = re.findall(r'title="pictures/(\d+)\.png"', written(grouped))
    distances = (grouped.z - grouped.groups.centres[grouped.groups.assigned]).norm(dim=1)
    expected = [
        place
        for group in range(3)
        for place in sorted(range(group, 12, 3), key=lambda place: float(distances[place]))[:2]
    ]
    assert [int(value) for value in shown] == expected


def test_labels_are_counted_in_each_group(written):
    labels = ["cat", "dog", None, "cat", "dog", None, "cat", "cow", None, "<x>", "dog", None]
    page = written(grouped_items(labels=labels, agreement={"NMI": 0.5}))
    assert "<p>4 items: cat (3), &lt;x&gt; (1)</p>" in page
    assert "<p>4 items: dog (3), cow (1)</p>" in page
    assert "Agreement with the labels of 8, where 1 is perfect: NMI 0.500." in page


def test_more_labels_than_can_be_read_are_counted_only(written):
    page = written(grouped_items(count=24, labels=[f"label {n}" for n in range(24)]))
    assert "and 3 other labels" in page
    page = written(grouped_items(count=18, labels=[f"label {n}" for n in range(18)]))
    assert page.count("and 1 other label</p>") == 3


def test_a_long_label_is_whole_in_the_tooltip(written):
    labels = ["Rhododendron ferrugineum", "Rhododendron hirsutum", "rose"] * 4
    page = written(grouped_items(labels=labels))
    # The first two begin alike, and are told apart though they are in different groups.
    words = Counter(re.findall(r">([^<>]*)</span></figure>", page))
    assert sorted(words.values()) == [4, 4, 4]
    assert words["rose"] == 4
    assert max(map(len, words)) <= groups_page.LONGEST_NAME
    assert 'title="pictures/0.png: Rhododendron ferrugineum"' in page
    assert 'title="pictures/2.png"' in page


def test_the_numbers_that_were_tried_are_drawn(written):
    page = written(grouped_items(quality={2: 0.3, 3: 0.6, 4: 0.5}))
    assert "<h2>How many groups</h2>" in page


def test_items_that_are_not_pictures_are_listed_by_id(written):
    page = written(grouped_items(inputs=torch.zeros(12, 7), ids=[f"wine.csv, row {n}" for n in range(12)]))
    assert page.count("<li>wine.csv, row ") == 12
    assert "data:image" not in page


def test_many_items_are_drawn_in_part_and_many_groups_not_shown(written, monkeypatch):
    monkeypatch.setattr(groups_page, "MOST_ON_MAP", 5)
    monkeypatch.setattr(groups_page, "MOST_GROUPS", 2)
    page = written(grouped_items())
    assert "Shown are 5 items drawn at random from 12." in page
    assert "1 smaller group is not shown." in page
    assert "Group 3" not in page


def test_one_item_and_an_empty_group_can_be_shown(written):
    page = written(
        grouped_items(
            inputs=torch.zeros(1, 1, 2, 2),
            z=torch.zeros(1, 2),
            ids=["one"],
            labels=[None],
            groups=Groups(torch.tensor([0]), torch.zeros(2, 2)),
        )
    )
    assert "<h3>Group 2</h3><p>0 items</p>" in page
    assert "Map of the items" not in page


def test_the_same_groups_are_the_same_page(written):
    assert written(grouped_items(quality={2: 0.1, 3: 0.2})) == written(
        grouped_items(quality={2: 0.1, 3: 0.2})
    )
