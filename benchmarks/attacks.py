"""Attacks against foolbox, torchattacks and ART: pictures a second as ratios in one run, and least changes.

    python benchmarks/attacks.py [--network conv4] [--device cpu] [--pictures 128] [--json FILE] [--quick]
    python benchmarks/attacks.py --changes [--network small]
    python benchmarks/attacks.py --points
    python benchmarks/attacks.py --table [--page docs/attacks.md]

Everybody attacks the same network, trained on scikit-learn's digits, with the same pictures and steps. The
pictures come as they are: a few are named wrongly already. What is timed is an answer: attacked pictures, and
which of them are wrong. torchattacks gives pictures alone, so its user's one pass through the network is
added; "unjudged" is without it. Carlini & Wagner's attack has one weight of the margin, which is all that
torchattacks has, or a search for it. Times are the best of several, taken in turns; above 1 is in our
favour.

With ``--changes`` it shows medians of the least changes of pictures that are named rightly, infinite where an
attack fails; with ``--points`` the largest difference of a pixel after FGSM and PGD without chance, in double
precision but for ART. A peer that is not installed is left out; a folder on PYTHONPATH will do. With
``--table`` it prints the table of what is stored in results/attacks.
"""

import argparse
import copy
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

from samekind.attacks import FAB, FGSM, L2, PGD, PICTURES, CarliniWagner, DeepFool, HopSkipJump, Linf, Logits
from samekind.encoders import Conv4, ResNet18

RESULTS = Path(__file__).parents[1] / "results" / "attacks"
EPSILON, STEP = 0.1, 0.01
#: The size of the L2 ball.
LENGTH = 1.0
TRAINING, EPOCHS, BATCH = 1200, 6, 100
ORDERS = {"l1": 1.0, "l2": 2.0, "linf": torch.inf}
PEERS = ("foolbox", "torchattacks", "art")
#: The column of torchattacks' time without the pass that judges.
UNJUDGED = "unjudged"


class Answer(NamedTuple):
    """What an attack gives."""

    x: Tensor
    wrong: Tensor | None = None  # (n,): not from everybody


Attack = Callable[[], Answer]


class Task(NamedTuple):
    """What everybody attacks."""

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


def task(network: str, pictures: int, device: str, *, only_right: bool) -> Task:
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
    rows = right.nonzero()[:, 0] if only_right else torch.arange(len(x), device=device)
    rows = rows.repeat(-(-pictures // len(rows)))[:pictures]
    return Task(model, x[rows].contiguous(), labels[rows])


# --- the sides ------------------------------------------------------------------------------------


def ours(task: Task, attack: Any) -> Attack:
    def run() -> Answer:
        attacked = attack(Logits(task.model, task.labels), task.x, limits=PICTURES)
        return Answer(attacked.x, attacked.succeeded)

    return run


def of_foolbox(task: Task, attack: Any, epsilon: float | None = None) -> Attack:
    foolbox = importlib.import_module("foolbox")
    wrapped = foolbox.PyTorchModel(task.model, bounds=(0, 1), device=task.x.device)
    return lambda: Answer(*attack(wrapped, task.x, task.labels, epsilons=epsilon)[1:])


def of_torchattacks(task: Task, attack: Any) -> Attack:
    return lambda: Answer(attack(task.x, task.labels))


def judged(task: Task, attack: Attack) -> Attack:
    """The same with its user's pass through the network."""

    def run() -> Answer:
        x = attack().x
        with torch.no_grad():
            return Answer(x, task.model(x).argmax(1) != task.labels)

    return run


def of_art(task: Task, name: str, **settings: Any) -> Attack:
    evasion = importlib.import_module("art.attacks.evasion")
    classification = importlib.import_module("art.estimators.classification")
    model = classification.PyTorchClassifier(
        task.model, nn.CrossEntropyLoss(), task.x.shape[1:], 10, clip_values=(0.0, 1.0),
        device_type="cpu" if task.x.device.type == "cpu" else "gpu",
    )  # fmt: skip
    attack = getattr(evasion, name)(model, **settings)
    clean, labels = task.x.cpu().numpy(), task.labels.cpu().numpy()
    return lambda: Answer(torch.as_tensor(attack.generate(clean, labels)).to(task.x))


def speeds(task: Task, steps: int, peers: list[str]) -> dict[str, dict[str, Attack]]:
    """PGD and Carlini & Wagner's attack by everybody."""
    once = {"steps": steps, "searches": 1, "constant": 1.0}
    searched = {"steps": steps, "searches": 5}
    pgd = {"steps": steps, "step": STEP}
    peers_pgd: dict[str, Attack] = {}
    peers_once: dict[str, Attack] = {}
    peers_searched: dict[str, Attack] = {}
    if "foolbox" in peers:
        attacks = importlib.import_module("foolbox.attacks")
        peers_pgd["foolbox"] = of_foolbox(task, attacks.LinfPGD(steps=steps, abs_stepsize=STEP), EPSILON)
        cw = attacks.L2CarliniWagnerAttack(steps=steps, binary_search_steps=1, initial_const=1.0)
        peers_once["foolbox"] = of_foolbox(task, cw)
        cw = attacks.L2CarliniWagnerAttack(steps=steps, binary_search_steps=5)
        peers_searched["foolbox"] = of_foolbox(task, cw)
    if "torchattacks" in peers:
        attacks = importlib.import_module("torchattacks")
        alone = of_torchattacks(task, attacks.PGD(task.model, eps=EPSILON, alpha=STEP, steps=steps))
        peers_pgd |= {"torchattacks": judged(task, alone), UNJUDGED: alone}
        alone = of_torchattacks(task, attacks.CW(task.model, c=1, steps=steps))
        peers_once |= {"torchattacks": judged(task, alone), UNJUDGED: alone}
    return {
        "PGD, as the others": {"samekind": ours(task, PGD(Linf(EPSILON), **pgd, classic=True)), **peers_pgd},
        "PGD, as it is": {"samekind": ours(task, PGD(Linf(EPSILON), **pgd)), **peers_pgd},
        "CW, one weight": {"samekind": ours(task, CarliniWagner(**once)), **peers_once},
        "CW, five searches": {"samekind": ours(task, CarliniWagner(**searched)), **peers_searched},
    }


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


def points(task: Task, steps: int, peers: list[str]) -> dict[str, dict[str, Attack]]:
    """FGSM and PGD without chance by everybody."""
    sides: dict[str, dict[str, Attack]] = {}
    for norm, ball in {"linf": Linf(EPSILON), "l2": L2(LENGTH)}.items():
        size, step = ball.epsilon, STEP if norm == "linf" else LENGTH / 10
        straight = {"steps": steps, "step": step, "random_start": False, "classic": True}
        sides[f"FGSM, {norm}"] = {"samekind": ours(task, FGSM(ball, classic=True))}
        sides[f"PGD, {norm}"] = {"samekind": ours(task, PGD(ball, **straight))}
        fgsm, pgd = sides[f"FGSM, {norm}"], sides[f"PGD, {norm}"]
        if "foolbox" in peers:
            attacks, kind = importlib.import_module("foolbox.attacks"), norm.capitalize()
            once = getattr(attacks, f"{kind}FastGradientAttack")(random_start=False)
            fgsm["foolbox"] = of_foolbox(task, once, size)
            many = getattr(attacks, f"{kind}ProjectedGradientDescentAttack")
            many = many(steps=steps, abs_stepsize=step, random_start=False)
            pgd["foolbox"] = of_foolbox(task, many, size)
        if "torchattacks" in peers:
            attacks = importlib.import_module("torchattacks")
            many = attacks.PGD if norm == "linf" else attacks.PGDL2
            many = many(task.model, eps=size, alpha=step, steps=steps, random_start=False)
            pgd["torchattacks"] = of_torchattacks(task, many)
            if norm == "linf":
                fgsm["torchattacks"] = of_torchattacks(task, attacks.FGSM(task.model, eps=size))
        if "art" in peers:
            settings = {"norm": 2 if norm == "l2" else "inf", "eps": size, "batch_size": len(task.x)}
            fgsm["art"] = of_art(task, "FastGradientMethod", **settings)
            many = {"eps_step": step, "max_iter": steps, "verbose": False, **settings}
            pgd["art"] = of_art(task, "ProjectedGradientDescent", **many)
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


class Rate(NamedTuple):
    """How fast a side is, and how far it gets."""

    pictures_a_second: float
    wrong: float | None


def rates(sides: dict[str, Attack], pictures: int, repeats: int, device: str) -> dict[str, Rate]:
    """Of everybody: the best time of several, taken in turns after a first one."""
    best, wrong = dict.fromkeys(sides, float("inf")), {}
    for side, attack in sides.items():
        x, judged = attack()
        # foolbox gives a black picture where it finds nothing.
        wrong[side] = None if judged is None else float((judged & x.flatten(1).any(1)).double().mean())
    for _ in range(repeats):
        for side, attack in sides.items():
            best[side] = min(best[side], seconds(attack, device))
    return {side: Rate(pictures / best[side], wrong[side]) for side in sides}


def median_change(task: Task, attacked: Tensor, norm: str) -> float:
    """The median distance, infinite where the answer is still right."""
    with torch.no_grad():
        wrong = task.model(attacked).argmax(1) != task.labels
    # foolbox gives a black picture where it finds nothing.
    wrong &= attacked.flatten(1).any(1)
    distance = (attacked - task.x).flatten(1).norm(p=ORDERS[norm], dim=1)
    return float(distance.masked_fill(~wrong, torch.inf).median())


def row(name: str, ours: str, others: list[str]) -> str:
    return f"{name:26}{ours:>16}" + "".join(f"{other:>20}" for other in others)


def show_rates(task: Task, peers: list[str], arguments: argparse.Namespace) -> dict[str, Any]:
    others = [peer for peer in (*PEERS[:2], UNJUDGED) if peer in peers or peer == UNJUDGED]
    print(row("", "pictures/s, wrong", [f"over {other}" for other in others]))
    figures: dict[str, Any] = {}
    for name, sides in speeds(task, arguments.steps, peers).items():
        by_side = rates(sides, len(task.x), arguments.repeats, arguments.device)
        figures[name] = {side: rate._asdict() for side, rate in by_side.items()}
        us = by_side["samekind"]
        ratios = [
            f"{us.pictures_a_second / by_side[other].pictures_a_second:.3f}x {_share(by_side[other])}"
            if other in by_side
            else ""
            for other in others
        ]
        print(row(name, f"{us.pictures_a_second:,.0f} {_share(us)}", ratios), flush=True)
    return figures


def _share(rate: Rate) -> str:
    return "" if rate.wrong is None else f"{rate.wrong:.1%}"


def show_changes(task: Task, peers: list[str], arguments: argparse.Namespace) -> dict[str, Any]:
    print(row("median of the least change", "samekind", peers))
    figures: dict[str, Any] = {}
    for (name, norm), sides in changes(task, arguments.steps, peers).items():
        medians = figures[f"{name}, {norm}"] = {}
        for side, attack in sides.items():
            torch.manual_seed(0)
            medians[side] = median_change(task, attack().x, norm)
        others = [f"{medians[peer]:.4f}" if peer in medians else "" for peer in peers]
        print(row(f"{name}, {norm}", f"{medians['samekind']:.4f}", others), flush=True)
    return figures


def show_points(task: Task, peers: list[str], arguments: argparse.Namespace) -> dict[str, Any]:
    print(row("largest difference of a pixel", "", peers))
    double = Task(copy.deepcopy(task.model).double(), task.x.double(), task.labels)
    figures: dict[str, Any] = {}
    others = [name for name in peers if name != "art"]
    single = [name for name in peers if name == "art"]  # it knows no other
    for some, at in ((others, double), (single, task)):
        for name, sides in points(at, arguments.steps, some).items():
            x, figures[name] = sides.pop("samekind")().x, figures.get(name, {})
            figures[name] |= {side: float((attack().x - x).abs().max()) for side, attack in sides.items()}
    for name, by_side in figures.items():
        print(row(name, "", [f"{by_side[peer]:.1e}" if peer in by_side else "" for peer in peers]))
    return figures


def table(folder: Path) -> str:
    """The ratios of all stored runs, as Markdown."""
    others = (*PEERS[:2], UNJUDGED)
    lines = [
        "| attack | network | on | pictures/s | over foolbox | over torchattacks | without judging |",
        "|---|---|---|--:|--:|--:|--:|",
    ]
    for path in sorted(folder.glob("*.json")):
        stored = json.loads(path.read_text(encoding="utf-8"))
        settings = stored["settings"]
        where = settings.get("name", "CPU, one thread").removeprefix("NVIDIA ")
        for attack, figures in stored["figures"].items():
            rate = {side: figure["pictures_a_second"] for side, figure in figures.items()}
            ratios = [f"{rate['samekind'] / rate[other]:.2f}" if other in rate else "" for other in others]
            cells = [attack, settings["network"], where, f"{rate['samekind']:,.0f}", *ratios]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def print_table(page: Path | None) -> None:
    """Print the table, or write it into a page."""
    from grids.tables import page_with

    if page is None:
        print(table(RESULTS))
    else:
        page.write_text(page_with(page.read_text(encoding="utf-8"), table(RESULTS), mark="speed"), "utf-8")


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
    parser.add_argument("--points", action="store_true", help="differences of points, not times")
    parser.add_argument("--quick", action="store_true", help="few pictures and steps, once")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--table", action="store_true", help="print the table of what is stored")
    parser.add_argument("--page", type=Path, help="with --table: the page to write it into")
    arguments = parser.parse_args()
    if arguments.table:
        print_table(arguments.page)
        return
    compared = arguments.changes or arguments.points
    arguments.network = arguments.network or ("small" if compared or arguments.quick else "conv4")
    if arguments.quick:
        arguments.pictures, arguments.steps, arguments.repeats = 16, 10, 1
    warnings.filterwarnings("ignore")
    peers = [name for name in PEERS if installed(name)]
    attacked = task(arguments.network, arguments.pictures, arguments.device, only_right=compared)
    print(f"{arguments.pictures} pictures, {arguments.steps} steps, {arguments.device}, ", end="")
    print(f"{torch.get_num_threads()} threads\n")
    show = show_changes if arguments.changes else show_points if arguments.points else show_rates
    figures = show(attacked, peers, arguments)
    if arguments.json:
        told = ("network", "device", "pictures", "steps", "repeats")
        settings = {name: str(getattr(arguments, name)) for name in told}
        settings |= {"torch": torch.__version__, "threads": str(torch.get_num_threads())}
        if arguments.device != "cpu":
            settings["name"] = torch.cuda.get_device_name()
        arguments.json.write_text(json.dumps({"settings": settings, "figures": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
