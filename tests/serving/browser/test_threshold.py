"""The threshold: both errors move as one drags, and it is saved as the decision."""

import re

from playwright.sync_api import expect


def share(page, name):
    return float(re.sub(r"[^\d.]", "", page.locator(f".figure.{name} b").inner_text()))


def saved(page):
    """Save the threshold that is shown; returns the decision's."""
    page.get_by_role("button", name="Save as the decision").click()
    with page.expect_response("**/decision*") as answered:
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
    return answered.value.json()["threshold"]


def test_errors_move_against_each_other_and_the_threshold_is_saved(visit, ask):
    page = visit("threshold")
    slider = page.get_by_role("slider", name="Threshold")
    expect(slider).to_be_visible()
    before = share(page, "accepts"), share(page, "rejects")
    slider.focus()
    for _ in range(8):
        page.keyboard.press("PageUp")
    strict = share(page, "accepts"), share(page, "rejects")
    assert strict[0] < before[0]
    assert strict[1] > before[1]
    kind = ask("GET", "/tradeoff")["kind"]
    page.get_by_role("button", name="1 % accepted wrongly", exact=True).click()
    assert share(page, "accepts") <= 1
    few = saved(page)
    expect(page.locator(".done")).to_contain_text(f"is now {few:.3f}")
    assert ask("GET", "/info")["decisions"][kind]["threshold"] == few
    page.get_by_role("button", name="Equal errors").click()
    assert saved(page) < few
    assert ask("GET", "/info")["decisions"][kind]["threshold"] < few


def test_without_a_threshold_the_page_says_how_to_fit_one(visit):
    page = visit("threshold", server="points")
    expect(page.locator(".empty")).to_contain_text("samekind calibrate SPACE FOLDER")
    page.get_by_role("link", name="Compare two").click()
    expect(page.locator(".empty")).to_contain_text("samekind calibrate SPACE FOLDER")
