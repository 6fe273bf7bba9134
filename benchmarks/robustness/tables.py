"""The tables of the page, from the JSONs of whatever runs there are."""

from grids.results import Results
from grids.tables import markdown, with_interval

NAMES = {"mnist": "MNIST, epsilon 0.3", "cifar10": "CIFAR-10, epsilon 8/255", "digits": "Digits, epsilon 0.3"}
HEADS = {"similarity": "similarity", "auxiliary": "dense layer", "fused": "both"}
#: The published figures of the similarity and the dense layer, undefended.
PUBLISHED = {
    ("mnist", "similarity"): {"clean": 99.36, "FGSM": 68.51, "PGD-40": 23.85, "PGD-100": 13.61},
    ("mnist", "auxiliary"): {"clean": 99.31, "FGSM": 17.18, "PGD-40": 0.02, "PGD-100": 0.01},
    ("cifar10", "similarity"): {"clean": 96.14, "FGSM": 65.46, "PGD-7": 65.46, "PGD-20": 27.87},
    ("cifar10", "auxiliary"): {"clean": 96.20, "FGSM": 57.42, "PGD-7": 47.39, "PGD-20": 9.27},
}


def tables(results: Results) -> str:
    """A table for each set of pictures."""
    parts = [_table(results, data) for data in NAMES if results.seeds(data)]
    return "\n\n".join(parts) or "Not run yet."


def _table(results: Results, data: str) -> str:
    runs = [results.contents[data, seed]["heads"] for seed in results.seeds(data)]
    rows = []
    for head in runs[0]:
        known = PUBLISHED.get((data, head), {})
        clean = [100 * next(iter(run[head].values()))["clean"] for run in runs]
        rows.append([HEADS[head], "no attack", _published(known, "clean"), with_interval(clean), ""])
        for attack in runs[0][head]:
            values = [100 * run[head][attack]["right"] for run in runs]
            printed = _published(known, attack.split()[0]) if "published" in attack else ""
            rows.append([HEADS[head], attack, printed, with_interval(values), _failed(runs, head, attack)])
    heading = ["head", "attack", "paper, %", "right, %", "failed checks (runs)"]
    return f"### {NAMES[data]}\n\n{len(runs)} seeds.\n\n{markdown(heading, rows)}"


def _published(known: dict[str, float], name: str) -> str:
    return f"{known[name]:.2f}" if name in known else ""


def _failed(runs: list[dict[str, dict[str, dict[str, object]]]], head: str, attack: str) -> str:
    """How many runs failed each check; nothing where none did."""
    counts: dict[str, int] = {}
    for run in runs:
        for check in run[head][attack]["soundness"]["checks"]:  # type: ignore[index]
            if not check["passed"]:
                counts[check["name"]] = counts.get(check["name"], 0) + 1
    return ", ".join(f"{name} ({count})" for name, count in counts.items())
