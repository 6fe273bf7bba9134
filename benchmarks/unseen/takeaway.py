"""The table at the top of the page: each loss alone and with attention and an adversary, beside the paper's.

    python benchmarks/unseen/takeaway.py [--results results/unseen] [--page docs/results/unseen.md]

Until all of these runs have the same two seeds with today's settings, those with older ones stand there, and
the text says so. Above the table is the answer, the verdict of the primary claim.
"""

import sys
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from claims import CLAIMS, OWN, RECALL
from grid import LOSSES, called
from grids.claims import compared, in_words
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
#: The answers to the question of the page, by the verdict of its primary claim.
ANSWERS = {"holds": "They do.", "does not hold": "They do not.", "cannot be told": "It cannot be told."}
#: What is said where runs with older settings stand in for today's.
WAITING = "Runs with the paper's own settings need a GPU; these stand here until all of them have two seeds."


def top(results: Path) -> str:
    """The answer, and the table."""
    runs, older = _newest(results)
    claim = next(claim for claim in CLAIMS if claim.primary)
    sides = compared(runs, claim)
    said = in_words(claim, *sides)
    settings = "**older settings**" if older else "the paper's settings"
    answer = (
        f"**{ANSWERS[said.verdict]}** Birds, {settings}, {len(sides[0])} seeds: with attention and the "
        f"adaptive adversary Recall@1 changes by {said.difference} points in the mean of three losses. "
        "That is the primary claim."
    )
    return "\n\n".join([f"{answer} {WAITING}" if older else answer, table(runs)])


def table(runs: Results) -> str:
    """Recall@1 of losses and extensions in the mean of seeds, and what the extensions gain."""
    short = [words.partition(" ")[0] for words in SHOWN.values()]
    heading = [f"{RECALL}, per cent", *SHOWN.values(), f"published: {short[0]}", *short[1:]]
    rows = [[loss, *_means(runs, loss), *_published(loss)] for loss in LOSSES]
    return markdown(heading, [*rows, _gains(runs)])


def _newest(results: Path) -> tuple[Results, bool]:
    """Today's runs, or older ones where some of today's are missing, and whether they are older: those of
    seeds that all runs of the table have.
    """
    todays = _of_common_seeds(results_in(results))
    if todays is not None:
        return todays, False
    older = _of_common_seeds(results_in(results / "older"))
    assert older is not None
    return older, True


def _of_common_seeds(runs: Results) -> Results | None:
    """The runs of the seeds that all of the table have; None where there are not two of them."""
    wanted = [called(loss, extension) for loss in LOSSES for extension in SHOWN]
    common = set.intersection(*(set(runs.seeds(variant)) for variant in wanted))
    kept = [content for (_, seed), content in runs.contents.items() if seed in common]
    return Results(kept) if len(common) > 1 else None


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
    takeaway(__doc__ or "", top, Path("results/unseen"))
