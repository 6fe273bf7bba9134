"""samekind info: what a saved space is made of and what it knows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.kinds import standings_table
from samekind.cli.options import AsJson
from samekind.cli.output import print_json, print_table, print_text, table
from samekind.cli.temperatures import print_temperatures
from samekind.cli.thresholds import thresholds_table

if TYPE_CHECKING:
    from rich.table import Table

    from samekind.space import MetricSpace

LONGEST_LIST = 6


def info(
    space: Annotated[Path, typer.Argument(metavar="SPACE", help="The folder of a saved space, or of a run.")],
    as_json: AsJson = False,
) -> None:
    """Show the parts, classes, thresholds and temperatures of a saved space."""
    from dataclasses import asdict

    from samekind.cli.experiments import space_folder
    from samekind.space import MetricSpace

    loaded = MetricSpace.load(space_folder(space))
    described = _describe(loaded)
    sizes = {name: sum(each.numel() for each in getattr(loaded, name).parameters()) for name in described}
    if as_json:
        print_json(
            {
                "parts": described,
                "parameters": sizes,
                "classes": loaded.classes,
                "decisions": {kind: asdict(each) for kind, each in loaded.decisions.items()},
                "open set": asdict(loaded.open_set) if loaded.open_set else None,
                "temperatures": {head: asdict(each) for head, each in loaded.temperatures.items()},
                "standings": {kind: asdict(each) for kind, each in loaded.standings.items()},
            }
        )
        return
    print_table(_parts_table(described, sizes))
    print_text(f"\nClasses ({len(loaded.classes)}): {', '.join(loaded.classes)}")
    decisions = {**loaded.decisions, **({"open set": loaded.open_set} if loaded.open_set else {})}
    print_table(thresholds_table(decisions))
    for name, decision in decisions.items():
        print_text(f"{name}: fitted on {decision.trials}")
    if loaded.standings:
        print_table(standings_table(loaded.standings))
        print_text(f"kinds of score: measured on {next(iter(loaded.standings.values())).measured_on}")
    print_temperatures(loaded.temperatures)
    for fitted in dict.fromkeys(each.fitted_on for each in loaded.temperatures.values()):
        print_text(f"temperatures: fitted on {fitted}")


def _describe(space: "MetricSpace") -> dict[str, dict[str, Any]]:
    """The parts of a space by name, without its classes, which are listed once."""
    from samekind.parts import describe

    parts = {"encoder": space.encoder, "similarity": space.similarity, "prototypes": space.prototypes}
    described: dict[str, dict[str, Any]] = {name: describe(part) for name, part in parts.items()}
    if space.auxiliary is not None:
        described["auxiliary"] = {"name": "AuxiliaryHead", "arguments": space.auxiliary.describe()}
        described["auxiliary"]["arguments"]["prototypes"]["arguments"].pop("classes")
    described["prototypes"]["arguments"].pop("classes")
    return described


def _parts_table(described: dict[str, dict[str, Any]], sizes: dict[str, int]) -> "Table":
    lines = [[name, _in_short(part), f"{sizes[name]:,}"] for name, part in described.items()]
    return table("Parts", ["part", "what", "parameters"], lines, texts=2)


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
