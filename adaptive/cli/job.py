"""A command at work: its options, its inputs, the folder of the run, and how it ends.

job = Job(context, locals())             # first of all: the options are the arguments of the command
cells = job.table("table", "of events")  # what is read is fixed: --resume refuses another content
job.understood(*lines)                   # what --dry-run says of it
with job:                                # a dry run ends here
    job.doing = "learning 60 events"     # what the lines about progress say
    ...                                  # job.write_csv, job.draw, job.write_summary
    job.then("adaptive ...")             # the command to type next
    # at the end: "FOLDER holds ..."; at Ctrl-C or a full disk one line that says how to go on
"""

from __future__ import annotations

import hashlib
import itertools
import shlex
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self

import typer

from adaptive.cli import progress
from adaptive.cli.errors import CommandError
from adaptive.cli.options import stated
from adaptive.cli.run_folder import RunFolder

if TYPE_CHECKING:
    from adaptive.loop import SequentialDesign
    from adaptive.tables import Cells

__all__ = ["Job", "design_in", "shown"]

_FRAME = ("context", "out", "pictures", "resume", "dry_run", "jobs")  # what results do not depend on


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
    hints : mapping of setting -> sentence
        What to do instead, where that setting is not the one of the run in the folder.

    Attributes
    ----------
    progress : callable() -> str
        How far the run is, for the person who stops it: " after 5 answers".
    doing : str
        What goes on, for the lines about progress: "learning 60 events".
    """

    def __init__(
        self,
        context: typer.Context,
        options: Mapping[str, Any],
        *,
        aside: Collection[str] = (),
        free: Collection[str] = (),
        later: Mapping[str, Any] = MappingProxyType({}),
        hints: Mapping[str, str] = MappingProxyType({}),
    ):
        settings = {name: _plain(value) for name, value in options.items() if name not in (*_FRAME, *aside)}
        self.command = str(context.info_name)
        self.progress: Callable[[], str] = lambda: ""
        self.doing, self._next = "reading", ""
        self._parameters = getattr(getattr(context, "command", None), "params", ())
        self._dry, self._understood = bool(options.get("dry_run", False)), list[str]()
        progress.say(lambda: self.doing + self.progress())
        super().__init__(
            options["out"], self.command, settings, given=stated(context, settings.keys() - free),
            resume=options.get("resume", False), pictures=options.get("pictures", "png"), later=later, hints=hints,
            dry=self._dry,
        )  # fmt: skip

    def again(self, *options: str) -> str:
        """Return the command line that continues the run, with these options."""
        return " ".join([called(), self.command, "--out", shlex.quote(str(self.path)), *options])

    def anew(self, *options: str) -> str:
        """Return the command line that does the same in a new folder, with these options beside those of this run."""
        typed = [word for param in self._parameters if not {*param.opts} & {*options}
                 for word in _typed(param, self.settings)]  # fmt: skip
        folder = next(path for k in itertools.count(2) if not (path := Path(f"{self.path}-{k}")).exists())
        return " ".join([called(), self.command, *typed, *options, "--out", shlex.quote(str(folder))])

    def then(self, command: str, when: str = "") -> None:
        """Keep the command to type next, for the last line: "Next, once the table is filled in: adaptive ..."."""
        if command.startswith("adaptive "):
            command = called() + command.removeprefix("adaptive")
        self._next = f"Next{', ' * bool(when)}{when}: {command}"

    def file(self, name: str, what: str) -> Path:
        """Return the main file of the command, the setting ``name``; ``what`` says what of: "of events"."""
        if self.settings[name] is None:
            raise CommandError(f"name the {name} {what}: adaptive {self.command} {name.upper()}.")
        return Path(self.settings[name])

    def fix_file(self, name: str, what: str = "lines") -> None:
        """Fix the content of the file that is the setting ``name``, if there is one."""
        if self.settings[name] is not None:
            path = Path(self.settings[name])
            self.fix(f"{name}_content", _digest(path), f"the {what} of {path.name}")

    def _changed(self, stored: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[str, str] | None:
        for name, value in settings.items():
            content = stored.get(f"{name}_content")
            if content and value and Path(value).is_file() and _digest(Path(value)) != content:
                return name, f"another content of {shown(value)}"
        return None

    def table(self, name: str, what: str) -> Cells:
        """Read the table that is the main file of the command, and fix its content."""
        from adaptive.tables import read_cells

        cells = read_cells(self.file(name, what))
        self.fix_file(name)
        return cells

    def understood(self, *lines: str | Callable[[], Iterable[str]]) -> None:
        """Keep what was understood of the input, for --dry-run; what takes a while to say is given as a function."""
        for line in lines if self._dry else ():
            self._understood += [line] if isinstance(line, str) else line()

    def write_summary(self, values: Mapping[str, Any]) -> None:
        """Write summary.json: these values, and the settings."""
        self.write_json("summary.json", {**values, "settings": self.settings})

    def __enter__(self) -> Self:
        if self._dry:
            print("\n".join(self._understood))
            print(
                f"A dry run: nothing was computed, and nothing was written. Without --dry-run it goes to {self.path}."
            )
            raise typer.Exit
        self.doing = "computing"
        return super().__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        ended = self._ended(error)
        super().__exit__(None if ended is None else type(ended), ended, at)
        stopped = isinstance(ended, CommandError) and ended.exit_code == 130
        if self.written and (ended is None or stopped):
            print(f"{self.path} holds {', '.join(self.written)}.")
        if self._next and ended is None:
            print(self._next)
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


def called() -> str:
    """Return the command as it was typed: "adaptive", or its path where the shell would not find that."""
    typed = Path(sys.argv[0])
    found = shutil.which("adaptive")
    if typed.name != "adaptive" or not typed.exists() or (found is not None and typed.samefile(found)):
        return "adaptive"
    return shlex.quote(str(typed))


def shown(path: str | Path) -> str:
    """Return a path as somebody here types it."""
    path = Path(path)
    here = Path.cwd()
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _typed(param: Any, settings: Mapping[str, Any]) -> list[str]:
    """Return the words of a command line for one of its parameters; none where it has its default."""
    value = settings.get(param.name)
    if value in (None, [], False, param.default) or (callable(param.default) and value == param.default()):
        return []
    words = [shown(one) if str(one).startswith("/") else shlex.quote(str(one)) for one in
             (value if isinstance(value, list) else [value])]  # fmt: skip
    if param.param_type_name == "argument":
        return words
    return [param.opts[0]] if value is True else [part for word in words for part in (param.opts[0], word)]


def _plain(value: Any) -> Any:
    """Return an option as settings.json keeps it."""
    if isinstance(value, Path):
        return str(value.expanduser().resolve())
    return list(value) if isinstance(value, tuple) else value
