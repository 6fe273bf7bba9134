"""The picture of README: right and wrong answers of the demo, beside those of raw pixels.

samekind demo
python benchmarks/draw_demo.py [--demo samekind-demo] [--out docs/pictures/demo.png]
"""

import argparse
import io
from pathlib import Path

from PIL import Image

from samekind.questions.demo import NAMES, raw_space
from samekind.reports.opening import neighbours_of_both
from samekind.training import RunFolder

#: Pixels an inch, and pixels between the two grids.
DOTS, GAP = 160, 60


def pixels(figure) -> Image.Image:
    """A figure on white."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DOTS, facecolor="white")
    return Image.open(file).convert("RGB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--demo", type=Path, default=Path("samekind-demo"))
    parser.add_argument("--out", type=Path, default=Path("docs/pictures/demo.png"))
    arguments = parser.parse_args()
    folder = RunFolder(arguments.demo)
    unseen = folder.sets().unseen
    assert unseen is not None
    spaces = raw_space(unseen), folder.space()
    figures = neighbours_of_both(dict(zip(NAMES, spaces, strict=True)), unseen)
    grids = []
    for name, figure in figures.items():
        figure.suptitle(name, x=0.01, ha="left", fontsize=11)
        grids.append(pixels(figure))
    width = sum(grid.width for grid in grids) + GAP * (len(grids) - 1)
    whole = Image.new("RGB", (width, max(grid.height for grid in grids)), "white")
    left = 0
    for grid in grids:
        whole.paste(grid, (left, 0))
        left += grid.width + GAP
    whole.quantize(64).save(arguments.out, optimize=True)
    print(f"{arguments.out}: {whole.width} x {whole.height}, {arguments.out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
