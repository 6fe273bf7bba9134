"""The picture of the page: validation accuracy and norm ratio over episodes, softmax against DR.

python benchmarks/few_shot_study/pictures.py [--results results/few-shot] [--out docs/results/pictures]
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from grid import NETWORKS, SHOTS
from grids.results import Results, results_in
from tables import BOTH, CALLED, contents_of, smoothed

#: The curves of a picture, and what they are called.
CURVES = {"validation": "accuracy on validation tasks", "norm_ratio": "norm ratio"}
COLOURS = {"proto-softmax": "#c1572b", "proto-dr": "#2b6cb0"}


def drawn(results: Results, out: Path) -> list[Path]:
    """A picture for each of `CURVES`, with one part for each network and number of shots that was run."""
    import matplotlib.pyplot as plt

    cases = [
        (network, shot)
        for network in NETWORKS
        for shot in SHOTS
        if all(results.seeds(f"birds-{network}-{recipe}-{shot}shot") for recipe in BOTH)
    ]
    paths = []
    for curve, called in CURVES.items() if cases else ():
        figure, axes = plt.subplots(1, len(cases), figsize=(4.2 * len(cases), 3.2), squeeze=False)
        for axis, (network, shot) in zip(axes[0], cases, strict=True):
            for recipe in BOTH:
                for place, content in enumerate(contents_of(results, f"birds-{network}-{recipe}-{shot}shot")):
                    values = smoothed(content["checkpoints"][curve])
                    episodes = [100 * (number + 1) for number in range(len(values))]
                    label = CALLED[recipe] if not place else None
                    axis.plot(episodes, values, color=COLOURS[recipe], lw=1, alpha=0.8, label=label)
            axis.set_title(f"{CALLED[network]}, {shot} shot{'s' if shot > 1 else ''}", fontsize=10)
            axis.set_xlabel("episodes")
            axis.spines[["top", "right"]].set_visible(False)
        axes[0][0].set_ylabel(called)
        axes[0][0].legend(frameon=False)
        figure.tight_layout()
        path = out / f"few-shot-{curve.replace('_', '-')}.png"
        figure.savefig(path, dpi=110)
        plt.close(figure)
        paths.append(path)
    return paths


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("results/few-shot"))
    parser.add_argument("--out", type=Path, default=Path("docs/results/pictures"))
    arguments = parser.parse_args()
    for path in drawn(results_in(arguments.results), arguments.out):
        print(path)
