"""The picture of the page: validation accuracy and norm ratio over episodes, softmax against DR.

python benchmarks/few_shot_study/pictures.py [--results results/few-shot] [--out docs/results/pictures]
"""

import argparse
import math
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from cases import COMPARED, Case, cases_of, smoothed
from grid import BOTH, Data
from grids.results import Results, results_in

#: The curves of a picture, and what they are called.
CURVES = {"validation": "accuracy on validation tasks", "norm_ratio": "norm ratio"}
COLOURS = dict(zip(BOTH, ("#c1572b", "#2b6cb0"), strict=True))
#: The data of each picture, by what its name begins with.
PICTURES: dict[str, tuple[Data, ...]] = {
    "few-shot": ("birds", "omniglot"),
    "few-shot-long": ("omniglot-long",),
    "few-shot-short": ("omniglot-short", "birds-short"),
}


def drawn(results: Results, out: Path) -> list[Path]:
    """A picture for each of `PICTURES` and `CURVES`, with a part for each network and number of shots."""
    import matplotlib.pyplot as plt

    paths = []
    for begins, several in PICTURES.items():
        cases = [case for data in several for case in cases_of(results, data)]
        for curve, called in CURVES.items() if cases else ():
            columns = math.ceil(math.sqrt(len(cases)))
            rows = math.ceil(len(cases) / columns)
            figure = plt.figure(figsize=(3.4 * columns, 2.9 * rows + 0.5), layout="constrained")
            for place, case in enumerate(cases):
                axis = figure.add_subplot(rows, columns, place + 1)
                _draw(axis, case, curve)
                if place % columns == 0:
                    axis.set_ylabel(called)
            figure.legend(
                *figure.axes[0].get_legend_handles_labels(),
                loc="outside lower center",
                ncols=2,
                frameon=False,
            )
            paths.append(out / f"{begins}-{curve.replace('_', '-')}.png")
            figure.savefig(paths[-1], dpi=110)
            plt.close(figure)
    return paths


def _draw(axis: Any, case: Case, curve: str) -> None:
    """Both classifiers, a line for each seed, from the first whole window on."""
    every, window = case.setting.checkpoint, case.setting.window
    for recipe, called in zip(BOTH, COMPARED, strict=False):
        for place, content in enumerate(case.runs[recipe].values()):
            values = smoothed(content, curve, window=window)[window - 1 :]
            episodes = [every * (window + number) for number in range(len(values))]
            axis.plot(episodes, values, color=COLOURS[recipe], lw=1, label=None if place else called)
    data = "birds" if case.data.startswith("birds") else "characters"
    shots = f"{case.shot} shot{'s' if case.shot > 1 else ''}"
    axis.set_title(f"{data}, {case.about[0]}, {shots}", fontsize=10)
    axis.set_xlabel("episodes")
    axis.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("results/few-shot"))
    parser.add_argument("--out", type=Path, default=Path("docs/results/pictures"))
    arguments = parser.parse_args()
    for path in drawn(results_in(arguments.results), arguments.out):
        print(path)
