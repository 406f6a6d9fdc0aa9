"""A design in the words of laboratories' software: points with names, each with an ``_id``, out and back.

    suggest     ->  ask, one query for each point; ``_id`` is its number
    ingest      ->  tell
    failures    ->  skip
    should_stop ->  the design's stopping rule

These are the methods that bluesky-adaptive and the generator standard (gest-api) look for; nothing of theirs is
imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks
from adaptive import pool as pools
from adaptive.loop.arguments import check_worker
from adaptive.loop.log.retracting import standing
from adaptive.loop.points import ID, checked_names, near, number_of, rows_of, same, undominated, unknown

if TYPE_CHECKING:
    from adaptive.loop.query import Query
    from adaptive.loop.sequential_design import SequentialDesign

__all__ = ["Optimizer"]


class Optimizer:
    """Methods that Bluesky and others call, over a design: points with names out, outcomes by ``_id`` back in.

    Parameters
    ----------
    design : SequentialDesign
        With a log, nothing that was suggested or ingested is lost; see `SequentialDesign.open`.
    names : sequence of str
        What the columns of a candidate are called where they are set: names of motors, parameters.  Of a frame: its
        columns, or some of them.
    outcome : str, or sequence of str
        The entry of an ingested point that is the answer; several where an answer is several numbers.
    worker : str or int, optional
        Who measures, where several do: each has queries of its own, chosen in the light of the others'.
    best : "max" or "min", default "max"
        Which outcomes `get_best_points` calls good. Nothing that is suggested depends on it.

    Attributes
    ----------
    design : SequentialDesign
    returns_id : bool
        True: every suggested point has an ``_id``.

    Raises
    ------
    ValueError
        If there are not as many names as a candidate has columns, or an argument is none of the above.

    Notes
    -----
    Points that wait for their outcomes when the `Optimizer` is made, as after a crash, are suggested again before new
    ones. It is an ``Optimizer``, ``TrialFaultAware``, ``SupportsStoppingCriteria``, ``Checkpointable`` and
    ``CanRegisterSuggestions`` to the run-time checks of bluesky-adaptive 1.0.

    Examples
    --------
    >>> from adaptive import GaussianProcessRegressor, SequentialDesign
    >>> design = SequentialDesign(GaussianProcessRegressor(), np.linspace(0.0, 1.0, 11)[:, None], random_state=0)
    >>> optimizer = Optimizer(design, ["motor"], "counts")
    >>> points = optimizer.suggest(2)
    >>> [sorted(point) for point in points]
    [['_id', 'motor'], ['_id', 'motor']]
    >>> optimizer.ingest([{"_id": points[1]["_id"], "counts": 3.0}, {"motor": 0.5, "counts": 4.0}])
    >>> optimizer.get_best_points()
    [(2, {'motor': 0.5}, {'counts': 4.0})]
    >>> optimizer.should_stop()
    (False, None)
    """

    returns_id = True

    def __init__(
        self,
        design: SequentialDesign,
        names: Sequence[str],
        outcome: str | Sequence[str],
        *,
        worker: str | int | None = None,
        best: str = "max",
    ) -> None:
        self.design, self.worker, self.best = design, check_worker(worker), checks.choice("best", best, ("max", "min"))
        self.names = checked_names("names", names)
        self.outcome = outcome if isinstance(outcome, str) else checked_names("outcome", outcome)
        taken = {ID, *([outcome] if isinstance(outcome, str) else outcome)} & set(self.names)
        if taken:
            raise ValueError(f"names must not hold {sorted(taken)[0]!r}, which stands for something else in a point.")
        if design.changing_pool:
            raise ValueError("design must have a fixed pool, got a callable.")
        rows_of(pools.take(design.pool, [0]), self.names)  # whether they fit is said now
        self._columns: list[np.ndarray] | None = None  # of the pool
        self._left = [query.id for query in design.pending if query.worker == self.worker and len(query) == 1]

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        """Return points to measure next, each with its ``_id``, in the order in which they were chosen.

        Parameters
        ----------
        num_points : int, optional
            How many; by default the design's ``batch_size``, or what is left.

        Raises
        ------
        ValueError
            If so many are not left: then none is suggested.
        """
        given = num_points is not None
        wanted = checks.integer("num_points", num_points, minimum=1) if given else self.design.batch_size
        waiting = {query.id: query for query in self.design.pending}
        again = [waiting[number] for number in self._left if number in waiting]
        free = self.design.n_left
        n = wanted if given else min(wanted, max(1, len(again) + free))
        if n > len(again) + free:
            raise pools.PoolExhausted(f"num_points must be at most {len(again) + free}, what is left, got {n}.")
        queries = again[:n]
        self._left = [query.id for query in again[n:]]
        while len(queries) < n:
            queries.append(self.design.ask(1, another=True, worker=self.worker))
        return [{ID: query.id, **rows_of(query.candidates, self.names)[0]} for query in queries]

    def ingest(self, points: Sequence[Mapping[str, Any]]) -> None:
        """Learn the outcomes of points, in any order, whenever they come.

        Parameters
        ----------
        points : sequence of mappings
            With ``_id`` and the outcome; what else they hold is ignored. One without ``_id`` (or "baseline") was
            measured by somebody's own choice: its settings say which candidate it is. A point that comes twice with the
            same outcome is learnt once.

        Raises
        ------
        ValueError
            If a point has no outcome, an ``_id`` that was never given, another outcome than before, or settings that
            are no candidate's: then none of the points is learnt. Also if the estimator refuses an outcome: then
            those before it are learnt, and all may be ingested again.
        """
        found = [(number_of(point), self._answer(point)) for point in points]
        places = [self._position(p) if number is None else None for p, (number, _) in zip(points, found, strict=True)]
        waiting = {query.id: query for query in self.design.unanswered}
        self._check_known([one for one in found if one[0] is not None], waiting)
        for (number, answer), position in zip(found, places, strict=True):
            if number is None:
                self._volunteer(position, answer)
            elif number in waiting:
                self.design.tell(waiting.pop(number), [answer], worker=self.worker)

    def register_failures(self, suggestions: Sequence[Mapping[str, Any]]) -> None:
        """Set points aside that could not be measured: they are not suggested again, though a late outcome is learnt.

        Parameters
        ----------
        suggestions : sequence of mappings
            With ``_id``. One that has its outcome keeps it.

        Raises
        ------
        ValueError
            If an ``_id`` was never given: then none is set aside.
        """
        meant = [number_of(point) for point in suggestions]
        if None in meant:
            raise ValueError("suggestions must have the _id that they were suggested with, got a point without.")
        waiting = {query.id: query for query in self.design.pending}
        asked = {one[0] for one in self._answers()} | {query.id for query in self.design.unanswered}
        for number in meant:
            if number not in asked:
                raise ValueError(unknown(number))
        for number in dict.fromkeys(meant):
            if number in waiting:
                self.design.skip(waiting[number])

    def register_suggestions(self, suggestions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return points of somebody's own choice as they are, with an ``_id``; they count as asked from now on.

        Parameters
        ----------
        suggestions : sequence of mappings
            With settings that are a candidate's.

        Raises
        ------
        ValueError
            If they are not, or the candidate was asked before (without ``repeat=True``).
        """
        positions = [self._position(point) for point in suggestions]
        queries = [self.design.ask(positions=[position], worker=self.worker) for position in positions]
        return [{**point, ID: query.id} for point, query in zip(suggestions, queries, strict=True)]

    def should_stop(self) -> tuple[bool, str | None]:
        """Return whether to stop, and why: the design's rule holds, or no candidate is left."""
        if self.design.finished:
            return True, f"{self.design.stop!r} holds"
        if self.design.n_left == 0:
            return True, "no candidate is left"
        return False, None

    def checkpoint(self) -> None:
        """Store a snapshot beside the design's log, so that going on takes no longer than reading it.

        The log itself has every answer from the moment that `ingest` returned.

        Raises
        ------
        ValueError
            If the design has no log on disk.
        """
        if self.design.log_path is None:
            raise ValueError(
                "checkpoint needs a design with a log on disk: make it by SequentialDesign.open(path, ...)."
            )
        self.design.save(self.design.log_path)

    def finalize(self) -> None:
        """Close the log, so that another program can go on."""
        self.design.close()

    def get_best_points(self) -> list[tuple[int, dict[str, Any], dict[str, Any]]]:
        """Return (``_id``, settings, outcomes) of the best point measured; of several outcomes, all undominated.

        What was measured is looked at, noise included; what is believed is in ``design.estimator_``.
        """
        answers = self._answers()
        if not answers:
            return []
        values = np.array([np.ravel(answer) for _, _, answer in answers], dtype=float)
        good = np.flatnonzero(undominated(values if self.best == "max" else -values))
        best = [answers[k] for k in good]
        rows = rows_of(pools.take(self.design.pool, [position for _, position, _ in best]), self.names)
        names = [self.outcome] if isinstance(self.outcome, str) else self.outcome
        return [
            (number, row, dict(zip(names, np.ravel(answer).tolist(), strict=True)))
            for (number, _, answer), row in zip(best, rows, strict=True)
        ]

    # -- what points mean ----------------------------------------------------------------------------------------

    def _answer(self, point: Mapping[str, Any]) -> Any:
        names = [self.outcome] if isinstance(self.outcome, str) else self.outcome
        missing = [name for name in names if name not in point]
        if missing:
            raise ValueError(f"points must have the outcome {missing[0]!r}, got one with {sorted(map(str, point))}.")
        values = [np.asarray(point[name]) for name in names]
        if any(value.size != 1 for value in values):
            raise ValueError(f"the outcome {names[0]!r} of a point must be one number, got {point[names[0]]!r}.")
        return values[0].item() if isinstance(self.outcome, str) else np.array([value.item() for value in values])

    def _position(self, point: Mapping[str, Any]) -> int:
        """Return where in the pool the settings of a point stand."""
        missing = [name for name in self.names if name not in point]
        if missing:
            raise ValueError(f"a point without _id must have all settings, got one without {missing[0]!r}.")
        if self._columns is None:
            rows = rows_of(self.design.pool, self.names)
            self._columns = [np.array([row[name] for row in rows]) for name in self.names]
        alike = np.all([near(c, point[name]) for c, name in zip(self._columns, self.names, strict=True)], axis=0)
        places = np.flatnonzero(alike)
        if len(places) == 0:
            raise ValueError(f"no candidate has the settings { {name: point[name] for name in self.names} }.")
        free = places[~np.isin(places, self.design.excluded())]
        return int(free[0] if len(free) else places[0])

    def _volunteer(self, position: Any, answer: Any) -> None:
        """Learn what nobody asked, or was asked and came back without its ``_id``; once where there is no repeating."""
        if not self.design.repeat:
            history = self.design.history_
            known = dict(zip(history["position"], history["outcome"], strict=True))
            if position in known and same(known[position], answer):
                return
        self.design.tell(position, [answer], worker=self.worker)

    def _check_known(self, numbered: list[tuple[Any, Any]], waiting: Mapping[int, Query]) -> None:
        """Refuse what was never asked, and a second outcome that is not the first."""
        said: dict[int, Any] = {}
        if any(number not in waiting for number, _ in numbered):
            said = {number: answer for number, _, answer in self._answers() if number not in waiting}
        for number, answer in numbered:
            if number not in waiting and number not in said:
                raise ValueError(unknown(number))
            first = said.setdefault(number, answer)
            if first is not answer and not same(first, answer):
                raise ValueError(
                    f"the point of _id {number} has the outcome {first!r} already, got {answer!r}: take the "
                    "first back (design.retract)."
                )

    def _answers(self) -> list[tuple[int, int, Any]]:
        """Return (number of the query, position, outcome) of every answer that stands, as the log has them."""
        asked: dict[int, list[int]] = {}
        found = []
        for event in standing(self.design.log.fetch(0)):
            if event is not None and event["event"] == "ask":
                asked[event["query"]] = event["positions"]
            elif event is not None and event["event"] == "tell":
                rows = zip(event["rows"], event["outcomes"], strict=True)
                found += [(event["query"], asked[event["query"]][row], outcome) for row, outcome in rows]
        return found
