"""Was this answer to be expected? How surprising each one was under what was believed before it was learnt.

    p_t       P(an outcome at least as far out as y_t | answers before it),   uniform on (0, 1) while the model is right
    overall   min(1, 2 / max_t M_t, 2 min_t t (t + 1) p_t),      M_t = int_0^1 prod_(s <= t) k p_s^(k-1) dk

M is a martingale while the model is right, so that the overall probability may be looked at after every answer: it
ever falls below a in at most a share a of the runs (Ville). Its first part sees many answers a little too far out, its
second a single one far out. A model that lacks something does not know: its posterior becomes narrow all the same. The
answers do.
"""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammainc, gammaln

from adaptive import checks
from adaptive import pool as pools
from adaptive.loop.seeds import Purpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.types import ArrayLike, Estimator, Outcomes, Pool

__all__ = ["PredictiveCheck", "UnlikelyAnswerWarning", "overall_probability", "tail_probabilities"]

COLUMNS = ("step", "position", "outcome", "probability", "overall")


class UnlikelyAnswerWarning(UserWarning):
    """An answer that the model gave almost no probability: a slip of the hand, or a model that lacks something."""


class PredictiveCheck:
    """Callback that looks at every answer with the eyes of the model before it learnt it, and warns of unlikely ones.

    Parameters
    ----------
    threshold : float in (0, 1), default 0.01
        Warn of the answers that alone bring the overall probability below it, and once when all together have. Of a
        right model at most this share of runs is ever warned of, however long they are.

    Attributes
    ----------
    history_ : dict of lists
        Columns step, position, outcome, probability (of an outcome at least as surprising) and overall (all answers so
        far together), one entry per answer. Answers told in one go are judged each before any of them was learnt.

    Notes
    -----
    For estimators whose predictive has `tail_probability`: discrete outcomes, Gaussian ones, particles, simulators. A
    design that was loaded is watched from its first new question on; `diagnostics.predictive_check` looks at all of it.

    Raises
    ------
    ValueError
        If ``threshold`` is not between 0 and 1.

    References
    ----------
    A. P. Dawid (1984), Statistical theory: the prequential approach.  V. Vovk, A. Gammerman, G. Shafer (2005),
    Algorithmic learning in a random world, section 7.1, for the mixture of power martingales.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from adaptive import GaussianProcessRegressor, SequentialDesign
    >>> check = PredictiveCheck()
    >>> smooth = GaussianProcessRegressor(RBF(10.0), alpha=0.01, optimizer=None)
    >>> X = np.linspace(0, 1, 11)[:, None]
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     design = SequentialDesign(smooth, X, lambda q: 9.0 * (q.candidates[:, 0] > 0.5), callbacks=[check]).run(3)
    >>> said[0].category.__name__, check.history_["overall"][-1] < 1e-6
    ('UnlikelyAnswerWarning', True)
    """

    def __init__(self, threshold: float = 0.01) -> None:
        checks.share("threshold", threshold)
        self.threshold = float(threshold)
        self.history_: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        self._before: Any = None  # the estimator as it was before the last answer
        self._candidates: dict[int, Any] = {}

    def __call__(self, design: SequentialDesign, event: dict[str, Any]) -> None:
        """Take note of a question; judge an answer."""
        number = event.get("query")
        if event["event"] == "ask":
            pending = (q.candidates for q in design.pending if q.id == number)
            volunteered = event.get("volunteered", False)
            asked = pools.take(design.pool, np.asarray(event["positions"])) if volunteered else next(pending)
            self._candidates[event["query"]] = asked
        elif event["event"] == "tell" and number in self._candidates and self._before is not None:
            told = pools.take(self._candidates[event["query"]], np.asarray(event["rows"], dtype=np.intp))
            seed = design.seed(Purpose.PREDICTIVE_CHECK, design.iteration)
            self._judge(design, tail_probabilities(self._before, told, event["outcomes"], seed))
        # partial_fit replaces what was learnt, so that a copy of the shell stays what it is
        self._before = copy.copy(design.estimator_)

    def _judge(self, design: SequentialDesign, probabilities: Sequence[float]) -> None:
        history = design.history_
        begun = len(history["step"]) - len(probabilities)
        for row, p in enumerate(probabilities, start=begun):
            said = self.history_["probability"]
            before = self.history_["overall"][-1] if said else 1.0
            overall = overall_probability([*said, p])
            entry = history["step"][row], history["position"][row], history["outcome"][row], p, overall
            for name, value in zip(COLUMNS, entry, strict=True):
                self.history_[name].append(value)
            alone = 2.0 * p * len(said) * (len(said) + 1)
            if min(alone, 1.0) < self.threshold or overall < self.threshold <= before:
                what = f"answer {row + 1} (position {entry[1]}, outcome {entry[2]!r})"
                warnings.warn(
                    f"{what} had probability {p:.2g} under the model, all {len(said)} answers together {overall:.2g}: "
                    "somebody mistyped, or the model lacks something.",
                    UnlikelyAnswerWarning,
                    stacklevel=2,
                )


def tail_probabilities(estimator: Estimator, candidates: Pool, outcomes: Outcomes, seed: int) -> list[float]:
    """Return, for each candidate (n), how probable an outcome at least as surprising as its one was.

    Parameters
    ----------
    estimator : estimator with ``predictive``
    candidates : pool of length n
    outcomes : array or list of length n
    seed : int
        Of what the predictive draws.
    """
    predictive = estimator.predictive(candidates, random_state=seed)
    answers: Any = outcomes
    return [predictive.tail_probability(i, answers[i]) for i in range(len(predictive))]


def overall_probability(probabilities: ArrayLike) -> float:
    """Return how probable it is that answers, up to any time, were ever as surprising as these.

    Parameters
    ----------
    probabilities : (n,) array-like
        Of each answer, in their order, n >= 1.

    Examples
    --------
    >>> overall_probability([0.5, 0.4, 0.7]), overall_probability([0.5, 0.4, 1e-6]) < 1e-4
    (1.0, True)
    """
    p = np.maximum(np.asarray(probabilities, dtype=float), 1e-300)
    checks.shape("probabilities", p, (None,))
    n, far = np.arange(1, len(p) + 1), np.maximum(np.cumsum(-np.log(p)), 1e-12)
    # int_0^1 k^n e^((1 - k) S) dk  by the incomplete gamma function, S the sum of - log p
    log_martingale = far + gammaln(n + 1) + np.log(np.maximum(gammainc(n + 1, far), 1e-300)) - (n + 1) * np.log(far)
    return float(min(1.0, 2.0 * np.exp(-max(0.0, log_martingale.max())), 2.0 * np.min(n * (n + 1) * p)))
