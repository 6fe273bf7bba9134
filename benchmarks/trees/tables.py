"""The tables of the page, from the JSONs of whatever runs there are."""

from collections.abc import Sequence

from grid import DATA, OTHERS, PAPER, TURNED, UNTRAINED
from grids.results import Results
from grids.tables import markdown, with_interval
from published import CORRELATIONS as PUBLISHED
from published import SETS, TOGETHER

from samekind.evaluation import rank_correlation
from samekind.measures import student_interval

NAMES = {
    "plankton": "Plankton (NDSB, 121 classes, 96 pixels)",
    "birds": "Birds (CUB-200-2011, 200 classes, 192 pixels)",
}
#: The measures of the main table: their names in the JSONs, and whether they are shares.
MEASURES = {"top-1": True, "top-5": True, "AHD@1": False, "AHD@5": False, "HP@5": True, "HP@5, code": True}
MEASURES |= {"HS@50": True, "HS@250": True, "AHS@250": True, "MC proxies": False, "MC prototypes": False}
#: Mean correlations without the diagonal, and of living classes.
CORRELATIONS = [
    f"MC {what}{living}{diagonal}"
    for what in ("proxies", "prototypes")
    for living in ("", ", living")
    for diagonal in ("", ", no diagonal")
]
#: The system and measure that stand beside a printed mean correlation, and of which vectors that is.
OWN = {name: (name, "MC prototypes") for name in ("random", "pretrained")}
OWN |= {"input": ("input", "MC mean pictures"), "input, normalised": ("input", "MC prototypes")}
OWN |= {"mds": ("norm-face-mds", "MC proxies")}
WHERE = dict.fromkeys(OWN, "prototypes") | {"mds": "proxies"}
#: What measures are correlated with over runs, of which there must be some; and the paper's level.
AGAINST, FEWEST, SURE = ("top-1", "top-5", "MC proxies", "MC prototypes"), 4, 0.01
#: The paper's claims, and last ours: the better system, the other, the measure, whether higher is better.
CLAIMS = [
    (better, other, measure, higher)
    for better, other in (
        ("proxy-dr", "norm-face"),
        ("proxy-dr-dynamic", "proxy-dr"),
        ("norm-face-dynamic", "norm-face"),
        ("proxy-dr-mds", "proxy-dr"),
        ("norm-face-mds", "norm-face"),
        ("proxy-dr-ema", "proxy-dr"),
        ("proxy-dr-ema-dynamic", "proxy-dr-ema"),
        ("proxy-dr-mds-dynamic", "proxy-dr-mds"),
        ("norm-face-tree", "norm-face-mds"),
        ("norm-face-tree", "norm-face"),
        ("proxy-dr-tree", "proxy-dr-mds"),
        ("proxy-dr-tree", "proxy-dr"),
        ("corr-tree", "corr"),
    )
    for measure, higher in (
        ("top-1", True),
        ("top-5", True),
        ("AHD@5", False),
        ("HP@5", True),
        ("MC proxies", True),
        ("MC prototypes", True),
    )
]


def tables(results: Results) -> str:
    """For each data: the main table, the correlations, the claims, and how measures go together. Then what
    the paper prints beside what was measured.
    """
    parts = [part for data in DATA for part in _of(results, data)]
    return "\n\n".join([*parts, *(_beside_the_paper(results) if parts else ["Not run yet."])])


def summary(results: Results) -> str:
    """The main tables alone."""
    return "\n\n".join(_main(results, data) for data in DATA if _systems(results, data))


def _of(results: Results, data: str) -> list[str]:
    if not _systems(results, data):
        return []
    content = next(content for (variant, _), content in results.contents.items() if variant.startswith(data))
    items = content["items"]
    counts = (
        f"{items['train']:,} training items and {items['test']:,} test items of {items['classes']} classes."
    )
    return [
        f"### {NAMES[data]}\n\n{counts}",
        _main(results, data),
        f"Mean correlation with the tree:\n\n{_correlations(results, data)}",
        "The first system less the second, with 95% intervals over seeds; unsure where that holds 0:\n\n"
        + _claims(results, data),
        "Rank correlation (Spearman) between measures over the paper's systems but softmax, and its p-value:"
        f"\n\n{_together(results, data)}",
    ]


def _systems(results: Results, data: str) -> list[str]:
    return [name for name in (*UNTRAINED, *PAPER, *TURNED, *OTHERS) if results.seeds(f"{data}-{name}")]


def _values(results: Results, data: str, system: str, measure: str) -> dict[int, float]:
    variant = f"{data}-{system}"
    by_seed = {
        seed: results.contents[variant, seed]["measures"].get(measure) for seed in results.seeds(variant)
    }
    return {seed: value for seed, value in by_seed.items() if value is not None}


def _cell(values: Sequence[float], *, share: bool) -> str:
    if share:
        return with_interval([100 * value for value in values])
    if len(values) < 2:
        return f"{values[0]:.3f}" if values else ""
    mean = sum(values) / len(values)
    spread = (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5
    return f"{mean:.3f} (sd {spread:.3f})"


def _main(results: Results, data: str) -> str:
    rows = [
        [
            system,
            str(len(results.seeds(f"{data}-{system}"))),
            *(
                _cell(list(_values(results, data, system, name).values()), share=share)
                for name, share in MEASURES.items()
            ),
        ]
        for system in _systems(results, data)
    ]
    return markdown(("system", "seeds", *MEASURES), rows)


def _correlations(results: Results, data: str) -> str:
    systems = _systems(results, data)
    columns = [
        name for name in CORRELATIONS if any(_values(results, data, system, name) for system in systems)
    ]
    rows = [
        [
            system,
            *(_cell(list(_values(results, data, system, name).values()), share=False) for name in columns),
        ]
        for system in systems
    ]
    return markdown(("system", *(name.removeprefix("MC ") for name in columns)), rows)


def _claims(results: Results, data: str) -> str:
    """Paired differences: both systems of a seed had the same split."""
    rows = []
    for better, other, measure, higher in CLAIMS:
        first, second = (_values(results, data, system, measure) for system in (better, other))
        differences = [first[seed] - second[seed] for seed in first if seed in second]
        if not differences:
            continue
        listed = ", ".join(f"{difference:+.3f}" for difference in differences)
        rows.append([f"{better} / {other}", measure, *_difference(differences, higher=higher), listed])
    return markdown(("systems", "measure", "difference", "verdict", "by seed"), rows)


def _difference(values: Sequence[float], *, higher: bool) -> tuple[str, str]:
    """The mean with its 95% interval over seeds, and whether that says better or worse."""
    if len(values) < 2:
        return f"{values[0]:+.3f}", "one seed"
    interval = student_interval(values)
    sure = abs(interval.mean) > interval.half
    verdict = ("better" if (interval.mean > 0) == higher else "worse") if sure else "unsure"
    return f"{interval.mean:+.3f} ± {interval.half:.3f}", verdict


def _beside_the_paper(results: Results) -> list[str]:
    """Mean correlations, and rank correlations of measures: the paper's sets, and those of this page."""
    rows = []
    for name, printed in PUBLISHED.items():
        own = [_fine(list(_values(results, data, *OWN[name]).values())) for data in DATA]
        rows.append([f"{name}, {WHERE[name]}", *own, *(printed.get(data, "") for data in SETS)])
    correlations = markdown(("mean correlation", *(f"{data}, here" for data in DATA), *SETS), rows)
    return [
        "### Beside the paper's tables",
        f"Mean correlations (its table 2, and under its figures), with 95% intervals:\n\n{correlations}",
        *(
            f"Rank correlations with {against} (its table {table}):\n\n{_with(results, against)}"
            for against, table in (("MC proxies", "S2"), ("top-1", "S3"), ("top-5", "S4"))
        ),
    ]


def _with(results: Results, against: str) -> str:
    """How measures go with one of them over runs, here and in the paper."""
    rows = [
        [measure, *(_coefficient(results, data, measure, against) for data in DATA)]
        + ["" if value is None else f"{value:.2f}" for value in printed]
        for measure, printed in TOGETHER[against].items()
    ]
    return markdown((f"with {against}", *(f"{data}, here" for data in DATA), *SETS), rows)


def _fine(values: Sequence[float]) -> str:
    """Mean and half of its interval over seeds, to three places."""
    if len(values) < 2:
        return f"{values[0]:.3f}" if values else ""
    interval = student_interval(values)
    return f"{interval.mean:.3f} ± {interval.half:.3f}"


def _coefficient(results: Results, data: str, measure: str, against: str) -> str:
    runs = _runs(results, data)
    answer = rank_correlation(runs, measure, against) if len(runs) >= FEWEST else None
    return "" if answer is None else f"{answer.coefficient:.2f}"


def _runs(results: Results, data: str) -> list[dict[str, float]]:
    """The measures of the runs of the paper's systems but softmax."""
    wanted = {f"{data}-{name}" for name in PAPER if name != "softmax"}
    return [content["measures"] for (variant, _), content in results.contents.items() if variant in wanted]


def _together(results: Results, data: str) -> str:
    """As the paper's tables S2 to S4: the mean correlations and accuracies against all measures."""
    runs = _runs(results, data)
    if len(runs) < FEWEST:
        return "Not run yet."
    living = [f"{name}, living" for name in AGAINST if f"{name}, living" in runs[0]]
    columns = [*AGAINST, *living]
    rows = [
        [name, *("" if name == other else _rank_correlation(runs, name, other) for other in columns)]
        for name in (*MEASURES, *living)
    ]
    table = markdown(("measure", *(f"with {name}" for name in columns)), rows)
    return f"{len(runs)} runs; bold where the p-value is below {SURE}.\n\n{table}"


def _rank_correlation(runs: Sequence[dict[str, float]], one: str, other: str) -> str:
    """Spearman's coefficient with its p-value; nothing where a measure is the same in all runs."""
    answer = rank_correlation(runs, one, other)
    if answer is None:
        return ""
    written = f"{answer.coefficient:.2f}"
    return f"{f'**{written}**' if answer.p_value < SURE else written} ({answer.p_value:.0e})"
