"""samekind info: what a saved space is made of and what it knows."""

from pathlib import Path
from typing import Annotated, Any

import typer

from samekind.cli.options import AsJson


def info(
    space: Annotated[Path, typer.Argument(help="The folder of a saved space, or of a run.")],
    as_json: AsJson = False,
) -> None:
    """Show the parts, classes and thresholds of a saved space."""
    from dataclasses import asdict

    from samekind.cli.experiments import space_folder
    from samekind.cli.output import console, print_json, table
    from samekind.parts import describe, room_of
    from samekind.space import MetricSpace

    loaded = MetricSpace.load(space_folder(space))
    parts = {"encoder": loaded.encoder, "similarity": loaded.similarity, "prototypes": loaded.prototypes}
    described: dict[str, dict[str, Any]] = {
        name: describe(part) if room_of(part) else {"name": type(part).__name__}
        for name, part in parts.items()
    }
    described["prototypes"]["arguments"].pop("classes")
    if loaded.auxiliary is not None:
        described["auxiliary"] = {"name": f"{type(loaded.auxiliary.similarity).__name__} head"}
    sizes = {name: sum(each.numel() for each in getattr(loaded, name).parameters()) for name in described}
    if as_json:
        decisions = {kind: asdict(each) for kind, each in loaded.decisions.items()}
        print_json(
            {"parts": described, "parameters": sizes, "classes": loaded.classes, "decisions": decisions}
        )
        return
    lines = []
    for name, part in described.items():
        arguments = ", ".join(
            f"{key}={value}" for key, value in part.get("arguments", {}).items() if key != "scale"
        )
        lines.append([name, f"{part['name']}({arguments})", f"{sizes[name]:,}"])
    output = console()
    parts_table = table("Parts", ["", "what", "parameters"], lines)
    parts_table.columns[1].justify = "left"
    output.print(parts_table)
    output.print(
        f"[bold]Classes[/bold] ({len(loaded.classes)}): {', '.join(loaded.classes)}\n", highlight=False
    )
    output.print(
        table(
            "Thresholds",
            ["score", "threshold", "point", "false accepts", "false rejects"],
            [
                [
                    kind,
                    f"{each.threshold:.4f}",
                    each.point,
                    f"{each.false_accepts:.2%}",
                    f"{each.false_rejects:.2%}",
                ]
                for kind, each in loaded.decisions.items()
            ],
        )
    )
