"""A command at work: its options, its inputs, the folder of the run, and how it ends.

job = Job(context, locals())             # first of all: the options are the arguments of the command
cells = job.table("table", "of events")  # what is read is fixed: --resume refuses another content
with job:
    ...                                  # job.write_csv, job.draw, job.write_summary
    # at the end: "FOLDER holds ..."; at Ctrl-C or a full disk one line that says how to go on
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any

import typer

from adaptive.cli.errors import CommandError
from adaptive.cli.options import stated
from adaptive.cli.run_folder import RunFolder

if TYPE_CHECKING:
    from adaptive.loop import SequentialDesign
    from adaptive.tables import Cells

__all__ = ["Job", "design_in"]

_FRAME = ("context", "out", "pictures", "resume", "jobs")  # what results do not depend on


class Job(RunFolder):
    """One run of a command.

    Parameters
    ----------
    context : typer.Context
        Of the command: its name, and which options were stated.
    options : dict
        The arguments of the command by name, such as ``locals()`` before anything else is defined there. Of them
        ``out``, ``pictures`` and ``resume`` are about the folder, all others settings (paths are made absolute).
    aside : collection of str
        Names of options that results do not depend on, beside ``jobs``.
    free : collection of str
        Settings that may change when a run goes on.
    later : dict
        Settings that earlier runs lack, as they are there.

    Attributes
    ----------
    progress : callable() -> str
        How far the run is, for whoever stops it: " after 5 answers".
    """

    def __init__(
        self,
        context: typer.Context,
        options: Mapping[str, Any],
        *,
        aside: Collection[str] = (),
        free: Collection[str] = (),
        later: Mapping[str, Any] = MappingProxyType({}),
    ):
        settings = {name: _plain(value) for name, value in options.items() if name not in (*_FRAME, *aside)}
        self.command = str(context.info_name)
        self.progress: Callable[[], str] = lambda: ""
        super().__init__(
            options["out"], self.command, settings, given=stated(context, settings.keys() - free),
            resume=options.get("resume", False), pictures=options.get("pictures", "png"), later=later,
        )  # fmt: skip

    def again(self, *options: str) -> str:
        """Return the command line that continues the run, with these options."""
        return " ".join(["adaptive", self.command, "--out", shlex.quote(str(self.path)), *options])

    def file(self, name: str, what: str) -> Path:
        """Return the main file of the command, the setting ``name``; ``what`` says what of: "of events"."""
        if self.settings[name] is None:
            raise CommandError(f"name the {name} {what}: adaptive {self.command} {name.upper()}.")
        return Path(self.settings[name])

    def fix_file(self, name: str, what: str = "lines") -> None:
        """Fix the content of the file that is the setting ``name``, if there is one."""
        if self.settings[name] is not None:
            path = Path(self.settings[name])
            with path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            self.fix(f"{name}_content", digest, f"the {what} of {path.name}")

    def table(self, name: str, what: str) -> Cells:
        """Read the table that is the main file of the command, and fix its content."""
        from adaptive.tables import read_cells

        cells = read_cells(self.file(name, what))
        self.fix_file(name)
        return cells

    def write_summary(self, values: Mapping[str, Any]) -> None:
        """Write summary.json: these values, and the settings."""
        self.write_json("summary.json", {**values, "settings": self.settings})

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        ended = self._ended(error)
        super().__exit__(None if ended is None else type(ended), ended, at)
        stopped = isinstance(ended, CommandError) and ended.exit_code == 130
        if self.written and (ended is None or stopped):
            print(f"{self.path} holds {', '.join(self.written)}.")
        if ended is not None and ended is not error:
            raise ended from None

    def _ended(self, error: BaseException | None) -> BaseException | None:
        """Return what a person is told of the end of the run."""
        if error is None or isinstance(error, CommandError):
            return error
        from adaptive.loop import LogError
        from adaptive.tables import TableError

        if isinstance(error, KeyboardInterrupt):
            return CommandError(f"stopped{self.progress()}; continue with: {self.again('--resume')}", 130)
        if isinstance(error, (LogError, TableError)):  # a log that is damaged, in use, or of another run
            return CommandError(str(error))
        if isinstance(error, OSError):  # a full disk
            return CommandError(f"{error}; when that is mended, continue with: {self.again('--resume')}", 1)
        if isinstance(error, MemoryError):
            return CommandError(f"this is too large for the memory there is: {error}", 1)
        return error


def design_in(log: Path, estimator: Any, candidates: Any, measure: Any = None, **options: Any) -> SequentialDesign:
    """Begin a design that keeps this log, or go on with the one that the log holds."""
    from adaptive.loop import SequentialDesign

    if log.exists() and log.stat().st_size:
        return SequentialDesign.load(log, estimator, candidates, measure, **options)
    return SequentialDesign(estimator, candidates, measure, log=log, **options)


def _plain(value: Any) -> Any:
    """Return an option as settings.json keeps it."""
    if isinstance(value, Path):
        return str(value.expanduser().resolve())
    return list(value) if isinstance(value, tuple) else value
