"""Two people and a process that is killed, at one project of Label Studio; and what stands at both places after."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.serve.shared.studio_server import OWNER, Person, Server

GOOD = ("good", "fine", "lovely", "superb", "great", "pleasant")
BAD = ("bad", "dull", "awful", "poor", "nasty", "boring")
LABELS = ("no", "yes")


def reviews(n: int, seed: int) -> list[dict[str, Any]]:
    """Texts of eleven words, three of which say which of two labels is right."""
    rng = np.random.default_rng(seed)
    rest = [f"word{k}" for k in range(300)]
    found = []
    for kind in rng.integers(0, 2, n):
        words = [*rng.choice(GOOD if kind else BAD, 3), *rng.choice(rest, 8)]
        found.append({"text": " ".join(map(str, rng.permutation(words)))})
    return found


def right(text: str) -> str:
    return "yes" if any(word in GOOD for word in text.split()) else "no"


class Follower:
    """``adaptive serve --label-studio`` as a process of its own."""

    def __init__(self, server: Server, project: int, folder: Path, token: Path, *more: str) -> None:
        self.folder, self.log = folder, folder.with_suffix(".log")
        self.command = [sys.executable, "-m", "adaptive.cli", "serve", "--label-studio", server.url, "--project",
                        str(project), "--token-file", str(token), "--store", str(folder), *more]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self.command, stdout=log, stderr=log, env=os.environ)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> str:
        """Ctrl-C, and what it has said."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        self._process.wait(60.0)
        return self.log.read_text()

    def said(self) -> str:
        return self.log.read_text() if self.log.exists() else ""

    def wait_for(self, words: str, seconds: float = 90.0) -> None:
        until = time.monotonic() + seconds
        while words not in self.said():
            assert time.monotonic() < until, f"{words!r} was not said within {seconds} s: {self.said()[-2000:]}"
            assert self._process is None or self._process.poll() is None, self.said()[-2000:]
            time.sleep(0.2)

    def kept(self) -> dict[tuple[int, str], str]:
        """What its table of labels holds, by task and person."""
        with (self.folder / "labels.csv").open(newline="") as stream:
            return {
                (int(row["task"]), row["annotator"]): row["label"] for row in csv.DictReader(stream) if row["label"]
            }


def stands(owner: Person, project: int) -> dict[tuple[int, str], str]:
    """What Label Studio's export holds, by task and person."""
    names = {int(one["id"]): one["email"] for one in owner.ask("GET", "/api/users/")}
    found: dict[tuple[int, str], str] = {}
    for task in owner.ask("GET", f"/api/projects/{project}/export", exportType="JSON", download_all_tasks="false"):
        for one in sorted(task["annotations"], key=lambda one: one["updated_at"]):
            who = (int(task["id"]), names[one["completed_by"]])
            if not one["was_cancelled"]:
                found[who] = one["result"][0]["value"]["choices"][0]
    return found


def ours(owner: Person, task: int) -> bool:
    """Whether a task carries a prediction of the design."""
    return any(one["model_version"] == "adaptive" for one in owner.ask("GET", "/api/predictions", task=task))


def label_in_turn(owner: Person, people: list[Person], project: int, n: int, pause: float) -> int:
    """Have people label what they are shown, one after another; return how many tasks were the design's own."""
    hits = 0
    for k in range(n):
        person = people[k % len(people)]
        task = person.next(project)
        hits += ours(owner, int(task["id"]))
        person.label(int(task["id"]), right(task["data"]["text"]))
        time.sleep(pause)
    return hits


def act(rng: np.random.Generator, people: list[Person], project: int, tasks: list[int], made: dict[int, int]) -> str:
    """Do one of the things that people do; ``made`` maps annotations to the person who made each."""
    what = str(rng.choice(["label", "label", "label", "change", "delete", "skip", "volunteer", "second"]))
    who = int(rng.integers(len(people)))
    person = people[who]
    if what in ("change", "delete") and not made:
        what = "label"
    if what == "label":
        task = person.next(project)
        made[person.label(int(task["id"]), right(task["data"]["text"]))] = who
    elif what == "skip":
        person.skip(int(person.next(project)["id"]))
    elif what == "volunteer":
        made[person.label(int(rng.choice(tasks)), str(rng.choice(LABELS)))] = who
    elif what == "second":
        task = int(rng.choice(tasks[:5]))  # several people come to label the same ones
        made[person.label(task, str(rng.choice(LABELS)))] = who
    else:
        one = int(rng.choice(sorted(made)))
        if what == "change":
            people[made[one]].change(one, str(rng.choice(LABELS)))
        else:
            people[made.pop(one)].delete(one)
    return what


def begin(server: Server, folder: Path) -> tuple[Person, Person, Path]:
    """The owner, a second person, and a file with the owner's token."""
    owner, second = Person(server, OWNER), Person(server, "second@example.org")
    path = folder / "token.txt"
    path.write_text(owner.token())
    return owner, second, path
