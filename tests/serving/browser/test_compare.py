"""Compare two: dropped, chosen, or taken with the camera."""

from pathlib import Path

from playwright.sync_api import expect

DROP = """([place, files]) => {
  const data = new DataTransfer();
  for (const [name, bytes] of files) data.items.add(new File([new Uint8Array(bytes)], name));
  const target = document.querySelectorAll(".picker")[place];
  target.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def drop(page, place, *paths):
    page.evaluate(DROP, [place, [[Path(path).name, [*Path(path).read_bytes()]] for path in paths]])


def test_two_files_dropped_at_once_are_compared(visit, drawn):
    page = visit("compare")
    page.wait_for_selector(".picker")
    drop(page, 0, drawn(3), drawn(3))
    expect(page.locator(".verdict-words")).to_have_text("The same kind")
    expect(page.locator(".verdict")).to_contain_text("probability of the same kind")
    expect(page.locator("#spoken")).to_contain_text("The same kind. Probability")
    curves = page.get_by_role("figure").filter(has=page.locator(".chart"))
    assert curves.count() == 2
    assert page.locator(".pair-dot").count() == 2
    assert page.locator(".threshold-dot").count() == 1


def test_the_verdict_is_that_of_the_server(visit, drawn):
    page = visit("compare")
    with page.expect_response("**/compare*") as answered:
        page.get_by_label("First item: choose").set_input_files(drawn(0))
        page.get_by_label("Second item: choose").set_input_files(drawn(4, 3))
    answer = answered.value.json()
    expect(page.locator(".verdict-words")).to_have_text(
        "The same kind" if answer["same"] else "Different kinds"
    )
    expect(page.locator(".verdict")).to_contain_text(f"threshold {answer['threshold']:.3f}")
    page.get_by_text("Settings").click()
    with page.expect_response("**/compare*") as again:
        page.get_by_label("How often are two such items the same?").select_option("0.01")
    assert again.value.json()["probability"] < answer["probability"]
    page.get_by_role("button", name="Remove").first.click()
    expect(page.locator(".verdict")).to_have_count(0)


def test_a_picture_from_the_camera(visit, drawn):
    page = visit("compare", permissions=["camera"])
    page.get_by_label("First item: choose").set_input_files(drawn(0))
    page.get_by_role("button", name="Second item: Use the camera").click()
    page.locator("video").evaluate("video => new Promise((ready) => video.requestVideoFrameCallback(ready))")
    page.get_by_role("button", name="Take the picture").click()
    expect(page.locator(".picker").nth(1)).to_contain_text("camera.png")
    expect(page.locator(".verdict-words")).to_be_visible()


def test_an_error_is_the_sentence_of_the_server(visit, drawn, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no picture")
    page = visit("compare", expected=[415])
    page.get_by_label("First item: choose").set_input_files(drawn(0))
    page.get_by_label("Second item: choose").set_input_files(tmp_path / "broken.png")
    expect(page.get_by_role("alert")).to_contain_text("broken.png is not a picture that can be read here")
