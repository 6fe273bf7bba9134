"""Search: a grid of the nearest, with pictures and scores."""

from playwright.sync_api import expect


def test_the_nearest_are_shown_with_pictures_and_scores(visit, drawn, ask):
    page = visit("search")
    page.get_by_label("The item to look for: choose").set_input_files(drawn(6, 2))
    matches = page.locator(".match")
    expect(matches).to_have_count(12)
    answer = ask("POST", "/search", files=[drawn(6, 2)], k=12)["queries"][0]["found"]
    assert [matches.nth(place).locator(".id").get_attribute("title") for place in range(12)] == [
        match["id"] for match in answer
    ]
    expect(matches.first).to_contain_text(f"{answer[0]['score']:.3f}")
    expect(matches.first.locator("img")).to_be_visible()
    assert matches.first.locator("img").evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    page.get_by_text("Settings").click()
    page.get_by_label("How many to show").select_option("24")
    expect(matches).to_have_count(24)
