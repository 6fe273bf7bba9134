"""The table at the top of the page: each loss alone and with attention and an adversary, beside the paper's.

    python benchmarks/unseen/takeaway.py [--results results/unseen] [--page docs/results/unseen.md]

Until all of these runs have two seeds with today's settings, those with older ones stand there.
"""

import sys
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from claims import CLAIMS, OWN, RECALL
from grid import LOSSES, called
from grids.claims import compared
from grids.results import Results, results_in
from grids.tables import markdown
from grids.takeaway import takeaway
from tables import PUBLISHED

from samekind.measures import paired_difference
from samekind.recipes.unseen import Extension, Loss

#: The extensions of the table, and what they are called.
SHOWN: dict[Extension, str] = {
    "base": "alone",
    "soft-adv": "soft adversary",
    "adapt-adv": "adaptive adversary",
}


def table(results: Path) -> str:
    """Recall@1 of losses and extensions in the mean of seeds, and what the extensions gain."""
    runs = _newest(results)
    short = [words.partition(" ")[0] for words in SHOWN.values()]
    heading = [f"{RECALL}, per cent", *SHOWN.values(), f"published: {short[0]}", *short[1:]]
    rows = [[loss, *_means(runs, loss), *_published(loss)] for loss in LOSSES]
    return markdown(heading, [*rows, _gains(runs)])


def _newest(results: Path) -> Results:
    """Today's runs, or older ones where some of today's are missing."""
    todays = results_in(results)
    wanted = [called(loss, extension) for loss in LOSSES for extension in SHOWN]
    complete = all(len(todays.seeds(variant)) > 1 for variant in wanted)
    return todays if complete else results_in(results / "older")


def _means(runs: Results, loss: Loss) -> list[str]:
    variants = [called(loss, extension) for extension in SHOWN]
    return [f"{fmean(runs.values(variant, RECALL, OWN).values()):.1f}" for variant in variants]


def _published(loss: Loss) -> list[str]:
    return [f"{PUBLISHED[called(loss, extension)][0]:.1f}" for extension in SHOWN]


def _gains(runs: Results) -> list[str]:
    """The gain in the mean of three losses, with its interval over seeds, and that of the paper."""
    ours, theirs = [], []
    for extension in list(SHOWN)[1:]:
        measured = f"{RECALL}, {extension} - base, mean of three losses"
        claim = next(claim for claim in CLAIMS if claim.measured == measured and not claim.by)
        mean, low, high = paired_difference(*compared(runs, claim))
        ours.append(f"{mean:+.1f} ({low:+.1f} to {high:+.1f})")
        published = [
            PUBLISHED[called(loss, extension)][0] - PUBLISHED[called(loss, "base")][0] for loss in LOSSES
        ]
        theirs.append(f"{fmean(published):+.1f}")
    return ["gain in the mean, 95% interval over seeds", "", *ours, "", *theirs]


if __name__ == "__main__":
    takeaway(__doc__ or "", table, Path("results/unseen"))
