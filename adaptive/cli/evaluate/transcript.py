"""Answers, line by line: on the disk before it is learnt, so that no answer is paid for twice.

{"item": "q17", "score": 1.0, "printed": "...right", "seconds": 3.2}    or with "problem" in the place of a score

The design's log is what is believed of; this is what came from outside, in the order in which it came.
"""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from adaptive.cli.outside import Reply

__all__ = ["Transcript", "file_name"]

KEPT = 2000  # letters of what was printed


def file_name(system: str) -> str:
    """Return a name for files that is a system's own.

    Examples
    --------
    >>> file_name("small-1"), file_name("org/small")
    ('small-1', 'org_small-4b2aea')
    """
    plain = re.sub(r"[^\w.\-]", "_", system)[:80].lstrip(".")
    return plain if plain == system else f"{plain}-{sha256(system.encode()).hexdigest()[:6]}"


class Transcript:
    """The answers of one system; a line that a kill has cut off counts as not written.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    scores : dict of item to float
    problems : dict of item to str
        Why the last attempt at an item without a score failed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.scores: dict[str, float] = {}
        self.problems: dict[str, str] = {}
        written = path.read_bytes() if path.exists() else b""
        whole = written[: written.rfind(b"\n") + 1]
        if len(whole) < len(written):
            with path.open("r+b") as stream:
                stream.truncate(len(whole))
        for line in whole.splitlines():
            self._note(json.loads(line))

    def write(self, item: str, reply: Reply) -> None:
        """Add an answer; when this returns it is on the disk."""
        row: dict[str, Any] = {"item": item}
        row |= {"score": reply.value} if reply.problem is None else {"problem": reply.problem}
        row |= {"printed": reply.printed[-KEPT:], "seconds": round(reply.seconds, 3)}
        with self.path.open("ab") as stream:
            stream.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        self._note(row)

    def _note(self, row: dict[str, Any]) -> None:
        if "score" in row:
            self.scores[row["item"]] = row["score"]
            self.problems.pop(row["item"], None)
        else:
            self.problems[row["item"]] = row["problem"]
