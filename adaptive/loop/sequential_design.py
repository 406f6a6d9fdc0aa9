"""The loop: ask, measure, tell, until a rule says stop.

    ask     estimator.select(pool, ...)  ->  a query        (logged, then handed out)
    tell    outcomes                     ->  partial_fit    (logged and on disk, then fitted)

A design is what its log says: every change of its state is the application of one logged event, the same whether it
happens now or is replayed, so that resuming a run and never having stopped it give the same bits.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks, scorers
from adaptive import pool as pools
from adaptive.files import write_file
from adaptive.loop import arguments
from adaptive.loop.candidates import candidates_of
from adaptive.loop.columns import to_frame
from adaptive.loop.log import header as headers
from adaptive.loop.log.event_log import EventLog, LogError
from adaptive.loop.log.journal import Journal
from adaptive.loop.log.plain_settings import plain_settings, settings_of
from adaptive.loop.log.replay import take_snapshot
from adaptive.loop.log.storage import FileStorage
from adaptive.loop.opening import opened
from adaptive.loop.progress import reporter
from adaptive.loop.query import Query, as_outcomes
from adaptive.loop.questions import Questions
from adaptive.loop.runner import Runner
from adaptive.loop.seeds import Purpose, seed_of, sequence
from adaptive.loop.shown import announce, design_html, design_text, warn_of_doubts
from adaptive.loop.state import DesignState
from adaptive.loop.stopping import StoppingRule
from adaptive.selection.arguments import checked_price

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Classifier, Cost, Estimator, Mask, Outcomes, Pool, RandomState, Scorer

__all__ = ["SequentialDesign"]


class SequentialDesign:
    """Alternate inference and selection over a pool of candidates.

    Parameters
    ----------
    estimator : estimator with ``predictive`` and ``partial_fit``, pipeline ending in one, or scikit-learn classifier
        The belief to start from, fitted or not; it is copied and never changed. Transformers of a pipeline that are not
        fitted are fitted once, on all candidates, without answers.
    candidates : pool of length m, or callable(estimator) -> pool
        Array, sparse matrix, frame, list or lazy pool.  A callable is asked again whenever an answer was fitted; its
        entries, or their labels, are plain data, recognised by equality.
    measure : callable(query) -> outcomes, optional
        The experiment; ``run`` needs it.
    scorer : str or callable, default "auto"
        What makes a candidate worth measuring; see :mod:`adaptive.scorers`. "auto": what the estimator names as its
        ``default_scorer``. Of classifiers chosen by `ours-default-classifiers`.
    exploration : float in [0, 1] or "auto", default "auto"
        Share of the questions, after the initial ones, that are drawn at random, by one coin each: labels of extreme
        rows alone mislead a classifier about all others. "auto": .15 where the scorer looks at outcomes of a
        classifier, else 0. Chosen by `ours-default-exploration`.
    target : optional
        What the information is to be about; None: everything unknown.
    batch_size : int, default 1
        Candidates per query.
    joint : bool, default True
        Choose a batch together, and in the light of what is pending; False takes the highest single scores. Chosen by
        ``ours-batches-information``.
    initial : sequence of int, or int, optional
        Positions to ask first, in this order; or how many to draw at random first.
    stop : stopping rule, optional
        See :mod:`adaptive.loop`; rules combine with ``&`` and ``|``.
    cost : (m,) array-like, callable(candidates) -> (m,) or callable(candidates, last) -> (m,), optional
        Positive costs: scores are divided by them. ``last`` is what was asked last, a pool of one candidate (None at
        first), where changing a setting has its price; a batch is priced as coming from there.
    price : float, optional
        As for ``select``: what a unit of cost is worth in nats. Scores less price times cost are compared then, and not
        divided by costs. Which of the two learns more for the money could not be told (`ours-skills-price`).
    mask : (m,) array-like of bool or callable(candidates) -> (m,), optional
        True where a candidate may be asked. A function is asked once, or of a callable pool whenever it is made.
    repeat : bool, default False
        Whether a candidate may be asked again.
    random_state : None, int, SeedSequence, Generator or RandomState
        Query number k is seeded from this seed and k, whatever happened in between.
    callbacks : iterable of callable(design, event)
        Called after every event, a dictionary such as ``{"event": "tell", "query": 0, ...}``; not when replaying.
    log : path or EventLog, optional
        Write every event to this new file as it happens; continue it with :meth:`load`. :meth:`open` does whichever
        is due.
    chunk_size : int, optional
        How many candidates have their predictive in memory at once, as for ``select``; no result depends on it.

    Attributes
    ----------
    estimator_ : the estimator as it is now.
    start_ : the estimator before the first answer.
    history_ : dict of lists
        Columns step, position, label, outcome, score and seconds (of this design's own time), one entry per answer.
    iteration : int
        How many times answers were fitted.

    Raises
    ------
    ValueError
        If ``measure`` or ``stop`` cannot be called, a number of questions is no integer in range, or the log's file
        exists.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.arange(20.0)[:, None]
    >>> design = SequentialDesign(
    ...     LogisticRegression(), X, lambda query: query.candidates[:, 0] > 7.5, scorer="uncertainty", initial=[0, 19],
    ...     random_state=0,
    ... )
    >>> design.run(5).history_["position"][:2]
    [0, 19]
    >>> design.estimator_.predict([[6.0], [9.0]])
    array([False,  True])
    """

    def __init__(
        self,
        estimator: Estimator | Classifier,
        candidates: Pool | Callable[[Any], Pool],
        measure: Callable[[Query], Outcomes] | None = None,
        *,
        scorer: Scorer = "auto",
        exploration: float | str = "auto",
        target: Pool | None = None,
        batch_size: int = 1,
        joint: bool = True,
        initial: ArrayLike | None = None,
        stop: Callable[[SequentialDesign], bool] | None = None,
        cost: Cost = None,
        price: float | None = None,
        mask: Mask = None,
        repeat: bool = False,
        random_state: RandomState = None,
        callbacks: Iterable[Callable[[SequentialDesign, dict[str, Any]], None]] = (),
        log: str | os.PathLike[str] | EventLog | None = None,
        chunk_size: int | None = None,
        _continued: bool = False,  # `load` has opened the log
    ) -> None:
        if measure is not None and not callable(measure):
            raise ValueError(f"measure must be a callable(query) -> outcomes, got {type(measure).__name__}.")
        if stop is not None and not callable(stop):
            raise ValueError(f"stop must be a stopping rule or a callable(design) -> bool, got {type(stop).__name__}.")
        candidates, mask = arguments.permitted(candidates, mask)
        self._origin = arguments.starting_point(estimator, candidates, mask)
        score = scorers.get(scorer, self._origin)  # an unknown name is said here, not at the first question
        self.exploration = arguments.check_exploration(exploration, self._origin, score)
        self._pool, self._stop = candidates, stop
        self.scorer, self.target = scorers.named(scorer, self._origin), target
        self.joint, self.repeat = bool(joint), bool(repeat)
        self.chunk_size = None if chunk_size is None else checks.integer("chunk_size", chunk_size, minimum=1)
        self.callbacks = tuple(callbacks)
        self._seed = seed_of(random_state)
        state = self._start()
        self.changing_pool = not state.candidates.fixed
        if isinstance(stop, StoppingRule):
            stop.check(self)
        length = None if self.changing_pool else pools.length(candidates)
        self.mask = arguments.check_mask(mask, length)
        self.batch_size = arguments.check_batch_size(batch_size, length, self.mask)
        self.cost, self.price = arguments.check_cost(cost, length), checked_price(price, cost, False)
        self._first: Any = initial  # positions, or how many
        if initial is not None and np.ndim(initial) == 0:
            self._first = checks.integer("initial", initial, minimum=0)
        initial_pool, self._initial = None, np.zeros(0, dtype=np.intp)
        if initial is not None:
            initial_pool = state.pool
            length, drawn = pools.length(initial_pool), sequence(self._seed, Purpose.INITIAL, 0)
            self._initial = arguments.check_initial(self._first, length, self.mask, self.repeat, drawn)
        self._questions = Questions(self, initial_pool, self._initial)
        log = log if isinstance(log, EventLog) else EventLog(log)
        if not _continued:
            settings = plain_settings(target, stop)
            log.create(headers.header(self._seed, state.candidates, self._origin, self._recorded(), settings))
        self._journal = Journal(log, self._start, self._learnt, self._notify)
        self._runner = Runner(self, self._journal, measure)
        self._doubts = set[str]()  # those that were said

    def _recorded(self) -> dict[str, Any]:
        """The arguments that a log must agree with."""
        return {
            "scorer": self.scorer,
            "exploration": self.exploration,
            "batch_size": self.batch_size,
            "joint": self.joint,
            "repeat": self.repeat,
            "initial": self._initial.tolist() if np.ndim(self._first) else self._first,  # drawn ones follow from it
            "target": self.target,
            "cost": self.cost,
            "mask": self.mask,
            "price": self.price,
        }

    # -- what a person calls ------------------------------------------------------------------------------------

    def ask(
        self,
        n: int | None = None,
        another: bool = False,
        positions: ArrayLike | None = None,
        *,
        worker: str | int | None = None,
        exclude: ArrayLike = (),
        joint: bool | None = None,
    ) -> Query:
        """Return what to measure next.

        Without ``tell`` in between the same query comes back (the oldest that waits for this worker, what was answered
        of it left out).

        Parameters
        ----------
        n : int, optional
            How many candidates; default ``batch_size``, or what is left.
        another : bool, default False
            Issue a further query though others wait, chosen in the light of those.
        positions : sequence of int, optional
            Issue a further query for these candidates, whatever they score: for an answer that somebody volunteers,
            or, with ``repeat=True``, for a second opinion on what was asked before.
        worker : str or int, optional
            Who is to answer. Each worker has queries of its own, chosen in the light of what the others were asked;
            those without a name are one worker, to whom ``run`` belongs as well. Anybody may tell. Where candidates are
            a row and a person (`designs.pool.Annotated`), a worker is asked about those that are his own.
        exclude : sequence of int, optional
            Positions that a new query must leave out, besides those that the design leaves out itself: what this worker
            has seen, say, where ``repeat=True``.
        joint : bool, optional
            Of this query alone, in place of the design's own. False: what is pending is left out of it and looked at no
            further, which takes milliseconds where its answers take tens (`adaptive.selection`): for a page under load.
            The log says which queries were chosen so.

        Raises
        ------
        PoolExhausted
            If no allowed candidate is left.
        ValueError
            If ``n`` is more than what is left, or differs from the size of the query that waits; if ``positions`` may
            not be asked.
        OSError
            If the query could not be logged; then it was not made.
        """
        if n is not None:
            n = checks.integer("n", n, minimum=1)
        worker = arguments.check_worker(worker)
        with self._journal.session():
            waiting = [entry for entry in self._state.waiting() if entry.query.worker == worker]
            if waiting and not another and positions is None:
                if n is not None and n != waiting[0].n:
                    raise ValueError(
                        f"n must be {waiting[0].n} or left out while query {waiting[0].query.id} waits for its "
                        f"answer, got {n}; tell or skip it first, or ask with another=True."
                    )
                return waiting[0].rest()
            event = self._journal.commit(self.proposal(n, positions, worker=worker, exclude=exclude, joint=joint))
            return self._state.open[event["query"]].query

    def proposal(
        self,
        n: int | None = None,
        positions: ArrayLike | None = None,
        *,
        worker: str | int | None = None,
        exclude: ArrayLike = (),
        joint: bool | None = None,
    ) -> dict[str, Any]:
        """Return what `ask` would write into the log of a further query, and write nothing.

        For callers that append to the log themselves and have the design :meth:`follow` it: pages, say, that must not
        wait while a query is chosen.

        Parameters
        ----------
        n, positions, worker, exclude, joint
            As for `ask`.

        Raises
        ------
        PoolExhausted, ValueError
            As of `ask`.

        Examples
        --------
        >>> import numpy as np
        >>> from adaptive import BayesianLogisticRegression
        >>> design = SequentialDesign(BayesianLogisticRegression(classes=["no", "yes"]), np.eye(4), random_state=0)
        >>> design.proposal(2)["positions"] == design.ask(2).positions.tolist()
        True
        """
        with self._journal.session():
            if positions is None:
                event = self._questions.next(n, arguments.of_worker(self.pool, worker, exclude), joint)
            elif n is not None:
                raise ValueError(f"n must be left out where positions say what is asked, got {n}.")
            else:
                event = self._questions.volunteered(positions)
            return event if worker is None else {**event, "worker": worker}

    def follow(self, fetch: Callable[[int], list[dict[str, Any]]] | None = None) -> list[dict[str, Any]]:
        """Apply the events that somebody else has appended to the log; return them.

        Parameters
        ----------
        fetch : callable(n_events) -> list of dict, optional
            The events of the log behind the first ``n_events``; by default as the storage has them.

        Raises
        ------
        LogError
            If the log is damaged.
        ValueError
            If the estimator refuses an answer.

        Examples
        --------
        >>> import numpy as np
        >>> from adaptive import BayesianLogisticRegression
        >>> design = SequentialDesign(BayesianLogisticRegression(classes=["no", "yes"]), np.eye(4), random_state=0)
        >>> _ = design.log.append({**design.proposal(), "seconds": 0.0})  # as another process may
        >>> [event["event"] for event in design.follow()], len(design.pending)
        (['ask'], 1)
        """
        return self._journal.follow(self.log.fetch if fetch is None else fetch)

    def tell(
        self, query: Query | ArrayLike, outcomes: Outcomes, *, worker: str | int | None = None
    ) -> SequentialDesign:
        """Learn the answers to a query.

        When this returns the answers are on disk (where there is a log) and fitted.

        Parameters
        ----------
        query : Query, or one or more positions
            A query may be answered in parts, late, out of order, and also after it was skipped. Positions that no query
            is open about are labels that somebody volunteers: they are learnt at no cost, as a query of their own that
            the log calls volunteered, with the score NaN.
        outcomes : sequence with one entry per candidate, or a scalar for a single one
        worker : str or int, optional
            Who answered; noted in the log.

        Raises
        ------
        ValueError
            If the query does not wait for these answers, positions were answered already (without ``repeat=True``), or
            the estimator refuses: nothing has changed, the query waits.
        OSError
            If the answers could not be written: they count as not given.

        Examples
        --------
        >>> import numpy as np
        >>> from adaptive import BayesianLogisticRegression
        >>> design = SequentialDesign(BayesianLogisticRegression(classes=["no", "yes"]), np.eye(4), random_state=0)
        >>> design.tell([2, 3], ["yes", "no"]).history_["position"]
        [2, 3]
        >>> bool(np.isin(design.ask(2).positions, [2, 3]).any())
        False
        """
        with self._journal.session():
            worker, unasked = arguments.check_worker(worker), self._state.unasked(query)
            if unasked is None:
                entry, rows = self._state.find(query)
                answers = as_outcomes(outcomes, len(rows))
            else:
                answers = as_outcomes(outcomes, len(unasked))
                asked = self._journal.commit(self._questions.volunteered(unasked, told=True))
                entry, rows = self._state.open[asked["query"]], np.arange(len(unasked))
            event = {"event": "tell", "query": entry.query.id, "rows": rows.tolist(), "outcomes": answers}
            self._journal.commit(event if worker is None else {**event, "worker": worker})
        return self

    def skip(self, query: Query | ArrayLike) -> SequentialDesign:
        """Set the candidates of a query aside: they are not asked again, though a late answer is still learnt.

        Parameters
        ----------
        query : Query, or positions of a query that waits
        """
        with self._journal.session():
            entry, rows = self._state.find(query)
            self._journal.commit({"event": "skip", "query": entry.query.id, "rows": rows.tolist()})
        return self

    def retract(self, query: Query | ArrayLike) -> SequentialDesign:
        """Take answers back, as after a slip of the hand: the design is then what it is without them.

        The query waits for its answer again. What was asked since then stays asked, and the log keeps both the answer
        and that it was taken back.

        Parameters
        ----------
        query : Query, or positions
            Whose answers are taken back; of several answers to a position the last.

        Raises
        ------
        ValueError
            If there is no such answer: nothing has changed.
        OSError
            If it could not be written: the answer stands.

        Examples
        --------
        >>> import numpy as np
        >>> from adaptive import BayesianLogisticRegression
        >>> design = SequentialDesign(BayesianLogisticRegression(classes=["no", "yes"]), np.eye(4), random_state=0)
        >>> query = design.ask()
        >>> design.tell(query, "yes").retract(query).iteration
        0
        >>> design.ask().id == query.id
        True
        """
        with self._journal.session():
            self._journal.retract(query)
        return self

    def run(
        self, steps: int | None = None, *, progress: bool | Callable[[float, Any], None] = False
    ) -> SequentialDesign:
        """Ask, measure and tell until the stopping rule holds, the pool is exhausted or ``steps`` more steps are done.

        Parameters
        ----------
        steps : int, optional
            How many further queries at most.
        progress : bool or callable(fraction, design), default False
            True shows a bar on a terminal once the run takes longer than two seconds.

        Notes
        -----
        Ctrl-C ends a run without losing an answer: what has been measured is written down first. If the disk is full,
        the answer that could not be written is kept, and the next ``run`` begins by telling it.
        """
        if self._runner.measure is None:
            raise ValueError("run needs measure: give SequentialDesign(..., measure=...), or use ask and tell.")
        if steps is not None:
            steps = checks.integer("steps", steps, minimum=0)
        elif self.stop is None and self.repeat:
            raise ValueError("run would never end with repeat=True: give steps or a stopping rule.")
        elif self.stop is None and not self.changing_pool:
            arguments.warn_of_length(self._questions.left)
        with reporter(progress, self, steps) as report:
            for done, _ in enumerate(self._runner.queries(steps), start=1):
                report(done)
        return self

    def __iter__(self) -> Iterator[Query]:
        """Yield query after query until the stopping rule holds; already told if the design can measure."""
        return self._runner.queries(None)

    def __repr__(self) -> str:
        return design_text(self)

    def _repr_html_(self) -> str:
        return design_html(self)

    def __getstate__(self) -> dict[str, Any]:
        with self._journal.session():
            if self._journal.log.storage.shared:
                raise TypeError(
                    f"a design that writes the log {self._journal.log.name} can neither be pickled nor copied: two "
                    "would write it; save(path) it, and continue a copy with SequentialDesign.load(path, ...)."
                )
            return self.__dict__.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> SequentialDesign:
        memo[id(self._pool)] = self._pool  # nobody changes a pool; the copy may share it
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(copy.deepcopy(self.__getstate__(), memo))
        return twin

    # -- what is known ------------------------------------------------------------------------------------------

    @property
    def _state(self) -> DesignState:
        return self._journal.state

    @property
    def estimator_(self) -> Any:
        """The estimator as it is now."""
        return self._state.estimator

    @property
    def start_(self) -> Any:
        """The estimator as it was before the first answer; a copy."""
        return copy.deepcopy(self._origin)

    @property
    def stop(self) -> Callable[[SequentialDesign], bool] | None:
        """The stopping rule, with what it has seen so far."""
        return self._state.stop

    @property
    def iteration(self) -> int:
        """Number of times that answers were fitted."""
        return self._state.iteration

    @property
    def spent(self) -> float:
        """Total cost of the answers."""
        return self._state.spent

    @property
    def seconds(self) -> float:
        """Seconds that this design has been running, pauses between save and load left out."""
        return self._journal.seconds

    @property
    def log(self) -> EventLog:
        """Log of the design; read it, and leave writing to the design."""
        return self._journal.log

    @property
    def log_path(self) -> Path | None:
        """Path of the log; None in memory."""
        return self._journal.log.path

    @property
    def in_chunks(self) -> dict[str, Any]:
        """Options of `select` about memory: ``chunk_size`` where it was given."""
        return {} if self.chunk_size is None else {"chunk_size": self.chunk_size}

    @property
    def pool(self) -> Any:
        """The pool as it is now."""
        return self._state.pool

    @property
    def pending(self) -> tuple[Query, ...]:
        """The queries that wait for answers, oldest first, what was answered of them left out."""
        with self._journal.session():
            return tuple(entry.rest() for entry in self._state.waiting())

    @property
    def unanswered(self) -> tuple[Query, ...]:
        """The queries, or parts of them, that were not answered, oldest first, what was skipped included."""
        with self._journal.session():
            return tuple(one.query.part(np.flatnonzero(~one.answered)) for one in self._state.unanswered())

    def retracted(self, query: int | None = None) -> int:
        """Return how often an answer was taken back: to the query of this number, or to any."""
        counts = self._state.retracted
        return counts.total() if query is None else counts[query]

    @property
    def n_left(self) -> int:
        """Return the number of candidates of the present pool that may still be asked."""
        with self._journal.session():
            return self._questions.left

    @property
    def finished(self) -> bool:
        """Return whether the stopping rule holds; never before the initial positions were asked."""
        with self._journal.session():
            return self.stop is not None and self._questions.initial_left == 0 and bool(self.stop(self))

    @property
    def history_(self) -> dict[str, list[Any]]:
        """Columns step, position, label, outcome, score and seconds, one entry per answer."""
        with self._journal.session():
            return self._state.history()

    def to_frame(self) -> Any:
        """Return ``history_`` as a pandas DataFrame."""
        return to_frame(self.history_)

    def excluded(self) -> np.ndarray:
        """Return the positions in the present pool that are not asked any more, ascending."""
        state = self._state
        return state.candidates.find(state.aside if self.repeat else state.aside | state.asked, state.pool)

    def seed(self, purpose: int, number: int) -> int:
        """Return a seed (32 bits, as every library takes it) that depends on this design's own and these two only."""
        return int(sequence(self._seed, purpose, number).generate_state(1)[0])

    # -- files --------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the log so far to ``path`` and a snapshot beside it; an older save of this design is replaced."""
        path = Path(path)
        with self._journal.session() as state:
            log = self._journal.log
            if log.path is None or path.resolve() != log.path.resolve():
                contents = log.contents()
                if path.exists() and not contents.startswith(path.read_bytes()):
                    raise LogError(f"{path} exists and is not an older save of this design; name another file.")
                write_file(path, contents)
                FileStorage(path).acknowledge(log.n_events)
            take_snapshot(log, FileStorage(path), state)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str] | EventLog,
        estimator: Estimator | Classifier,
        candidates: Pool | Callable[[Any], Pool],
        measure: Callable[[Query], Outcomes] | None = None,
        **options: Any,
    ) -> SequentialDesign:
        """Continue a design from its log; further events are appended to it.

        Parameters
        ----------
        path : path or EventLog
            What ``log`` or ``save`` was given.
        estimator, candidates
            As they were given to the design.
        measure, stop, callbacks : optional
            May differ from what they were. A stop that is not given is the one that the log began with, if it is made
            of the library's rules.
        **options
            The other arguments of the design: ``cost``, ``mask``, callable scorers and a ``target`` of many inputs as
            they were, the rest is in the log.

        Raises
        ------
        LogError
            If the file is no log, is damaged, is in use, or belongs to another pool or estimator.
        """
        if "log" in options:
            raise ValueError("load continues the log at path; leave log out.")
        log = path if isinstance(path, EventLog) else EventLog(path)
        log.open()
        try:
            headers.check_pool(log.header, candidates_of(candidates), log.name)
            arguments = headers.recorded_arguments(log.header) | settings_of(log.header) | options
            design = cls(estimator, candidates, measure, log=log, _continued=True, **arguments)
            headers.check_header(log.header, design._seed, design._origin, design._recorded(), log.name)
            design._journal.recover()
        except BaseException:
            log.close()
            raise
        return design

    @classmethod
    def open(
        cls,
        log: str | os.PathLike[str] | EventLog,
        estimator: Estimator | Classifier,
        candidates: Pool | Callable[[Any], Pool],
        measure: Callable[[Query], Outcomes] | None = None,
        *,
        known: tuple[ArrayLike, Outcomes] | None = None,
        **options: Any,
    ) -> SequentialDesign:
        """Begin a design with this log, or go on with it: one line for a program that may be started again.

        Parameters
        ----------
        log : path or EventLog
            Where nothing is yet, a design begins; else its design goes on, as by :meth:`load`.
        estimator, candidates, measure
            As they are given to the design.
        known : (positions, outcomes), optional
            Labels that exist already: learnt like all that somebody volunteers, at no cost, each once however often the
            program starts.
        **options
            The other arguments of the design. When it goes on they may be left out but for ``cost``, ``mask``, callable
            scorers, and a ``target`` of many inputs; of what is given all but ``stop`` and ``callbacks`` has to be as
            it was.

        Raises
        ------
        LogError
            If the log is damaged, in use, or that of another pool, estimator or setting.
        ValueError
            If ``known`` says something else than the log.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from adaptive import BayesianLogisticRegression
        >>> from adaptive.loop import MaxSteps
        >>> model, X = BayesianLogisticRegression(classes=["no", "yes"]), np.eye(6)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path, known = f"{folder}/answers.log", ([0, 1], ["yes", "no"])
        ...     with SequentialDesign.open(path, model, X, known=known, stop=MaxSteps(3), random_state=0) as design:
        ...         query = design.ask()
        ...     with SequentialDesign.open(path, model, X, known=known) as design:  # the next day
        ...         again = design.ask()
        >>> again.positions.tolist() == query.positions.tolist(), design.iteration, design.stop
        (True, 1, MaxSteps(3))
        """
        return opened(cls, log, estimator, candidates, measure, known=known, **options)

    def close(self) -> None:
        """Release the log file, so that another design can continue it."""
        self._journal.log.close()

    def __enter__(self) -> SequentialDesign:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -- what the journal calls ---------------------------------------------------------------------------------

    def _start(self) -> DesignState:
        return DesignState(self._origin, self._stop, candidates_of(self._pool))

    def _learnt(self) -> None:
        if isinstance(self.stop, StoppingRule):
            self.stop.update(self)

    def _notify(self, event: dict[str, Any]) -> None:
        announce(event)
        warn_of_doubts(self.estimator_, event, self._doubts)
        for callback in self.callbacks:
            callback(self, event)
