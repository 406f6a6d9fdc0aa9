"""The verdicts: ``results/claims.json`` holds one entry per claim, written by the script that judged it.

A script ends with::

    from experiments import claims
    claims.record(
        "nickisch-fig-3.4",                                   # the id in the list of sources, or one of our own
        claim="Bound 1 is the better one for large gamma, bound 2 for small.",
        kind="to judge",                                      # or "must hold"
        target="bounds cross once, at the tight width 1.5",   # what would be the claim come true
        value="cross at 1.5000",                              # what came out: number, text, list or mapping
        verdict="reproduced",                                 # or "not reproduced", "could not be told", "not run"
        reason="",                                            # why not, where it is not
        script="experiments/inference/gallery.py",
        seed=0,
    )

Entries are sorted by id, one per id; a second record of an id replaces the first. The file is replaced atomically under
a lock, so scripts may run side by side. ``python -m experiments.index`` makes the page ``results/README.md`` of it.

The verdict is what the rule gives (`experiments.verdicts`), where it has checks for the claim and can read them in the
value: what the script says counts only where a person has to read. A target carries the day it was set (``since``); one
that it replaced is kept beside it, with the day it ended (``before``).
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from adaptive import checks
from adaptive.files import write_file
from experiments import verdicts
from experiments.superseded import with_successor

RESULTS = Path(__file__).resolve().parents[1] / "results"
KINDS = ("must hold", "to judge")
VERDICTS = ("reproduced", "not reproduced", "could not be told", "not run")
FIELDS = (
    "id",
    "claim",
    "kind",
    "target",
    "since",
    "before",
    "value",
    "verdict",
    "by",
    "reason",
    "script",
    "seed",
    "environment",
)


def record(
    id: str,
    *,
    claim: str,
    kind: str,
    target: Any,
    value: Any,
    verdict: str,
    script: str,
    reason: str = "",
    seed: Any = None,
    results: str | os.PathLike[str] = RESULTS,
    ruled: bool = True,
) -> dict[str, Any]:
    """Write one entry, replacing the one of the same id, and return it.

    Parameters
    ----------
    id, claim, script : str
        Not empty; ``script`` is a path from the repository root.
    kind : {"must hold", "to judge"}
    target, value : plain data (numbers, NumPy scalars and arrays, text, lists, mappings)
        What was expected, what came out.
    verdict : {"reproduced", "not reproduced", "could not be told", "not run"}
        "could not be told": an interval that reaches beyond the band of the claim (`experiments.equivalence`).
    reason : str
        Owed with any verdict but "reproduced".
    seed : int, list of int or None
    results : path
        The folder of ``claims.json``.
    ruled : bool, default True
        False of quick modes, whose toys the checks were not written for: the verdict is then the script's.

    Raises
    ------
    ValueError
        If a field is missing or unknown, or a number is NaN or infinite.
    """
    for name, text in (("id", id), ("claim", claim), ("script", script)):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{name} must be a text that is not empty, got {text!r}.")
    checks.choice("kind", kind, KINDS)
    checks.choice("verdict", verdict, VERDICTS)
    if verdict != "reproduced" and not reason.strip():
        raise ValueError(f"claim {id!r} with verdict {verdict!r} owes a reason.")
    value, target = _plain(value), _plain(target)
    by, reason = "", with_successor(id, reason)
    if ruled:
        verdict, by, reason = _by_the_rule(id, value, verdict, reason)
    folder = Path(results)
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / ".claims.lock"):
        entries = {one["id"]: one for one in load(folder)}
        since, before = _days_of(target, entries.get(id))
        told = (target, since, before, value, verdict, by, reason, script, _plain(seed), environment())
        entry = dict(zip(FIELDS, (id, claim, kind, *told), strict=True))
        write([*(entries | {id: entry}).values()], folder)
    return entry


def write(entries: Sequence[dict[str, Any]], results: str | os.PathLike[str] = RESULTS) -> None:
    """Replace the file by these entries, sorted by id."""
    ordered = sorted(entries, key=lambda one: one["id"])
    text = json.dumps(ordered, indent=1, ensure_ascii=False, allow_nan=False)
    replace(Path(results) / "claims.json", text + "\n")


def load(results: str | os.PathLike[str] = RESULTS) -> list[dict[str, Any]]:
    """Return the entries, sorted by id; none where nothing was recorded yet."""
    path = Path(results) / "claims.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []


def _by_the_rule(id: str, value: Any, verdict: str, reason: str) -> tuple[str, str, str]:
    """The verdict by the rule and what it rests on, where the rule can read the value, else as the script says."""
    try:
        by_rule, basis = verdicts.verdict(id, value), verdicts.basis(id, value)
    except (KeyError, verdicts.Unreadable):
        return verdict, "", reason
    if by_rule is None or verdict in (by_rule, "not run"):
        return verdict, basis, reason
    return by_rule, basis, reason or f"The rule of verdicts decides ({basis})."


def _days_of(target: Any, earlier: dict[str, Any] | None) -> tuple[str, list[dict[str, Any]]]:
    """The day since when this target stands, and those that stood before."""
    today = datetime.now(UTC).date().isoformat()
    if earlier is None or "since" not in earlier:
        return today, []
    if earlier["target"] == target:
        return earlier["since"], earlier["before"]
    return today, [*earlier["before"], {"target": earlier["target"], "since": earlier["since"], "until": today}]


def environment() -> str:
    """Return the versions and the machine that a number depends on, in one line."""
    names = ("numpy", "scipy", "scikit-learn", "numba")
    versions = [f"{name} {metadata.version(name)}" for name in names]
    return ", ".join([f"Python {platform.python_version()}", *versions, f"{_processor()}, {os.cpu_count()} cores"])


def replace(path: Path, text: str) -> None:
    """Write a file of results whole or not at all; it can be made again, so nothing waits for the disk."""
    write_file(path, text, durable=False)


def _plain(value: Any) -> Any:
    """NumPy scalars and arrays as the numbers and lists that JSON knows."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else value


def _processor() -> str:
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return platform.processor() or platform.machine()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock; where the system has none (Windows), scripts must run one after another."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
