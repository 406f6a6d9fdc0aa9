"""Belief about what comes next: a trained net, the weights of its members, the state of every user's history.

ensemble    members are reweighted by what they said of an event; shared and own matrices stand still
laplace     a user's own matrix is settled again on all of the user's history, beside a prior fitted to everybody

Nets are trained anew, as by a fit, once there are twice as many events as they were trained on.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning

from adaptive import checks
from adaptive.estimators.belief import Traced
from adaptive.estimators.ids import located
from adaptive.estimators.sequences.histories import Histories
from adaptive.estimators.sequences.nets import ngrams
from adaptive.estimators.sequences.nets.item_softmax import log_probabilities
from adaptive.estimators.sequences.nets.own_posterior import PRIOR_DRAWS, OwnPrior, drawn_own, settled
from adaptive.estimators.sequences.nets.scoring import scored, states_after
from adaptive.estimators.sequences.nets.training import Training
from adaptive.estimators.sequences.nets.weights import Weights
from adaptive.estimators.sequences.next_items import NextItems
from adaptive.estimators.sequences.settings import SequenceSettings
from adaptive.predictive import Undecided

if TYPE_CHECKING:
    from adaptive.types import RandomState, State

__all__ = ["SequenceBelief"]

NOTHING = np.zeros(0, dtype=np.int64)
TABLE = 2**24
TRAINED_AGAIN = 2  # times the events that nets were trained on: all trainings together cost at most two of the last
PRIOR_ROUNDS = 3  # of own matrices given their prior and the prior given these


@dataclass(frozen=True, eq=False)
class SequenceBelief(Traced):
    """Trained net and where users stand.

    Attributes
    ----------
    settings : SequenceSettings
    data : Histories
    posterior : Weights
        In float64; a user's own matrix is a mode where ``prior`` is there.
    newcomer : (R, 1, G D, D) array
        The own matrix of somebody who did nothing yet: the mean of users'.
    prior : OwnPrior or None
        Of own matrices, with ``uncertainty="laplace"``.
    log_weights : (R,) array
        Of members.
    heads : (R, U, D) array
        States from which users' next items follow.
    trace : (n_iter,) array
        Mean over users and members of nats per held-out event, after every epoch.
    converged : bool
    seed : int
        Of draws of own matrices.
    trained_events : int
        Events that the nets were trained on.
    """

    settings: SequenceSettings
    data: Histories
    posterior: Weights
    newcomer: np.ndarray
    prior: OwnPrior | None
    log_weights: np.ndarray
    heads: np.ndarray
    trace: np.ndarray
    converged: bool
    seed: int
    trained_events: int

    # -- learning ------------------------------------------------------------------------------------------------------

    @classmethod
    def learnt(
        cls, settings: SequenceSettings, data: Histories, earlier: SequenceBelief | None = None, *,
        callback: Callable[[Training], None] | None = None, resume: State | None = None,
    ) -> SequenceBelief:  # fmt: skip
        """Train on all; or, after ``earlier`` and fewer than as many events again, take account of what is new."""
        if earlier is not None and len(data) < TRAINED_AGAIN * earlier.trained_events:
            return earlier._after(data)
        if not len(data):
            raise ValueError("sequences must hold at least one event, got none.")
        rng = checks.generator(settings.random_state)
        seed = int(rng.integers(2**31))
        training = _chosen(settings, data, rng, callback, resume)
        if not training.finished(settings.plan):
            warnings.warn(
                f"CollaborativeRNN was still improving after {len(training.trace)} epochs; raise max_iter.",
                ConvergenceWarning,
                stacklevel=5,
            )
        _say_counting(training, data, settings)
        best, trace, finished = training.best, np.array(training.trace), training.finished(settings.plan)
        del training  # two thirds of its memory are not needed any more
        weights = best.exact()
        some = np.flatnonzero([len(history) for history in data.codes])
        newcomer = weights.own if weights.pooled else weights.own[:, some].mean(axis=1, keepdims=True)
        if not weights.pooled:
            weights.own[:, np.setdiff1d(np.arange(len(data.users)), some)] = newcomer
        log_weights = np.full(weights.n_members, -np.log(weights.n_members))
        belief = cls(
            settings, data, weights, newcomer, None, log_weights, np.zeros(0), trace, finished, seed, len(data)
        )
        return belief._settled_all() if settings.uncertainty == "laplace" else belief._standing()

    def _standing(self) -> SequenceBelief:
        return replace(self, heads=states_after(self.posterior, self.posterior.own, self.data.codes))

    def _settled_all(self) -> SequenceBelief:
        """Modes of users' own matrices beside a prior that is fitted to what is believed of them, in rounds (EM)."""
        weights, data = self.posterior, self.data
        some = np.flatnonzero([len(history) for history in data.codes])
        histories, seeds = [data.codes[u] for u in some.tolist()], [(self.seed, u) for u in some.tolist()]
        own = weights.own[0, some]
        prior, reached = OwnPrior.fitted(own, weights.cell.n_gates), True
        for left in range(PRIOR_ROUNDS, -1, -1):
            own, reached = settled(weights, prior, histories, own)
            if left:
                drawn = drawn_own(weights, prior, histories, own, PRIOR_DRAWS, seeds)
                prior = OwnPrior.fitted(own, weights.cell.n_gates, drawn)
        if not reached:
            warnings.warn(
                "the matrices of some users have not settled; raise max_iter or tol.", ConvergenceWarning, stacklevel=6
            )
        every = np.repeat(prior.mean[None], len(data.users), axis=0)
        every[some] = own
        weights = replace(weights, own=every[None])
        newcomer, converged = prior.mean[None, None], self.converged and reached
        return replace(self, posterior=weights, newcomer=newcomer, prior=prior, converged=converged)._standing()

    def _after(self, data: Histories) -> SequenceBelief:
        """Take account of further events: weights of members, own matrices (Laplace), users' states."""
        n_old = len(self.data.users)
        fresh = len(data.users) - n_old
        before = [*map(len, self.data.codes), *[0] * fresh]
        new = [history[n:] for history, n in zip(data.codes, before, strict=True)]
        some = np.flatnonzero([len(one) for one in new])
        own, heads = self._grown(fresh)
        log_weights = self.log_weights
        if self.prior is not None:
            histories = [data.codes[u] for u in some.tolist()]
            own = own.copy()
            own[0, some], _ = settled(self.posterior, self.prior, histories, own[0, some])
            heads[:, some] = states_after(self.posterior, own[:, some], histories)
        else:
            mine = own if self.posterior.pooled else own[:, some]
            logs, heads[:, some] = self._continued(mine, heads[:, some], [new[u] for u in some.tolist()])
            log_weights = log_weights + np.sum([one.sum(axis=1) for one in logs], axis=0)
            log_weights = log_weights - logsumexp(log_weights)
        return replace(
            self, data=data, posterior=replace(self.posterior, own=own), log_weights=log_weights, heads=heads
        )

    def _grown(self, fresh: int) -> tuple[np.ndarray, np.ndarray]:
        """Own matrices and a copy of the heads, with those of so many newcomers behind."""
        own = self.posterior.own
        start = states_after(self.posterior, self.newcomer, [NOTHING])
        heads = np.concatenate([self.heads, np.repeat(start, fresh, axis=1)], axis=1)
        if fresh and not self.posterior.pooled:
            own = np.concatenate([own, np.repeat(self.newcomer, fresh, axis=1)], axis=1)
        return own, heads

    def _continued(
        self, own: np.ndarray, heads: np.ndarray, events: Sequence[np.ndarray]
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Return log probabilities (k, n_b) of events that follow the heads (k, B, D), and the heads after them."""
        first = np.array([one[0] for one in events], dtype=np.int64)
        begun = log_probabilities(self.posterior.outputs, np.ascontiguousarray(heads), first)
        rest, after = scored(self.posterior, own, [one[1:] for one in events], start=heads, latest=first)
        return [np.column_stack([begun[:, b], more]) for b, more in enumerate(rest)], after

    # -- users ---------------------------------------------------------------------------------------------------------

    def _beside(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Own matrices and heads of users at these positions; beyond those that are known stand newcomers."""
        known = places < len(self.data.users)
        at = np.where(known, places, 0)
        start = states_after(self.posterior, self.newcomer, [NOTHING])
        heads = np.repeat(start, len(places), axis=1)
        heads[:, known] = self.heads[:, places[known]]
        if self.posterior.pooled:
            return self.posterior.own, heads
        own = np.where(known[:, None, None], self.posterior.own[:, at], self.newcomer)
        return own, heads

    def _drawn(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Draws (k, B, G D, D) of own matrices of different users, and their heads (k, B, D)."""
        assert self.prior is not None
        own, _ = self._beside(places)
        histories = [self.data.codes[u] if u < len(self.data.codes) else NOTHING for u in places.tolist()]
        seeds = [(self.seed, u) for u in places.tolist()]
        drawn = drawn_own(self.posterior, self.prior, histories, own[0], self.settings.n_draws, seeds)
        return drawn, states_after(self.posterior, drawn, histories)

    def _voices(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Own matrices, heads and log weights (k,) of what is averaged over, at positions of different users."""
        if self.prior is None:
            return (*self._beside(places), self.log_weights)
        n = self.settings.n_draws
        return (*self._drawn(places), np.full(n, -np.log(n)))

    def _groups(self, n: int) -> Iterator[slice]:
        """So many users, as many at a time as have draws of own matrices that fit into a table of ``TABLE`` numbers."""
        each = self.settings.n_draws * self.newcomer[0, 0].size
        step = max(1, n if self.prior is None else TABLE // each)
        for begin in range(0, max(n, 1), step):
            yield slice(begin, begin + step)

    def log_predictive(
        self, users: np.ndarray, events: Sequence[np.ndarray], *, anew: bool = False
    ) -> list[np.ndarray]:
        """Return natural-log probabilities (n_b,) of users' further events, each given those before it.

        ``anew``: of whole histories that begin with these events, by what is known of the users.
        """
        places, _ = located(users, self.data.users)
        found: list[np.ndarray] = []
        for part in self._groups(len(places)):
            found += self._log_predictive(places[part], events[part], anew)
        return found

    def _log_predictive(self, places: np.ndarray, events: Sequence[np.ndarray], anew: bool) -> list[np.ndarray]:
        own, heads, log_weights = self._voices(places)
        if anew:
            logs, _ = scored(self.posterior, own, events)
        else:
            some = [b for b, one in enumerate(events) if len(one)]
            logs = [np.zeros((len(log_weights), 0))] * len(events)
            mine = own if self.posterior.pooled else own[:, some]
            found = self._continued(mine, heads[:, some], [events[b] for b in some])[0] if some else []
            for b, one in zip(some, found, strict=True):
                logs[b] = one
        # the mixture's log p(y_1 .. y_t), whose differences are what is asked for
        joint = [logsumexp(log_weights[:, None] + np.cumsum(one, axis=1), axis=0) for one in logs]
        return [np.diff(one, prepend=0.0) for one in joint]

    def predictive(
        self, candidates: np.ndarray, *, target: np.ndarray | None = None, random_state: RandomState = None
    ) -> NextItems:
        """Predictive of users' next items."""
        n, every = len(candidates), candidates if target is None else np.concatenate([candidates, target])
        if target is not None and not len(target):
            raise ValueError("target must hold at least one user, got none.")
        places, _ = located(every, self.data.users)
        different, column = np.unique(places, return_inverse=True)
        voices = [self._voices(different[part])[1:] for part in self._groups(len(different))]
        heads = np.concatenate([heads for heads, _ in voices], axis=1)
        weights = np.repeat(softmax(voices[0][1])[:, None], len(every), axis=1)
        who = None if self.prior is None else places

        def part(rows: slice, about: NextItems | None) -> NextItems:
            return NextItems(
                self.posterior.outputs, heads[:, column[rows]], weights[:, rows], self.data.items,
                who=None if who is None else who[rows], target=about, random_state=random_state,
            )  # fmt: skip

        return part(slice(0, n), None if target is None else part(slice(n, None), None))

    @classmethod
    def prior_predictive(
        cls, settings: SequenceSettings, candidates: np.ndarray, *, target: np.ndarray | None = None,
        random_state: RandomState = None,
    ) -> NextItems | Undecided:  # fmt: skip
        """Predictive before any fit, by the net as it is drawn; without ``items`` nothing can be said.

        With "laplace", own matrices have the prior that training begins with: entries N(0, 1/D).
        """
        items = settings.catalogue
        if not len(items):
            return Undecided(len(candidates))
        seed = settings.random_state if isinstance(settings.random_state, int) else 0
        weights = settings.drawn(len(items), 1, np.random.default_rng(seed)).exact()
        data = Histories(NOTHING, items, ())
        log_weights = np.full(weights.n_members, -np.log(weights.n_members))
        heads = np.zeros((weights.n_members, 0, weights.n_components))
        prior, newcomer = None, weights.own
        if settings.uncertainty == "laplace":
            newcomer = np.zeros_like(weights.own)
            n_gates, d = weights.cell.n_gates, settings.n_components
            prior = OwnPrior.alike(newcomer[0, 0], np.full(n_gates, 1.0 / d))
        belief = cls(settings, data, weights, newcomer, prior, log_weights, heads, np.zeros(0), True, seed, 0)
        return belief.predictive(candidates, target=target, random_state=random_state)

    # -- inference -----------------------------------------------------------------------------------------------------

    log_evidence = float("nan")
    evidence_kind = "none"

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        prior = None if self.prior is None else {name: getattr(self.prior, name) for name in OwnPrior.__annotations__}
        return {
            "weights": self.posterior.state(), "newcomer": self.newcomer, "prior": prior,
            "log_weights": self.log_weights, "heads": self.heads, "trace": self.trace, "converged": self.converged,
            "seed": self.seed, "trained_events": self.trained_events,
        }  # fmt: skip

    @classmethod
    def from_state(cls, settings: SequenceSettings, data: Histories, state: State) -> SequenceBelief:
        """The belief that ``state`` described."""
        prior = state["prior"]
        if prior is not None:
            prior = OwnPrior(**{name: np.asarray(prior[name]) for name in OwnPrior.__annotations__})
        newcomer, log_weights, heads, trace = (
            np.asarray(state[name], dtype=float) for name in ("newcomer", "log_weights", "heads", "trace")
        )
        return cls(
            settings, data, Weights.from_state(state["weights"]), newcomer, prior, log_weights, heads, trace,
            bool(state["converged"]), int(state["seed"]), int(state["trained_events"]),
        )  # fmt: skip


def _chosen(
    settings: SequenceSettings, data: Histories, rng: np.random.Generator,
    callback: Callable[[Training], None] | None, resume: State | None,
) -> Training:  # fmt: skip
    """The net trained; of one memory for each user and one for all, by "auto", what tells held-out events better.

    Both are what they would be alone, to the bit. Where no history is long enough for events to be held out, nothing
    says that users differ.
    """
    kinds: tuple[bool, ...] = (settings.shares_memory,)
    if settings.pooled == "auto" and settings.uncertainty != "laplace":
        kinds = (False, True) if settings.plan.holds_out(data.codes) else (True,)
    found = []
    for pooled in kinds:
        own = copy.deepcopy(rng)
        weights = replace(settings, pooled=pooled).drawn(len(data.items), len(data.users), own)
        training = Training.begun(weights, own)
        if resume is not None and (len(kinds) == 1 or bool(resume["weights"]["pooled"]) == pooled):
            training = _resumed(resume, training)
        for _ in training.epochs(data.codes, settings.plan):
            if callback is not None:
                callback(training)
        found.append(training)
    return min(found, key=lambda training: float(training.errors.mean()))


def _say_counting(training: Training, data: Histories, settings: SequenceSettings) -> None:
    """Warn where counting pairs of events tells held-out events no worse than the net."""
    if not settings.plan.holds_out(data.codes):
        return
    n_seen = settings.plan.trained_on(np.array([len(history) for history in data.codes], dtype=np.int64))
    counted, ours = ngrams.held_out_error(2, data.codes, n_seen, len(data.items)), float(training.errors.mean())
    if counted <= ours:
        warnings.warn(
            f"counting which item follows which predicts held-out events no worse than the net ({counted:.3f} and "
            f"{ours:.3f} nats an event): longer histories, more users or fewer items are needed for a net to pay.",
            UserWarning,
            stacklevel=6,
        )


def _resumed(state: State, fresh: Training) -> Training:
    training = Training.from_state(state)
    for name in ("inputs", "outputs", "own"):
        given, wanted = getattr(training.weights, name).shape, getattr(fresh.weights, name).shape
        if given != wanted:
            raise ValueError(
                f"resume must be the state of a training on these sequences with these parameters: its {name} have "
                f"shape {given}, expected {wanted}."
            )
    return training
