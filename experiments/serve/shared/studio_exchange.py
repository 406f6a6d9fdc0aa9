"""Requests to a real Label Studio with its answers, kept in a file, and played again where there is none."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.labelling import LabelStudio, Live, Looked
from adaptive.labelling.studio import live as of_live

N_TASKS, N_LATE = 12, 3
_SECRET = ("token", "refresh", "access")


class Recorder(httpx.BaseTransport):
    """Passes requests on, and keeps them with what is answered."""

    def __init__(self) -> None:
        self.kept: list[dict[str, Any]] = []
        self._network = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._network.handle_request(request)
        answer.read()
        body = json.loads(answer.content) if answer.content else None
        if request.url.path.startswith("/api/token"):
            body = {"access": "an access token"}
        self.kept.append(_of(request) | {"status": answer.status_code, "body": body})
        return httpx.Response(answer.status_code, content=answer.content)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self.kept, indent=0, ensure_ascii=False).replace("\n", " ") + "\n")


class Replay(httpx.BaseTransport):
    """Answers as Label Studio did, and refuses what it was not asked then."""

    def __init__(self, path: Path) -> None:
        self.left = json.loads(path.read_text())

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        wanted, asked = self.left.pop(0), _of(request)
        assert asked == {key: wanted[key] for key in asked}, (asked, wanted)
        body = wanted["body"]
        return httpx.Response(wanted["status"], **({} if body is None else {"json": body}))


def _of(request: httpx.Request) -> dict[str, Any]:
    """What of a request must be the same: all but numbers that a processor rounds, and words that are secret."""
    sent = json.loads(request.content) if request.content else None
    if isinstance(sent, dict):
        sent = {name: one for name, one in sent.items() if name != "score" and name not in _SECRET}
    return {"method": request.method, "path": request.url.path, "query": str(request.url.query, "ascii"), "sent": sent}


def begins(folder: Path) -> Callable[[dict[int, dict[str, Any]]], SequentialDesign]:
    """Make designs over the two numbers that each task holds."""

    def begin(tasks: dict[int, dict[str, Any]]) -> SequentialDesign:
        X = np.array([[float(x) for x in data["text"].split()] for data in tasks.values()])
        model = BayesianLogisticRegression(classes=["no", "yes"])
        return SequentialDesign(model, X, repeat=True, random_state=0, log=folder / f"{len(tasks)}.jsonl")

    return begin


def texts(n: int, seed: int) -> list[dict[str, str]]:
    return [{"text": f"{x:.3f} {y:.3f}"} for x, y in np.random.default_rng(seed).standard_normal((n, 2))]


def session(live: Live, people: Any = None) -> Iterator[Looked]:
    """Look, have people do something, look again; ``people``: owner, second and project, at the recording only."""
    made: dict[str, int] = {}
    tasks = live.studio.tasks()
    first = list(tasks)
    of_live.EVERYTHING, before = float("inf"), of_live.EVERYTHING  # however slow the recording was
    try:
        yield live.look()
        if people is not None:
            owner, second, project = people
            made["one"] = owner.label(first[0], "yes")
            made["two"] = owner.label(first[1], "no")
            made["three"] = second.label(first[2], "yes")
            made["again"] = second.label(first[0], "no")
        yield live.look()
        if people is not None:
            owner.change(made["one"], "no")
            owner.delete(made["two"])
            second.skip(first[3])
        yield live.look()
        yield live.look()  # nothing has changed
        if people is not None:
            owner.skip(first[3])
            owner.bring(project, texts(N_LATE, 1))
        yield live.look()
    finally:
        of_live.EVERYTHING = before


def record(path: Path) -> None:
    """Record the session at a Label Studio of one's own."""
    from experiments.serve.shared.studio_people import begin
    from experiments.serve.shared.studio_server import Server

    with tempfile.TemporaryDirectory() as name, Server(Path(name) / "studio") as server:
        folder = Path(name)
        owner, second, token = begin(server, folder)
        recorder = Recorder()
        project = owner.project(texts(N_TASKS, 0))
        studio = LabelStudio(server.url, project, token.read_text(), transport=recorder)
        live = Live(studio, begins(folder))
        for found in session(live, (owner, second, project)):
            print(found)
        live.close()
        recorder.write(path)


if __name__ == "__main__":
    record(Path("tests/labelling/label_studio_exchange.json"))
