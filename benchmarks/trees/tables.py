"""The tables of the page, from the JSONs of whatever runs there are."""

from collections.abc import Sequence

from grid import DATA, OTHERS, PAPER, UNTRAINED
from grids.results import Results
from grids.tables import markdown, with_interval

from samekind.evaluation import rank_correlation

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
#: What measures are correlated with over runs, of which there must be some; and the paper's level.
AGAINST, FEWEST, SURE = ("top-1", "top-5", "MC proxies", "MC prototypes"), 4, 0.01
#: The paper's claims: the better system, the other, the measure, whether higher is better.
CLAIMS = [
    (better, other, measure, higher)
    for better, other in (
        ("proxy-dr", "norm-face"),
        ("proxy-dr-dynamic", "proxy-dr"),
        ("norm-face-dynamic", "norm-face"),
        ("proxy-dr-mds", "proxy-dr"),
        ("norm-face-mds", "norm-face"),
        ("proxy-dr-ema", "proxy-dr"),
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
    """For each data: the main table, the correlations, the claims, and how measures go together."""
    return "\n\n".join(part for data in DATA for part in _of(results, data))


def summary(results: Results) -> str:
    """The main tables alone."""
    return "\n\n".join(_main(results, data) for data in DATA if _systems(results, data))


def _of(results: Results, data: str) -> list[str]:
    if not _systems(results, data):
        return []
    content = next(content for (variant, _), content in results.contents.items() if variant.startswith(data))
    items = content["items"]
    said = (
        f"{items['train']:,} training items and {items['test']:,} test items of {items['classes']} classes."
    )
    return [
        f"### {NAMES[data]}\n\n{said}",
        _main(results, data),
        f"Mean correlation with the tree:\n\n{_correlations(results, data)}",
        f"The first system less the second, by seed:\n\n{_claims(results, data)}",
        "Rank correlation (Spearman) between measures over the paper's systems but softmax, and its p-value:"
        f"\n\n{_together(results, data)}",
    ]


def _systems(results: Results, data: str) -> list[str]:
    return [name for name in (*UNTRAINED, *PAPER, *OTHERS) if results.seeds(f"{data}-{name}")]


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
        signs = {(difference > 0) == higher for difference in differences if difference}
        verdict = "better in all" if signs == {True} else "worse in all" if signs == {False} else "mixed"
        mean = sum(differences) / len(differences)
        listed = ", ".join(f"{difference:+.3f}" for difference in differences)
        rows.append([f"{better} / {other}", measure, f"{mean:+.3f}", listed, verdict])
    return markdown(("systems", "measure", "mean difference", "by seed", "verdict"), rows)


def _together(results: Results, data: str) -> str:
    """As the paper's tables S2 to S4: the mean correlations and accuracies against all measures."""
    wanted = {f"{data}-{name}" for name in PAPER if name != "softmax"}
    runs = [content["measures"] for (variant, _), content in results.contents.items() if variant in wanted]
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
