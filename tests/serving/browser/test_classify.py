"""Which class: several items at once, none of these, and groups of the tree."""

import pytest
from playwright.sync_api import expect


@pytest.fixture
def scored(pictures, ask):
    """All pictures by the score of their class, the lowest first."""
    paths = sorted(map(str, pictures.rglob("*.png")))
    scores = []
    for start in range(0, len(paths), 48):
        items = ask("POST", "/classify", files=paths[start : start + 48])["items"]
        scores += [item["score"] for item in items]
    return [path for _, path in sorted(zip(scores, paths, strict=True))]


def test_the_best_classes_have_bars_and_the_unknown_none(visit, scored, ask):
    page = visit("classify")
    chosen = [scored[-1], scored[0]]
    page.get_by_label("Items to name: choose").set_input_files(chosen)
    cards = page.get_by_role("article")
    expect(cards).to_have_count(2)
    known, unknown = ask("POST", "/classify", files=chosen)["items"]
    expect(cards.nth(0).locator(".named")).to_have_text(known["class"])
    assert cards.nth(0).locator(".bars li").count() == 5
    expect(cards.nth(0).locator(".bars li").first).to_contain_text(known["best"][0]["class"])
    assert unknown["class"] is None
    expect(cards.nth(1).locator(".named")).to_have_text("None of these")


def test_a_level_names_groups(visit, scored, ask):
    page = visit("classify")
    page.get_by_label("Items to name: choose").set_input_files(scored[-1])
    page.get_by_label("How sure").select_option("0.99")
    item = ask("POST", "/classify", files=scored[-1:], level=0.99)["items"][0]
    assert item["inner"]
    expect(page.get_by_role("article").locator(".named")).to_contain_text(
        f"{item['class']} a group of classes"
    )
