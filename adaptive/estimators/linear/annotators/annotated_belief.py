"""Belief about rows whose labels come from people who may be wrong, each in a way of their own.

    z_i | s_i ~ link(s_i),   s_i = x_i . w + b            the true label of row i, one for all who look at it
    y_ia | z_i ~ R_a[z_i, .]                              what person a says of it
    L_i(z) = prod_a E R_a[z, y_ia]                        all that was said of a row: one site

Two factors are found in turn: the weights by the linear model's own inference, given L (two classes: sites
T_i(s) = sum_z L_i(z) sigma(z s) by expectation propagation; more: a softmax's bound with the true labels' probabilities
as targets), and the rates, given the expected counts N. The means in L are without the answer's own part of the counts,
as in expectation propagation: exp E ln R in their place, the form of variational Bayes, makes answers surer than they
are, and a design then believes whom it asks most (tests/estimators/linear/test_annotators.py has both beside brute
force). With C_a(N) = E_prior prod R_a^N, and r_j an answer's own counts,

    ln Z  =  ln Z_weights(L) + sum_a [ ln C_a(N_a) - sum_j ln C_a(N_a) / C_a(N_a - r_j) ].
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.belief import Inferred
from adaptive.estimators.linear.annotators.annotated_predictive import AnnotatedPredictive
from adaptive.estimators.linear.annotators.answers import Answers
from adaptive.estimators.linear.annotators.asked import doubts_of_people
from adaptive.estimators.linear.annotators.rates import Rates, Skill
from adaptive.estimators.linear.binary_belief import BinaryBelief
from adaptive.estimators.linear.integrated_belief import IntegratedBelief
from adaptive.estimators.linear.softmax_belief import SoftmaxBelief
from adaptive.estimators.rows.labels import LINKS
from adaptive.estimators.rows.leave_one_out import cavities
from adaptive.estimators.rows.training import LabelledRows, labels_of
from adaptive.estimators.searches import due
from adaptive.potentials.softmax import contrasts
from adaptive.predictive import Predictive

if TYPE_CHECKING:
    from adaptive.estimators.linear.annotators.asked import AskedRows
    from adaptive.estimators.linear.settings import LogisticSettings
    from adaptive.types import Matrix, RandomState, State

__all__ = ["AnnotatedBelief"]

Part = BinaryBelief | SoftmaxBelief | IntegratedBelief
MOST_ROUNDS = 60
SETTLED = 2e-3  # change of a true label's probability at which the two factors agree
_NUMBERS = 1024  # draws times classes; no fewer than 96 draws


@dataclass(frozen=True, eq=False)
class AnnotatedBelief(Inferred):
    """Weights and rates, independent a posteriori.

    Attributes
    ----------
    settings : LogisticSettings
    data : Answers
    part : belief about the weights
        Of the different rows, given ``said``.
    said : (n, c) array
        Log likelihoods of the true labels by all that was said of each row, which the weights were found with.
    rates : Rates
    truth : (n, c) array
        Probabilities of the true labels of the rows that somebody has answered.
    trace : (rounds,) array
        Negative log evidence, approximately, by round.
    settled : bool
        Whether the two factors agree.
    learnt_rows : int
        How many answers there were when they last were found from the start.
    """

    settings: LogisticSettings
    data: Answers
    part: Part
    said: np.ndarray
    rates: Rates
    truth: np.ndarray
    trace: np.ndarray
    settled: bool
    learnt_rows: int

    # -- learning ------------------------------------------------------------------------------------------------------

    @classmethod
    def learnt(cls, settings: LogisticSettings, data: Answers, earlier: object = None) -> AnnotatedBelief:
        """Find the two factors in turn, from those there were; where a quarter more answers came, from the prior."""
        before = earlier if isinstance(earlier, AnnotatedBelief) and earlier.data.n_classes == data.n_classes else None
        if before is not None and due(len(data), before.learnt_rows, None, ()):
            before = None
        known, c = settings.known_skills, data.n_classes
        counts, truth = np.zeros((len(data.people), c, c)), np.zeros((len(data.ids), c))
        part: Part | None = None
        if before is not None:
            counts[: len(before.rates.people)], part = before.rates.counts, before.part
            truth[: len(before.truth)] = before.truth
        own = truth[data.rows]
        own[0 if before is None else len(before.data) :] = 0.0  # of the new answers, which are in no counts yet
        rates, settled = Rates(data.people, counts, known), False
        trace: list[float] = []
        while not settled and len(trace) < MOST_ROUNDS:
            heard, added = rates.heard(data.who, data.codes, own)
            said, last = data.by_row(heard), truth
            part, offset = _part(settings, data, said, part)
            truth = _truth(part, said)
            trace.append(-(part.log_evidence + offset + rates.log_evidence - added))
            rates, own = Rates(data.people, data.counts(truth), known), truth[data.rows]
            settled = bool(np.abs(truth - last).max() <= SETTLED)
        assert part is not None
        if not settled:
            warnings.warn(
                f"weights and people's rates still change each other after {MOST_ROUNDS} rounds.",
                ConvergenceWarning,
                stacklevel=4,
            )
        learnt_rows = len(data) if before is None else before.learnt_rows
        return cls(settings, data, part, said, rates, truth, np.array(trace), settled, learnt_rows)

    # -- what is said of the inference ---------------------------------------------------------------------------------

    @property
    def posterior(self) -> Any:
        """Posterior over the weights."""
        return self.part.posterior

    @property
    def log_evidence(self) -> float:
        """Log evidence of all answers, by the last round."""
        return -float(self.trace[-1])

    @property
    def evidence_kind(self) -> str:
        """An approximation: the rates' part is one."""
        return "approximation"

    @property
    def objective_trace(self) -> np.ndarray:
        """One value per round."""
        return self.trace

    @property
    def n_iter(self) -> int:
        """Rounds."""
        return len(self.trace)

    @property
    def converged(self) -> bool:
        """True where the two factors agree, and the weights' inference has converged."""
        return self.settled and self.part.converged

    @property
    def prior_scale(self) -> float:
        """Prior scale of the weights."""
        return self.part.prior_scale

    @cached_property
    def skills(self) -> dict[Any, Skill]:
        """Skills of everybody who has answered, by person."""
        return {person: self.rates.skill(k) for k, person in enumerate(self.data.people)}

    @property
    def doubts(self) -> dict[str, str]:
        """Sentences about what rests on the prior alone, by their kind."""
        means = np.trace(self.rates.mean, axis1=1, axis2=2) / self.data.n_classes
        labels = np.bincount(self.data.who, minlength=len(self.data.people))
        known = self.settings.known_skills
        return doubts_of_people(self.data.people, means, labels, known, len(self.data.classes) == 2)

    # -- belief --------------------------------------------------------------------------------------------------------

    @classmethod
    def prior_predictive(
        cls,
        settings: LogisticSettings,
        asked: AskedRows,
        *,
        target: Matrix | None = None,
        random_state: RandomState = None,
    ) -> Predictive:
        """The predictive of the prior; outcomes are -1 and +1 where no classes are known."""
        labels = labels_of(settings.classes)
        of_rows = IntegratedBelief.prior_predictive(settings, asked.X, target=target, random_state=random_state)
        c = 2 if labels is None else len(labels)
        nobody = Rates([], np.zeros((0, c, c)), settings.known_skills)
        outcomes = np.array([-1.0, 1.0]) if labels is None else labels
        return _predictive(of_rows, asked, nobody, np.zeros((len(asked.ids), c)), outcomes, settings)

    def predictive(
        self, asked: AskedRows, *, target: Matrix | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Answers of people about rows, with everybody's rates integrated out."""
        of_rows = self.part.predictive(asked.X, target=target, random_state=random_state)
        said = np.zeros((len(asked.ids), self.data.n_classes))
        _, mine, theirs = np.intersect1d(asked.ids, self.data.ids, assume_unique=True, return_indices=True)
        said[mine] = self.said[theirs]
        labels = self.data.classes if len(self.data.classes) > 1 else np.array([-1.0, 1.0])
        return _predictive(of_rows, asked, self.rates, said, labels, self.settings)

    def probabilities(self, rows: Matrix) -> np.ndarray:
        """(m, c) probabilities of the true labels of rows that nobody was asked about."""
        if len(self.data.classes) == 1:
            return np.ones((rows.shape[0], 1))
        return self.part.probabilities(rows)

    def winners(self, rows: Matrix) -> np.ndarray:
        """(m,) codes of the most probable true label."""
        return np.argmax(self.probabilities(rows), axis=1)

    def coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """Posterior means of weights and intercepts."""
        return self.part.coefficients()

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        kind = next(name for name, one in _KINDS.items() if isinstance(self.part, one))
        return {
            "kind": kind,
            "part": self.part.state(),
            "said": self.said,
            "counts": self.rates.counts,
            "truth": self.truth,
            "trace": self.trace,
            "settled": self.settled,
            "learnt_rows": self.learnt_rows,
        }

    @classmethod
    def from_state(cls, settings: LogisticSettings, data: Answers, state: State) -> AnnotatedBelief:
        """The belief that ``state`` described."""
        said = np.asarray(state["said"], dtype=float)
        rows = _rows(data, said)[0]
        part = _KINDS[state["kind"]].from_state(_plain(settings), rows, state["part"])
        return cls(
            settings,
            data,
            part,
            said,
            Rates(data.people, np.asarray(state["counts"], dtype=float), settings.known_skills),
            np.asarray(state["truth"], dtype=float),
            np.asarray(state["trace"], dtype=float),
            bool(state["settled"]),
            int(state["learnt_rows"]),
        )


_KINDS: dict[str, Any] = {"binary": BinaryBelief, "softmax": SoftmaxBelief, "integrated": IntegratedBelief}


def _plain(settings: LogisticSettings) -> LogisticSettings:
    """The settings of a belief about the weights: refitted, since what was said of earlier rows changes, too."""
    return replace(settings, update="refit", classes=None)


def _rows(data: Answers, said: np.ndarray) -> tuple[LabelledRows, float]:
    """The different rows with what was said of them, and the log likelihoods that were divided out."""
    largest = said.max(axis=1)
    classes = np.arange(data.n_classes)
    rows = LabelledRows(data.X, np.argmax(said, axis=1), classes, None, said - largest[:, None])
    return rows, float(largest.sum())


def _part(settings: LogisticSettings, data: Answers, said: np.ndarray, earlier: Part | None) -> tuple[Part, float]:
    """The belief about the weights, and what is to be added to its log evidence."""
    rows, offset = _rows(data, said)
    plain = _plain(settings)
    kind: Any = BinaryBelief if data.n_classes == 2 else SoftmaxBelief
    if plain.integrates:
        kind = IntegratedBelief
    return kind.learnt(plain, rows, earlier), offset


def _truth(part: Part, said: np.ndarray) -> np.ndarray:
    """(n, c) probabilities of the true labels of the rows of ``part``."""
    if isinstance(part, IntegratedBelief):
        return np.einsum("k,knc->nc", part.weights, np.stack([_truth(one, said) for one in part.beliefs]))
    if isinstance(part, BinaryBelief):
        moments = cavities(part.posterior, part.data.features(bool(part.settings.fit_intercept)))
        table = part.family.outcome_probabilities(*moments)[1]
        logs = said + np.log(np.maximum(table, np.finfo(float).tiny))
    else:
        logs = said + part.posterior.of_rows[0] @ contrasts(said.shape[1]).T
    return softmax(logs, axis=1)


def _predictive(
    of_rows: Predictive,
    asked: AskedRows,
    rates: Rates,
    said: np.ndarray,
    outcomes: np.ndarray,
    settings: LogisticSettings,
) -> AnnotatedPredictive:
    """Predictive of what people say of rows, by what is believed about the rows and everybody's rates."""
    n = int(np.clip(_NUMBERS // len(outcomes), 96, 512))
    link = LINKS[settings.link]()
    return AnnotatedPredictive(of_rows, said, rates.of(asked.people), asked.rows, asked.who, outcomes, link, n)
