"""Attention: the picture, and what speaks for its class beside it."""

import re

from playwright.sync_api import expect


def test_the_overlay_stands_beside_the_picture(visit, drawn):
    page = visit("attention")
    page.get_by_label("Picture: choose").set_input_files(drawn(2))
    overlay = page.get_by_alt_text("Where the network looks")
    expect(overlay).to_be_visible()
    assert overlay.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    expect(page.locator(".answer .named")).to_have_text(re.compile(r"^It was taken for [012346]\.$"))


def test_a_space_without_pictures_says_so(visit):
    page = visit("attention", server="points")
    expect(page.locator(".empty")).to_contain_text("Not for this space")
