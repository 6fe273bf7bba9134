"""The tables of the page, from the JSONs of whatever runs there are."""

from collections.abc import Callable
from typing import Any

from forms import forms_table
from grid import DATA
from grids.results import Results
from grids.tables import markdown, with_interval
from kept import kept_table, value_of

NAMES = {
    "birds": "Birds (CUB-200-2011, a hundred classes unseen)",
    "plankton": "Plankton (half of the classes unseen)",
    "characters": "Drawn characters (Omniglot, 40% of the alphabets unseen)",
    "fashion": "Fashion-MNIST (two classes unseen)",
    "fashion-cut": "Fashion-MNIST, 1,000 pictures a class (two classes unseen)",
    "digits": "Digits (scikit-learn, three classes unseen)",
    "wine": "Wine (scikit-learn, no class unseen)",
    "cancer": "Breast cancer (scikit-learn, no class unseen)",
}
#: The same without what is in brackets.
SHORT = {data: name.partition(" (")[0] for data, name in NAMES.items()}
HEADING = ("system", "seeds", "Recall@1, validation", "accuracy", "Recall@1", "EER")
HEADING += ("EER, gallery as cohort", "5-shot beside known", "s")
#: Systems of the grid beside the house recipe: what a user would do instead.
OTHERS = ("instead", "peer", "paper")

Read = Callable[[dict[str, Any]], float | None]


def tables(results: Results) -> str:
    """The kept rung against the first; a table for each set of data, with the rungs of the ladder and what a
    user would do instead; and the forms of similarity against the cosine.
    """
    runs = {data: contents for data in DATA if (contents := _contents(results, f"{data}-house"))}
    parts = [kept_table(runs, SHORT.__getitem__), *(_table(results, data) for data in DATA)]
    parts.append(forms_table(runs, SHORT.__getitem__))
    return "\n\n".join(part for part in parts if part)


def _table(results: Results, data: str) -> str:
    house = _contents(results, f"{data}-house")
    others = [content for name in OTHERS for content in _contents(results, f"{data}-{name}")]
    if not house:
        return ""
    rows = [_row(name, house, marked=True) for name in _systems(house)]
    rows += [_row(name, others) for name in _systems(others)]
    items = house[0]["items"]
    counts = (
        f"{items['train']:,} training items of {items['classes']} classes; "
        f"{items['unseen']:,} items of {items['unseen classes']} unseen classes. "
        f"Validation: {house[0]['measured on']}."
    )
    return f"### {NAMES[data]}\n\n{counts}\n\n{markdown(HEADING, rows)}"


def _contents(results: Results, variant: str) -> list[dict[str, Any]]:
    return [results.contents[variant, seed] for seed in results.seeds(variant)]


def _systems(contents: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for content in contents for name in content["systems"]))


def _row(name: str, contents: list[dict[str, Any]], *, marked: bool = False) -> list[str]:
    present = [content for content in contents if name in content["systems"]]
    systems = [content["systems"][name] for content in present]
    times_kept = sum(content.get("kept") == name for content in present) if marked else 0
    label = f"{name} (kept in {times_kept} of {len(present)})" if times_kept else name
    return [
        label,
        str(len(present)),
        _shares(systems, lambda system: system.get("rung", {}).get("recall")),
        _shares(systems, lambda system: system.get("accuracy")),
        _shares(systems, lambda system: system.get("Recall@1")),
        _shares(systems, lambda system: system.get("EER")),
        _shares(systems, lambda system: system.get("gallery as cohort", {}).get("EER")),
        with_interval(
            [v for system in systems if (v := value_of(system, "5-shot beside known")) is not None]
        ),
        _seconds(systems),
    ]


def _shares(systems: list[dict[str, Any]], read: Read) -> str:
    values = [value for system in systems if (value := read(system)) is not None]
    return with_interval([100 * value for value in values])


def _seconds(systems: list[dict[str, Any]]) -> str:
    seconds = [system["rung"]["seconds"] for system in systems if "rung" in system]
    return f"{sum(seconds) / len(seconds):.0f}" if seconds else ""
