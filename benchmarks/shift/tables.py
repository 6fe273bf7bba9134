"""The tables of the page, from the JSONs of whatever runs there are."""

from collections import Counter
from typing import Any

from grid import CORRUPTED, DOMAINS, SHUFFLED, SYSTEMS
from grids.results import Results
from grids.tables import markdown, with_interval

NAMES = {
    "characters": "Greek characters, five drawers left out",
    "plankton": "Plankton, a quarter of the pictures by size left out",
    "pacs": "PACS, a style left out",
    "mnist-cut": "A thirtieth of MNIST, corrupted",
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
    for data in (*DOMAINS, *CORRUPTED):
        systems = {
            system: runs
            for system in (*SYSTEMS, SHUFFLED)
            if (runs := [results.contents[f"{data}-{system}", s] for s in results.seeds(f"{data}-{system}")])
        }
        if systems:
            parts.append(f"### {NAMES[data]}\n\n{_accuracies(systems)}")
            parts.append(f"### {NAMES[data]}: what the space says\n\n{_causes(systems)}")
    return "\n\n".join(parts) or "Not run yet."


def _accuracies(systems: dict[str, list[dict[str, Any]]]) -> str:
    """The accuracy of each head in each set, its mean over sets, and the gap to home."""
    first = next(iter(systems.values()))[0]["sets"]
    names = [one["name"] for one in first if one["name"] != "new classes"]
    names = list(dict.fromkeys(names))
    rows = []
    for system, runs in systems.items():
        for place, gap in enumerate(runs[0]["sets"][0]["gaps"]):
            if gap["head"] == "fused" or (system == "dense" and gap["head"] != "similarity"):
                continue
            by_run = [{one["name"]: one["gaps"][place] for one in run["sets"] if one["gaps"]} for run in runs]
            cells = [with_interval([100 * sets[name]["away"]["mean"] for sets in by_run]) for name in names]
            means = [100 * sum(sets[name]["away"]["mean"] for name in names) / len(names) for sets in by_run]
            gaps = [100 * sum(sets[name]["gap"]["mean"] for name in names) / len(names) for sets in by_run]
            head = "dense layer" if system == "dense" else HEADS[gap["head"]]
            rows.append(
                [TITLES[system], head, *cells, with_interval(means), with_interval(gaps), str(len(runs))]
            )
    return markdown(["system", "head", *names, "mean", "gap", "seeds"], rows)


def _causes(systems: dict[str, list[dict[str, Any]]]) -> str:
    """How often each cause was named, and what became of thresholds."""
    rows = []
    for system, runs in systems.items():
        sets = [one for run in runs for one in run["sets"]]
        for title, some in (
            ("another domain", [one for one in sets if one["name"] != "new classes"]),
            ("new classes added", [one for one in sets if one["name"] == "new classes"]),
        ):
            if some:
                causes, thresholds = (Counter(one[key] for one in some) for key in ("cause", "thresholds"))
                new = sum(one["looks new"]["mean"] for one in some) / len(some)
                rows.append([TITLES[system], title, _counted(causes), f"{new:.1%}", _counted(thresholds)])
    return markdown(["system", "items", "causes named", "looks new", "thresholds"], rows)


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name or 'none'} {count}" for name, count in counts.most_common())
