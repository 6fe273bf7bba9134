"""samekind info: what a saved space is made of and what it knows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.options import AsJson
from samekind.cli.output import console, print_json, print_text, table

if TYPE_CHECKING:
    from rich.table import Table

    from samekind.space import MetricSpace


def info(
    space: Annotated[Path, typer.Argument(metavar="SPACE", help="The folder of a saved space, or of a run.")],
    as_json: AsJson = False,
) -> None:
    """Show the parts, classes and thresholds of a saved space."""
    from dataclasses import asdict

    from samekind.cli.experiments import space_folder
    from samekind.space import MetricSpace

    loaded = MetricSpace.load(space_folder(space))
    described = _describe(loaded)
    sizes = {name: sum(each.numel() for each in getattr(loaded, name).parameters()) for name in described}
    if as_json:
        decisions = {kind: asdict(each) for kind, each in loaded.decisions.items()}
        print_json(
            {"parts": described, "parameters": sizes, "classes": loaded.classes, "decisions": decisions}
        )
        return
    output = console()
    output.print(_parts_table(described, sizes))
    print_text(f"\nClasses ({len(loaded.classes)}): {', '.join(loaded.classes)}")
    output.print(_thresholds_table(loaded))


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
    """A part as people write it; parts inside it by their names alone."""
    arguments = [
        f"{key}={value['name'] if isinstance(value, dict) else value}"
        for key, value in part["arguments"].items()
        if value is not None
    ]
    return f"{part['name']}({', '.join(arguments)})"


def _thresholds_table(space: "MetricSpace") -> "Table":
    lines = [
        [kind, f"{each.threshold:.4f}", each.point, f"{each.false_accepts:.2%}", f"{each.false_rejects:.2%}"]
        for kind, each in space.decisions.items()
    ]
    return table("Thresholds", ["score", "threshold", "point", "false accepts", "false rejects"], lines)
