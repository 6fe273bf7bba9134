"""The map: drawn, pointed at, lassoed, searched for mistakes, in both colours and by keys."""

import io

import numpy as np
from PIL import Image
from playwright.sync_api import expect


def opened(visit, **settings):
    page = visit("map", **settings)
    page.wait_for_selector(".map-stage[data-drawn]")
    return page


def pixels(page):
    """The canvas as it is seen, (height, width, 3)."""
    content = page.locator(".map-stage canvas").screenshot()
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB")).astype(int)


def coloured(image):
    """Where a dot is drawn: colours, on grey paper."""
    return (image.max(2) - image.min(2)) > 40


def test_dots_are_drawn_and_named(visit):
    page = opened(visit)
    seen = pixels(page)
    assert 0.002 < coloured(seen).mean() < 0.5
    expect(page.get_by_role("list", name="Classes").get_by_role("button")).to_have_count(8)
    rows, columns = coloured(seen).nonzero()
    box = page.locator(".map-stage canvas").bounding_box()
    middle = len(rows) // 2
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.move(box["x"] + int(columns[middle]), box["y"] + int(rows[middle]), steps=4)
    card = page.locator(".map-card")
    expect(card).to_be_visible()
    expect(card.locator("img")).to_be_visible()
    assert card.locator("b").inner_text() in "01234567"


def test_a_lasso_lists_the_items_inside(visit, ask):
    page = opened(visit)
    lasso = page.get_by_role("button", name="Lasso")
    lasso.click()
    expect(lasso).to_have_attribute("aria-pressed", "true")
    box = page.locator(".map-stage canvas").bounding_box()
    left, top, right, bottom = (
        box["x"] + 4,
        box["y"] + 4,
        box["x"] + box["width"] - 4,
        box["y"] + box["height"] - 4,
    )
    page.mouse.move(left, top)
    page.mouse.down()
    for place in ((right, top), (right, bottom), (left, bottom), (left, top + 2)):
        page.mouse.move(*place, steps=6)
    page.mouse.up()
    items = len(ask("GET", "/map")["ids"])
    expect(page.get_by_role("region", name="Chosen items")).to_contain_text(f"{items} items")
    expect(lasso).to_have_attribute("aria-pressed", "false")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the list").click()
    assert len(download.value.path().read_text().splitlines()) == items + 1


def test_mistakes_are_the_items_whose_neighbours_differ(visit, ask):
    page = opened(visit)
    doubt = [value or 0 for value in ask("GET", "/map")["doubt"]]
    wrong = sum(value > 0.5 for value in doubt)
    assert wrong
    page.get_by_role("button", name="Find mistakes").click()
    region = page.get_by_role("region", name="Chosen items")
    expect(region).to_contain_text("Perhaps mislabelled")
    expect(region).to_contain_text(f"{wrong} item")
    expect(region.get_by_role("listitem").first).to_contain_text(f"{round(100 * max(doubt))}")
    region.get_by_role("listitem").first.get_by_role("button").click()
    expect(page.locator(".map-card")).to_be_visible()


def test_one_class_alone_and_colours_by_doubt(visit):
    page = opened(visit)
    many = coloured(pixels(page)).sum()
    page.get_by_role("list", name="Classes").get_by_role("button").first.click()
    page.wait_for_timeout(300)
    assert coloured(pixels(page)).sum() < many / 2
    page.get_by_role("button", name="Show all").click()
    page.get_by_label("Colour by").select_option("doubt")
    page.wait_for_timeout(300)
    assert coloured(pixels(page)).sum() < many


def test_keys_move_and_zoom_and_dark_paper_is_dark(visit):
    page = opened(visit)
    before = pixels(page)
    assert before[3, 3].min() > 200
    page.locator(".map-stage canvas").focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(300)
    assert (pixels(page) != before).any()
    page.keyboard.press("0")
    page.get_by_label("Colours").select_option("dark")
    page.wait_for_timeout(300)
    assert pixels(page)[6, 6].max() < 60


def test_a_browser_without_webgl_says_so(visit):
    page = visit("compare")
    page.add_init_script(
        "const before = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {"
        " return kind === 'webgl' ? null : before.call(this, kind, ...rest); };"
    )
    page.reload()
    page.get_by_role("link", name="Map").click()
    expect(page.get_by_role("alert")).to_contain_text("it needs WebGL")
