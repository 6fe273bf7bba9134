"""A small folder of pictures, as a user has one: 40 classes of 30 pictures, cut at random from an archive.

    python benchmarks/few_pictures.py --data DIR/cub200.zip --out birds [--seed 1] [--avoid OTHER …]

Of the classes 30 are trained on, with 18 pictures each, and ten are never shown. It writes the folder and a
run file beside it, and prints the two commands to go on with. docs/results/house.md has what they gave.
"""

import argparse
import random
import zipfile
from collections import defaultdict
from pathlib import Path, PurePosixPath

CLASSES, UNSEEN, PICTURES = 40, 10, 30
RUN = """recipe = "house"
seed = 0

[data]
source = "{source}"
size = 128

[split]
by = "random"
unseen = [{unseen}]
"""


def cut(archive: Path, folder: Path, *, seed: int, avoid: frozenset[str] = frozenset()) -> list[str]:
    """Write pictures of classes, those to ``avoid`` left out, into a folder; returns the unseen classes."""
    rng = random.Random(seed)
    with zipfile.ZipFile(archive) as pictures:
        members: dict[str, list[str]] = defaultdict(list)
        for name in pictures.namelist():
            if name.endswith((".jpg", ".webp")):
                members[PurePosixPath(name).parts[1]].append(name)
        large = sorted(name for name, some in members.items() if len(some) >= PICTURES and name not in avoid)
        classes = sorted(rng.sample(large, CLASSES))
        unseen = sorted(rng.sample(classes, UNSEEN))
        for name in classes:
            (folder / name).mkdir(parents=True, exist_ok=True)
            for picture in rng.sample(sorted(members[name]), PICTURES):
                (folder / name / PurePosixPath(picture).name).write_bytes(pictures.read(picture))
    return unseen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="an archive with a folder for each class")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--avoid", type=Path, nargs="*", default=[], help="folders whose classes are left out"
    )
    given = parser.parse_args()
    avoid = frozenset(place.name for folder in given.avoid for place in folder.iterdir())
    unseen = cut(given.data, given.out, seed=given.seed, avoid=avoid)
    run = given.out.with_suffix(".toml")
    run.write_text(RUN.format(source=given.out.name, unseen=", ".join(f'"{name}"' for name in unseen)))
    print(f"samekind train {run} --minutes 3 --out runs/{given.out.name}")
    print(f"samekind evaluate runs/{given.out.name}")


if __name__ == "__main__":
    main()
