"""Logs with two hundred faults and a snapshot with twenty flipped bits in each block: the whole state, or a sentence.

A design of 30 answers keeps a log, its count and snapshots. Faults: a bit flipped, bytes zeroed or exchanged, lines cut
off, lost, doubled or exchanged, a file deleted, replaced, cut or written under the running design. Judged: whatever
loads knows all 30 answers, bit for bit, or warns that some may be missing (a torn last line, of a log that came without
its count); whatever is refused is a LogError of one line that leaves the files as they are.

Full mode: minutes, kept in parts. Quick mode: 8 faults, 4 flips.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from experiments.robustness.common import FAULTS, Tried, added, counted, one_table, tried
from experiments.script import Script, command

SEED = 0
N_FAULTS, N_FLIPS, BLOCK, TOGETHER = 200, 20, 512, 25
N_ANSWERS = 30
POOL = np.random.default_rng(SEED).normal(size=(60, 2))


def run(script: Script) -> None:
    """Break logs and snapshots, and load what is left."""
    n, together = (8, 8) if script.quick else (N_FAULTS, TOGETHER)
    blocks = 2 if script.quick else _n_blocks()
    flips = 2 if script.quick else N_FLIPS
    found = {
        "log": added([script.kept("robust-logs", log_part, start, together) for start in range(0, n, together)]),
        "snapshot": added([script.kept("robust-logs", snapshot_part, block, flips) for block in range(blocks)]),
        "running design": script.kept("robust-logs", running_part),
    }
    script.table(
        one_table(found, "what is broken"), "robust-logs",
        f"A log of {N_ANSWERS} answers with one fault ({n}), its snapshot with one flipped bit ({flips} in each of "
        f"{blocks} blocks of {BLOCK} bytes), files exchanged under a running design. Right: all answers are known, bit "
        "for bit, or it is warned that some may be missing; sentence: refused by a LogError of one line, files left "
        "alone; the other columns are faults of ours.",
    )  # fmt: skip
    faults = {name: {kind: int(one[kind]) for kind in FAULTS if int(one[kind])} for name, one in found.items()}
    faults = {name: some for name, some in faults.items() if some}
    told = [str(text) for one in found.values() for text in one["examples"]]
    script.judge(
        "ours-robust-logs", not faults,
        claim="A damaged log is refused in one sentence or gives every answer that was acknowledged; a damaged "
        "snapshot is replayed; an exchanged file is not written.",
        target=f"{n} faults of a log, {flips} flips in each of {blocks} blocks of a snapshot, 5 of a running design: "
        "0 tracebacks, 0 wrong, 0 hangs",
        value=faults or {name: {kind: int(one[kind]) for kind in ("right", "sentence")} for name, one in found.items()},
        reason="; ".join(told[:6]) if faults else "",
        seed=SEED,
    )  # fmt: skip


def log_part(start: int, n: int) -> dict[str, np.ndarray]:
    """Break a log in so many ways, numbered from ``start``."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        whole = _whole(Path(folder) / "whole")
        content = whole.read_bytes()
        for number in range(start, start + n):
            rng = np.random.default_rng([SEED, 1, number])
            path = _copied(whole, Path(folder) / f"log{number}")
            if number % 3 == 0:  # a copy of the log alone
                _beside(path, ".count").unlink()
            _FAULTS[number % len(_FAULTS)](path, content, rng)
            found.append(_loaded(path, whole))
    return counted(found)


def snapshot_part(block: int, n: int) -> dict[str, np.ndarray]:
    """Flip so many bits of one block of the snapshot, one at a time."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        whole = _whole(Path(folder) / "whole")
        path = _copied(whole, Path(folder) / "log")
        good = _beside(whole, ".snapshot.npz").read_bytes()
        rng = np.random.default_rng([SEED, 2, block])
        size = min(BLOCK, len(good) - block * BLOCK)
        for bit in rng.choice(8 * size, size=min(n, 8 * size), replace=False).tolist():
            flipped = bytearray(good)
            flipped[block * BLOCK + bit // 8] ^= 1 << bit % 8
            _beside(path, ".snapshot.npz").write_bytes(flipped)
            found.append(_loaded(path, whole))
    return counted(found)


def running_part() -> dict[str, np.ndarray]:
    """Exchange the file under a design that goes on answering."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number, change in enumerate(_UNDER):
            path = Path(folder) / f"log{number}"
            with _design(path, stop=10) as design:
                query = design.ask()
                change(path)
                left = path.read_bytes() if path.exists() else None

                def answer(design: Any = design, query: Any = query) -> Any:
                    return design.tell(query, _answers(query))

                def told(value: Any) -> str:
                    return "an answer went into a file that is another one"

                one = tried(answer, told, refusals=_refusals())
                if (path.read_bytes() if path.exists() else None) != left or design.iteration != 10:
                    one = Tried("wrong", "a refused answer was written or fitted")
            found.append(one)
    return counted(found)


# -- designs, and what is known of them --------------------------------------------------------------------------------


def _answers(query: Any) -> np.ndarray:
    return np.sin(POOL[query.positions, 0])


def _design(path: Path, stop: int) -> Any:
    from adaptive import GaussianProcessRegressor, SequentialDesign
    from adaptive.loop import EventLog

    log = EventLog(path, snapshot_every=12)
    model = GaussianProcessRegressor(optimizer=None)
    return SequentialDesign(model, POOL, _answers, scorer="random", random_state=SEED, log=log).run(stop)


def _whole(path: Path) -> Path:
    _design(path, N_ANSWERS).close()
    return path


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _copied(path: Path, name: Path) -> Path:
    for ending in ("", ".count", ".snapshot.npz"):
        shutil.copy(_beside(path, ending), _beside(name, ending))
    return name


def _refusals() -> tuple[type[BaseException], ...]:
    from adaptive.loop import LogError

    return (LogError,)


def _known(path: Path) -> Any:
    from adaptive import GaussianProcessRegressor, SequentialDesign

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with SequentialDesign.load(path, GaussianProcessRegressor(optimizer=None), POOL) as design:
            history = design.history_
            predicted = design.estimator_.predict(POOL) if design.iteration else np.zeros(0)
    warned = any("may be missing" in str(one.message) for one in said)
    return history["position"], history["outcome"], predicted.tobytes(), warned


def _loaded(path: Path, whole: Path) -> Tried:
    """Load what is left, and compare it with all that was said."""
    expected, left = _known(whole), path.read_bytes()
    one = tried(lambda: _known(path), lambda found: _less(found, expected), refusals=_refusals())
    if one.kind == "sentence" and path.read_bytes() != left:
        return Tried("wrong", "a log that was refused was changed")
    return one


def _less(found: Any, expected: Any) -> str:
    """What is wrong with what was loaded; a beginning of it that is said to be one is right."""
    if found == expected or (found[3] and found[0] == expected[0][: len(found[0])]):
        return ""
    return f"another state: {len(found[0])} of {N_ANSWERS} answers"


def _n_blocks() -> int:
    with tempfile.TemporaryDirectory() as folder:
        whole = _whole(Path(folder) / "whole")
        return -(-_beside(whole, ".snapshot.npz").stat().st_size // BLOCK)


# -- faults ------------------------------------------------------------------------------------------------------------

Fault = Callable[[Path, bytes, np.random.Generator], Any]


def _flipped(path: Path, content: bytes, rng: np.random.Generator) -> None:
    changed, at = bytearray(content), int(rng.integers(len(content)))
    changed[at] ^= 1 << int(rng.integers(8))
    path.write_bytes(changed)


def _zeroed(path: Path, content: bytes, rng: np.random.Generator) -> None:
    at, n = int(rng.integers(len(content) - 64)), 1 + int(rng.integers(64))
    path.write_bytes(content[:at] + bytes(n) + content[at + n :])


def _exchanged(path: Path, content: bytes, rng: np.random.Generator) -> None:
    lines = content.splitlines(keepends=True)
    a, b = rng.choice(len(lines), 2, replace=False)
    lines[a], lines[b] = lines[b], lines[a]
    path.write_bytes(b"".join(lines))


def _lost(path: Path, content: bytes, rng: np.random.Generator) -> None:
    lines = content.splitlines(keepends=True)
    del lines[int(rng.integers(len(lines) - 1))]
    path.write_bytes(b"".join(lines))


def _doubled(path: Path, content: bytes, rng: np.random.Generator) -> None:
    lines = content.splitlines(keepends=True)
    at = int(rng.integers(len(lines)))
    path.write_bytes(b"".join([*lines[:at], lines[at], *lines[at:]]))


def _cut_in_the_middle(path: Path, content: bytes, rng: np.random.Generator) -> None:
    """Before the snapshot: what comes after it, only the count beside the log can tell."""
    last = content.rindex(b'"event":"snapshot"')
    path.write_bytes(content[: int(rng.integers(last))])


def _cut_at_a_line(path: Path, content: bytes, rng: np.random.Generator) -> None:
    last = content[: content.rindex(b'"event":"snapshot"')].rindex(b"\n")
    ends = [k + 1 for k in range(last) if content[k : k + 1] == b"\n"]
    path.write_bytes(content[: ends[int(rng.integers(len(ends) - 1))]])


def _appended(path: Path, content: bytes, rng: np.random.Generator) -> None:
    path.write_bytes(content + rng.bytes(1 + int(rng.integers(40))).replace(b"\n", b"x") + b"\n")


_FAULTS: tuple[Fault, ...] = (
    _flipped, _zeroed, _exchanged, _lost, _doubled, _cut_in_the_middle, _cut_at_a_line, _appended,
)  # fmt: skip
_UNDER: tuple[Callable[[Path], Any], ...] = (
    Path.unlink,
    lambda path: path.rename(_beside(path, ".elsewhere")),
    lambda path: _copied(path, _beside(path, ".copy")).replace(path),
    lambda path: os.truncate(path, path.stat().st_size - 20),
    lambda path: path.write_bytes(path.read_bytes() + b"a line of somebody else\n"),
)


if __name__ == "__main__":
    command(run, __doc__, __file__)
