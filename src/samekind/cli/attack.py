"""samekind attack: items changed so that a space names them wrongly."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from samekind.cli import options
from samekind.cli.output import print_messages, print_table, print_text, render, table
from samekind.cli.spaces import items_to_attack, open_space

if TYPE_CHECKING:
    from samekind.questions.attack import AttackAnswer

Epsilon = Annotated[
    str,
    Option(
        "--eps",
        help="How far an item may be moved: 8/255 or 0.03; of a table in standard deviations of a column; of "
        "a sound in the range of a sample, -1 to 1, or with --norm snr as a ratio: 30dB.",
    ),
]
Method = Annotated[
    str, Option(help="strong (PGD, then APGD on what is left), pgd, apgd, bim, fgsm or square.")
]
HeadName = Annotated[str, Option(help="The head that is attacked: similarity, auxiliary or fused.")]


def attack(
    space: options.SpaceArgument,
    data: options.AttackedData = None,
    eps: Epsilon = "8/255",
    norm: options.Norm = "linf",
    steps: options.Steps = 50,
    restarts: options.Restarts = 1,
    method: Method = "strong",
    head: HeadName = "similarity",
    limit: options.AttackedItems = 100,
    fixed: options.FixedColumns = None,
    surrogate: options.Surrogate = None,
    to: Annotated[Path | None, Option(help="A folder to write the attacked items to.")] = None,
    seed: options.AttackSeed = 0,
    label: options.LabelColumn = None,
    device: options.Device = "auto",
    skip_unreadable: options.SkipUnreadable = False,
    as_json: options.AsJson = False,
) -> None:
    """Change items as little as --eps says so that the space names them wrongly, and check the attack.

    Pictures are numbers from 0 to 1, and stay so; sounds from -1 to 1. Columns of a table keep their range,
    and whole numbers stay whole.
    """
    from samekind import questions
    from samekind.questions.attack import AttackSettings, check_attacked_folder, write_attacked
    from samekind.questions.robustness import known_norm, read_epsilon

    settings = AttackSettings(
        epsilon=read_epsilon(eps, known_norm(norm)),
        norm=known_norm(norm),
        steps=steps,
        restarts=restarts,
        method=method,
        head=head,
        fixed=tuple(fixed or ()),
        limit=limit,
        seed=seed,
    )
    if to is not None:
        check_attacked_folder(to)
    opened = open_space(space, device)
    other = open_space(surrogate, device).space if surrogate is not None else None
    items = items_to_attack(opened, data, label=label, skip_unreadable=skip_unreadable)
    answer = questions.attack(opened.space, items, settings, surrogate=other)
    if to is not None:
        write_attacked(to, answer)
    render({"out": to, **answer.to_json()}, lambda: _print(answer, to), as_json=as_json)


def _print(answer: "AttackAnswer", to: Path | None) -> None:
    settings, (clean, attacked) = answer.settings, answer.curve.rows
    print_text(
        f"{len(answer.items):,} items, {settings.norm}, epsilon {settings.written_epsilon} "
        f"{answer.unit}, {settings.method}, {settings.steps} steps"
    )
    lines = [[settings.head, clean.text, attacked.text]]
    print_table(table("Named rightly (95% intervals over items)", ["head", "before", "after"], lines))
    checks = [
        [check.name, "ok" if check.passed else "FAILED", check.sentence]
        for check in answer.curve.soundness.checks
    ]
    print_table(table("Is the attack sound?", ["check", "", "items"], checks, texts=3))
    print_text("")
    for note in answer.notes:
        print_text(f"{note[:1].upper()}{note[1:]}.")
    if to is not None:
        print_text(f"The attacked items are in {to}")
    if answer.curve.soundness.note:
        print_messages(f"careful: {attacked.text} is {answer.curve.soundness.note}")
