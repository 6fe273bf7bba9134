"""Rows of numbers: typed, or from a file; and what a server with nothing beside its space says."""

import numpy as np
from playwright.sync_api import expect


def test_typed_numbers_are_named(visit):
    page = visit("classify", server="points")
    page.get_by_role("button", name="Items to name: Type numbers").click()
    numbers = page.get_by_label("Numbers, with commas")
    numbers.fill("0,1 x")
    page.get_by_role("button", name="Use these numbers").click()
    expect(page.get_by_role("alert")).to_contain_text('"x" is not a number')
    numbers.fill("0.1, 2")
    page.get_by_role("button", name="Use these numbers").click()
    expect(page.get_by_role("article").locator(".named")).to_have_text("up")
    expect(page.get_by_role("img", name="2 numbers, from 0.100 to 2.00").first).to_be_visible()


def test_a_file_of_numbers_is_named(visit, tmp_path):
    np.save(tmp_path / "point.npy", np.array([3.0, 0.5]))
    page = visit("classify", server="points")
    page.get_by_label("Items to name: choose").set_input_files(tmp_path / "point.npy")
    expect(page.get_by_role("article").locator(".named")).to_have_text("right")


def test_a_wrong_count_is_the_sentence_of_the_server(visit):
    page = visit("classify", server="points", expected=[400])
    page.get_by_role("button", name="Items to name: Type numbers").click()
    page.get_by_label("Numbers, with commas").fill("1 2 3")
    page.get_by_role("button", name="Use these numbers").click()
    expect(page.get_by_role("alert")).to_be_visible()


def test_without_a_gallery_the_page_says_how_to_make_one(visit):
    page = visit("search", server="points")
    expect(page.locator(".empty")).to_contain_text("samekind index build SPACE FOLDER --out INDEX")
    page.get_by_role("link", name="Map").click()
    expect(page.locator(".empty")).to_contain_text("samekind serve SPACE --index INDEX")
