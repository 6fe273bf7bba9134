"""Fashion-MNIST, whole, from its four files to answers, on the CPU, by the commands a user would give.

    python benchmarks/fashion.py --data DIR [--out results/fashion] [--work runs/fashion] [--epochs 5]

DIR holds the four IDX files, gzipped or not. Trains on 54,000 of the 60,000 training pictures, chooses the
epoch and fits the thresholds on the other 6,000, and asks about the 10,000 test pictures. Each step is one
command with ``--json``; the table says what it answered and how many seconds it took on this machine.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from samekind.data import open_data, write_image

SAMEKIND = "from samekind.cli import main; main()"
RUN = """\
recipe = "prototypical"

[data]
source = {source}

[split]
by = "part"
fractions = {{ train = 0.9, validation = 0.1 }}

[training]
epochs = {epochs}
watch = "eer best"

[training.space.encoder]
name = "SmallConvnet"
dimension = 64
width = 16

[training.batches]
size = 128

[training.schedule]
name = "multi-step"
milestones = [{first}, {second}]
"""


def command(*words: object) -> tuple[dict[str, Any], float]:
    """What `samekind` answers, and how long it took."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", SAMEKIND, *map(str, words), "--json"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout), time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--work", type=Path, default=Path("runs/fashion"))
    parser.add_argument("--epochs", type=int, default=5)
    given = parser.parse_args()
    work, rows = given.work, []
    work.mkdir(parents=True, exist_ok=True)
    file, run = work / "fashion.toml", work / "run"
    first, second = max(1, given.epochs - 2), max(2, given.epochs - 1)
    source = json.dumps(str(given.data.resolve()))
    file.write_text(RUN.format(source=source, epochs=given.epochs, first=first, second=second))
    test, pictures = write_test(given.data, work)

    def note(what: str, answer: str, seconds: float) -> None:
        rows.append({"command": what, "answer": answer, "seconds": round(seconds, 1)})
        print(f"| `{what}` | {answer} | {seconds:.0f} |", flush=True)

    print("| command | answer | seconds |\n|---|---|--:|")
    content, took = command("check", file)
    note("check", f"{content['items']:,} pictures, {len(content['warnings'])} warnings", took)
    content, took = command("train", file, "--out", run, "--device", "cpu")
    note(
        f"train, {given.epochs} epochs",
        f"validation EER {100 * content['best']['validation']['eer best']:.2f}%",
        took,
    )
    content, took = command(
        "predict", test, "--space", run, "--out", work / "predictions.csv", "--device", "cpu"
    )
    note("predict, 10,000 test pictures", f"accuracy {100 * content['accuracy']:.2f}%", took)
    accuracy = content["accuracy"]
    content, took = command("evaluate", run, "--most", 2000, "--tasks", 200, "--device", "cpu")
    for row in content["systems"]["run"]:
        if (row["measure"], row["kind"]) in SHOWN:
            answer = (
                f"{row['measure']}, {row['kind']}: {row['value']:.4f} ({row['low']:.4f} to {row['high']:.4f})"
            )
            note("evaluate, 2,000 test pictures", answer, took)
    content, took = command(
        "search", *pictures, "--gallery", test, "-k", 5, "--space", run, "--device", "cpu"
    )
    labels = [[match["label"] for match in query["found"]] for query in content["queries"]]
    note(
        "search, 10 pictures among 10,000",
        f"labels of the nearest: {labels[0]} for a 0, {labels[9]} for a 9",
        took,
    )
    content, took = command("cluster", test, "--groups", 10, "--space", run, "--out", work / "groups.csv")
    note("cluster, 10,000 pictures, 10 groups", f"NMI {content['agreement']['NMI']:.3f}", took)
    content, took = command("identify", *pictures, "--space", run, "--device", "cpu")
    named = [item["class"] for item in content["items"]]
    note("identify, a test picture of each class", f"named {named}", took)
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        machine = {"cores": len(os.sched_getaffinity(0)), "machine": platform.machine()}
        content = {"epochs": given.epochs, "accuracy": accuracy, **machine, "rows": rows}
        (given.out / "fashion.json").write_text(json.dumps(content, indent=2) + "\n")


SHOWN = {
    ("EER", "similarity"),
    ("EER", "cosine"),
    ("EER", "fused"),
    ("Recall@1", "similarity"),
    ("Recall@1", "cosine"),
}


def write_test(data: Path, work: Path) -> tuple[Path, list[Path]]:
    """The test pictures as arrays, and the first of each class as a PNG file."""
    items = open_data(data)
    places = [place for place, part in enumerate(items.parts or ()) if part == "test"]
    inputs, labels = items.inputs[places[0] : places[-1] + 1], items.labels[places]
    np.savez(work / "test.npz", inputs=np.asarray(inputs), labels=labels.numpy())
    pictures = [work / "pictures" / f"{label}.png" for label in range(10)]
    for label, path in enumerate(pictures):
        write_image(path, inputs[int((labels == label).nonzero()[0])])
    return work / "test.npz", pictures


if __name__ == "__main__":
    main()
