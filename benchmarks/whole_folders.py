"""Small folders of pictures by the commands of a user: `samekind train`, then `samekind evaluate`.

    python benchmarks/whole_folders.py birds1.toml … [--work runs/folders] [--minutes 3]
    python benchmarks/whole_folders.py --table [--page docs/results/house.md]

`few_pictures.py` cuts the folders and writes their run files. What a folder gave is in
results/house/whole-folders.json, and a folder that is there is not run again. The first answer is the line
about untrained features; seconds are of the wall clock and, for all of a command, of the processor. "One
network" is what the same folders gave before the ladder had several; it is stored, not measured anew.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from grids.tables import markdown, page_with, with_interval

SAMEKIND = (sys.executable, "-c", "from samekind.cli import main; main()")
STORED, MARK = Path("results/house/whole-folders.json"), "folders"
HOUSE, FIRST, ON = "house recipe", "untrained features:", "of untrained features"
HARMONIC, BESIDE = "5-way 5-shot harmonic mean", "seen, unseen"
HEADING = ("folder", "system", "accuracy", "Recall@1, unseen", "EER, unseen", "5-shot beside known")
#: What each system is compared in: the items, the measure, and the kind of a reference on untrained features.
REFERENCES = {
    "logistic regression": {"accuracy": ("seen", "accuracy", "logistic regression")},
    "nearest mean": {
        "accuracy": ("seen", "accuracy", "nearest mean"),
        "enrolment": (BESIDE, HARMONIC, "nearest mean"),
    },
    "centred cosine": {
        "Recall@1": ("unseen", "Recall@1", "centred cosine"),
        "EER": ("unseen", "EER", "centred cosine"),
        "enrolment": (BESIDE, HARMONIC, "nearest centred mean"),
    },
}
MEASURES = ("accuracy", "Recall@1", "EER", "enrolment")

Figures = dict[str, dict[str, float]]


def trained(file: Path, run: Path, *, minutes: float) -> dict[str, float]:
    """Train, and say after how many seconds there was a first answer and when all was done."""
    began, before = time.perf_counter(), _processor_seconds()
    words = (*SAMEKIND, "train", str(file), "--minutes", str(minutes), "--out", str(run))
    seconds = {}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        for line in command.stdout:
            print(line, end="", flush=True)
            if line.startswith(FIRST):
                seconds["first answer"] = time.perf_counter() - began
    if command.returncode:
        raise SystemExit(f"samekind train {file} failed")
    seconds["training"] = time.perf_counter() - began
    return {**seconds, "training, of the processor": _processor_seconds() - before}


def evaluated(run: Path) -> Figures:
    """What `samekind evaluate` says of the run and of what a user would do instead, in per cent."""
    words = (*SAMEKIND, "evaluate", str(run), "--json", "--tasks", "200", "--shots", "5")
    answer = json.loads(subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return figures_of(answer)


def figures_of(answer: dict[str, Any]) -> Figures:
    """The figures of an answer of `samekind evaluate`, by system and measure."""
    (name,) = answer["systems"]
    rows, chosen = answer["systems"][name], answer["choices"][name]

    def value(question: str, items: str, measure: str, *kinds: str) -> float:
        wanted = (question, items, measure)
        return 100 * next(
            row["value"]
            for row in rows
            if (row["question"], row["items"], row["measure"]) == wanted and row["kind"] in kinds
        )

    house = {
        "accuracy": value("classification", "seen", "accuracy", "similarity", "discriminant"),
        "Recall@1": value("retrieval", "unseen", "Recall@1", chosen["neighbours"]),
        "EER": value("verification", "unseen", "EER", chosen["pairs"]),
        "enrolment": value("few-shot beside known", BESIDE, HARMONIC, chosen["classes"]),
    }
    others = {
        system: {
            name: value("reference", items, measure, f"{kind} {ON}")
            for name, (items, measure, kind) in measures.items()
        }
        for system, measures in REFERENCES.items()
    }
    return {HOUSE: house, **others}


def table(folders: dict[str, dict[str, Any]]) -> str:
    """A row for each folder and system; then how much the house recipe is above each reference."""
    rows = []
    for name, content in folders.items():
        for system, figures in content["figures"].items():
            shown = [f"{figures[measure]:.1f}" if measure in figures else "" for measure in MEASURES]
            rows.append([name, f"**{system}**", *shown] if system == HOUSE else ["", system, *shown])
    for system in next(iter(folders.values()))["figures"]:
        if system != HOUSE:
            shown = [_gain(folders, system, measure) for measure in MEASURES]
            rows.append([f"all {len(folders)}", f"house recipe less {system}", *shown])
    return markdown(HEADING, rows)


def _gain(folders: dict[str, dict[str, Any]], system: str, measure: str) -> str:
    """How much the house recipe is above a system, with the interval over the folders that have it; empty if
    it has no such measure.
    """
    figures = [content["figures"] for content in folders.values()]
    gains = [one[HOUSE][measure] - one[system][measure] for one in figures if measure in one.get(system, {})]
    return with_interval(gains) if gains else ""


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*", help="run files of folders")
    parser.add_argument("--work", type=Path, default=Path("runs/folders"))
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--out", type=Path, default=STORED)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--page", type=Path, help="with --table: the page to write the table into")
    given = parser.parse_args()
    folders = json.loads(given.out.read_text()) if given.out.exists() else {}
    for file in given.files:
        if file.stem not in folders:
            seconds = trained(file, given.work / file.stem, minutes=given.minutes)
            folders[file.stem] = {"figures": evaluated(given.work / file.stem), "seconds": seconds}
            given.out.write_text(json.dumps(dict(sorted(folders.items())), indent=1) + "\n")
    if given.table and given.page is None:
        print(table(folders))
    elif given.table:
        page = given.page.read_text(encoding="utf-8")
        given.page.write_text(page_with(page, table(folders), mark=MARK), encoding="utf-8")


if __name__ == "__main__":
    main()
