"""Files that somebody damaged or made to do harm, through every door: all must end in a sentence.

    python benchmarks/fuzz.py --cases 20000 --state fuzz.json     # goes on where it was stopped
    python benchmarks/fuzz.py --case 1234                         # one case again, with its traceback

A case is drawn by its number and the seed: a door, a good input for it, and one to four changes of its bytes,
values or files. Where a format keeps checksums, they are often made to fit, as the maker of a hostile file
would. The input is opened and used. A `SamekindError` is the answer that is expected of damage. Anything else
counts: another exception, more than ten seconds, more than 2 GB of memory, the end of the process.
"""

import argparse
import json
import os
import random
import resource
import select
import subprocess
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import torch
from fuzzing.changes import changed, made_to_fit
from fuzzing.doors import DOORS
from fuzzing.inputs import folder_of

from samekind.errors import SamekindError

SECONDS = 10  # of processor time, after which a case counts as a hang
PATIENCE = 6  # times as long is waited, for the machine may be busy
MEMORY = 2 * 2**30  # the most memory that a process may have taken
CASES_A_PROCESS = 500


class Outcome(NamedTuple):
    door: str
    what: str  # "opened", "refused", or what is wrong: "traceback", "hang", "memory", "died"
    detail: str = ""


def run_case(
    number: int, *, seed: int = 0, doors: tuple[str, ...] = tuple(DOORS), show: bool = False
) -> Outcome:
    """Draw a case and try it."""
    draw = random.Random(f"{seed} {number}")
    door = doors[number % len(doors)]
    files = changed(draw.choice(DOORS[door].inputs()), draw, times=draw.choice([1, 1, 1, 2, 4]))
    if draw.random() < 0.7:
        files = made_to_fit(files)
    with folder_of(files) as folder:
        try:
            DOORS[door].use(folder)
        except SamekindError as error:
            if show:
                print(f"{door}: {error}")
            return Outcome(door, "refused", str(error))
        except Exception as error:
            if show:
                traceback.print_exc()
            frames = [
                frame for frame in traceback.extract_tb(error.__traceback__) if "samekind" in frame.filename
            ]
            where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
            return Outcome(door, "traceback", f"{type(error).__name__} at {where}: {str(error)[:100]}")
    return Outcome(door, "opened")


def work(seed: int, doors: tuple[str, ...]) -> None:
    """Try the cases whose numbers come in, and answer each with a line."""
    # Not to endanger the machine; what is measured is the memory that was used.
    resource.setrlimit(resource.RLIMIT_DATA, (8 * MEMORY, 8 * MEMORY))
    os.environ["SAMEKIND_INDEX_URL"] = "postgresql://127.0.0.1:1/none"
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        begun = time.process_time()
        outcome = run_case(int(line), seed=seed, doors=doors)
        if time.process_time() - begun > SECONDS:
            outcome = outcome._replace(what="hang")
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        if used > MEMORY:
            outcome = outcome._replace(what="memory", detail=f"{used / 2**30:.1f} GiB, {outcome.detail}")
        print(json.dumps(outcome), file=answers, flush=True)


class Worker:
    """A process that tries cases."""

    def __init__(self, seed: int, doors: tuple[str, ...]) -> None:
        command = [sys.executable, __file__, "--worker", f"--seed={seed}", f"--doors={','.join(doors)}"]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )
        self.cases = 0

    def outcome(self, number: int, door: str) -> Outcome:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{number}\n")
        self.cases += 1
        if not select.select([self.process.stdout], [], [], PATIENCE * SECONDS)[0]:
            return Outcome(door, "hang")
        line = self.process.stdout.readline()
        return Outcome(*json.loads(line)) if line else Outcome(door, "died", f"status {self.process.wait()}")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def report(counts: Counter[tuple[str, str]], wrong: dict[str, str]) -> str:
    """A table of the outcomes by door, and the cases that went wrong."""
    kinds = ("opened", "refused", "traceback", "hang", "memory", "died")
    doors = list(dict.fromkeys(door for door, _ in counts))
    lines = [f"{'':12}" + "".join(f"{kind:>11}" for kind in kinds)]
    lines += [f"{door:12}" + "".join(f"{counts[door, kind]:>11,}" for kind in kinds) for door in doors]
    lines.append(
        f"{'all':12}" + "".join(f"{sum(counts[door, kind] for door in doors):>11,}" for kind in kinds)
    )
    return "\n".join([*lines, *(f"case {number}: {what}" for number, what in list(wrong.items())[:40])])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--doors", default=",".join(DOORS))
    parser.add_argument("--state", type=Path, help="a file to go on from, and to write to")
    parser.add_argument("--case", type=int, help="try one case again and show what happened")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    doors = tuple(given.doors.split(","))
    torch.set_num_threads(1)
    if given.case is not None:
        print(run_case(given.case, seed=given.seed, doors=doors, show=True))
        return
    if given.worker:
        work(given.seed, doors)
        return
    state: dict[str, Any] = {"next": given.start, "counts": [], "wrong": {}}
    if given.state is not None and given.state.exists():
        state = json.loads(given.state.read_text())
    counts = Counter({(door, what): number for door, what, number in state["counts"]})
    worker = Worker(given.seed, doors)
    try:
        for number in range(state["next"], given.start + given.cases):
            outcome = worker.outcome(number, doors[number % len(doors)])
            counts[outcome.door, outcome.what] += 1
            if outcome.what not in ("opened", "refused"):
                state["wrong"][str(number)] = f"{outcome.door}, {outcome.what}: {outcome.detail}"
            if outcome.what in ("hang", "memory", "died") or worker.cases == CASES_A_PROCESS:
                worker.end()
                worker = Worker(given.seed, doors)
            state |= {"next": number + 1, "counts": [(*key, value) for key, value in counts.items()]}
            if given.state is not None and number % 100 == 99:
                given.state.write_text(json.dumps(state))
    finally:
        worker.end()
        if given.state is not None:
            given.state.write_text(json.dumps(state))
    print(report(counts, state["wrong"]))


if __name__ == "__main__":
    main()
