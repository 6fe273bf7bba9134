"""How long does the page take to draw its map? And the drawing code that the map needs (--record).

    python benchmarks/map_page.py --points 100000

The page is that of the package; the points are made up and handed to the browser (Chromium, without a
graphics card: software WebGL), so no server and no space is needed. Times are those of the page: from the
call until the first picture is on the screen, and of the pictures while the map is moved.
"""

import json
import os
import shutil
import sys
from argparse import ArgumentParser
from mimetypes import guess_type
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from samekind import serving

PAGE = Path(serving.__file__).parent / "page"
ADDRESS = "http://localhost/"
OPTIONS = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
CLASSES = 50
INFO = {
    "name": "made up",
    "medium": "pictures",
    "endings": [".png"],
    "classes": [f"class {place}" for place in range(CLASSES)],
    "kinds": ["cosine"],
    "decisions": {},
    "role": "admin",
}
#: Draws the points in a fresh plot: milliseconds until they are on the screen.
FIRST = """async (answer) => {
  const { Points } = await import("/page/js/map/points.js");
  const { Plot } = await import("/page/js/map/plot.js");
  const stage = document.createElement("div");
  stage.className = "map-stage";
  document.querySelector("main").replaceChildren(stage);
  const start = performance.now();
  const plot = new Plot(new Points(answer), { over: () => {}, chosen: () => {} });
  stage.append(plot.canvas);
  await plot.start();
  await new Promise(requestAnimationFrame);
  window.plot = plot;
  return performance.now() - start;
}"""
#: Moves the map step by step: milliseconds of each picture.
MOVING = """async (steps) => {
  const times = [];
  for (let step = 0; step < steps; step++) {
    const start = performance.now();
    await window.plot.plot.zoomToLocation([0.3 * Math.sin(step), 0.2], 0.8);
    await new Promise(requestAnimationFrame);
    times.push(performance.now() - start);
  }
  return times;
}"""
RECORDED = """async () => {
  const { code } = await import("/page/vendor/code.js");
  return Object.fromEntries(Object.entries(code).map(([key, made]) => [key, made.toString()]));
}"""


def made_up(points: int) -> dict[str, object]:
    """A map of so many points in clouds of 50 classes, as the server answers."""
    generator = np.random.default_rng(0)
    labels = generator.integers(0, CLASSES, points)
    places = generator.normal(size=(CLASSES, 2))[labels] * 4 + generator.normal(size=(points, 2)) * 0.4
    return {
        "ids": [f"item {place}" for place in range(points)],
        "x": places[:, 0].round(3).tolist(),
        "y": places[:, 1].round(3).tolist(),
        "label": labels.tolist(),
        "labels": INFO["classes"],
        "doubt": generator.beta(0.3, 2, points).round(3).tolist(),
    }


def answer(route, answers: dict[str, object]) -> None:
    """Files of the page, and answers of the server that is not there."""
    path = urlsplit(route.request.url).path
    if path in answers:
        route.fulfill(body=json.dumps(answers[path]), content_type="application/json")
        return
    file = PAGE / ("index.html" if path == "/" else path.removeprefix("/page/"))
    if file.is_file():
        route.fulfill(body=file.read_bytes(), content_type=guess_type(file.name)[0] or "text/plain")
    else:
        route.fulfill(status=404, body=json.dumps({"error": "not here"}), content_type="application/json")


def opened(playwright, points: int):
    """A browser with the page in it."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        sys.exit("expected a browser; install the package chromium")
    browser = playwright.chromium.launch(executable_path=path, args=OPTIONS)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    answers = {"/info": {**INFO, "gallery": points}, "/map": made_up(points)}
    page.route("**/*", lambda route: answer(route, answers))
    page.goto(f"{ADDRESS}#map")
    page.wait_for_selector(".map-stage[data-drawn]", timeout=120_000)
    return page, answers["/map"]


def measure(points: int, repeats: int) -> None:
    """Print the times of the first picture and of moving, over some repeats."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        page, content = opened(playwright, points)
        first = [page.evaluate(FIRST, content) for _ in range(repeats)]
        moving = page.evaluate(MOVING, 20)
    load = f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"
    print(f"{points:,} points, {repeats} repeats, software WebGL, {load}")
    print(f"first picture: {np.median(first):.0f} ms (from {min(first):.0f} to {max(first):.0f})")
    print(f"a picture while moving: {np.median(moving):.0f} ms (from {min(moving):.0f} to {max(moving):.0f})")


def record(out: Path) -> None:
    """Use everything the map can do, and write the drawing code that it needed as a module."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        page, _ = opened(playwright, 2_000)
        box = page.locator("canvas").bounding_box()
        assert box is not None
        page.get_by_role("button", name="Lasso").click()
        page.mouse.move(box["x"] + 5, box["y"] + 5)
        page.mouse.down()
        for x, y in ((0.9, 0.1), (0.9, 0.9), (0.1, 0.9)):
            page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=8)
        page.mouse.up()
        page.wait_for_selector(".chosen-list button")
        page.get_by_label("Colour by").select_option("doubt")
        page.get_by_role("button", name="Find mistakes").click()
        page.locator(".chosen-list button").first.click()
        page.get_by_role("button", name="Show all").click()
        page.wait_for_timeout(1_000)
        code = page.evaluate(RECORDED)
    named = {key: text.replace("function anonymous", "function", 1) for key, text in sorted(code.items())}
    lines = [f'  "{key}": {text},' for key, text in named.items()]
    out.write_text("\n".join(["export const code = {", *lines, "};", ""]), encoding="utf-8")
    print(f"{len(code)} functions are in {out}")


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--record", type=Path, help="write the drawing code to this file instead")
    arguments = parser.parse_args()
    if arguments.record:
        record(arguments.record)
    else:
        measure(arguments.points, arguments.repeats)


if __name__ == "__main__":
    main()
