"""A space, its gallery and its enrolled classes, opened for a server."""

from pathlib import Path

from samekind.questions.galleries import open_gallery
from samekind.questions.opening import open_space
from samekind.serving.enrolments import open_enrolments
from samekind.serving.torch_engine import TorchEngine
from samekind.training import RunFolder

#: Beside a space, what a server keeps: the enrolled classes, the tokens and the audit log.
STATE = "serving"


def state_folder(folder: Path) -> Path:
    """Where a server keeps what it must not forget: in the folder of the run, or beside that of a space."""
    run = RunFolder.around(folder).path
    is_space = (run / "space.json").is_file()
    return run.with_name(f"{run.name}-{STATE}") if is_space else run / STATE


def open_engine(folder: Path, *, state: Path, index: Path | None = None, device: str = "auto") -> TorchEngine:
    """The engine of the space in a folder, with the gallery of an index, if there is one."""
    opened = open_space(folder, device)
    gallery = None if index is None else open_gallery(index, opened.space)
    return TorchEngine(
        opened, gallery=gallery, enrolments=open_enrolments(opened.space, state / "enrolled", gallery)
    )
