"""Queries as tasks of Label Studio (its JSON import), and its JSON export back as answers.

A task out is ``{"data": {query, position, id, score, ...}, "predictions": [...]}``; Label Studio numbers tasks anew,
but keeps ``data``. A task in has ``annotations``, one per person and task; one that was cancelled is a task skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool as pools
from adaptive.files import write_file
from adaptive.labelling.answers import Answer
from adaptive.labelling.tasks import plain, tasks

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.types import Pool

__all__ = ["read_label_studio", "write_label_studio"]

_KINDS = ("choices", "number", "rating")


def write_label_studio(
    design: SequentialDesign,
    path: str | os.PathLike[str],
    *,
    data: Pool | Mapping[str, Any] | None = None,
    predictions: bool = False,
    from_name: str = "label",
    to_name: str = "item",
) -> None:
    """Write the candidates that wait for answers as a list of tasks.

    Parameters
    ----------
    design : SequentialDesign over a fixed pool
    path : path
        An existing file is replaced.
    data : frame, mapping of columns, or sequence, each as long as the pool, optional
        What people are to see; by default what is readable in the pool itself.
    predictions : bool, default False
        Attach the most probable label and its probability; whoever sees it is inclined to agree.
    from_name, to_name : str
        What the control and the object are called in the labelling configuration, for the predictions.

    Raises
    ------
    ValueError
        If nothing waits, ``data`` does not fit the pool, or the estimator has no class probabilities to attach.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from adaptive import BayesianLogisticRegression, SequentialDesign
    >>> model = BayesianLogisticRegression(classes=["no", "yes"])
    >>> design = SequentialDesign(model, [[0.0], [1.0], [2.0]], initial=[2], random_state=0)
    >>> query = design.ask()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_label_studio(design, Path(folder) / "next.json", data={"text": ["a", "b", "c"]})
    ...     json.loads((Path(folder) / "next.json").read_text())[0]["data"]["text"]
    'c'
    """
    listed: list[dict[str, Any]] = [{"data": task} for task in tasks(design, data)]
    if predictions:
        believed = design.estimator_.predictive(pools.concatenate([query.candidates for query in design.pending]))
        if not believed.provides("probabilities"):
            raise ValueError(f"predictions=True needs class probabilities, which {type(believed).__name__} lacks.")
        version = type(design.estimator_).__name__
        for task, chances in zip(listed, believed.probabilities, strict=True):
            best = int(np.argmax(chances))
            value = {"choices": [str(plain(believed.outcomes[best]))]}
            result = {"from_name": from_name, "to_name": to_name, "type": "choices", "value": value}
            task["predictions"] = [{"model_version": version, "score": float(chances[best]), "result": [result]}]
    write_file(Path(path), json.dumps(listed, indent=1, ensure_ascii=False, allow_nan=False))


def read_label_studio(path: str | os.PathLike[str]) -> list[Answer]:
    """Read the answers of an export (format "JSON"); tasks without annotations are left out.

    Parameters
    ----------
    path : path
        Choices, numbers and ratings are understood, one per annotation; ``completed_by`` names the annotator. Of a
        task with annotations and cancelled ones, the annotations count.

    Returns
    -------
    list of Answer
        In the order of the file.

    Raises
    ------
    ValueError
        If the file is not such an export; file and task are named.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> choice = {"type": "choices", "value": {"choices": ["yes"]}}
    >>> task = {"data": {"position": 4}, "annotations": [{"result": [choice]}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "export.json"
    ...     _ = path.write_text(json.dumps([task]))
    ...     [(one.position, one.outcome) for one in read_label_studio(path)]
    [(4, 'yes')]
    """
    name = Path(path).name
    try:
        listed = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{name} is not JSON: {error}.") from None
    if not isinstance(listed, list) or not all(isinstance(task, dict) for task in listed):
        raise ValueError(f"{name} must hold a list of tasks, got a {type(listed).__name__}.")
    return [answer for number, task in enumerate(listed) for answer in _answers(task, f"{name}, task {number}")]


def _answers(task: dict[str, Any], where: str) -> list[Answer]:
    data, annotations = task.get("data"), task.get("annotations")
    if not isinstance(data, dict) or not isinstance(annotations, list):
        raise ValueError(f"{where}: no data or no annotations; export with the format JSON (not JSON-MIN).")
    position = data.get("position")
    if isinstance(position, bool) or not isinstance(position, int):
        raise ValueError(f"{where}: data must hold the position that the task was made with, got {position!r}.")
    found = []
    for annotation in annotations:
        cancelled = bool(annotation.get("was_cancelled"))
        outcome = None if cancelled else _value(annotation.get("result"), where)
        person = annotation.get("completed_by")
        if isinstance(person, dict):
            person = person.get("email") or person.get("id")
        by = None if person is None else str(person)
        found.append(Answer(position, outcome, data.get("id"), data.get("query"), by, cancelled, where))
    return found


def _value(result: object, where: str) -> Any:
    """Return what one annotation says: a text or a number."""
    if not isinstance(result, list) or len(result) != 1:
        count = len(result) if isinstance(result, list) else "no list of"
        raise ValueError(f"{where}: an annotation must hold one result, got {count} results.")
    kind, value = result[0].get("type"), result[0].get("value") or {}
    if kind not in _KINDS:
        raise ValueError(f"{where}: a result must be one of {', '.join(_KINDS)}, got {kind!r}.")
    said = value.get(kind)
    if kind == "choices":
        if not isinstance(said, list) or len(said) != 1:
            raise ValueError(f"{where}: an annotation must choose one label, got {said!r}.")
        return said[0]
    if isinstance(said, bool) or not isinstance(said, (int, float)):
        raise ValueError(f"{where}: a {kind} must be a number, got {said!r}.")
    return said
