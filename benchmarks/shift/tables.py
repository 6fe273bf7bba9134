"""The tables of the page, from the JSONs of whatever runs there are."""

from collections import Counter
from typing import Any

from grid import APART, CORRUPTED, DOMAINS, SHUFFLED, SYSTEMS
from grids.results import Results
from grids.tables import folded, markdown, with_interval
from sets import NEW

NAMES = {
    "characters": "Greek characters, five drawers left out",
    "alphabets": "Alphabets, one left out: equal error rate of pairs, %",
    "plankton-cut": "Plankton, a cut, a quarter of the pictures by size left out",
    "plankton": "Plankton, a quarter of the pictures by size left out",
    "pacs": "PACS, a style left out",
    "digits": "Eight of ten digits, corrupted",
    "mnist-cut": "A thirtieth of MNIST, corrupted",
    "cifar10-narrow": "CIFAR-10 with a narrow network, corrupted",
    "cifar10": "CIFAR-10, corrupted",
}
HEADS = {"similarity": "similarity", "auxiliary": "dense layer", "fused": "both"}
TITLES = {
    "prototypical": "prototypical",
    "dense": "dense classifier (ERM)",
    SHUFFLED: "prototypical, shuffled",
}


def tables(results: Results) -> str:
    """A table or two for each set of items."""
    parts = []
    for data in (*DOMAINS, APART, *CORRUPTED):
        systems = {
            system: runs
            for system in (*SYSTEMS, SHUFFLED)
            if (runs := [results.contents[f"{data}-{system}", s] for s in results.seeds(f"{data}-{system}")])
        }
        if systems:
            measured = _errors_of_pairs(systems) if data == APART else _accuracies(systems)
            parts.append(f"### {NAMES[data]}\n\n{measured}")
            name = NAMES[data].partition(":")[0]
            elsewhere = "another alphabet" if data == APART else "another domain"
            parts.append(folded(f"{name}: what the space says", _causes(systems, elsewhere)))
    return "\n\n".join(parts) or "Not run yet."


def _accuracies(systems: dict[str, list[dict[str, Any]]]) -> str:
    """The accuracy of each head in each set, its mean over sets, the gap to home, and how far the mean is
    ahead of the dense classifier with the same seed. Of corruptions the severities are together.
    """
    dense = {run["seed"]: _mean(_compared(run), 0, "away") for run in systems.get("dense", ())}
    first = _compared(next(iter(systems.values()))[0])
    titles = [one["name"] if "left out" in one else one["name"].split()[0] for one in first]
    names = list(dict.fromkeys(titles))
    rows = []
    for system, runs in systems.items():
        sets = [_compared(run) for run in runs]
        for place, head in enumerate(gap["head"] for gap in sets[0][0]["gaps"]):
            if head == "fused":
                continue
            cells = [with_interval([_mean(some, place, "away", name) for some in sets]) for name in names]
            whole = [with_interval([_mean(some, place, key) for some in sets]) for key in ("away", "gap")]
            called = "dense layer" if system == "dense" else HEADS[head]
            both = [(run["seed"], some) for run, some in zip(runs, sets, strict=True) if run["seed"] in dense]
            ahead = [_mean(some, place, "away") - dense[seed] for seed, some in both]
            beside = "" if system == "dense" else with_interval(ahead)
            rows.append([TITLES[system], called, *cells, *whole, beside, str(len(runs))])
    return markdown(["system", "head", *names, "mean", "gap", "ahead of dense", "seeds"], rows)


def _compared(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The sets of a run without new classes among them."""
    return [one for one in run["sets"] if one["name"] != NEW]


def _errors_of_pairs(systems: dict[str, list[dict[str, Any]]]) -> str:
    """The equal error rate by each score in each domain left out, their mean, that at home, and the gap."""
    names = [one["left out"] for one in next(iter(systems.values()))[0]["sets"]]
    rows = []
    for system, runs in systems.items():
        for kind in runs[0]["sets"][0]["pairs"]["away"]:
            away, home = (
                [[100 * one["pairs"][place][kind] for one in run["sets"]] for run in runs]
                for place in ("away", "home")
            )
            cells = [with_interval(values) for values in zip(*away, strict=True)]
            means = [[sum(some) / len(some) for some in place] for place in (away, home)]
            gaps = [there - here for there, here in zip(*means, strict=True)]
            whole = [with_interval(values) for values in (*means, gaps)]
            rows.append([TITLES[system], kind, *cells, *whole, str(len(runs))])
    return markdown(["system", "score", *names, "mean", "home", "gap", "seeds"], rows)


def _mean(sets: list[dict[str, Any]], place: int, key: str, name: str = "") -> float:
    """In per cent, over the sets whose name begins with that word or words; all of them without a name."""
    values = [
        one["gaps"][place][key]["mean"] for one in sets if f"{one['name']} ".startswith(name and f"{name} ")
    ]
    return 100 * sum(values) / len(values)


def _causes(systems: dict[str, list[dict[str, Any]]], elsewhere: str) -> str:
    """How often each cause was named, and what became of thresholds."""
    rows = []
    for system, runs in systems.items():
        sets = [one for run in runs for one in run["sets"]]
        for title, some in (
            (elsewhere, [one for one in sets if one["name"] != NEW]),
            ("new classes added", [one for one in sets if one["name"] == NEW]),
        ):
            if some:
                causes, thresholds = (Counter(one[key] for one in some) for key in ("cause", "thresholds"))
                new = sum(one["looks new"]["mean"] for one in some) / len(some)
                rows.append([TITLES[system], title, _counted(causes), f"{new:.1%}", _counted(thresholds)])
    return markdown(["system", "items", "causes named", "looks new", "thresholds"], rows)


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name or 'none'} {count}" for name, count in counts.most_common())
