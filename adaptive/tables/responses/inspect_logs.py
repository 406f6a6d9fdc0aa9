"""Logs of Inspect (inspect_ai): ``.eval``, an archive of JSON files, and ``.json``, one file.

The system is the model, its family who serves or published it (PROVIDER/ORG of PROVIDER/ORG/MODEL), the benchmark the
task, the item the task and the id of the sample. Of several logs of a model on a task the newest counts; of several
epochs the mean. A sample that ended in an error has no score: it is a gap.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from adaptive.tables.cells import TableError, listed
from adaptive.tables.responses.responses import Record
from adaptive.tables.responses.scores import EXPECTED, score_of

__all__ = ["inspect_logs"]

HEADERS = ("header.json", "_journal/start.json", "start.json")  # of a log that ended, of one under way, of an old one
SUMMARIES = ("summaries.json", "summary.json")
METHODS = {9: "deflate64", 93: "zstd", 95: "xz", 98: "ppmd"}  # that Python lacks, or some Pythons
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partly, incorrect, no answer


def inspect_logs(files: Sequence[Path], metric: str | None) -> Iterator[Record]:
    """Yield the answers in logs; ``metric`` names a scorer, or one of several values that a scorer gave."""
    newest: dict[tuple[str, str], tuple[str, Path, Mapping[str, Any]]] = {}
    for path in files:
        about = _header(path)
        of, created = (str(about.get("model", "")), str(about.get("task", ""))), str(about.get("created", ""))
        if not all(of):
            raise TableError(f"{path} names no model and task; expected a log of Inspect.")
        if of not in newest or newest[of][0] <= created:
            newest[of] = created, path, about
    for (model, task), (_, path, _about) in newest.items():
        scores: dict[str, list[float]] = {}
        texts: dict[str, str] = {}
        for sample in _samples(path):
            if "id" not in sample:
                raise TableError(f"{path}: a sample has no id; expected a log of Inspect.")
            if not sample.get("scores"):
                continue
            item = f"{task}/{sample['id']}"
            scores.setdefault(item, []).append(_score(sample["scores"], metric, f"{path}, sample {sample['id']!r}"))
            texts.setdefault(item, _text(sample.get("input")))
        for item, each in scores.items():
            yield Record(model, item, sum(each) / len(each), task, texts[item], model.rpartition("/")[0])


def _header(path: Path) -> Mapping[str, Any]:
    found = _first(path, HEADERS) if path.suffix == ".eval" else _whole(path)
    about = found.get("eval") if isinstance(found, dict) else None
    if not isinstance(about, dict):
        raise TableError(f"{path} has no part eval; expected a log of Inspect.")
    return about


def _samples(path: Path) -> Iterable[Mapping[str, Any]]:
    """The samples of a log, by their summaries where it holds them all."""
    if path.suffix != ".eval":
        found = _whole(path)
        return found.get("samples") or [] if isinstance(found, dict) else []
    summaries = _first(path, SUMMARIES)
    if isinstance(summaries, list):
        return summaries
    with _opened(path) as archive:
        names = [name for name in archive.namelist() if re.fullmatch(r"samples/.*\.json", name)]
        return [_parsed(_unpacked(archive, name, path), f"{path}, {name}") for name in names]


def _first(path: Path, names: Sequence[str]) -> Any:
    """The first of these files of an archive, parsed; None where there is none of them."""
    with _opened(path) as archive:
        there = next((name for name in names if name in archive.namelist()), None)
        return None if there is None else _parsed(_unpacked(archive, there, path), f"{path}, {there}")


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise TableError(f"{path} is not a log of Inspect (.eval): {error}.") from None


def _unpacked(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    """A file of an archive; a sentence where this Python cannot unpack it."""
    try:
        return archive.read(name)
    except NotImplementedError:
        packed = archive.getinfo(name).compress_type
        raise TableError(
            f"{path} is packed by {METHODS.get(packed, f'method {packed}')}, which this Python cannot unpack; write it "
            "anew by `inspect log convert --to json --output-dir FOLDER FILE`, and give that folder."
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise TableError(f"{path} is damaged: {name} cannot be read ({error}).") from None


def _whole(path: Path) -> Any:
    try:
        return _parsed(path.read_bytes(), str(path))
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}.") from None


def _parsed(text: bytes, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise TableError(f"{where}: this is not JSON ({error}).") from None


def _score(scores: Mapping[str, Any], metric: str | None, where: str) -> float:
    told: dict[str, Any] = {}
    for scorer, one in scores.items():
        value = one.get("value") if isinstance(one, Mapping) else one
        told |= value if isinstance(value, Mapping) else {scorer: value}
    name = next(iter(told), None) if metric is None else metric
    if name is None or name not in told:
        raise TableError(f"{where}: there is no {metric or 'score'}; name one, such as {listed(list(told))}.")
    try:
        return GRADES[told[name]] if told[name] in GRADES else score_of(told[name])
    except (TypeError, ValueError):
        raise TableError(f"{where}: expected {EXPECTED} (or C, P, I, N) as {name}, got {told[name]!r}.") from None


def _text(given: Any) -> str:
    """The question of a sample: a text, or the last message of a user."""
    if isinstance(given, str):
        return given
    for message in reversed(given if isinstance(given, list) else []):
        if isinstance(message, Mapping) and message.get("role") == "user":
            content = message.get("content")
            if isinstance(content, str):
                return content
            parts = [part.get("text", "") for part in content or [] if isinstance(part, Mapping)]
            return "\n".join(part for part in parts if part)
    return ""
