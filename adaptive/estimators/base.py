"""Base of every estimator of the toolkit: ``select`` on top of ``predictive``.

An estimator of an application is a scikit-learn estimator with two more methods,

    predictive(candidates, *, target=None, random_state=None)    what it believes about candidates
    partial_fit(candidates, outcomes)                            what it learns from answers

``select`` follows from the first: predictive, scorer, cost, mask, argmax.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar

from adaptive import selection

if TYPE_CHECKING:
    from adaptive.predictive import Predictive
    from adaptive.types import Cost, Index, Mask, Options, Pool, RandomState, Scorer

__all__ = ["DesignMixin"]


class DesignMixin:
    """Adds ``select`` to a class that has ``predictive``.

    Examples
    --------
    >>> import numpy as np
    >>> from adaptive.potentials import Gaussian
    >>> from adaptive.predictive import GaussianProjections
    >>> class Known(DesignMixin):
    ...     def predictive(self, candidates, *, target=None, random_state=None):
    ...         V = np.diag([1.0, 4.0])
    ...         return GaussianProjections.from_rows(candidates, np.zeros(2), covariance=V, likelihood=Gaussian(1.0))
    >>> Known().select(np.eye(2))
    array([1])
    """

    #: What ``scorer="auto"`` is here, by name.
    default_scorer: ClassVar[str] = "information_gain"

    def predictive(self, candidates: Pool, *, target: Any = None, random_state: RandomState = None) -> Predictive:
        """Return what the estimator believes about ``candidates`` at its current posterior."""
        raise TypeError(f"{type(self).__name__} must define predictive(candidates, *, target=None, random_state=None).")

    def select(
        self,
        candidates: Pool,
        n_select: int = 1,
        *,
        scorer: Scorer = "auto",
        target: Any = None,
        cost: Cost = None,
        price: float | None = None,
        mask: Mask = None,
        exclude: Index = (),
        pending: Pool | None = None,
        joint: bool = True,
        chunk_size: int | None = None,
        random_state: RandomState = None,
        return_scores: bool = False,
        return_certificate: bool = False,
    ) -> Any:
        """Return the positions of the candidates that are most worth measuring next.

        The estimator is neither refitted nor changed; before any fit the prior answers.

        Parameters
        ----------
        candidates : pool of length m
            Array, sparse matrix, frame, list or lazy pool.
        n_select : int, default 1
            How many are chosen, together: each later one in the light of the earlier ones (``joint=True``).  Batches of
            Gaussian outcomes, chosen by information, end with exchanges of members for others that tell more together.
        scorer : str or callable, default "auto"
            A name in :mod:`adaptive.scorers`, or ``(predictive, random_state) -> (m,)`` where larger is better; "auto"
            is the estimator's ``default_scorer``.
        target : array-like or None
            Inputs that the information is to be about; None: the unknowns of the model; for
            `predictive_information_gain`, which is about given inputs, 256 candidates, evenly spaced.
        cost : (m,) array-like or callable(candidates) -> (m,), optional
            Positive costs; scores are divided by them.
        price : float, optional
            In units of the score (nats) for a unit of cost: scores less price times cost are compared, in place of
            their ratio, which may buy much that is cheap and tells little.
        mask : (m,) array-like of bool or callable(candidates) -> (m,), optional
            True where a candidate may be chosen.
        exclude : sequence of int
            Positions that may not be chosen (for pools too long for a mask).
        pending : pool, optional
            Candidates that were asked but not answered yet; the choice is conditioned on them.
        joint : bool, default True
            False takes the ``n_select`` highest single scores.
        chunk_size : int, optional
            How many candidates have their predictive in memory at once (None: 16384, of stored pools
            up to 131072 where bounds leave few); no result depends on it.
        random_state : None, int, Generator or RandomState
            Seed of scorers and predictives that draw.
        return_scores : bool, default False
            Also return the score of each choice at the moment of choice.
        return_certificate : bool, default False
            Also return how much more any set of as many candidates, or of the same cost, could tell: see
            `adaptive.certificate`.

        Returns
        -------
        positions : (n_select,) array of int
        scores : (n_select,) array of float
            Only if ``return_scores``.
        certificate : Certificate
            Only if ``return_certificate``.

        Raises
        ------
        ValueError
            If the scorer is unknown or asks for what this predictive does not provide, or if fewer than
            ``n_select`` candidates are allowed.
        """
        arguments = {
            "candidates": candidates,
            "n_select": n_select,
            "scorer": scorer,
            "target": target,
            "cost": cost,
            "price": price,
            "mask": mask,
            "exclude": exclude,
            "pending": pending,
            "joint": joint,
            "chunk_size": chunk_size,
            "random_state": random_state,
            "return_scores": return_scores,
            "return_certificate": return_certificate,
        }
        with self._threads(candidates):
            return selection.select(self, **self._prepared(arguments))

    def _threads(self, candidates: Pool) -> AbstractContextManager[Any]:
        """Context in which candidates are scored; an estimator that knows how large its matrices are overrides it."""
        return nullcontext()

    def _prepared(self, arguments: Options) -> Options:
        """Arguments that ``select`` passes on; an estimator that knows more about a pool overrides it."""
        return arguments
