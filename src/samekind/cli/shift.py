"""samekind shift: what changes with items from elsewhere?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from samekind.cli import options
from samekind.cli.output import print_messages, print_table, render, table
from samekind.cli.spaces import open_space
from samekind.errors import SettingError

if TYPE_CHECKING:
    from samekind.questions.shift import Shifted

#: Broken thresholds that are told in full.
MOST_BROKEN = 3

Data = Annotated[
    list[str] | None,
    Argument(
        metavar="DATA…",
        help="Labelled items from elsewhere. Without any, the run's own test pictures are corrupted.",
        show_default=False,
    ),
]
Corruptions = Annotated[str, Option(help="Which corruptions, separated by commas.")]
Severities = Annotated[str, Option(help="How severe, 1 to 5, separated by commas.")]
Limit = Annotated[int, Option(help="Compare at most this many items of a set.", min=20)]


def shift(
    run: Annotated[Path, Argument(metavar="RUN", help="The folder of a run; its test items are home.")],
    data: Data = None,
    corruptions: Corruptions = "noise,blur,contrast,jpeg",
    severities: Severities = "1,2,3,4,5",
    limit: Limit = 500,
    seed: Annotated[int, Option(help="Fixes the items drawn, the noise and the shuffles.", min=0)] = 0,
    label: options.LabelColumn = None,
    device: options.Device = "auto",
    skip_unreadable: options.SkipUnreadable = False,
    as_json: options.AsJson = False,
) -> None:
    """Say what changes with items from elsewhere: how much less is right, why, and whether thresholds hold.

    cause: "none" if the space sees no other distribution, "new classes" if that is so once items that look
    new are set aside, "shift" if the others have moved, too.
    """
    from samekind import questions
    from samekind.questions.shift import ShiftSettings

    try:
        chosen = tuple(int(text) for text in severities.split(","))
    except ValueError as error:
        raise SettingError(f'severities: expected numbers such as 1,3,5; got "{severities}"') from error
    settings = ShiftSettings(
        tuple(text.strip() for text in corruptions.split(",")), chosen, limit=limit, seed=seed
    )
    opened = open_space(run, device)
    away = {
        source: opened.read_labelled(source, label=label, skip_unreadable=skip_unreadable)
        for source in data or []
    }
    answer = questions.shift(opened.space, opened.test_items(), away, settings)
    render(answer.to_json(), lambda: _print(answer), as_json=as_json)


def _print(answer: "Shifted") -> None:
    lines = []
    for one in answer.sets:
        gap = one.gaps[0] if one.gaps else None
        lines.append(
            [
                one.name,
                "" if gap is None else f"{gap.away.mean:.1%}",
                "" if gap is None else f"{gap.gap.mean:+.1%} ({gap.gap.low:.1%} to {gap.gap.high:.1%})",
                f"{one.whole.p_value:.3f}",
                f"{one.new.mean:.1%}",
                one.cause,
                one.thresholds,
            ]
        )
    home = next((one.gaps[0] for one in answer.sets if one.gaps), None)
    accuracy = "" if home is None else f"; named rightly: {home.home.mean:.1%}"
    title = f"Beside {answer.home}{accuracy} (95% intervals)"
    heads = ["items", "right", "gap", "p", "looks new", "cause", "thresholds"]
    print_table(table(title, heads, lines))
    print_messages(*_careful(answer))


def _careful(answer: "Shifted") -> list[str]:
    """What the table does not say: which thresholds are broken, and where fewer are right unexplained."""
    broken = [f"{row.items}, by {row.kind}: {row.sentence}" for one in answer.sets for row in one.broken]
    messages = [f"careful: {sentence}" for sentence in broken[:MOST_BROKEN]]
    if len(broken) > MOST_BROKEN:
        messages.append(f"careful: {len(broken) - MOST_BROKEN} more thresholds do not hold; see --json")
    if unexplained := [one.name for one in answer.sets if one.unexplained]:
        messages.append(
            f'cause "none", yet fewer are right: {", ".join(unexplained)}. The test sees no difference; with '
            "more items (--limit) it may"
        )
    return messages
