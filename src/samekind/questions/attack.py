"""Items changed so that a space names them wrongly: how many, by how much, and was the attack sound?"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from torch import Tensor

from samekind.attacks import APGD, BIM, FGSM, PGD, Relative, Square
from samekind.attacks.regions import Norm
from samekind.data import Items, medium_of
from samekind.errors import SettingError, nearest
from samekind.evaluation.attacked_questions import class_curve
from samekind.evaluation.robustness import MOST, names_given, subject_of
from samekind.evaluation.robustness_curve import Curve
from samekind.evaluation.under_attack import Maker, Strength, pgd_and_apgd
from samekind.measures.robustness import written_epsilon
from samekind.questions.reading import known_head
from samekind.questions.table_files import write_table
from samekind.space import MetricSpace
from samekind.storage import recover_folder, write_folder

#: The attacks by name; the first is the default.
METHODS: dict[str, Maker] = {
    "strong": pgd_and_apgd,
    "pgd": lambda region, steps, restarts: PGD(region, steps=steps, restarts=restarts),
    "apgd": lambda region, steps, restarts: APGD(region, steps=steps, restarts=restarts),
    "bim": lambda region, steps, _restarts: BIM(region, steps=steps),
    "fgsm": lambda region, _steps, _restarts: FGSM(region),
    "square": lambda region, steps, _restarts: Square(region, queries=steps),
}
#: The table of attacked items.
TABLE = "attacked.csv"


@dataclass(frozen=True)
class AttackSettings:
    """How to attack: the ``method`` is one of `METHODS`. ``limit`` is the number of items that are attacked,
    ``fixed`` names columns of a table that stay as they are.
    """

    epsilon: float
    norm: Norm = "linf"
    steps: int = 50
    restarts: int = 1
    method: str = "strong"
    head: str = "similarity"
    fixed: tuple[str, ...] = ()
    limit: int = MOST
    seed: int = 0

    @property
    def written_epsilon(self) -> str:
        """Epsilon as people write it: "8/255"."""
        return written_epsilon(self.epsilon)


@dataclass(frozen=True, eq=False)
class AttackAnswer:
    """The items before and after the attack (n, …), how far each was moved (n,), their classes and the names
    that the space gave them; and the accuracy with the checks of the attack.
    """

    settings: AttackSettings
    curve: Curve
    unit: str
    items: Items
    clean: Tensor
    attacked: Tensor
    distance: Tensor
    before: tuple[str, ...]
    after: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def truth(self) -> list[str]:
        return [self.items.classes[label] for label in self.items.labels.tolist()]

    @property
    def broken(self) -> list[bool]:
        """Which items were named rightly, and no longer are."""
        named = zip(self.truth, self.before, self.after, strict=True)
        return [before == truth != after for truth, before, after in named]

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values, without the single items."""
        settings = self.settings
        return {
            "items": len(self.items),
            "norm": settings.norm,
            "epsilon": settings.epsilon,
            "unit": self.unit,
            "method": settings.method,
            "steps": settings.steps,
            "restarts": settings.restarts,
            "head": settings.head,
            "accuracy": self.curve.rows[0].value,
            "adversarial accuracy": self.curve.rows[1].value,
            "interval": [self.curve.rows[1].low, self.curve.rows[1].high],
            "broken": sum(self.broken),
            "soundness": self.curve.soundness.to_json(),
            "note": self.curve.soundness.note,
            "notes": self.notes,
        }


def attack(
    space: MetricSpace, items: Items, settings: AttackSettings, *, surrogate: MetricSpace | None = None
) -> AttackAnswer:
    """Attack the class of items through one head, at one epsilon, and check the attack. Examples for the
    check of transfer come from the ``surrogate``, or else from raw inputs.
    """
    if settings.method not in METHODS:
        raise SettingError(f'there is no attack "{settings.method}"; {nearest(settings.method, METHODS)}')
    head = known_head(space, settings.head)
    subject, drawn, notes = subject_of(
        space,
        items,
        Strength(
            (settings.epsilon,), settings.steps, settings.restarts, settings.seed, METHODS[settings.method]
        ),
        name=items.name,
        norm=settings.norm,
        surrogate=surrogate,
        fixed=settings.fixed,
        most=settings.limit,
    )
    curve, result = class_curve(subject, head)
    clean, [attacked] = subject.inputs.x, result.x
    valid = items.medium.attacked(items.shape)
    if valid is not None and valid.range is not None and valid.range.decibels:
        notes.append(_loudness(clean, attacked))
    return AttackAnswer(
        settings,
        curve,
        subject.inputs.unit,
        drawn,
        clean.cpu(),
        attacked.cpu(),
        subject.field(clean).region.distance(attacked.nan_to_num(0.0), clean.nan_to_num(0.0)).cpu(),
        tuple(names_given(space, clean, head)),
        tuple(names_given(space, attacked, head)),
        tuple(notes),
    )


def _loudness(clean: Tensor, attacked: Tensor) -> str:
    """How far the changes of sounds (n, 1, samples) are below them; a sound that stays has none."""
    clean, attacked = clean.nan_to_num(0.0), attacked.nan_to_num(0.0)
    ratios = Relative(1.0).distance(attacked, clean)
    ratios = ratios[ratios > 0]
    if not len(ratios):
        return "no sound was changed"
    decibels = -20 * float(ratios.median().log10())
    return f"the changes are {decibels:.1f} dB below the sounds (median)"


def check_attacked_folder(folder: Path) -> None:
    """Refuse, before the work begins, a folder that holds anything but attacked items."""
    recover_folder(folder)
    if folder.exists() and (
        not folder.is_dir() or (any(folder.iterdir()) and not (folder / TABLE).is_file())
    ):
        raise SettingError(f"{folder} holds something other than attacked items; choose another folder")


def write_attacked(folder: Path, answer: AttackAnswer) -> None:
    """Write the attacked items as a folder, whole or not at all: a table of what was done to each, and the
    pictures or sounds in a folder for each class; rows of a table are in the table itself. Earlier ones are
    replaced.
    """
    check_attacked_folder(folder)
    medium = answer.items.medium
    is_shown = medium_of(shape := answer.attacked.shape[1:]).shows(shape)
    columns = _columns(answer)
    names = _file_names(answer, medium.ending) if is_shown else []
    if is_shown:
        columns[medium.name.removesuffix("s")] = names

    def fill(draft: Path) -> None:
        write_table(draft / TABLE, columns)
        for place, name in enumerate(names):
            medium.write(draft / name, answer.attacked[place], answer.items.reader)

    write_folder(folder, fill)


def _columns(answer: AttackAnswer) -> dict[str, Sequence[Any]]:
    """A row for each item; the numbers of a table's columns by their names."""
    columns: dict[str, Sequence[Any]] = {
        "id": _ids(answer.items),
        "label": answer.truth,
        "named before": answer.before,
        "named after": answer.after,
        "distance": answer.distance.tolist(),
    }
    if answer.attacked.ndim == 2:
        reader = answer.items.reader
        names = (reader.columns if reader is not None else ()) or [
            f"{place}" for place in range(answer.attacked.shape[1])
        ]
        columns |= dict(zip(names, answer.attacked.T.tolist(), strict=True))
    return columns


def _ids(items: Items) -> list[str]:
    return list(items.ids) if items.ids is not None else [f"{place}" for place in range(len(items))]


def _file_names(answer: AttackAnswer, ending: str) -> list[str]:
    """A path for each picture or sound, class and number first, so that no two are alike."""
    safe = [
        "".join(c if c.isalnum() or c in " ._-" else "-" for c in name).strip(". ") for name in answer.truth
    ]
    stems = [PurePath(id).stem[:80] for id in _ids(answer.items)]
    return [
        f"{name or 'class'}/{place:04d}-{stem}{ending}"
        for place, (name, stem) in enumerate(zip(safe, stems, strict=True))
    ]
