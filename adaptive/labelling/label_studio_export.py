"""Tasks of Label Studio with what people made of them: an answer each, or why it is left out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from adaptive.labelling.answers import Answer
from adaptive.labelling.naming import number_in

__all__ = ["Export"]

KINDS = ("choices", "number", "rating")
OURS = "label"  # the control that `write_label_studio` names
READ = "(the answer is read)"


class _LeftOut(Exception):
    """Reason for which an annotation is left out; ``serious``: there is an answer in it that was not understood."""

    def __init__(self, reason: str, serious: bool = True) -> None:
        super().__init__(reason)
        self.serious = serious


class Export:
    """Reader of the tasks of an export.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    position : callable(data) -> int or None, optional
    from_name : str, optional
    """

    def __init__(
        self, name: str, position: Callable[[dict[str, Any]], int | None] | None = None, from_name: str | None = None
    ) -> None:
        self.name, self.position, self.from_name = name, position, from_name
        self._left: dict[str, list[int]] = {}  # tasks by reason
        self._serious: list[str] = []

    def answers(self, tasks: Sequence[dict[str, Any]]) -> list[Answer]:
        """Return the answers; a warning says what is left out.

        Raises
        ------
        ValueError
            If nothing can be used, although there is something.
        """
        found: list[Answer] = []
        for number, task in enumerate(tasks):
            try:
                found += self._task(task, number)
            except _LeftOut as problem:
                self._leave(number, problem)
        if not found and self._serious:
            raise ValueError(self._serious[0])
        if self._left:
            parts = [f"{reason} (task {', '.join(map(str, listed(where)))})" for reason, where in self._left.items()]
            warnings.warn(f"{self.name}: left out where {'; where '.join(parts)}.", UserWarning, stacklevel=3)
        return found

    def read(self, task: dict[str, Any], number: int) -> tuple[list[Answer], list[str]]:
        """Return the answers to one task, and the reasons for which others are left out."""
        self._left.clear()
        self._serious.clear()
        try:
            found = self._task(task, number)
        except _LeftOut as problem:
            return [], [str(problem)]
        return found, [reason for reason in self._left if not reason.endswith(READ)]

    def _leave(self, number: int, problem: _LeftOut) -> None:
        self._left.setdefault(str(problem), []).append(number)
        if problem.serious:
            self._serious.append(f"{self.name}, task {number}: {problem}.")

    def _task(self, task: dict[str, Any], number: int) -> list[Answer]:
        data, annotations = task.get("data"), task.get("annotations")
        if not isinstance(data, dict) or not isinstance(annotations, list):
            raise _LeftOut("there is no data or no annotations; export with the format JSON (not JSON-MIN)")
        if not annotations:
            return []
        own = _whole(data.get("position"))
        position = own if self.position is None else self.position(data)
        if position is None:
            raise _LeftOut(
                f"data must hold the position that the task was made with, got {data.get('position')!r}"
                if self.position is None
                else "no row of the pool is found for the task"
            )
        ours = own is not None and position == own
        identity = {"id": data.get("id"), "query": _whole(data.get("query"))} if ours else {}
        found = []
        for annotation in sorted(annotations, key=_time):
            try:
                cancelled, outcome = self._annotation(annotation, number)
            except _LeftOut as problem:
                self._leave(number, problem)
                continue
            where = f"{self.name}, task {number}"
            by = _person(annotation.get("completed_by"))
            found.append(Answer(position, outcome, annotator=by, skipped=cancelled, where=where, **identity))
        return found

    def _annotation(self, annotation: Any, number: int) -> tuple[bool, Any]:
        """Return whether somebody could not tell, and else what an annotation says: a text or a number."""
        if not isinstance(annotation, dict):
            raise _LeftOut(f"an annotation must be an object, got {type(annotation).__name__}")
        if annotation.get("was_cancelled"):
            return True, None
        results = annotation.get("result")
        if not isinstance(results, list) or not all(isinstance(one, dict) for one in results):
            raise _LeftOut("an annotation must hold a list of results")
        values = [one for one in results if one.get("type") in KINDS]
        if self.from_name is not None:
            values = [one for one in values if one.get("from_name") == self.from_name]
        elif len(values) > 1 and [one.get("from_name") for one in values].count(OURS) == 1:
            values = [one for one in values if one.get("from_name") == OURS]
        others = [str(one.get("type")) for one in results if one.get("type") not in KINDS]
        if not values:
            strange = [kind for kind in others if kind != "textarea"]
            if strange:
                raise _LeftOut(f"a result must be one of {', '.join(KINDS)}, got {strange[0]!r}")
            raise _LeftOut("an annotation holds no answer", serious=False)
        if len(values) > 1:
            names = ", ".join(repr(one.get("from_name")) for one in values)
            raise _LeftOut(f"an annotation must hold one answer, got those of {names}; name one with from_name")
        if others:
            self._leave(number, _LeftOut(f"a {others[0]} stands beside the answer {READ}", serious=False))
        return False, _value(values[0])


def _value(result: dict[str, Any]) -> Any:
    kind, value = result["type"], result.get("value")
    said = value.get(kind) if isinstance(value, dict) else None
    if kind == "choices":
        if said in (None, []):
            raise _LeftOut("an annotation holds no answer", serious=False)
        if not isinstance(said, list) or len(said) != 1 or not isinstance(said[0], (str, int, float)):
            raise _LeftOut(f"an annotation must choose one label, got {said!r}")
        return said[0]
    if isinstance(said, bool) or not isinstance(said, (int, float)) or not math.isfinite(said):
        raise _LeftOut(f"a {kind} must be a number, got {said!r}")
    return said


def _time(annotation: Any) -> str:
    return str(annotation.get("updated_at") or "") if isinstance(annotation, dict) else ""


def _person(person: Any) -> str | None:
    if isinstance(person, dict):
        person = person.get("email") or person.get("id")
    return None if person is None else str(person)


def _whole(value: Any) -> int | None:
    """Return a whole number, also as the text of one; else None."""
    if isinstance(value, str):
        value = number_in(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value or value % 1:
        return None
    return int(value)


def listed(numbers: Sequence[int], most: int = 5) -> list[Any]:
    """Return the first numbers, and dots for the rest."""
    once = list(dict.fromkeys(numbers))
    return [*once[:most], "..."] if len(once) > most else [*once]
