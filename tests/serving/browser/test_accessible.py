"""For everybody: names of controls, headings, landmarks, contrast, small screens, keys."""

import pytest
from playwright.sync_api import expect

VIEWS = ("compare", "search", "classify", "attention", "enrol", "map", "tree", "measures", "threshold")
CONTROLS = {
    "button",
    "link",
    "textbox",
    "searchbox",
    "combobox",
    "slider",
    "checkbox",
    "image",
    "treeitem",
    "tree",
}
#: Text of which the contrast with what lies behind it is less than WCAG 2.2 asks for (AA).
WEAK = """() => {
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (text) => numbers(text).slice(0, 3).map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if ((numbers(colour)[3] ?? 1) === 1) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const weak = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    const style = getComputedStyle(node);
    const words = walker.currentNode.data.trim();
    if (!words || !node.checkVisibility() || node.closest(":disabled, .spoken, noscript, option")) continue;
    const colour = node.closest("svg") ? style.fill : style.color;
    const [more, less] = [light(colour), light(behind(node))].sort((first, second) => second - first);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.6 && style.fontWeight >= 700);
    const contrast = (more + 0.05) / (less + 0.05);
    if (contrast < (large ? 3 : 4.5)) weak.push(`${words}: ${colour} on ${behind(node)}`);
  }
  return weak;
}"""


def nameless(page):
    """Roles of the controls without a name, in the tree that screen readers get."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    return [
        node["role"]["value"]
        for node in nodes
        if not node.get("ignored")
        and node.get("role", {}).get("value") in CONTROLS
        and not node.get("name", {}).get("value", "").strip()
    ]


def settled(page):
    page.wait_for_selector("main section")
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_every_view_has_names_a_heading_landmarks_and_contrast(visit, drawn, colours):
    page = visit("compare", color_scheme=colours, reduced_motion="reduce")
    for view in VIEWS:
        page.evaluate("view => { location.hash = view }", view)
        page.wait_for_selector(f"section.{view}")
        inputs = page.locator("main input[type=file]")
        for place in range(inputs.count()):
            inputs.nth(place).set_input_files(drawn(place))
        settled(page)
        assert nameless(page) == [], view
        assert page.locator("h1").count() == 1
        assert page.evaluate(WEAK) == [], view
    for landmark in ("banner", "navigation", "main"):
        assert page.get_by_role(landmark).count() == 1
    assert page.locator("html").get_attribute("lang") == "en"


def test_nothing_is_wider_than_a_small_screen(visit, drawn):
    page = visit("compare")
    page.set_viewport_size({"width": 360, "height": 700})
    for view in VIEWS:
        page.evaluate("view => { location.hash = view }", view)
        page.wait_for_selector(f"section.{view}")
        for place in range(inputs.count() if (inputs := page.locator("main input[type=file]")) else 0):
            inputs.nth(place).set_input_files(drawn(place))
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, view
        link = page.locator("#questions [aria-current]").bounding_box()
        assert 0 <= link["x"] <= 360 - link["width"], view


def test_the_page_is_used_by_keys_alone(visit):
    page = visit("compare")
    settled(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the question")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("First item: choose")).to_be_focused()
    outline = page.locator("label.button").first.evaluate("label => getComputedStyle(label).outlineStyle")
    assert outline == "solid"
    page.get_by_role("link", name="Search").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Search")).to_be_focused()
    expect(page.get_by_role("link", name="Search")).to_have_attribute("aria-current", "page")


def test_colours_follow_the_system_until_they_are_chosen(visit):
    page = visit("compare", color_scheme="dark")
    settled(page)
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    page.get_by_label("Colours").select_option("light")
    assert page.evaluate(paper) != dark
    page.reload()
    settled(page)
    assert page.evaluate(paper) != dark
    page.get_by_label("Colours").select_option("system")
    assert page.evaluate(paper) == dark
