"""The program `samekind`: its commands, and what becomes of errors."""

import sys

import typer

from samekind.cli.compare import compare
from samekind.cli.demo import demo
from samekind.cli.evaluate import evaluate
from samekind.cli.info import info
from samekind.cli.train import train
from samekind.errors import SamekindError

app = typer.Typer(
    name="samekind",
    help='Learn what "the same kind" means from labelled examples, and ask what it can tell.',
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, train, evaluate, compare, info):
    app.command()(command)


def main() -> None:
    """Run the program; a user's mistake is one line on the standard error and exit status 2."""
    try:
        app()
    except SamekindError as error:
        print(f"samekind: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("samekind: interrupted; the same command goes on where it stopped", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
