"""Queries as tasks of Label Studio (its JSON import), and its JSON export back as answers.

A task out is ``{"data": {query, position, id, score, ...}, "predictions": [...]}``; Label Studio numbers tasks anew,
but keeps ``data``. A task in has ``annotations``, one per person and task; one that was cancelled is a task skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool as pools
from adaptive.files import write_file
from adaptive.labelling.answers import Answer
from adaptive.labelling.label_studio_export import Export
from adaptive.labelling.tasks import plain, tasks

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.types import Pool

__all__ = ["read_label_studio", "write_label_studio", "write_listed"]


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
        What people are to see; by default what is readable in the pool itself. Of pairs as long as their table.
    predictions : bool, default False
        Attach the most probable label and its probability; people who see it are inclined to agree.
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
    _write(listed, path)


def write_listed(listed: Sequence[Mapping[str, Any]], path: str | os.PathLike[str]) -> None:
    """Write tasks, each the data of one."""
    _write([{"data": task} for task in listed], path)


def _write(listed: Sequence[Any], path: str | os.PathLike[str]) -> None:
    write_file(Path(path), json.dumps(listed, indent=1, ensure_ascii=False, allow_nan=False))


def read_label_studio(
    path: str | os.PathLike[str],
    *,
    position: Callable[[dict[str, Any]], int | None] | None = None,
    from_name: str | None = None,
) -> list[Answer]:
    """Read the answers of an export (format "JSON"); tasks without annotations are left out.

    Parameters
    ----------
    path : path
        Choices, numbers and ratings are understood, one per annotation; ``completed_by`` names the annotator. Of a
        task with annotations and cancelled ones, the annotations count. What cannot be used (an annotation without an
        answer, a comment beside one, a task of no known position) is left out with a warning.
    position : callable(data) -> int or None, optional
        Finds the position in the pool of a task that was not made here, from its ``data``; default
        ``data["position"]``.
    from_name : str, optional
        The control that holds the answer, where a labelling page has several.

    Returns
    -------
    list of Answer
        In the order of the file.

    Raises
    ------
    ValueError
        If the file is not such an export, or nothing in it can be used; file and task are named.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> choice = {"type": "choices", "value": {"choices": ["yes"]}}
    >>> task = {"data": {"text": "b"}, "annotations": [{"result": [choice]}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "export.json"
    ...     _ = path.write_text(json.dumps([task]))
    ...     read = read_label_studio(path, position=lambda data: ["a", "b"].index(data["text"]))
    >>> [(one.position, one.outcome) for one in read]
    [(1, 'yes')]
    """
    name = Path(path).name
    try:
        listed = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{name} is not JSON: {error}.") from None
    if not isinstance(listed, list) or not all(isinstance(task, dict) for task in listed):
        raise ValueError(f"{name} must hold a list of tasks, got a {type(listed).__name__}.")
    return Export(name, position, from_name).answers(listed)
