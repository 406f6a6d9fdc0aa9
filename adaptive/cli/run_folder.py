"""The folder of one run: what was asked for, the log, and the results, so that a run can be continued.

    settings.json    written first; ``--resume`` reads it, and refuses options that differ
    log/             one event log per loop, written while it runs
    ...              results, each written whole when the run is complete

A run is held by one process at a time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from adaptive.cli.errors import CommandError
from adaptive.files import write_csv, write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["RunFolder"]

_SETTINGS = "settings.json"
PICTURES = ("png", "pdf", "svg")


class RunFolder:
    """Start a run in a new folder, or resume the one that is there.

    Parameters
    ----------
    path : path
        The folder; made if absent.
    command : str
        Name of the command, kept with the settings.
    settings : dict of plain data
        Everything the results depend on.
    given : collection of str
        Keys of ``settings`` that the user stated, the others being defaults; with ``resume`` these must agree with the
        stored ones and the others are taken from there.
    resume : bool
    pictures : {"png", "pdf", "svg"}, default "png"
        What figures are written as; a run may go on with another.
    option : str, default "--out"
        How the command names the folder, for messages.
    later : dict of plain data, default none
        Settings that earlier runs lack, as they are there. They are kept only where they differ from that.
    hints : mapping of setting -> sentence, default none
        What to do instead, where that setting is not the one of the run in the folder.
    dry : bool, default False
        Nothing will be written: what the folder holds is no obstacle.

    Attributes
    ----------
    settings : dict
        Those in force.
    pictures : str
    written : list of str
        The results that were written.

    Raises
    ------
    CommandError
        If the folder holds another run, none to resume, or one with other settings; if it cannot be written, or
        another process is at work there (raised on entering the ``with`` block).
    """

    def __init__(
        self,
        path: Path,
        command: str,
        settings: Mapping[str, Any],
        *,
        given: Sequence[str] = (),
        resume: bool = False,
        pictures: str = "png",
        option: str = "--out",
        later: Mapping[str, Any] = MappingProxyType({}),
        hints: Mapping[str, str] = MappingProxyType({}),
        dry: bool = False,
    ):
        if pictures not in PICTURES:
            raise CommandError(f"--format must be one of {', '.join(PICTURES)}, got {pictures}.")
        self.path, self.pictures, self.option, self._hints = path, pictures, option, hints
        self.written: list[str] = []
        stored = self._stored()
        if path.exists() and not path.is_dir():
            raise CommandError(f"{path} is a file; {option} expects a folder.")
        wanted = {"command": command} | {key: settings[key] for key in given}
        if resume:
            if stored is None:
                raise CommandError(f"there is no run to resume in {path}; leave --resume out to start one.")
            if other := _difference({**later, **stored}, wanted):
                raise CommandError(
                    f"the run in {path} has {other[1]}; resume it without changes, or start another with {option}."
                    f"{self._hint(other[0])}"
                )
            self.settings = {key: stored[key] for key in settings if key in stored}
            missing = sorted(set(settings) - set(stored) - set(later))
            if missing:
                raise CommandError(f"{path / _SETTINGS} lacks {', '.join(missing)}: it is not a run of this version.")
        else:
            if stored is not None and not dry:
                other = _difference({**later, **stored}, wanted) or self._changed(stored, settings)
                if other:
                    raise CommandError(
                        f"{path} holds a run with {other[1]}; name another folder with {option}.{self._hint(other[0])}"
                    )
                raise CommandError(
                    f"{path} holds a run already; add --resume to continue it, or name another folder with {option}."
                )
            if path.is_dir() and not dry and not _untouched(path):
                raise CommandError(f"{path} is not empty; name a new or empty folder with {option}.")
            self.settings = {key: value for key, value in settings.items() if key not in later or value != later[key]}
        self._new = None if resume else {"command": command, **self.settings}
        self._kept = stored or {}
        self._lock: Any = None

    def fix(self, key: str, value: object, what: str) -> None:
        """Keep ``value`` with the settings of a new run; of a resumed one it must be the stored value.

        Call it before entering the ``with`` block.

        Raises
        ------
        CommandError
            Saying that ``what`` (a plural) are not those the run was started with; of values by name the first that
            differs.
        """
        if self._new is not None:
            self._new[key] = value
            return
        kept = self._kept.get(key)
        if kept != value:
            differ = ""
            if isinstance(kept, dict) and isinstance(value, dict) and list(kept) == list(value):
                differ = f": {next(name for name in value if value[name] != kept[name])} differs"
            hint = self._hint(key.removesuffix("_content"))
            raise CommandError(f"{what} are not those that the run in {self.path} was started with{differ}.{hint}")

    def _changed(self, stored: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[str, str] | None:
        """Return the first setting that names a file which is not as the run had it, and that in words."""

    def _hint(self, key: str) -> str:
        return f" {self._hints[key]}" if key in self._hints else ""

    @property
    def log(self) -> Path:
        """The folder of the event logs."""
        return self.path / "log"

    def __enter__(self) -> Self:
        try:
            self.log.mkdir(parents=True, exist_ok=True)
            self._hold()
            if self._new is not None:
                write_file(self.path / _SETTINGS, _json(self._new))
        except OSError as error:
            raise CommandError(f"{self.path} cannot be written: {error.strerror}.") from None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        refused = isinstance(error, CommandError) and error.exit_code == 2
        if refused and self._new is not None and not any(self.log.glob("*")):
            (self.path / _SETTINGS).unlink(missing_ok=True)  # nothing was begun: the folder is free again
        if self._lock is not None:
            self._lock.close()

    def result(self, name: str) -> Path:
        """Return the path of a result that is about to be written."""
        if name not in self.written:
            self.written.append(name)
        return self.path / name

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Write ``name`` whole or not at all."""
        write_file(self.result(name), _json(content))

    def write_csv(self, name: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """Write ``name`` whole or not at all: floats read back equal, None is an empty cell."""
        write_csv(self.result(name), columns)

    def draw(self, drawing: Figure, name: str) -> None:
        """Write a figure as ``name`` with the ending of its format, whole or not at all."""
        from adaptive import plots

        plots.save(drawing, self.result(f"{name}.{self.pictures}"))

    def _stored(self) -> dict[str, Any] | None:
        path = self.path / _SETTINGS
        if not path.is_file():
            return None
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            stored = None
        if not isinstance(stored, dict):
            raise CommandError(f"{path} cannot be read; name another folder with {self.option} to start afresh.")
        return stored

    def _hold(self) -> None:
        """Lock the folder, where the system has locks; the lock ends with the process, however that ends."""
        try:
            import fcntl
        except ImportError:
            return
        lock = (self.path / ".lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._lock = lock
        except BlockingIOError:
            lock.close()
            raise CommandError(f"another process is at work in {self.path}; wait until it ends.") from None


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _untouched(path: Path) -> bool:
    """Return whether a folder is empty but for what a run that was stopped before it wrote its settings leaves."""
    own = (".lock", "log", f".{_SETTINGS}.*partial")
    return all(any(map(one.match, own)) for one in path.iterdir()) and not any((path / "log").glob("*"))


def _difference(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the first setting that is not as it is stored, and both values in words."""
    for key, value in wanted.items():
        if stored.get(key) != value:
            return key, f"{key} = {_text(stored.get(key))}, not {_text(value)}"
    return None


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
