"""The tree of the classes: opened and closed by mouse and by keys."""

from playwright.sync_api import expect


def test_keys_walk_through_the_tree(visit):
    page = visit("tree")
    tree = page.get_by_role("tree", name="Tree of the classes")
    expect(tree.get_by_role("treeitem", name="curved, 3 classes")).to_be_visible()
    leaves = tree.locator("text")
    assert leaves.all_text_contents() == ["0", "6", "1", "4", "7", "2", "3", "5"]
    tree.get_by_role("treeitem").first.focus()
    page.keyboard.press("ArrowRight")  # the root is open: to its first group
    expect(tree.locator(":focus")).to_have_attribute("aria-label", "round, 2 classes")
    page.keyboard.press("ArrowLeft")
    expect(tree.locator(":focus")).to_have_attribute("aria-expanded", "false")
    assert leaves.all_text_contents() == ["round (2)", "1", "4", "7", "2", "3", "5"]
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    expect(tree.locator(":focus")).to_have_attribute("aria-label", "5")


def test_buttons_open_and_close_all_groups(visit):
    page = visit("tree")
    page.get_by_role("button", name="Close all").click()
    assert page.locator("svg[role=tree] text").all_text_contents() == ["round (2)", "tall (3)", "curved (3)"]
    page.get_by_role("treeitem", name="tall, 3 classes").click()
    assert page.locator("svg[role=tree] text").all_text_contents() == [
        "round (2)",
        "1",
        "4",
        "7",
        "curved (3)",
    ]
    page.get_by_role("button", name="Open all").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as Newick").click()
    assert download.value.path().read_text().strip().endswith(";")
