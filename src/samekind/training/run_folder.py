"""The folder of a run: what its files are called, who may train in it, and what later commands read from it.

run.json      the settings of the run, from its first step on
split.json    which items are trained on, validated and tested on, from the first step on
record.jsonl  one line an epoch
last.pt       the newest checkpoint, which a stopped run goes on from
best.pt       the checkpoint of the best epoch
space/        the trained space, once the run is finished
data.json     where the items came from and how they were split, once the run is finished
measures.json the measures of its test items, once they were evaluated
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from samekind import storage
from samekind.data import DataSettings, Items, Sets, Split, SplitSettings, divide, open_data, prepare
from samekind.errors import DataError, SamekindError, SettingError, SpaceError, TrainingError
from samekind.plain_files import read_json
from samekind.space import MetricSpace
from samekind.storage import FolderLock, LockedError
from samekind.training.checkpoints import load_checkpoint
from samekind.training.health import verdict
from samekind.training.own_encoder import expect_same_encoder
from samekind.training.record import Record
from samekind.training.run import Run

LOCK = ".training.lock"

UNFINISHED = (
    "{folder} holds a training that has not ended: {done} of {epochs} epochs are done; the same samekind "
    "train command goes on with it"
)
NO_FOLDER = "there is no folder {folder}; samekind train makes the folder of a run"
NO_DATA = "{folder} is not the folder of a finished run: it has no data.json; samekind train makes one"
FROM_BEFORE = (
    "{folder} does not say which items it was trained and tested on: it has no data.json; the same samekind "
    "train command, or the same call of samekind.fit, writes it without training again"
)
IN_MEMORY = (
    "{folder} was trained on items that exist only in memory, so its test items cannot be opened again; ask "
    "about other items (samekind evaluate --data), or evaluate from Python: samekind.evaluate(space, "
    "sets.tests())"
)
OTHER_DATA = "{folder} holds a run on other data or another split; choose another folder"
OTHER_ITEMS = (
    "{folder} holds a stopped training whose training items differ from these: the data have changed, or an "
    "older version split the groups in another way. Choose another folder, or remove this one to start again"
)
OTHER_TREE = (
    "{folder} holds a run whose classes had another tree; choose another folder, or give the same tree to "
    "go on with it"
)

# The folders that this context has locked, and in which process: a forked process has none of them.
_LOCKED: ContextVar[frozenset[tuple[int, Path]]] = ContextVar("_LOCKED", default=frozenset())


class _Data(NamedTuple):
    """The content of data.json; no source for items that existed only in memory."""

    source: str | None
    settings: DataSettings
    split: Mapping[str, Any]


class RunFolder:
    """The folder of a run. Making the object reads and writes nothing."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.last, self.best = self.path / "last.pt", self.path / "best.pt"
        self.record = Record(self.path / "record.jsonl")
        self._run, self._data = self.path / "run.json", self.path / "data.json"
        self._split, self._space = self.path / "split.json", self.path / "space"
        self._measures = self.path / "measures.json"
        self.features = self.path / "features"  # of the untrained encoder, see `inference.feature_items`

    @classmethod
    def around(cls, path: str | Path) -> "RunFolder":
        """The folder of the run that a space lies in; any other folder as it is."""
        folder, outside = cls(Path(path).resolve()), cls(Path(path).resolve().parent)
        return outside if folder.path == outside._saved_space() and outside._run.is_file() else folder

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Train here alone; the folder is made if it does not exist. Raises TrainingError while another
        process or thread trains here.

        Within it the same lock is granted again: `train` runs inside of `fit`, and that inside of a command.
        Readers need no lock, and that of a killed process ends with it. A folder in which nothing was written
        is removed in the end.
        """
        key = os.getpid(), self.path.resolve()
        if key in _LOCKED.get():
            yield
            return
        missing = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        lock = self._lock()
        before = _LOCKED.set(_LOCKED.get() | {key})
        try:
            yield
        finally:
            _LOCKED.reset(before)
            lock.give_back(remove=True)
            _remove_empty(missing)

    def _lock(self) -> FolderLock:
        while True:
            self.path.mkdir(parents=True, exist_ok=True)
            try:
                return FolderLock(self.path, LOCK)
            except FileNotFoundError:  # another process just removed the empty folder
                continue
            except LockedError as error:
                raise TrainingError(
                    f"{error} is training in {self.path}; wait for that to end or stop it, or choose another "
                    "folder"
                ) from error

    # --- before and while it is trained ---------------------------------------------------------------

    def sets_for(
        self, items: Items, settings: SplitSettings, *, earlier: Sequence[SplitSettings] = ()
    ) -> Sets:
        """The sets of a run on these items: as the run here was split if it has begun, else by ``settings``.

        ``earlier`` are other ways in which a run that has begun may have been split. Raises SettingError if
        the run here is on other data or another split.
        """
        ways = [settings, *earlier]
        known, begun = self._read_data(), self.begun_split(items)
        if known is not None and known[:2] != (items.source or (None, DataSettings())):
            raise SettingError(OTHER_DATA.format(folder=self.path))
        stored = [known.split] if known is not None else []
        if begun is not None and begun.settings is not None:
            stored.append(begun.settings)
        if stored:
            way = next((way for way in ways if all(way.to_dict() == table for table in stored)), None)
            if way is None:
                raise SettingError(OTHER_DATA.format(folder=self.path))
            if begun is not None:  # an old split.json does not say how it was asked for
                return divide(items, replace(begun, settings=way.to_dict()))
            return prepare(items, way)
        trained = self._trained_items() if items.groups is not None else None
        if trained is None:
            return prepare(items, settings)
        # A training that was stopped before splits were written says what it trains on, not how it was split.
        for sets in (prepare(items, way) for way in reversed(ways)):
            if sets.train.fingerprint() == trained:
                return sets
        if begun is None:
            raise SettingError(OTHER_ITEMS.format(folder=self.path))
        return prepare(items, settings)  # items that have changed are refused by `resume`

    def begun_split(self, items: Items) -> Split | None:
        """The split of the run that has begun here; None without one, or if it is of other items."""
        if not (self.last.is_file() or self._data.is_file()):
            return None  # left by a command that was refused
        try:
            return Split.load(self._split, items)
        except DataError:
            return None

    def _trained_items(self) -> str | None:
        """The fingerprint of the items that a stopped training goes on with."""
        return str(load_checkpoint(self.last)["data"]) if self.last.is_file() else None

    def begin(self, run: Run, split: Split | None = None) -> None:
        """Write what a new run is: an empty record, its settings and its split."""
        self.record.cut(after=-1)
        _write_json(self._run, run.to_dict())
        if split is not None:
            split.save(self._split)

    def resume(
        self, run: Run, items: str, split: Split | None = None, *, tree: str | None = None
    ) -> dict[str, Any] | None:
        """The checkpoint to go on from, and the record cut back to it; None if there is none.

        ``items`` is the fingerprint of the training items, ``tree`` that of the tree of their classes. Raises
        TrainingError if the checkpoint is of other items, of another tree, or of a run with other settings.
        """
        if not self.last.exists():
            return None
        saved = load_checkpoint(self.last)
        if saved["data"] != items:
            raise TrainingError(f"{self.path} holds a run on other data; choose another folder")
        if saved.get("tree", tree) != tree:  # checkpoints from before do not say
            raise TrainingError(OTHER_TREE.format(folder=self.path))
        now, before = run.to_dict(), _with_defaults(saved["run"])
        expect_same_encoder(now, before, self.path)
        for values in (now, before):  # it bounds the memory, which may be another now, and only rounds
            values["batches"] = {**values.get("batches", {}), "at_once": 0}
        changed = [name for name in now if now[name] != before.get(name)]
        if changed:
            raise TrainingError(
                f"{self.path} holds a run with other settings ({', '.join(changed)}); "
                "choose another folder, or give the same settings to go on with it"
            )
        self.record.cut(after=saved["progress"].step)
        if split is not None:
            split.save(self._split)
        return saved

    def start_again(self) -> None:
        """Forget the training here: its checkpoints and its record. A space that was saved stays."""
        for path in (self.last, self.best):
            path.unlink(missing_ok=True)
        self.record.cut(after=-1)

    def finish(self, space: MetricSpace, sets: Sets) -> None:
        """Save the trained space, and what it was trained on."""
        space.save(self._space)
        name, settings = sets.source or (None, DataSettings())
        content = {"source": name, "data": settings.to_dict(), "split": sets.split.settings or {}}
        _write_json(self._data, content)

    # --- after it was trained -------------------------------------------------------------------------

    @property
    def finished(self) -> bool:
        """Whether the run here has ended and says what it was trained on."""
        return self._data.is_file()

    def sets(self) -> Sets:
        """The sets that the run was trained and is to be tested on, opened again.

        Raises SpaceError if the run has not ended, or if its items existed only in memory; DataError if they
        cannot be opened or have changed.
        """
        known = self._read_data()
        if known is None:
            if not self.path.exists():
                raise SpaceError(NO_FOLDER.format(folder=self.path))
            self._refuse_unfinished()
            old = self._run.is_file() and self._saved_space() is not None
            raise SpaceError((FROM_BEFORE if old else NO_DATA).format(folder=self.path))
        if known.source is None:
            raise SpaceError(IN_MEMORY.format(folder=self.path))
        # The space has the tree of its classes; the file it came from may be gone.
        settings = replace(known.settings, taxonomy=None)
        try:
            items = open_data(known.source, settings=settings)
        except DataError as error:
            raise DataError(f"the data that {self.path} was trained on cannot be opened: {error}") from error
        split = Split.load(self._split, items)
        return divide(
            items, split if split.settings is not None else replace(split, settings=dict(known.split))
        )

    def space(self) -> MetricSpace:
        """The trained space, on the CPU."""
        return MetricSpace.load(self.space_folder())

    def space_folder(self) -> Path:
        """The folder of the trained space: ``space/``, or this folder itself, which may be that of a space.

        A space whose last save was cut short is recovered. Raises SpaceError if the training has not ended.
        """
        if (folder := self._saved_space()) is not None:
            return folder
        self._refuse_unfinished()
        return self.path

    def trained_on(self, source: str) -> bool:
        """Whether a source is the whole data of this run, training items included."""
        known = self._read_data()
        if known is None or known.source is None:
            return False
        return known.source == source or Path(known.source).resolve() == Path(source).resolve()

    def data_settings(self) -> DataSettings:
        """How the data of the run was read; the default settings for what is not a run."""
        known = self._read_data() if self._run.is_file() else None
        return DataSettings() if known is None else known.settings

    def run(self) -> Run | None:
        """The run; None if there is none, or run.json is damaged or from another version."""
        try:
            return Run.from_dict(self._run_settings())
        except SamekindError:
            return None

    @property
    def selected_on_test(self) -> bool:
        """Whether the epoch was chosen on the test items."""
        return self._run_settings().get("select_on") == "test"

    def keep_measures(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Keep the measures of the test items, rows of an evaluation, in place of earlier ones."""
        _write_json(self._measures, {"rows": [dict(row) for row in rows]})

    def measures(self) -> list[dict[str, Any]] | None:
        """The measures that were kept; None if there are none, or they cannot be read."""
        try:
            rows = read_json(self._measures.read_bytes())["rows"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return rows if isinstance(rows, list) and all(isinstance(row, dict) for row in rows) else None

    def verdict(self) -> str | None:
        """A sentence if the kept epoch is not better than the untrained start, else None."""
        run = self.run()
        return None if run is None else verdict(run, self.record.lines())

    def _run_settings(self) -> dict[str, Any]:
        """The content of run.json; empty if it does not exist or is damaged."""
        try:
            settings = read_json(self._run.read_bytes())
        except (OSError, ValueError):
            return {}
        return settings if isinstance(settings, dict) else {}

    def _saved_space(self) -> Path | None:
        storage.recover_folder(self._space)
        return self._space if (self._space / "space.json").is_file() else None

    def _refuse_unfinished(self) -> None:
        """Raise SpaceError if a training was stopped here, or is at work."""
        epochs = self._run_settings().get("epochs")
        if not isinstance(epochs, int) or (self.path / "space.json").is_file() or self._saved_space():
            return
        done = max((entry["epoch"] for entry in self.record.lines()), default=0)
        raise SpaceError(UNFINISHED.format(folder=self.path, done=done, epochs=epochs))

    def _read_data(self) -> _Data | None:
        """The content of data.json; None without one."""
        path = self._data
        if not path.is_file():
            return None
        try:
            content = read_json(path.read_bytes())
        except ValueError as error:
            raise SpaceError(
                f"{path} is damaged ({error}); restore it or train again in another folder"
            ) from error
        types = {"source": str | None, "data": dict, "split": dict}
        if not isinstance(content, dict) or not all(
            name in content and isinstance(content[name], expected) for name, expected in types.items()
        ):
            raise SpaceError(f"{path} was not written by this samekind; choose another folder")
        return _Data(content["source"], DataSettings.from_dict(content["data"]), content["split"])


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    storage.write_text(path, json.dumps(content, indent=2) + "\n")


def _with_defaults(stored: dict[str, Any]) -> dict[str, Any]:
    """The settings of a stored run; those that did not exist when it was begun have their defaults."""
    try:
        return Run.from_dict(stored).to_dict()
    except SettingError:
        return stored


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders, each inside the next, as long as they are empty."""
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return
