"""Exports of evaluation programs, an answer at a time.

The system is the folder that a file is in, its family who published it (ORG of ORG/MODEL), the benchmark its task, the
item the task and the number of the document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from adaptive.tables.cells import TableError, listed
from adaptive.tables.responses.responses import Record
from adaptive.tables.responses.scores import EXPECTED, score_of

__all__ = ["harness_samples", "helm_stats", "latest", "leaderboard_details"]

METRICS = ("acc_norm", "acc", "exact_match", "em", "mc1", "pass@1", "pass_at_1", "prompt_level_strict_acc", "f1", "mc2")
FILTERS = ("strict-match", "none")  # of samples that are scored after several: the first of these
TEXTS = ("question", "query", "prompt", "problem", "input", "ctx", "sentence", "example", "instruction", "full_prompt")
SUITES = ("harness", "leaderboard", "lighteval")  # of a task's name, no part of it
_DATE = r"_?(\d{4}-?\d{2}-?\d{2}T[\d:.\-]+)?"
_SAMPLES = re.compile(rf"samples_(?P<task>.*?){_DATE}\.jsonl$")
_DETAILS = re.compile(rf"details_(?P<task>.*?){_DATE}\.parquet$")


def latest(files: Iterable[Path]) -> list[Path]:
    """Return of the files of one task and folder the newest, by the date in its name."""
    found: dict[tuple[Path, str], tuple[str, Path]] = {}
    for path in files:
        parsed = _SAMPLES.match(path.name) or _DETAILS.match(path.name)
        task, date = (parsed["task"], parsed[2] or "") if parsed else (path.name, "")
        folder = _folder(path) if _DETAILS.match(path.name) else path.parent
        if (folder, task) not in found or found[folder, task][0] <= date:
            found[folder, task] = date, path
    return [path for _, path in found.values()]


def harness_samples(files: Sequence[Path], metric: str | None) -> Iterator[Record]:
    """Yield the answers in files of lm-evaluation-harness, written with ``--log_samples``."""
    for path in files:
        parsed = _SAMPLES.match(path.name)
        task, rows = parsed["task"] if parsed else path.stem, list(_lines(path))
        filters = {str(row.get("filter", "none")) for _, row in rows}
        wanted = next((one for one in FILTERS if one in filters), min(filters, default="none"))
        for line, row in rows:
            if str(row.get("filter", "none")) != wanted:
                continue
            if "doc_id" not in row:
                raise TableError(
                    f"{path}, line {line}: there is no doc_id; expected a sample of lm-evaluation-harness."
                )
            score = _score(row, metric, f"{path}, line {line}")
            system = _system(path.parent)
            yield Record(system, f"{task}/{row['doc_id']}", score, task, _text(row), _family(system))


def leaderboard_details(files: Sequence[Path], metric: str | None) -> Iterator[Record]:
    """Yield the answers in files of details; items are the rows of a task, in the order in which all runs have them."""
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise TableError(f"{files[0]} is a Parquet file, which needs pyarrow: pip install pyarrow.") from None
    for path in files:
        parsed = _DETAILS.match(path.name)
        parts = re.split(r"[|:]", parsed["task"]) if parsed else [path.stem]
        task = ":".join(
            part for part in parts if part not in ("harness", "leaderboard", "lighteval") and not part.isdigit()
        )
        try:
            rows = parquet.read_table(path).to_pylist()
        except Exception as error:  # a dozen kinds, by what is damaged
            raise TableError(f"{path} is a damaged Parquet file: {error}.") from None
        for number, row in enumerate(rows):
            nested = row.get("metrics") or row.get("metric") or {}
            score = _score(
                {**row, **nested} if isinstance(nested, Mapping) else row, metric, f"{path}, row {number + 1}"
            )
            system = _system(_folder(path))
            yield Record(system, f"{task}/{number}", score, task, _text(row), _family(system))


def helm_stats(files: Sequence[Path], metric: str | None) -> Iterator[Record]:
    """Yield the answers in runs of HELM, whose folders are called ``SCENARIO:...,model=MODEL``."""
    for path in files:
        scenario, _, model = path.parent.name.rpartition("model=")
        benchmark = re.split(r"[:,]", scenario)[0] or path.parent.name
        try:
            rows = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise TableError(f"{path} is not JSON: {error}.") from None
        for row in rows if isinstance(rows, list) else []:
            means = {one["name"]["name"]: one["mean"] for one in row.get("stats", ()) if "mean" in one}
            if row.get("perturbation") or not means:
                continue
            score = _score(means, metric, f"{path}, instance {row['instance_id']!r}")
            of = scenario.rstrip(",") or path.parent.name
            yield Record(model.split(",")[0] or _system(path.parent), f"{of}/{row['instance_id']}", score, benchmark)


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    row = json.loads(line)
                    if not isinstance(row, dict):
                        raise TableError(f"{path}, line {number}: expected a sample, got {line.strip()[:40]!r}.")
                    yield number, row
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise TableError(f"{path} is not text in UTF-8.") from None
    except json.JSONDecodeError as error:
        raise TableError(f"{path}, line {number}: this is not JSON ({error}).") from None


def _score(row: Mapping[str, Any], metric: str | None, where: str) -> float:
    own = row.get("metrics")
    names = [*METRICS, *(own if isinstance(own, list) else ())] if metric is None else [metric]
    for name in names:
        value = row.get(name)
        if isinstance(value, (bool, int, float)):
            try:
                return score_of(float(value))
            except ValueError:
                raise TableError(f"{where}: expected {EXPECTED} as {name}, got {value!r}.") from None
    numbers = [name for name, value in row.items() if isinstance(value, (bool, int, float)) and name != "doc_id"]
    raise TableError(f"{where}: there is no {metric or 'metric that is known'}; name one, such as {listed(numbers)}.")


def _text(row: Mapping[str, Any]) -> str:
    """The text that a system was given: the whole prompt where that is kept."""
    given = row.get("arguments")
    while isinstance(given, (list, tuple, dict)) and given:
        given = next(iter(given.values())) if isinstance(given, dict) else given[0]
    if isinstance(given, str) and given:
        return given
    doc = row.get("doc")
    told = {**row, **(doc if isinstance(doc, dict) else {})}
    return next((str(told[name]) for name in reversed(TEXTS) if isinstance(told.get(name), str) and told[name]), "")


def _folder(path: Path) -> Path:
    """The folder of a run: the dates below it are left out."""
    folder = path.parent
    while re.match(r"\d{4}[-_]\d{2}[-_]\d{2}", folder.name):
        folder = folder.parent
    return folder


def _system(folder: Path) -> str:
    """The name of a system as its folder has it: ``details_ORG__MODEL`` and ``ORG__MODEL`` are ORG/MODEL."""
    name = _folder(folder / "file").resolve().name
    return name.removeprefix("details_").removesuffix("-details").replace("__", "/")


def _family(system: str) -> str:
    """Who published a system that is called ORG/MODEL."""
    return system.partition("/")[0] if "/" in system else ""
