"""samekind serve: a space that is asked over HTTP, and by a web page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from samekind.cli.options import AsJson, Device
from samekind.cli.output import print_json, print_text, render
from samekind.errors import PackageError, SettingError

if TYPE_CHECKING:
    from samekind.serving.engine import Engine

Folder = Annotated[Path, Argument(metavar="SPACE", help="The folder of a space, or of its run.")]
IndexFolder = Annotated[
    Path | None,
    Option(help="The folder of an index, to search in and to draw as a map (samekind index build)."),
]
Host = Annotated[
    str, Option(help="The address to listen at; with any but this machine's own, tokens are needed.")
]
Port = Annotated[int, Option(help="The port to listen at; 0 is any that is free.", min=0, max=65535)]
State = Annotated[
    Path | None,
    Option(
        help="Where enrolled classes, tokens and the audit log are kept.",
        show_default="serving/ in the folder of the run, or beside that of a space",
    ),
]
Hosts = Annotated[
    list[str] | None,
    Option("--allow-host", help="A name that the server answers to, besides those of this machine."),
]
NewToken = Annotated[
    str | None,
    Option("--new-token", metavar="ROLE", help="Print a new token for read, enrol or admin, and stop."),
]
TokenName = Annotated[str | None, Option(help="Whom the new token is for, as the audit log names them.")]
RevokeToken = Annotated[
    str | None, Option("--revoke-token", metavar="NAME", help="Forget the token of this name, and stop.")
]
AskForTokens = Annotated[bool, Option("--tokens", help="Ask for tokens also on this machine alone.")]
ShowPage = Annotated[bool, Option("--open", help="Open the page in a browser.")]
Rate = Annotated[str, Option(help="How often one caller may ask.")]
MostBytes = Annotated[int, Option(help="The most MiB of a request.", min=1, max=4096)]
MostItems = Annotated[int, Option(help="The most items of a request.", min=1, max=10_000)]
Onnx = Annotated[bool, Option("--onnx", help="SPACE is a folder of samekind export; PyTorch is not needed.")]

#: The file of the tokens, in the folder that the server keeps.
TOKENS = "tokens.json"
NO_TOKENS = (
    "at {host} the server asks for tokens, and there is none yet; make one: samekind serve {space} "
    "--new-token admin --token-name NAME"
)


def serve(
    space: Folder,
    index: IndexFolder = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    state: State = None,
    tokens: AskForTokens = False,
    new_token: NewToken = None,
    token_name: TokenName = None,
    revoke_token: RevokeToken = None,
    allow_host: Hosts = None,
    rate: Rate = "1200/minute",
    most_mebibytes: MostBytes = 32,
    most_items: MostItems = 64,
    show_page: ShowPage = False,
    device: Device = "auto",
    onnx: Onnx = False,
    as_json: AsJson = False,
) -> None:
    """Answer questions to a space over HTTP, and by a web page, until Ctrl-C."""
    try:
        from samekind.serving.app import create_app
    except ImportError as error:
        raise PackageError(f"serving needs more packages ({error}): pip install 'samekind[serve]'") from error
    from samekind.serving.running import is_loopback, listening, run
    from samekind.serving.settings import LOCAL_NAMES, MIB, Limits, ServerSettings
    from samekind.serving.tokens import Tokens

    folder = _state_folder(space, onnx=onnx) if state is None else state
    if new_token is not None or revoke_token is not None:
        _change_tokens(folder, new_token, token_name, revoke_token, as_json=as_json)
        return
    guarded = tokens or not is_loopback(host)
    if guarded and not len(Tokens(folder / TOKENS)):  # nobody could ask
        raise SettingError(NO_TOKENS.format(host=host, space=space))
    names = None if not is_loopback(host) and not allow_host else LOCAL_NAMES | {host, *(allow_host or ())}
    settings = ServerSettings(
        tokens=folder / TOKENS if guarded else None,
        hosts=names,
        audit=folder / "audit.jsonl",
        limits=Limits(rate=rate, bytes=most_mebibytes * MIB, items=most_items),
    )
    with listening(host, port) as listener:  # before the space is loaded, which takes longer
        engine = _engine(space, folder, index, device, onnx=onnx)
        app = create_app(engine, settings)
        shown = f"[{host}]" if ":" in host else host
        _tell(space, f"http://{shown}:{listener.getsockname()[1]}/", guarded, show_page, as_json=as_json)
        run(app, listener)


def _state_folder(space: Path, *, onnx: bool) -> Path:
    if onnx:
        from samekind.serving.onnx_engine import onnx_state_folder

        return onnx_state_folder(space)
    from samekind.serving.opening import state_folder

    return state_folder(space)


def _engine(space: Path, state: Path, index: Path | None, device: str, *, onnx: bool) -> "Engine":
    """The engine of a space, or of an export, which imports no PyTorch."""
    if not onnx:
        from samekind.serving.opening import open_engine

        return open_engine(space, state=state, index=index, device=device)
    from samekind.serving.onnx_engine import open_onnx_engine

    if index is not None:
        raise SettingError("an export brings its gallery: samekind export SPACE --index INDEX --out FOLDER")
    return open_onnx_engine(space, state=state)


def _tell(space: Path, address: str, guarded: bool, show_page: bool, *, as_json: bool) -> None:
    """Say where the server is, and open its page if that is wanted."""
    import sys
    import webbrowser

    words = f"samekind serves {space} at {address} (Ctrl-C stops it)"
    content = {"folder": space, "address": address, "tokens": guarded}
    render(content, lambda: print_text(words), as_json=as_json)
    sys.stdout.flush()  # who started it waits for this line
    if show_page:
        webbrowser.open(address)


def _change_tokens(
    folder: Path, role: str | None, name: str | None, revoked: str | None, *, as_json: bool
) -> None:
    """Make a token, which is shown this once, or forget one."""
    from samekind.serving.tokens import Tokens

    tokens = Tokens(folder / TOKENS)
    if revoked is not None:
        tokens.revoke(revoked)
    token = None if role is None else tokens.new(name or role, role)
    if as_json:
        print_json({"token": token, "name": name or role, "role": role, "revoked": revoked})
        return
    if revoked is not None:
        print_text(f"The token of {revoked} is no longer valid.")
    if token is not None:
        print_text(f"{token}\n\nThis is the token of {name or role}, role {role}. It is shown only now.")
