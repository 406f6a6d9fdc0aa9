"""Twenty kinds of files, five hundred faults each: what is read is right, or it is refused in one sentence.

A file is read as the commands read it. "wrong" is what can be told: numbers that are NaN or infinite, probabilities
that are none, and of formats with check sums anything but what was written. Memory: three times the file unpacked, and
what a process takes to begin with.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.robustness.common import FAULTS, Tried, added, apart, counted, one_table, tried
from experiments.robustness.file_kinds import FILES, Kind
from experiments.robustness.mutations import mutated
from experiments.script import Script, command

SEED = 0
N_FAULTS, TOGETHER = 500, 100
BESIDE = 64e6  # bytes: what readers keep once they are loaded, tables of codecs and the like
SECONDS = 10.0


def run(script: Script) -> None:
    """Break files and read them."""
    n, together = (6, 6) if script.quick else (N_FAULTS, TOGETHER)
    found = {
        name: added([script.kept("robust-files", part, name, start, together) for start in range(0, n, together)])
        for name in FILES
    }
    table = one_table(found, "file")
    script.table(
        table, "robust-files",
        f"Files with a fault: {n} of each kind (bits flipped, blocks cut off, zeroed, lost, doubled, exchanged; of "
        "text also numbers replaced by words), seed 0. Right: read, and nothing wrong could be told; sentence: refused "
        "in one sentence of the library; the other columns are faults of ours. Spam: more than one warning of a kind. "
        "Peak: memory beside what the process held before the read.",
    )  # fmt: skip
    faults = {
        name: {kind: int(one[kind]) for kind in (*FAULTS, "spam") if int(one[kind])} for name, one in found.items()
    }
    faults = {name: some for name, some in faults.items() if some}
    told = [str(text) for one in found.values() for text in one["examples"]]
    script.judge(
        "ours-robust-files", not faults, kind="to judge",
        claim="A damaged file of any kind is read rightly or refused in one sentence; no traceback, no hang, no "
        "numbers that are NaN, no more memory than three times the file.",
        target=f"{len(FILES)} kinds x {n} faults: 0 tracebacks, 0 wrong, 0 hangs, 0 beyond the memory",
        value=faults or f"{len(FILES) * n} files: none of these",
        reason="; ".join(told[:6]) if faults else "A result counts as wrong if what was read shows it.",
        seed=SEED,
    )  # fmt: skip


def part(name: str, start: int, n: int) -> dict[str, np.ndarray]:
    """Try so many faults of one kind, numbered from ``start``."""
    kind = FILES[name]
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / f"whole{kind.ending}"
        kind.make(whole)
        content, expected = whole.read_bytes(), _plain(kind.read(whole))
        beside = {path.suffix: path.read_bytes() for path in Path(folder).iterdir() if path != whole}

        def one(number: int) -> Tried:
            rng = np.random.default_rng([SEED, sorted(FILES).index(name), number])
            broken = Path(folder) / f"broken{kind.ending}"
            for suffix, other in beside.items():
                broken.with_suffix(suffix).write_bytes(other)
            broken.write_bytes(mutated(content, rng, kind.text))
            found = tried(
                lambda: kind.read(broken), lambda value: _wrong(kind, value, expected), seconds=SECONDS,
                most=3 * _unpacked(expected, len(content)) + BESIDE, refusals=_refusals(),
            )  # fmt: skip
            return replace(found, says=f"{name} {number}: {found.says}") if found.kind in FAULTS else found

        return counted(apart(one, range(start, start + n), 2 * SECONDS))


def _refusals() -> tuple[type[BaseException], ...]:
    from adaptive.cli.errors import CommandError

    return (ValueError, IndexError, FileNotFoundError, CommandError)


def _wrong(kind: Kind, value: Any, expected: Any) -> str:
    fault = kind.wrong(value)
    if fault or not kind.sums:
        return fault
    return "" if _same(_plain(value), expected) else "something else than what was written"


def _plain(value: Any) -> list[Any]:
    """What was read as arrays and text, to be compared."""
    if hasattr(value, "data") and hasattr(value, "kind"):
        place = value.geometry
        return [value.kind, np.asarray(value.data), None if place is None else place.affine]
    if isinstance(value, tuple) and hasattr(value[0], "frame"):
        return value[0].frame.values.tolist()
    return [value]


def _same(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(
        np.array_equal(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else a == b
        for a, b in zip(one, other, strict=True)
    )


def _unpacked(expected: list[Any], size: int) -> int:
    return max([size, *(one.nbytes for one in expected if isinstance(one, np.ndarray))])


if __name__ == "__main__":
    command(run, __doc__, __file__)
