"""samekind info: what a saved space is made of and what it knows."""

from typing import TYPE_CHECKING, Any

from samekind.cli.options import AsJson, SpaceArgument
from samekind.cli.output import print_json, print_table, print_text, table
from samekind.cli.spaces import open_space
from samekind.cli.thresholds import print_temperatures, thresholds_table

if TYPE_CHECKING:
    from rich.table import Table

    from samekind.questions.info import SpaceInfo

LONGEST_LIST, MOST_CLASSES, MOST_ENROLLED = 6, 100, 10


def info(space: SpaceArgument, as_json: AsJson = False) -> None:
    """Show the parts, classes, thresholds and temperatures of a saved space."""
    from samekind import questions
    from samekind.data.words import listed
    from samekind.questions.choices import ladder_in_words

    answer = questions.info(open_space(space, "cpu").space)
    if as_json:
        print_json(answer.to_json())
        return
    lines = [[name, _in_short(part), f"{answer.parameters[name]:,}"] for name, part in answer.parts.items()]
    print_table(table("Parts", ["part", "what", "parameters"], lines, texts=2))
    print_text(f"\nClasses ({len(answer.classes):,}): {listed(answer.classes, most=MOST_CLASSES)}")
    decisions = {**answer.decisions, **({"open set": answer.open_set} if answer.open_set else {})}
    print_table(thresholds_table(decisions))
    for name, decision in decisions.items():
        print_text(f"{name}: fitted on {decision.trials}")
    if answer.standings:
        print_table(_standings_table(answer))
        print_text(f"kinds of score: measured on {next(iter(answer.standings.values())).measured_on}")
    for sentence in answer.choices_in_words:
        print_text(f"{sentence[0].upper()}{sentence[1:]}.")
    _print_balance(answer)
    if answer.ladder is not None:
        print_text(f"\nThe house recipe measured on {answer.ladder.measured_on}:")
        for line in ladder_in_words(answer.ladder):
            print_text(f"  {line}")
    print_temperatures(answer.temperatures)
    for fitted_on in dict.fromkeys(fitted.fitted_on for fitted in answer.temperatures.values()):
        print_text(f"temperatures: fitted on {fitted_on}")


def _standings_table(answer: "SpaceInfo") -> "Table":
    """One line for each kind of score."""
    lines = [
        [
            kind,
            f"{standing.equal_error:.2%}",
            f"{standing.recall:.1%}",
            "" if standing.named is None else f"{standing.named:.1%}",
        ]
        for kind, standing in answer.standings.items()
    ]
    columns = ["score", "equal error of pairs", "same class found first", "named rightly"]
    return table("Kinds of score", columns, lines)


def _print_balance(answer: "SpaceInfo") -> None:
    """The bonus of enrolled classes by the score that names classes, and the shares named rightly with it."""
    from samekind.data.words import listed

    kind = answer.choices.classes if answer.choices is not None else "similarity"
    balance = answer.balances.get(kind)
    if balance is None:
        return
    measured = ""
    if balance.known is not None and balance.new is not None:
        measured = f": beside them {balance.known:.1%} of known and {balance.new:.1%} of new items are right"
    which = f" ({listed(answer.enrolled, most=MOST_ENROLLED)})" if answer.enrolled else ""
    print_text(f"Enrolled classes{which} get {balance.bonus:+.4g} on their {kind} scores{measured}.")


def _in_short(part: dict[str, Any]) -> str:
    """A part as people write it; parts inside it by their names alone, long lists by their length."""
    arguments = [
        f"{key}={_value_in_short(value)}" for key, value in part["arguments"].items() if value is not None
    ]
    return f"{part['name']}({', '.join(arguments)})"


def _value_in_short(value: Any) -> Any:
    if isinstance(value, dict):
        return value["name"]
    # The means of a standardised encoder can be hundreds.
    return f"({len(value)} numbers)" if isinstance(value, list) and len(value) > LONGEST_LIST else value
