"""Enrol: a class from examples, usable at once; then renamed and deleted."""

from playwright.sync_api import expect


def test_a_class_is_enrolled_used_renamed_and_deleted(visit, drawn, ask):
    page = visit("enrol")
    enrol = page.get_by_role("button", name="Enrol", exact=True)
    expect(enrol).to_be_disabled()
    page.get_by_label("Name of the class").fill("a five")
    page.get_by_label("choose a picture").set_input_files([drawn(5, place) for place in range(6)])
    enrol.click()
    expect(page.locator(".done")).to_have_text("a five is added, from 6 examples. It can be used now.")
    row = page.get_by_role("row").filter(has_text="a five")
    expect(row).to_contain_text("enrolled")
    expect(page.locator("#about")).to_contain_text("7 classes")

    page.get_by_role("link", name="Which class").click()
    page.get_by_label("Items to name: choose").set_input_files(drawn(5, 0))
    answer = ask("POST", "/classify", files=[drawn(5, 0)])["items"][0]
    assert "a five" in [best["class"] for best in answer["best"]]
    expect(page.locator(".bars")).to_contain_text("a five")

    page.get_by_role("link", name="Enrol a class").click()
    page.get_by_role("button", name="Rename a five").click()
    page.get_by_label("New name").fill("five")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("rowheader", name="five", exact=True)).to_be_visible()
    page.get_by_role("button", name="Delete five").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("rowheader", name="five", exact=True)).to_be_visible()
    page.get_by_role("button", name="Delete five").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("rowheader", name="five", exact=True)).to_have_count(0)
    assert "five" not in [row["name"] for row in ask("GET", "/classes")["classes"]]


def test_a_name_that_is_taken_is_refused_with_a_sentence(visit, drawn):
    page = visit("enrol", expected=[409])
    page.get_by_label("Name of the class").fill("3")
    page.get_by_label("choose a picture").set_input_files(drawn(3))
    page.get_by_role("button", name="Enrol", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("3")
    expect(page.get_by_label("Name of the class")).to_have_value("3")
