"""The program `samekind`: its commands, and what becomes of errors."""

import io
import os
import sys
import warnings
from typing import Annotated, Any, NoReturn

import typer

from samekind.cli.attention import attention
from samekind.cli.calibrate import calibrate
from samekind.cli.check import check
from samekind.cli.classes import classes
from samekind.cli.cluster import cluster
from samekind.cli.compare import compare
from samekind.cli.demo import demo
from samekind.cli.draw import draw
from samekind.cli.embed import embed
from samekind.cli.enroll import enroll
from samekind.cli.evaluate import evaluate
from samekind.cli.identify import identify
from samekind.cli.index import index
from samekind.cli.info import info
from samekind.cli.init import init
from samekind.cli.leave_one_out import leave_one_out
from samekind.cli.novelty import novelty
from samekind.cli.predict import predict
from samekind.cli.report import report
from samekind.cli.search import search
from samekind.cli.train import train
from samekind.cli.two_sample import two_sample
from samekind.errors import SamekindError, SettingError

MISTAKE, INTERRUPTED = 2, 130

# Every error about the command line itself; of this family typer shows only a child by its name.
UsageError: type[Any] = typer.BadParameter.__bases__[0]

HELP = ["-h", "--help"]

app = typer.Typer(
    name="samekind",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": HELP},
)
ASKING = (compare, search, enroll, identify, predict, cluster, embed, novelty, two_sample, attention)
for command in (
    demo,
    check,
    init,
    train,
    leave_one_out,
    evaluate,
    calibrate,
    report,
    *ASKING,
    classes,
    info,
    draw,
):
    app.command()(command)
app.add_typer(index, name="index")


def _show_version(wanted: bool) -> None:
    from samekind import __version__

    if wanted:
        print(f"samekind {__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and stop.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Learn what "the same kind" means from labelled examples, and ask what it can tell."""


def main() -> None:
    """Run the program; a user's mistake is one line on the standard error and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A path, or a sign such as ±, that the terminal cannot write must not end the program.
            stream.reconfigure(errors="backslashreplace")
    # Of pictures: what cannot be read gets our own sentence, and the rest is no business of the user's.
    warnings.filterwarnings("ignore", module=r"PIL\.")
    try:
        _allow_pixels()
        # Not standalone: typer would draw a box around a mistake, and say nothing when it is interrupted.
        command = typer.main.get_command(app)
        _show_flags_bare(command)
        status = command(sys.argv[1:] or ["--help"], prog_name="samekind", standalone_mode=False)
    except UsageError as error:
        _stop(_about_usage(error))
    except SamekindError as error:
        _stop(str(error))
    except OSError as error:
        # Of a file that was to take another's place, the place says more than the draft.
        path = error.filename2 or error.filename
        _stop(f"cannot use {path}: {error.strerror}" if path else str(error))
    except UnicodeEncodeError as error:
        # What a terminal cannot write is escaped above; this is a file.
        name = ascii(error.object[max(0, error.start - 40) : error.end + 20])
        _stop(f"cannot write {name} as UTF-8: the name of a file or folder is not text; rename it")
    # A question that is not answered (Ctrl-C, or the end of the input) is an interruption too.
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    if status == INTERRUPTED:
        _stop(
            "interrupted; nothing is half written: the same command goes on with a training, and begins "
            "all else again",
            INTERRUPTED,
        )
    if isinstance(status, int) and status:
        sys.exit(status)  # of a command that has said why


def _allow_pixels() -> None:
    """Let pictures have as many pixels as the environment says, for those who trust theirs."""
    said = os.environ.get("SAMEKIND_MOST_PIXELS")
    if said is None:
        return
    if not said.isdecimal() or not int(said):
        raise SettingError(f"SAMEKIND_MOST_PIXELS: expected a number of pixels, got {said!r}")
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = -(-int(said) // 2)  # of which Pillow refuses twice as many


def _show_flags_bare(command: Any) -> None:
    """In the help of a command and of those below it a flag takes no value; typer writes <bool> after it."""
    context = typer.Context(command, help_option_names=HELP)
    for each in command.get_params(context):
        if getattr(each, "is_flag", False):
            each.metavar = ""
    for below in getattr(command, "commands", {}).values():
        _show_flags_bare(below)


def _stop(message: str, status: int = MISTAKE) -> NoReturn:
    print(f"samekind: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(status)


def _about_usage(error: Any) -> str:
    """Typer's sentence, as ours are written, and where to read more."""
    message = error.format_message().rstrip(".")
    where = error.ctx.command_path if error.ctx else "samekind"
    return f"{message[:1].lower()}{message[1:]} (see {where} --help)"


if __name__ == "__main__":
    main()
