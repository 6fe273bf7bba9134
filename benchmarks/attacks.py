"""Attacks against foolbox, torchattacks and ART: pictures a second as ratios in one run, and least changes.

    python benchmarks/attacks.py [--network conv4] [--device cpu] [--pictures 128] [--json FILE] [--quick]
    python benchmarks/attacks.py --changes [--network small]

Everybody attacks the same network, trained on scikit-learn's digits, with the same pictures and steps. PGD
goes all its steps with every picture. Carlini & Wagner's attack has one weight of the margin, which is all
that torchattacks has, or a search for it. Times are the best of several, taken in turns; above 1 is in our
favour. With ``--changes`` it shows medians of the least changes, infinite where an attack fails. A peer
that is not installed is left out; a folder on PYTHONPATH will do.
"""

import argparse
import importlib
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn

from samekind.attacks import FAB, PGD, PICTURES, CarliniWagner, DeepFool, HopSkipJump, Linf, Logits
from samekind.encoders import Conv4, ResNet18

EPSILON, STEP = 0.1, 0.01
TRAINING, EPOCHS, BATCH = 1200, 6, 100
ORDERS = {"l1": 1.0, "l2": 2.0, "linf": torch.inf}
PEERS = ("foolbox", "torchattacks", "art")

Attack = Callable[[], Tensor]  # -> the attacked pictures


class Task(NamedTuple):
    """What everybody attacks: pictures that the network names rightly."""

    model: nn.Module
    x: Tensor
    labels: Tensor


def small() -> nn.Module:
    """Two convolutions, for pictures of 8 x 8."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(512, 10),
    )  # fmt: skip


#: The side of the pictures, and the network.
NETWORKS: dict[str, tuple[int, Callable[[], nn.Module]]] = {
    "small": (8, small),
    "conv4": (28, lambda: Conv4(channels=1, size=28, dimension=10)),
    "resnet18": (32, lambda: ResNet18(channels=1, dimension=10)),
}


def task(network: str, pictures: int, device: str) -> Task:
    """A network trained for some epochs, and pictures for it, repeated where there are too few."""
    torch.manual_seed(0)
    size, build = NETWORKS[network]
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16
    x = F.interpolate(x, (size, size), mode="bilinear").clamp(0, 1).to(device)
    labels = torch.tensor(digits.target).to(device)
    model = build().to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(EPOCHS):
        for rows in torch.randperm(TRAINING).split(BATCH):
            optimiser.zero_grad()
            F.cross_entropy(model(x[rows]), labels[rows]).backward()
            optimiser.step()
    model.eval()
    x, labels = x[TRAINING:], labels[TRAINING:]
    with torch.no_grad():
        right = model(x).argmax(1) == labels
    print(f"{network}: names {float(right.float().mean()):.1%} of its test digits rightly")
    rows = right.nonzero()[:, 0].repeat(-(-pictures // int(right.sum())))[:pictures]
    return Task(model, x[rows].contiguous(), labels[rows])


# --- the sides ------------------------------------------------------------------------------------


def ours(task: Task, attack: Any) -> Attack:
    return lambda: attack(Logits(task.model, task.labels), task.x, limits=PICTURES).x


def of_foolbox(task: Task, attack: Any, epsilon: float | None = None) -> Attack:
    foolbox = importlib.import_module("foolbox")
    wrapped = foolbox.PyTorchModel(task.model, bounds=(0, 1), device=task.x.device)
    return lambda: attack(wrapped, task.x, task.labels, epsilons=epsilon)[1]


def of_torchattacks(task: Task, attack: Any) -> Attack:
    return lambda: attack(task.x, task.labels)


def of_art(task: Task, name: str, **settings: Any) -> Attack:
    evasion = importlib.import_module("art.attacks.evasion")
    classification = importlib.import_module("art.estimators.classification")
    model = classification.PyTorchClassifier(
        task.model, nn.CrossEntropyLoss(), task.x.shape[1:], 10, clip_values=(0.0, 1.0),
        device_type="cpu" if task.x.device.type == "cpu" else "gpu",
    )  # fmt: skip
    attack = getattr(evasion, name)(model, **settings)
    clean, labels = task.x.cpu().numpy(), task.labels.cpu().numpy()
    return lambda: torch.as_tensor(attack.generate(clean, labels)).to(task.x)


def speeds(task: Task, steps: int, peers: list[str]) -> dict[str, dict[str, Attack]]:
    """PGD and Carlini & Wagner's attack by everybody."""
    once = {"steps": steps, "searches": 1, "constant": 1.0}
    searched = {"steps": steps, "searches": 5}
    sides: dict[str, dict[str, Attack]] = {
        "PGD": {"samekind": ours(task, PGD(Linf(EPSILON), steps=steps, step=STEP, classic=True))},
        "CW, one weight": {"samekind": ours(task, CarliniWagner(**once))},
        "CW, five searches": {"samekind": ours(task, CarliniWagner(**searched))},
    }
    if "foolbox" in peers:
        attacks = importlib.import_module("foolbox.attacks")
        pgd = attacks.LinfPGD(steps=steps, abs_stepsize=STEP)
        sides["PGD"]["foolbox"] = of_foolbox(task, pgd, EPSILON)
        cw = attacks.L2CarliniWagnerAttack(steps=steps, binary_search_steps=1, initial_const=1.0)
        sides["CW, one weight"]["foolbox"] = of_foolbox(task, cw)
        cw = attacks.L2CarliniWagnerAttack(steps=steps, binary_search_steps=5)
        sides["CW, five searches"]["foolbox"] = of_foolbox(task, cw)
    if "torchattacks" in peers:
        attacks = importlib.import_module("torchattacks")
        pgd = attacks.PGD(task.model, eps=EPSILON, alpha=STEP, steps=steps)
        sides["PGD"]["torchattacks"] = of_torchattacks(task, pgd)
        cw = attacks.CW(task.model, c=1, steps=steps)
        sides["CW, one weight"]["torchattacks"] = of_torchattacks(task, cw)
    return sides


def changes(task: Task, steps: int, peers: list[str]) -> dict[tuple[str, str], dict[str, Attack]]:
    """The attacks for the least change by everybody who has them, with their norm."""
    sides: dict[tuple[str, str], dict[str, Attack]] = {
        ("Carlini & Wagner", "l2"): {"samekind": ours(task, CarliniWagner(steps=steps, searches=9))},
        ("DeepFool", "l2"): {"samekind": ours(task, DeepFool())},
        ("DeepFool", "linf"): {"samekind": ours(task, DeepFool(norm="linf"))},
        **{
            ("FAB", norm): {"samekind": ours(task, FAB(norm=norm, steps=20))} for norm in ("l1", "l2", "linf")
        },
        **{
            ("HopSkipJump", norm): {"samekind": ours(task, HopSkipJump(norm=norm, steps=20))}
            for norm in ("l2", "linf")
        },
    }
    if "foolbox" in peers:
        attacks = importlib.import_module("foolbox.attacks")
        foolbox = {
            ("Carlini & Wagner", "l2"): attacks.L2CarliniWagnerAttack(steps=steps, binary_search_steps=9),
            ("DeepFool", "l2"): attacks.L2DeepFoolAttack(),
            ("DeepFool", "linf"): attacks.LinfDeepFoolAttack(),
            ("HopSkipJump", "l2"): attacks.HopSkipJumpAttack(steps=20),
            ("HopSkipJump", "linf"): attacks.HopSkipJumpAttack(steps=20, constraint="linf"),
        }
        for name, attack in foolbox.items():
            sides[name]["foolbox"] = of_foolbox(task, attack)
    if "torchattacks" in peers:
        attacks = importlib.import_module("torchattacks")
        far = 1e3  # FAB returns the clean picture where the change is larger
        others = {
            ("Carlini & Wagner", "l2"): attacks.CW(task.model, c=1, steps=9 * steps),
            ("DeepFool", "l2"): attacks.DeepFool(task.model),
            ("FAB", "l2"): attacks.FAB(task.model, norm="L2", eps=far, steps=20),
            ("FAB", "linf"): attacks.FAB(task.model, norm="Linf", eps=far, steps=20),
        }
        for name, attack in others.items():
            sides[name]["torchattacks"] = of_torchattacks(task, attack)
    if "art" in peers:
        quiet = {"verbose": False, "batch_size": len(task.x)}
        sides["Carlini & Wagner", "l2"]["art"] = of_art(
            task, "CarliniL2Method", max_iter=steps, binary_search_steps=9, **quiet
        )
        sides["DeepFool", "l2"]["art"] = of_art(task, "DeepFool", epsilon=0.02, **quiet)
        # ART's HopSkipJump hands doubles to the network, which takes floats.
    return sides


# --- measuring ------------------------------------------------------------------------------------


def seconds(attack: Attack, device: str) -> float:
    """Of one attack: on a CPU the processors' time, which is the steadier one where others use them too."""
    if device == "cpu":
        began = time.process_time()
        attack()
        return time.process_time() - began
    torch.cuda.synchronize()
    began = time.perf_counter()
    attack()
    torch.cuda.synchronize()
    return time.perf_counter() - began


def rates(sides: dict[str, Attack], pictures: int, repeats: int, device: str) -> dict[str, float]:
    """Pictures a second of everybody: the best of several, taken in turns after a first one."""
    best = dict.fromkeys(sides, float("inf"))
    for turn in range(repeats + 1):
        for side, attack in sides.items():
            taken = seconds(attack, device)
            if turn:
                best[side] = min(best[side], taken)
    return {side: pictures / taken for side, taken in best.items()}


def median_change(task: Task, attacked: Tensor, norm: str) -> float:
    """The median distance, infinite where the answer is still right."""
    with torch.no_grad():
        wrong = task.model(attacked).argmax(1) != task.labels
    # foolbox gives a black picture where it finds nothing.
    wrong &= attacked.flatten(1).any(1)
    distance = (attacked - task.x).flatten(1).norm(p=ORDERS[norm], dim=1)
    return float(distance.masked_fill(~wrong, torch.inf).median())


def row(name: str, ours: str, ratios: list[str]) -> str:
    return f"{name:26}{ours:>16}" + "".join(f"{ratio:>18}" for ratio in ratios)


def show_rates(task: Task, peers: list[str], arguments: argparse.Namespace) -> dict[str, Any]:
    print(row("", "pictures/s", [f"over {peer}" for peer in peers if peer != "art"]))
    figures: dict[str, Any] = {}
    for name, sides in speeds(task, arguments.steps, peers).items():
        by_side = figures[name] = rates(sides, len(task.x), arguments.repeats, arguments.device)
        ratios = [
            f"{by_side['samekind'] / by_side[peer]:.2f}x" if peer in by_side else "" for peer in peers[:2]
        ]
        print(row(name, f"{by_side['samekind']:,.0f}", ratios), flush=True)
    return figures


def show_changes(task: Task, peers: list[str], arguments: argparse.Namespace) -> dict[str, Any]:
    print(row("median of the least change", "samekind", peers))
    figures: dict[str, Any] = {}
    for (name, norm), sides in changes(task, arguments.steps, peers).items():
        medians = figures[f"{name}, {norm}"] = {}
        for side, attack in sides.items():
            torch.manual_seed(0)
            medians[side] = median_change(task, attack(), norm)
        others = [f"{medians[peer]:.4f}" if peer in medians else "" for peer in peers]
        print(row(f"{name}, {norm}", f"{medians['samekind']:.4f}", others), flush=True)
    return figures


def installed(name: str) -> bool:
    try:
        importlib.import_module(name)
    except Exception:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", choices=NETWORKS)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--pictures", type=int, default=128)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--changes", action="store_true", help="medians of least changes, not times")
    parser.add_argument("--quick", action="store_true", help="few pictures and steps, once")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    arguments = parser.parse_args()
    arguments.network = arguments.network or ("small" if arguments.changes or arguments.quick else "conv4")
    if arguments.quick:
        arguments.pictures, arguments.steps, arguments.repeats = 16, 10, 1
    warnings.filterwarnings("ignore")
    peers = [name for name in PEERS if installed(name)]
    attacked = task(arguments.network, arguments.pictures, arguments.device)
    print(f"{arguments.pictures} pictures, {arguments.steps} steps, {arguments.device}, ", end="")
    print(f"{torch.get_num_threads()} threads\n")
    figures = (show_changes if arguments.changes else show_rates)(attacked, peers, arguments)
    if arguments.json:
        settings = {name: str(value) for name, value in vars(arguments).items()}
        arguments.json.write_text(json.dumps({"settings": settings, "figures": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
