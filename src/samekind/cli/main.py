"""The program `samekind`: its commands, and what becomes of errors."""

import io
import os
import sys
import warnings
from typing import Annotated, Any, NoReturn

import typer
from typer import Option

from samekind.allocator import keep_memory
from samekind.cli.adapt import adapt
from samekind.cli.attack import attack
from samekind.cli.attention import attention
from samekind.cli.calibrate import calibrate
from samekind.cli.certify import certify
from samekind.cli.check import check
from samekind.cli.classes import classes
from samekind.cli.cluster import cluster
from samekind.cli.compare import compare
from samekind.cli.demo import demo
from samekind.cli.draw import draw
from samekind.cli.dynamics import dynamics
from samekind.cli.embed import embed
from samekind.cli.enroll import enroll
from samekind.cli.evaluate import evaluate
from samekind.cli.export import export
from samekind.cli.identify import identify
from samekind.cli.index import index
from samekind.cli.info import info
from samekind.cli.init import init
from samekind.cli.leave_one_out import leave_one_out
from samekind.cli.novelty import novelty
from samekind.cli.predict import predict
from samekind.cli.report import report
from samekind.cli.representation import representation
from samekind.cli.robustness import robustness
from samekind.cli.search import search
from samekind.cli.serve import serve
from samekind.cli.shift import shift
from samekind.cli.train import train
from samekind.cli.tree import tree
from samekind.cli.two_sample import two_sample
from samekind.errors import SamekindError, SettingError

MISTAKE, INTERRUPTED = 2, 130

# The base class of all errors about the command line; typer exports only its children.
UsageError: type[Any] = typer.BadParameter.__bases__[0]

HELP = ["-h", "--help"]
NO_TORCH = (
    "this command needs PyTorch, which is not installed here; without it, samekind serve FOLDER --onnx "
    "serves a folder of samekind export"
)
STOPPED = (
    "interrupted; no file is half written: the same command goes on with a training, and starts "
    "anything else again"
)

app = typer.Typer(
    name="samekind",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": HELP},
)
#: The commands, as help lists them.
COMMANDS = (
    demo,
    check,
    init,
    train,
    leave_one_out,
    evaluate,
    calibrate,
    adapt,
    report,
    robustness,
    attack,
    certify,
    representation,
    shift,
    dynamics,
    compare,
    search,
    enroll,
    identify,
    predict,
    cluster,
    embed,
    novelty,
    two_sample,
    attention,
    classes,
    tree,
    info,
    draw,
    export,
    serve,
)
for command in COMMANDS:
    app.command()(command)
app.add_typer(index, name="index")


def _show_version(is_given: bool) -> None:
    from samekind import __version__

    if is_given:
        print(f"samekind {__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool, Option("--version", help="Show the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Learn what "the same kind" means from labelled examples, and answer questions with it."""


def main() -> None:
    """Run the program; a user's mistake is one line on the standard error and exit status 2."""
    _prepare_process()
    try:
        status = _carried_out()
    except UsageError as error:
        _stop(_about_usage(error))
    except SamekindError as error:
        _stop(str(error))
    except OSError as error:
        # If a file was to replace another, name the other.
        path = error.filename2 or error.filename
        _stop(f"cannot use {path}: {error.strerror}" if path else str(error))
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        _stop(NO_TORCH)
    except UnicodeEncodeError as error:
        # Terminals escape what they cannot write; this is a file.
        name = ascii(error.object[max(0, error.start - 40) : error.end + 20])
        _stop(f"cannot write {name} as UTF-8: the name of a file or folder is not text; rename it")
    # A prompt without an answer (Ctrl-C, or the end of the input) is an interruption too.
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    if status == INTERRUPTED:
        _stop(STOPPED, INTERRUPTED)
    if isinstance(status, int) and status:
        sys.exit(status)  # the command has said why


def _prepare_process() -> None:
    """Settings of the process that hold for every command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Characters that the terminal cannot write, as in a path, must not end the program.
            stream.reconfigure(errors="backslashreplace")
    # Threads of PyTorch that wait shall sleep: on a busy machine, spinning takes the processor from others.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    keep_memory()
    # Pictures that cannot be read get a message of ours.
    warnings.filterwarnings("ignore", module=r"PIL\.")


def _carried_out() -> Any:
    """Run the command of the arguments; its exit status, or None."""
    _allow_pixels()
    # Not standalone: typer would draw a box around errors, and print nothing on an interrupt.
    command = typer.main.get_command(app)
    _show_flags_bare(command)
    return command(sys.argv[1:] or ["--help"], prog_name="samekind", standalone_mode=False)


def _allow_pixels() -> None:
    """Allow pictures as many pixels as SAMEKIND_MOST_PIXELS says."""
    text = os.environ.get("SAMEKIND_MOST_PIXELS")
    if text is None:
        return
    if not text.isdecimal() or not int(text):
        raise SettingError(f"SAMEKIND_MOST_PIXELS: expected a number of pixels, got {text!r}")
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = -(-int(text) // 2)  # Pillow refuses twice as many


def _show_flags_bare(command: Any) -> None:
    """Show flags without a value in the help of a command and its subcommands; typer writes <bool>."""
    context = typer.Context(command, help_option_names=HELP)
    for parameter in command.get_params(context):
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    for subcommand in getattr(command, "commands", {}).values():
        _show_flags_bare(subcommand)


def _stop(message: str, status: int = MISTAKE) -> NoReturn:
    print(f"samekind: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(status)


def _about_usage(error: Any) -> str:
    """Typer's message in our style, and where to read more."""
    message = error.format_message().rstrip(".")
    where = error.ctx.command_path if error.ctx else "samekind"
    return f"{message[:1].lower()}{message[1:]} (see {where} --help)"


if __name__ == "__main__":
    main()
