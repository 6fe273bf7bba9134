"""The tables of the page, from the JSONs of whatever runs there are."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import thesis
from grid import DATA, WANTED
from grids.results import Results
from grids.tables import folded, markdown, with_interval

from samekind.evaluation.representation import correlations

NAMES = {
    "mnist": "MNIST, epsilon 0.3",
    "cifar10": "CIFAR-10, epsilon 8/255",
    "cifar10-narrow": "CIFAR-10 with a narrow network, epsilon 8/255",
    "mnist-whole": "MNIST defended, epsilon 0.3",
    "mnist-cut": "A thirtieth of MNIST, epsilon 0.1",
    "digits": "Digits of 8 x 8 pixels, epsilon 0.2",
}
HEADS = {"similarity": "similarity", "auxiliary": "dense layer", "fused": "both"}
#: The published figures of the similarity and the dense layer, undefended.
_MNIST = {
    "similarity": {"clean": 99.36, "FGSM": 68.51, "PGD-40": 23.85, "PGD-100": 13.61},
    "auxiliary": {"clean": 99.31, "FGSM": 17.18, "PGD-40": 0.02, "PGD-100": 0.01},
}
_CIFAR = {
    "similarity": {"clean": 96.14, "FGSM": 65.46, "PGD-7": 65.46, "PGD-20": 27.87},
    "auxiliary": {"clean": 96.20, "FGSM": 57.42, "PGD-7": 47.39, "PGD-20": 9.27},
}
PUBLISHED = {"mnist": _MNIST, "cifar10": _CIFAR, "cifar10-narrow": _CIFAR}
#: The trainings that chapter 5 compares, without an attack and with attacks of growing size.
BUDGETS = ("none", "l2-0.25", "l2-0.5", "l2-1", "all")
#: The columns of chapter 5.
MEASURES = (
    "MC l2", "MC linf", "D_inter", "D_intra", "phi", "R2", "directions", "rho", "1-NN", "nearest mean",
)  # fmt: skip

Content = dict[str, Any]


def tables(results: Results) -> str:
    """The undefended models by a published and a sound attack, then defences, set by set."""
    undefended = [_undefended(results, data) for data in PUBLISHED if _of(results, data)]
    defended = [part for data in NAMES if (part := _defended(results, data))]
    return "\n\n".join([*undefended, *defended]) or "Not run yet."


def _of(results: Results, variant: str) -> list[Content]:
    return [results.contents[variant, seed] for seed in results.seeds(variant)]


def _undefended(results: Results, data: str) -> str:
    runs = [content["heads"] for content in _of(results, data)]
    rows = []
    for head in runs[0]:
        known = PUBLISHED[data].get(head, {})
        clean = [100 * run[head]["sound"]["clean"] for run in runs]
        rows.append([HEADS[head], "no attack", _published(known, "clean"), with_interval(clean), ""])
        for attack in runs[0][head]:
            values = [100 * run[head][attack]["right"] for run in runs]
            printed = _published(known, attack.split()[0]) if "published" in attack else ""
            rows.append([HEADS[head], attack, printed, with_interval(values), _failed(runs, head, attack)])
    heading = ["head", "attack", "paper, %", "right, %", "failed checks (runs)"]
    table = f"{_seeds(runs)}\n\n{markdown(heading, rows)}"
    if DATA[data].on_cpu:  # a small copy of another table
        return folded(f"{NAMES[data]}: undefended", table)
    return f"### {NAMES[data]}: undefended\n\n{table}"


def _seeds(runs: list[Any]) -> str:
    return "One seed." if len(runs) == 1 else f"{len(runs)} seeds."


def _published(known: dict[str, float], name: str) -> str:
    return f"{known[name]:.2f}" if name in known else ""


def _failed(runs: list[Content], head: str, attack: str) -> str:
    """How many runs failed each check; nothing where none did."""
    counts: dict[str, int] = {}
    for run in runs:
        for check in run[head][attack].get("soundness", {"checks": []})["checks"]:
            if not check["passed"]:
                counts[check["name"]] = counts.get(check["name"], 0) + 1
    return ", ".join(f"{name} ({count})" for name, count in counts.items())


def _defended(results: Results, data: str) -> str:
    """What is known of a set of pictures with defences, beside the same without; what few will read is
    folded away.
    """
    variants = {
        defence: runs
        for defence in WANTED[data]
        if (runs := [run for run in _of(results, _variant(data, defence)) if "questions" in run])
    }
    if len(variants) < 2:
        return ""
    first = next(iter(variants.values()))[0]["items"]
    counts = f"{first['training']:,} training pictures, {first['attacked']:,} attacked."
    published = list(thesis.SPACES.values()) if data == thesis.DATA else []
    parts = {
        "Feature spaces": _spaces(variants),
        f"The same in Kim's thesis, {thesis.TABLES}": _in_thesis() if published else "",
        "How the measures go together": _together(variants, published),
        "Certified accuracy of the smoothed dense layer, %": _certified(variants),
    }
    more = "\n\n".join(f"**{title}**\n\n{table}" for title, table in parts.items() if table)
    return "\n\n".join(
        (
            f"### {NAMES[data]}: right under attack, %\n\n{counts}\n\n{_by_attack(variants, data)}",
            f"### {NAMES[data]}: a verifier, and neighbours\n\n{_by_question(variants)}",
            folded(f"{NAMES[data]}: feature spaces, certified accuracy", more),
        )
    )


def _variant(data: str, defence: str) -> str:
    return data if defence == "none" else f"{data}-{defence}"


def _mean(runs: list[Content], value: Callable[[Content], float], *, factor: float = 100.0) -> str:
    return with_interval([factor * value(run) for run in runs])


def _by_attack(variants: dict[str, list[Content]], data: str) -> str:
    steps = DATA[data].published
    published = [f"PGD-{count} as published" for count in steps]
    columns = [*published, "FGSM", *(f"PGD-{count}" for count in steps), "sound"]
    known = next(iter(variants.values()))[0]["heads"]["auxiliary"]
    columns = [column for column in columns if column in known]
    rows = []
    for defence, runs in variants.items():
        for head in runs[0]["heads"]:
            cells = [_mean(runs, lambda run, h=head: run["heads"][h]["sound"]["clean"])]  # type: ignore[misc]
            cells += [
                _mean(runs, lambda run, h=head, c=column: run["heads"][h][c]["right"])  # type: ignore[misc]
                for column in columns
            ]
            times = [run["times as long"] for run in runs if run["times as long"]]
            cost = f"{sum(times) / len(times):.1f}" if times else "1"
            rows.append([defence, HEADS[head], *cells, cost, str(len(runs))])
    return markdown(["defence", "head", "clean", *columns, "times as long", "seeds"], rows)


def _by_question(variants: dict[str, list[Content]]) -> str:
    rows = []
    for defence, runs in variants.items():
        cells = [
            _mean(runs, lambda run, q=question, w=when: run["questions"][q][w])  # type: ignore[misc]
            for question in ("pair", "neighbour")
            for when in ("clean", "attacked")
        ]
        rows.append([defence, *cells, str(len(runs))])
    heading = ["defence", "EER, %", "adversarial EER, %", "Recall@1, %", "adversarial Recall@1, %", "seeds"]
    return markdown(heading, rows)


def _spaces(variants: dict[str, list[Content]]) -> str:
    rows = []
    for defence, runs in variants.items():
        spaces = [run["representation"]["space"] for run in runs]
        rows.append([defence, *_cells(_means(spaces)), str(len(runs))])
    inputs = next(iter(variants.values()))[0]["representation"]["inputs"]
    rows += [[f"input, {metric}", *_cells(measures), ""] for metric, measures in inputs.items()]
    return markdown(["defence", *MEASURES, "seeds"], rows)


def _in_thesis() -> str:
    """The same table with the published figures."""
    rows = [[training, *_cells(measures)] for training, measures in thesis.SPACES.items()]
    rows += [[f"input, {metric}", *_cells(measures)] for metric, measures in thesis.INPUTS.items()]
    return markdown(["defence", *MEASURES], rows)


def _cells(measures: Mapping[str, float]) -> list[str]:
    return [f"{measures[name]:.3f}" if name in measures else "" for name in MEASURES]


def _means(spaces: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: sum(one[name] for one in spaces) / len(spaces) for name in MEASURES}


def _together(variants: dict[str, list[Content]], published: Sequence[Mapping[str, float]] = ()) -> str:
    """Table 5.6: MC by l2 with each other measure over the trainings of chapter 5, by the seeds that all of
    them have; nothing if there is none. Beside it stand the coefficients of ``published`` measures.
    """
    seeds = set.intersection(*({run["seed"] for run in variants.get(budget, ())} for budget in BUDGETS))
    if not seeds:
        return ""
    means = [
        _means([run["representation"]["space"] for run in variants[budget] if run["seed"] in seeds])
        for budget in BUDGETS
    ]
    known = correlations(published)
    rows = []
    for name, both in correlations(means).items():
        rows.append([name])
        for coefficient, (value, chance) in both.items():
            rows[-1].append(f"{value:.3f} (p {chance:.2g})")
            if known:
                rows[-1].append(f"{known[name][coefficient][0]:.3f}" if name in known else "")
    heading = ["Pearson", "Pearson, thesis", "Spearman", "Spearman, thesis"]
    columns = heading if known else heading[::2]
    return markdown(["with MC l2, over five trainings", *columns], rows)


def _certified(variants: dict[str, list[Content]]) -> str:
    radii = [point["radius"] for point in next(iter(variants.values()))[0]["certified"]["points"]]
    rows = []
    for defence, runs in variants.items():
        cells = [
            _mean(runs, lambda run, p=place: run["certified"]["points"][p]["mean"])  # type: ignore[misc]
            for place in range(len(radii))
        ]
        rows.append([defence, *cells, str(len(runs))])
    return markdown(["defence", *(f"radius {radius:g}" for radius in radii), "seeds"], rows)
