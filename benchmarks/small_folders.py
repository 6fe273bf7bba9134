"""Who names the classes of a small folder best? Many folders of 30 classes, cut at random from an archive.

    python benchmarks/small_folders.py --data DIR/cub200.zip [--folders 20] [--cache FILE]
    python benchmarks/small_folders.py --data DIR/plankton.zip --drawn 45 --grey

The pictures pass once through the pretrained network of the house recipe, at 128 pixels. Half of the classes
are for development: the settings of the discriminant were chosen there. From either half folders are cut, 18
training and 12 test pictures a class, and four systems are fitted to each: the nearest mean by the cosine and
by `WithinClass`, logistic regression as `samekind evaluate` has it, and the discriminant of the house recipe.
It writes results/house/small-folders-NAME.json; intervals of the differences are over folders.
"""

import argparse
import io
import json
import random
import zipfile
from collections import defaultdict
from pathlib import Path, PurePosixPath

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from samekind.encoders import EfficientNetLite, Views
from samekind.evaluation.untrained import _regression
from samekind.inference.discriminant import SHRINKAGE, fit_discriminant
from samekind.measures import student_interval
from samekind.prototypes import class_means
from samekind.similarities import Cosine, WithinClass

CLASSES, MOST_CLASSES, PICTURES, TRAINING, SIZE = 30, 120, 30, 18, 128
REFERENCE = "logistic regression"


def embedded(archive: Path, *, drawn: int, grey: bool) -> tuple[Tensor, Tensor]:
    """The features of 30 pictures of each of at most 120 classes, the first of ``drawn``: (n, 1280), and the
    classes (n,). Pictures are read in colour and mirrored too, or ``grey`` and as they are.
    """
    rng, members = random.Random(0), defaultdict(list)
    with zipfile.ZipFile(archive) as pictures:
        for name in pictures.namelist():
            if name.endswith((".jpg", ".webp")):
                members[PurePosixPath(name).parts[1]].append(name)
        classes = sorted(name for name, some in members.items() if len(some) >= PICTURES)
        if len(classes) > MOST_CLASSES:
            classes = sorted(rng.sample(classes, MOST_CLASSES))
        chosen = [
            name
            for place in classes
            for name in rng.sample(sorted(members[place]), min(drawn, len(members[place])))[:PICTURES]
        ]
        network = EfficientNetLite(channels=1 if grey else 3, pooling="average+maximum", layer_norm=True)
        encoder = Views(encoder=network, size=round(SIZE * 11 / 7), mirror=not grey).eval()
        vectors = []
        for start in range(0, len(chosen), 8):
            files = [pictures.read(name) for name in chosen[start : start + 8]]
            with torch.inference_mode():
                vectors.append(encoder(torch.stack([_pixels(file, grey=grey) for file in files])))
    return torch.cat(vectors), torch.arange(len(classes)).repeat_interleave(PICTURES)


def _pixels(file: bytes, *, grey: bool) -> Tensor:
    picture = Image.open(io.BytesIO(file)).convert("L" if grey else "RGB")
    picture = picture.resize((SIZE, SIZE), Image.Resampling.BILINEAR)
    pixels = torch.from_numpy(np.array(picture)).float() / 255
    return pixels[None] if grey else pixels.permute(2, 0, 1)


def accuracies(z: Tensor, labels: Tensor, classes: Tensor, *, seed: int) -> dict[str, float]:
    """What each system names rightly of the test pictures of one folder, in per cent."""
    generator = torch.Generator().manual_seed(seed)
    chosen = classes[torch.randperm(len(classes), generator=generator)[:CLASSES]]
    rows = torch.stack([(labels == label).nonzero().flatten() for label in chosen.tolist()])
    rows = torch.stack([row[torch.randperm(PICTURES, generator=generator)] for row in rows])
    places = torch.arange(CLASSES)[:, None].expand(CLASSES, PICTURES)
    train, y = z[rows[:, :TRAINING].flatten()], places[:, :TRAINING].flatten()
    test, truth = z[rows[:, TRAINING:].flatten()], places[:, TRAINING:].flatten()
    means, _ = class_means(train, y, CLASSES)
    within = WithinClass(dimension=z.shape[1], shrinkage=SHRINKAGE, normalise=True, centre=True)
    head = fit_discriminant(train, y, tuple(map(str, range(CLASSES))))
    with torch.inference_mode():
        answers = {
            "nearest mean": Cosine().score_all(test, means).argmax(1),
            "fitted similarity": within.fit(train, y).score_all(test, means).argmax(1),
            REFERENCE: _regression(train, y, test, seed=seed),
            "discriminant": head.score_classes(test).argmax(1),
        }
    return {name: 100 * float((answer == truth).double().mean()) for name, answer in answers.items()}


def summary(folders: list[dict[str, float]]) -> dict[str, dict[str, object]]:
    """The mean accuracy of each system, and how much it is above logistic regression, with its interval."""
    result = {}
    for name in folders[0]:
        gains = [folder[name] - folder[REFERENCE] for folder in folders]
        mean, low, high = student_interval(gains)
        accuracy = sum(folder[name] for folder in folders) / len(folders)
        result[name] = {
            "accuracy": round(accuracy, 2),
            "above": round(mean, 2),
            "interval": [round(low, 2), round(high, 2)],
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="an archive with a folder for each class")
    parser.add_argument("--folders", type=int, default=20, help="folders of each half of the classes")
    parser.add_argument("--drawn", type=int, default=PICTURES, help="pictures drawn of a class, 30 are used")
    parser.add_argument("--grey", action="store_true", help="read the pictures grey, and do not mirror them")
    parser.add_argument("--cache", type=Path, help="an .npz file to keep the features in")
    parser.add_argument("--out", type=Path, default=Path("results/house"))
    given = parser.parse_args()
    if given.cache and given.cache.exists():
        stored = np.load(given.cache)
        z, labels = (torch.from_numpy(stored[name]) for name in ("z", "labels"))
    else:
        z, labels = embedded(given.data, drawn=given.drawn, grey=given.grey)
        if given.cache:
            np.savez(given.cache, z=z.numpy(), labels=labels.numpy())
    names = int(labels.max()) + 1
    order = torch.randperm(names, generator=torch.Generator().manual_seed(7))
    halves = {"development": order[: names // 2], "confirmation": order[names // 2 :]}
    content = {}
    for half, classes in halves.items():
        folders = [accuracies(z, labels, classes, seed=seed) for seed in range(given.folders)]
        content[half] = {"classes": len(classes), "summary": summary(folders), "folders": folders}
        print(half, json.dumps(content[half]["summary"], indent=1), flush=True)
    place = given.out / f"small-folders-{given.data.stem}.json"
    place.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
