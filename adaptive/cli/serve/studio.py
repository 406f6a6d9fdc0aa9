"""``adaptive serve --label-studio``: people label in their own Label Studio, which is shown what teaches most."""

from __future__ import annotations

import hashlib
import secrets
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.errors import CommandError
from adaptive.cli.label.classifier import classifier_of
from adaptive.cli.label.embeddings import read_embeddings
from adaptive.cli.run_folder import RunFolder
from adaptive.cli.serve.features import words
from adaptive.cli.stopping import stopping_rule

if TYPE_CHECKING:
    from adaptive.labelling import LabelStudio, Live, Looked
    from adaptive.loop import SequentialDesign

__all__ = ["FOLDER", "Followed", "follow"]

FOLDER = Path("adaptive-label-studio-run")
EVERY = 1.0  # seconds between looks
LABELS, PEOPLE = "labels.csv", "people.csv"
COLUMNS = ("task", "label", "annotator", "predicted", "probability")


@dataclass(frozen=True)
class Followed:
    """Settings of the command line: the project, what the model reads there, and how it is followed."""

    url: str
    project: int
    token: Path
    text: str | None = None
    embeddings: str | None = None
    ahead: int = 3
    overlap: int = 1
    skills: int = 0
    stop: Sequence[str] = ()
    seed: int = 0


def follow(asked: Followed, folder: Path, nudged: Callable[[], tuple[str, Any]] | None = None) -> None:
    """Follow until Ctrl-C, or a request to end; the folder holds everything.

    Parameters
    ----------
    asked : Followed
    folder : Path
    nudged : callable() -> (address, socket), optional
        Where Label Studio announces what has changed.

    Raises
    ------
    CommandError
        If Label Studio cannot be reached at the start, or refuses something.
    """
    from adaptive.labelling import LabelStudio, Live, StudioError
    from adaptive.loop import LogError

    settings = {"url": asked.url, "project": asked.project, "text": asked.text, "embeddings": asked.embeddings,
                "skills": asked.skills, "seed": asked.seed}  # fmt: skip
    token = _token(asked.token)
    run = RunFolder(
        folder, "serve --label-studio", settings, given=list(settings), resume=_begun(folder), option="--store"
    )
    with run:
        try:
            with closing(LabelStudio(asked.url, asked.project, token)) as studio:
                if asked.overlap > 1:
                    studio.set_overlap(asked.overlap)
                with closing(Live(studio, _Begins(asked, studio, run), ahead=asked.ahead)) as live:
                    _until_stopped(live, run, nudged)
        except (StudioError, LogError) as problem:
            raise CommandError(str(problem)) from None
        except OSError as problem:
            raise CommandError(f"{problem.strerror or problem} while writing {folder}; nothing is lost.") from None


def _begun(folder: Path) -> bool:
    return (folder / "settings.json").exists()


def _token(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise CommandError(f"there is no token in {path} (--token-file).") from None
    if not text:
        raise CommandError(f"{path} is empty; put a personal access token of Label Studio into it (--token-file).")
    return text


class _Begins:
    """Makes the design of the tasks that are there, or goes on with the log of the same ones."""

    def __init__(self, asked: Followed, studio: LabelStudio, run: RunFolder) -> None:
        self.asked, self.studio, self.run = asked, studio, run
        self.rule = stopping_rule(list(asked.stop))

    def __call__(self, tasks: dict[int, dict[str, Any]]) -> SequentialDesign:
        from adaptive.loop import SequentialDesign
        from designs.pool import Annotated

        X = self._features(tasks)
        shown = hashlib.blake2b(f"{list(tasks)}|{self.studio.classes}".encode() + X.tobytes(), digest_size=6)
        log = self.run.log / f"{len(tasks)}-tasks-{shown.hexdigest()}.jsonl"
        texts = X if self.asked.embeddings is None else None
        model = classifier_of(self.studio.classes, texts, annotators=self.asked.skills > 0)
        pool: Any = Annotated(X, range(self.asked.skills)) if self.asked.skills else X
        if log.exists():
            return SequentialDesign.load(log, model, pool, stop=self.rule)
        first = None if self.asked.skills else min(len(self.studio.classes), len(tasks))
        return SequentialDesign(
            model, pool, initial=first, repeat=not self.asked.skills, stop=self.rule,
            random_state=self.asked.seed, log=log,
        )  # fmt: skip

    def _features(self, tasks: dict[int, dict[str, Any]]) -> np.ndarray:
        project = Path(f"project {self.asked.project}")
        if self.asked.embeddings is not None:
            return read_embeddings(self.asked.embeddings, len(tasks), project, entries="tasks")[0]
        column = str(self.asked.text or self.studio.column)
        if self.asked.text is None and self.studio.kind not in ("Text", "HyperText", "Paragraphs"):
            raise CommandError(
                f"{project} shows {self.studio.kind or 'no text'}; say what the model is to look at with --embeddings "
                "FILE, or name a column of texts with --text."
            )
        lacking = next((task for task, data in tasks.items() if not isinstance(data.get(column), str)), None)
        if lacking is not None:
            known = ", ".join(map(repr, tasks[lacking]))
            raise CommandError(f"task {lacking} of {project} has no text {column!r}; its data holds {known}.")
        return words([data[column] for data in tasks.values()], project, column)


def _until_stopped(live: Live, run: RunFolder, nudged: Callable[[], tuple[str, Any]] | None) -> None:
    studio, said = live.studio, _Sayings(live)
    print(f"Looking at project {studio.project} of {studio.url} ({studio.title}) ...", flush=True)
    with _announced(live, nudged), _ends(live):
        live.follow(every=EVERY, looked=said.looked, away=said.away)
    if not live.tasks:  # stopped before the first look
        print("\nStopped; nothing was learnt yet. Type the command again to carry on.")
        return
    names = _names(live)
    for name, columns in ((LABELS, _labels(live, names)), (PEOPLE, _people(live, names))):
        if columns:
            run.write_csv(name, columns)
    print(f"\nStopped; {run.path / LABELS} holds labels and predictions. Type the command again to carry on.")


class _Sayings:
    """Lines about what happens, none twice."""

    def __init__(self, live: Live) -> None:
        self.live, self._before, self._told, self._away = live, "", set[str](), False

    def looked(self, found: Looked) -> None:
        if self._away:
            print("Label Studio answers again.", flush=True)
        self._away = False
        if not self._before:
            print("Tasks with a prediction are shown first. Ctrl-C stops; people can carry on meanwhile.", flush=True)
        if found.begun:
            print(f"The tasks have changed: there are {len(self.live.tasks)} now.", flush=True)
        for reason, tasks in found.left_out.items():
            self._once(f"adaptive: warning: task {tasks[0]}: {reason}; this answer is left out.")
        if found.finished:
            why = "no task is left to ask about" if not self.live.design.finished else "the stopping rule holds"
            self._once(f"No further tasks are chosen: {why}. Ctrl-C ends.")
        line = f"{_count(found.answers, 'answer')} of {_count(found.people, 'person', 'people')}"
        if line != self._before:
            believed = self._believed() if found.answers else ""
            print(f"{line}; open: {_count(len(found.open), 'task')}{believed}", flush=True)
        self._before = line

    def away(self, problem: str) -> None:
        self._away = True
        print(f"adaptive: warning: {problem} Waiting; nothing is lost.", flush=True)

    def _once(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            print(line, flush=True)

    def _believed(self) -> str:
        right = float(self.live.believed().max(axis=1).mean())
        return f"; the model believes it is right on {right:.0%} of the tasks"


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


@contextmanager
def _ends(live: Live) -> Iterator[None]:
    """Have Ctrl-C and a request to end finish the look that is under way."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, lambda *_: live.stop())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _announced(live: Live, nudged: Callable[[], tuple[str, Any]] | None) -> Iterator[None]:
    """Have Label Studio say when something has changed, where it was asked for."""
    if nudged is None:
        yield
        return
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    async def heard(_: Any) -> Response:
        live.nudge()
        return Response(status_code=204)

    address, listening = nudged()
    path = f"/{secrets.token_hex(8)}"
    server = uvicorn.Server(
        uvicorn.Config(Starlette(routes=[Route(path, heard, methods=["POST"])]), log_level="warning", access_log=False)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    number = live.studio.nudge(address + path)
    try:
        yield
    finally:
        from adaptive.labelling import StudioError

        try:
            live.studio.no_nudge(number)
        except StudioError as problem:
            print(f"adaptive: warning: the webhook {number} stays in Label Studio: {problem}", flush=True)
        server.should_exit = True
        thread.join(5.0)
        listening.close()


def _names(live: Live) -> dict[str, str]:
    """Names of people by their numbers; where Label Studio does not answer, the numbers have to do."""
    from adaptive.labelling import StudioError

    try:
        return live.studio.people() if live.said() else {}
    except StudioError as problem:
        print(f"adaptive: warning: {problem} People are named by their numbers.", flush=True)
        return {}


def _labels(live: Live, names: dict[str, str]) -> dict[str, list[Any]]:
    """Columns task, label, by whom, and what is predicted: a row for each answer, and one for each other task."""
    believed, classes, rows = live.believed(), live.studio.classes, []
    said = live.said()
    by_row: dict[int, list[tuple[str, str]]] = {}
    for row, who, label in said:
        by_row.setdefault(row, []).append((names.get(who, who), label))
    for row, task in enumerate(live.tasks):
        best = int(np.argmax(believed[row]))
        guess = (classes[best], round(float(believed[row, best]), 4))
        rows += [(task, label, who, *guess) for who, label in by_row.get(row, [(None, None)])]
    return {name: [row[k] for row in rows] for k, name in enumerate(COLUMNS)}


def _people(live: Live, names: dict[str, str]) -> dict[str, list[Any]]:
    """Columns annotator, labels, agreement with others about the same tasks, and skill with its interval."""
    from adaptive.files import plain_cell
    from adaptive.labelling.agreement import people_table

    said = live.said()
    found = people_table(said, live.skills(), names) if said else {}
    return found | {"annotator": [plain_cell(name) for name in found["annotator"]]} if found else {}
