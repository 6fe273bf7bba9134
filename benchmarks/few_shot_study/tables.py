"""The tables of the page, from the JSONs of whatever runs there are."""

import math
from collections.abc import Sequence
from typing import Any

from grid import NETWORKS, OUTSIDE, RECIPES, SHOTS
from grids.results import Results
from grids.tables import markdown, with_interval
from published import ACCURACY, MEANS, PROPER

from samekind.measures.geometry import DYNAMICS, compare_checkpoints

BOTH = ("proto-softmax", "proto-dr")
CALLED = {"proto-softmax": "softmax", "proto-dr": "DR", "conv4": "Conv4", "resnet18": "ResNet-18"}
#: Episodes after which the curves are read, and the checkpoints that are averaged there.
READ_AT, WINDOW = (1000, 2000, 5000, 10_000, 20_000, 40_000, 60_000), 10
#: What the pretrained network's scores are called. First runs centred queries in the order of their classes.
HOUSE_WORDS = {
    "similarity": "cosine",
    "centred": "centred on 24 queries of one or two classes",
    "centred in turn": "centred on 24 queries of all classes",
}
#: Accuracies that differ by less, in per cent, are the same.
SAME = 1e-6
#: On which side of 1 a factor is proper.
SIDES = {"con_alpha": "below 1", "div_alpha": "above 1", "con_div": "below 1"}


def tables(results: Results) -> str:
    """Accuracy, speed, dynamics, characters, other heads, and the pretrained network."""
    parts = {
        "Birds, by tasks: accuracy": _accuracy(results),
        "How fast it learns": _speed(results),
        "What a step does": _dynamics(results),
        "Characters": _characters(results),
        "Other heads on the same embeddings": _heads(results),
        "A pretrained network instead": _house(results),
    }
    return "\n\n".join(f"### {title}\n\n{part}" for title, part in parts.items())


def summary(results: Results) -> str:
    """Every accuracy of the tests, by seed."""
    rows = [
        [name, str(seed), measure, _share(row)]
        for (name, seed), content in results.contents.items()
        for measure, row in content["test"].items()
    ]
    return markdown(("run", "seed", "test", "accuracy, %"), rows)


def _share(row: dict[str, float]) -> str:
    return f"{100 * row['mean']:.2f} ± {100 * row['half']:.2f}"


def contents_of(results: Results, variant: str) -> list[dict[str, Any]]:
    return [results.contents[variant, seed] for seed in results.seeds(variant)]


def _means(contents: Sequence[dict[str, Any]], measure: str, *, of: str = "test") -> str:
    """The mean over seeds with its interval; where the seed changes nothing, that of the tasks."""
    rows = [content[of][measure] for content in contents if measure in content[of]]
    values = [100 * row["mean"] for row in rows]
    return _share(rows[0]) if values and max(values) - min(values) < SAME else with_interval(values)


def _accuracy(results: Results) -> str:
    rows = []
    for network in NETWORKS:
        for shot in SHOTS:
            for recipe in BOTH:
                contents = contents_of(results, f"birds-{network}-{recipe}-{shot}shot")
                if not contents:
                    continue
                measure = f"5-way {shot}-shot"
                rows.append(
                    [
                        CALLED[network],
                        str(shot),
                        CALLED[recipe],
                        f"{contents[0]['episodes']:,}",
                        str(len(contents)),
                        _means(contents, measure),
                        _means(contents, measure, of="untrained"),
                        ACCURACY[network, shot, recipe],
                    ]
                )
    heading = ("network", "shots", "classifier", "episodes", "seeds", "accuracy, %", "untrained", "the paper")
    return markdown(heading, rows)


def smoothed(values: Sequence[float], window: int = WINDOW) -> list[float]:
    """The mean of each checkpoint and those before it, so many in all; the first have fewer."""
    return [
        sum(values[max(0, place + 1 - window) : place + 1]) / min(window, place + 1)
        for place in range(len(values))
    ]


def reached(values: Sequence[float], level: float) -> int | None:
    """The first place at which smoothed values have a level, or None; not before a whole window."""
    for place, value in enumerate(values):
        if place + 1 >= WINDOW and value >= level - 1e-9:  # sums are rounded
            return place
    return None


def _speed(results: Results) -> str:
    """Validation accuracy after some episodes, and when DR has what softmax has at its best."""
    rows, verdicts = [], []
    for network in NETWORKS:
        for shot in SHOTS:
            curves = {
                recipe: {
                    seed: smoothed(results.contents[variant, seed]["checkpoints"]["validation"])
                    for variant in [f"birds-{network}-{recipe}-{shot}shot"]
                    for seed in results.seeds(variant)
                }
                for recipe in BOTH
            }
            for recipe, by_seed in curves.items():
                if by_seed:
                    cells = [_at(list(by_seed.values()), episodes) for episodes in READ_AT]
                    rows.append([CALLED[network], str(shot), CALLED[recipe], *cells])
            verdicts += _sooner(network, shot, curves)
    heading = ("network", "shots", "classifier", *(f"{episodes:,}" for episodes in READ_AT))
    read = markdown(heading, rows)
    when = markdown(
        ("network", "shots", "seed", "best of softmax, %", "softmax, episodes", "DR, episodes"), verdicts
    )
    return (
        "Accuracy on validation tasks after so many episodes, in per cent (mean of ten checkpoints and of "
        f"seeds):\n\n{read}\n\nEpisodes until each first has the best of softmax on validation tasks (mean "
        f"of ten checkpoints):\n\n{when}"
    )


def _at(curves: Sequence[Sequence[float]], episodes: int) -> str:
    place = episodes // 100 - 1
    values = [100 * curve[place] for curve in curves if place < len(curve)]
    return f"{sum(values) / len(values):.1f}" if values else ""


def _sooner(network: str, shot: int, curves: dict[str, dict[int, list[float]]]) -> list[list[str]]:
    rows = []
    for seed, softmax in curves["proto-softmax"].items():
        other = curves["proto-dr"].get(seed)
        if other is None:
            continue
        level = max(softmax[WINDOW - 1 :] or softmax)
        places = [reached(curve, level) for curve in (softmax, other)]
        cells = ["never" if place is None else f"{100 * (place + 1):,}" for place in places]
        rows.append([CALLED[network], str(shot), str(seed), f"{100 * level:.1f}", *cells])
    return rows


def geometric(values: Sequence[float]) -> float:
    """The geometric mean of those that are numbers above 0."""
    numbers = [value for value in values if value > 0]
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else math.nan


def proper(values: Sequence[float], side: str) -> float:
    """The share of numbers on the proper side of 1."""
    numbers = [value for value in values if value == value]
    right = sum(value < 1 if side == "below 1" else value > 1 for value in numbers)
    return right / len(numbers) if numbers else math.nan


def _dynamics(results: Results) -> str:
    """Geometric means and proper shares over checkpoints, the mean over seeds; the paper's in brackets."""
    means, shares, tests = [], [], []
    for network in NETWORKS:
        for shot in SHOTS:
            columns: dict[str, list[dict[str, list[float]]]] = {}
            for recipe in BOTH:
                contents = contents_of(results, f"birds-{network}-{recipe}-{shot}shot")
                columns[recipe] = [content["checkpoints"] for content in contents]
                if not contents:
                    continue
                about = [CALLED[network], str(shot), CALLED[recipe]]
                key = (network, shot, recipe)
                values = [_mean([geometric(one[name]) for one in columns[recipe]]) for name in DYNAMICS]
                means.append([*about, *map(_beside, values, MEANS[key])])
                values = [
                    _mean([proper(one[name], side) for one in columns[recipe]])
                    for name, side in SIDES.items()
                ]
                shares.append([*about, *(map(_beside, values, PROPER[key]))])
            tests += _tests(network, shot, columns)
    heading = ("network", "shots", "classifier")
    words = ["norm ratio", "con-alpha", "div-alpha", "con-div"]
    return (
        "Geometric means over checkpoints, the mean of seeds, and in brackets the paper's:\n\n"
        f"{markdown((*heading, *words), means)}\n\n"
        "The share of checkpoints that did what they should (con-alpha below 1, div-alpha above 1, con-div "
        f"below 1):\n\n{markdown((*heading, *words[1:]), shares)}\n\n"
        "DR against softmax: the p-values of the Mann-Whitney test on the values and of Fisher's test on the "
        f"counts, the larger one of all seeds:\n\n{markdown((*heading[:2], *words), tests)}"
    )


def _tests(network: str, shot: int, columns: dict[str, list[dict[str, list[float]]]]) -> list[list[str]]:
    pairs = list(zip(columns["proto-softmax"], columns["proto-dr"], strict=False))
    if not pairs:
        return []
    cells = []
    for name in DYNAMICS:
        side: Any = SIDES.get(name, "below 1")
        answers = [
            compare_checkpoints(_numbers(one[name]), _numbers(other[name]), proper=side)
            for one, other in pairs
        ]
        values = [max(answer.mann_whitney for answer in answers)]
        values += [max(answer.fisher for answer in answers)] if name in SIDES else []
        cells.append(" / ".join(f"{value:.1e}" if value < 1e-3 else f"{value:.3f}" for value in values))
    return [[CALLED[network], str(shot), *cells]]


def _numbers(values: Sequence[float]) -> list[float]:
    return [value for value in values if value > 0]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _beside(value: float, published: float) -> str:
    return f"{value:.4f} ({published:.4f})"


def _characters(results: Results) -> str:
    measures = {
        1: ("5-way 1-shot", "20-way 1-shot", "20-way 1-shot, within an alphabet"),
        5: ("5-way 5-shot", "20-way 5-shot"),
    }
    rows = []
    for shot, names in measures.items():
        for recipe in BOTH:
            contents = contents_of(results, f"omniglot-conv4-{recipe}-{shot}shot")
            about = [CALLED[recipe], str(len(contents))]
            rows += [
                [name, *about, _means(contents, name), _means(contents, name, of="untrained")]
                for name in (names if contents else ())
            ]
    return markdown(("tasks", "classifier", "seeds", "accuracy, %", "untrained"), rows)


def _heads(results: Results) -> str:
    rows = []
    for variant in results.variants():
        if not variant.startswith("birds-conv4"):
            continue
        contents = contents_of(results, variant)
        for name in contents[0]["test"]:
            words = name.partition(", ")[2] or "its own"
            tasks = name.partition(", ")[0]
            system = variant.removeprefix("birds-conv4-").rpartition("-")[0]
            episodes = f"{contents[0]['episodes']:,}"
            rows.append([tasks, system, words, episodes, str(len(contents)), _means(contents, name)])
    order = [*RECIPES, *OUTSIDE]
    rows.sort(
        key=lambda row: (row[0], order.index(row[1].removesuffix("-exact")), row[1], row[2] != "its own")
    )
    return markdown(("tasks", "trained as", "head", "episodes", "seeds", "accuracy, %"), rows)


def _house(results: Results) -> str:
    contents = contents_of(results, "birds-house")
    rows = []
    for name in contents[0]["test"] if contents else ():
        state, *words, tasks = name.split(", ")
        head = ", ".join(HOUSE_WORDS.get(word, word) for word in words)
        rows.append([tasks, state, head, str(len(contents)), _means(contents, name)])
    rows.sort(key=lambda row: row[0])
    return markdown(("tasks", "network", "score", "seeds", "accuracy, %"), rows)
