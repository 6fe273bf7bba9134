"""The tables of the page, from the JSONs of whatever runs there are."""

from collections.abc import Sequence

from cases import COMPARED, PAPER, Case, Content, by_seed, cases_of
from grid import OUTSIDE, RECIPES, Data, grid
from grids.results import Results
from grids.tables import markdown, with_interval
from published import ACCURACY
from speed import speed
from steps import steps

TITLES: dict[Data, str] = {
    "birds": "Birds, full length",
    "omniglot": "Characters, full length",
    "omniglot-long": "Characters, tasks of five classes",
    "omniglot-short": "Characters, short",
    "birds-short": "Birds, short",
}
#: Heads beside a system's own, and what they are called.
HEADS = {
    "": "its own",
    "cosine": "cosine",
    "cosine, centred": "cosine, centred",
    "similarity, nearest": "nearest example",
    "similarity, votes": "votes",
}
#: What the pretrained network's scores are called. First runs centred queries in the order of their classes.
HOUSE_WORDS = {
    "similarity": "cosine",
    "centred": "centred on 24 queries of one or two classes",
    "centred in turn": "centred on 24 queries of all classes",
}
#: Accuracies that differ by less, in per cent, are the same.
SAME = 1e-6


def tables(results: Results) -> str:
    """Of each of the data accuracy, speed and dynamics; the pretrained network; other heads; and what of all
    that is not run.
    """
    parts = {title: _by_tasks(cases_of(results, data)) for data, title in TITLES.items()}
    parts["A pretrained network instead"] = _house(results)
    parts["Other heads on the same embeddings"] = _heads(results)
    sections = [f"### {title}\n\n{part}" for title, part in parts.items() if part]
    return "\n\n".join([*sections, *_not_run(results)])


def summary(results: Results) -> str:
    """Every accuracy of the tests, by seed."""
    rows = [
        [name, str(seed), measure, _share(row)]
        for (name, seed), content in results.contents.items()
        for measure, row in content["test"].items()
    ]
    return markdown(("run", "seed", "test", "accuracy, %"), rows)


def _not_run(results: Results) -> list[str]:
    """A sentence with the variants that are not run."""
    missing: dict[Data, dict[str, None]] = {}
    for run in grid():
        if not results.seeds(run.variant):
            missing.setdefault(run.data, {})[run.variant.removeprefix(f"{run.data}-")] = None
    told = [f"on {data} {', '.join(variants)}" for data, variants in missing.items()]
    return [f"Not run yet: {'; '.join(told)}."] if told else []


def _share(row: dict[str, float]) -> str:
    return f"{100 * row['mean']:.2f} ± {100 * row['half']:.2f}"


def _means(contents: Sequence[Content], measure: str) -> str:
    """The mean over seeds with its interval; where the seed changes nothing, that of the tasks."""
    rows = [content["test"][measure] for content in contents if measure in content["test"]]
    values = [100 * row["mean"] for row in rows]
    return _share(rows[0]) if values and max(values) - min(values) < SAME else with_interval(values)


def _by_tasks(cases: Sequence[Case]) -> str:
    """The accuracy, and folded up below it how that came about."""
    if not cases:
        return ""
    folded = {"Who learns faster": speed(cases), "What a step does": steps(cases)}
    return "\n\n".join([_accuracy(cases), *(_folded(*part) for part in folded.items())])


def _folded(title: str, written: str) -> str:
    """What a reader opens by a click."""
    return f"<details>\n<summary>{title}</summary>\n\n{written}\n\n</details>"


def _accuracy(cases: Sequence[Case]) -> str:
    """On test tasks, by the head that a system was trained with."""
    rows = []
    for case in cases:
        measures = {
            name: None for runs in case.runs.values() for one in runs.values() for name in one["untrained"]
        }
        for measure in measures:
            untrained, tested = (
                case.cells(lambda content, of=of, name=measure: 100 * content[of][name]["mean"])
                for of in ("untrained", "test")
            )
            about = [case.about[0], measure, f"{case.episodes:,}", str(len(case.pairs()))]
            rows.append([*about, untrained[0], *tested, *case.paper(ACCURACY)])
    heading = ("network", "tasks", "episodes", "seeds", "untrained", *COMPARED)
    told = markdown((*heading, *(PAPER if cases[0].paper(ACCURACY) else ())), rows)
    return f"Accuracy on test tasks, in per cent:\n\n{told}"


def _heads(results: Results) -> str:
    """Tasks of five classes, answered by all heads."""
    rows, order = [], [*RECIPES, *OUTSIDE]
    runs = [run for run in grid() if run.shot and run.seed == 0 and run.network == "conv4"]
    for run in sorted(runs, key=lambda run: (run.data, run.shot, order.index(run.recipe), run.exact)):
        contents, tasks = list(by_seed(results, run.variant).values()), f"5-way {run.shot}-shot"
        if not contents:
            continue
        cells = [_means(contents, f"{tasks}, {head}" if head else tasks) for head in HEADS]
        about = [run.data, tasks, run.system, f"{contents[0]['episodes']:,}", str(len(contents))]
        rows.append([*about, *cells])
    heading = ("data", "tasks", "trained as", "episodes", "seeds", *HEADS.values())
    return markdown(heading, rows) if rows else ""


def _house(results: Results) -> str:
    contents, rows = list(by_seed(results, "birds-house").values()), []
    for name in contents[0]["test"] if contents else ():
        state, *words, tasks = name.split(", ")
        head = ", ".join(HOUSE_WORDS.get(word, word) for word in words)
        rows.append([tasks, state, head, str(len(contents)), _means(contents, name)])
    rows.sort(key=lambda row: row[0])
    return markdown(("tasks", "network", "score", "seeds", "accuracy, %"), rows) if rows else ""
