"""What every estimator of the toolkit shares: ``select`` on top of ``predictive``, and a state without pickles.

An estimator of an application is a scikit-learn estimator with two more methods,

    predictive(candidates, *, target=None, random_state=None)    what it believes about candidates
    partial_fit(candidates, outcomes)                            what it learns from answers

``select`` follows from the first: predictive, scorer, cost, mask, argmax.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from adaptive import selection
from adaptive.predictive import Predictive

__all__ = ["DesignMixin", "feature_names", "unfitted_if_refused"]


class DesignMixin:
    """Adds ``select`` to a class that has ``predictive``."""

    def predictive(self, candidates: Any, *, target: Any = None, random_state: Any = None) -> Predictive:
        """Return what the estimator believes about ``candidates`` at its current posterior."""
        raise TypeError(f"{type(self).__name__} must define predictive(candidates, *, target=None, random_state=None).")

    def select(
        self,
        candidates: Any,
        n_select: int = 1,
        *,
        scorer: Any = "information_gain",
        target: Any = None,
        cost: Any = None,
        mask: Any = None,
        exclude: Any = (),
        pending: Any = None,
        joint: bool = True,
        random_state: Any = None,
        return_scores: bool = False,
    ) -> Any:
        """Return the positions of the candidates that are most worth measuring next.

        The estimator is neither refitted nor changed; before any fit the prior answers.

        Parameters
        ----------
        candidates : pool of length m
            Array, sparse matrix, frame, list or lazy pool.
        n_select : int, default 1
            How many are chosen, together: each later one in the light of the earlier ones (``joint=True``).
        scorer : str or callable, default "information_gain"
            A name in :mod:`adaptive.scorers`, or ``(predictive, random_state) -> (m,)`` where larger is better.
        target : array-like or None
            Inputs that the information is to be about; None: the unknowns of the model.
        cost : (m,) array-like or callable(candidates) -> (m,), optional
            Positive costs; scores are divided by them.
        mask : (m,) array-like of bool, optional
            True where a candidate may be chosen.
        exclude : sequence of int
            Positions that may not be chosen (for pools too long for a mask).
        pending : pool, optional
            Candidates that were asked but not answered yet; the choice is conditioned on them.
        joint : bool, default True
            False takes the ``n_select`` highest single scores.
        random_state : None, int, Generator or RandomState
            Seed of scorers and predictives that draw.
        return_scores : bool, default False
            Also return the score of each choice at the moment of choice.

        Returns
        -------
        positions : (n_select,) array of int
        scores : (n_select,) array of float
            Only if ``return_scores``.

        Raises
        ------
        ValueError
            If the scorer is unknown or asks for what this predictive does not provide, or if fewer than
            ``n_select`` candidates are allowed.
        """
        arguments = self._prepared(
            {
                "candidates": candidates,
                "n_select": n_select,
                "scorer": scorer,
                "target": target,
                "cost": cost,
                "mask": mask,
                "exclude": exclude,
                "pending": pending,
                "joint": joint,
                "random_state": random_state,
                "return_scores": return_scores,
            }
        )
        return selection.select(self, **arguments)

    def _prepared(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """What ``select`` passes on; an estimator that knows more about a pool overrides it."""
        return arguments


def feature_names(X: Any) -> np.ndarray | None:
    """Return the column names of a frame whose columns are all named by strings, else None."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = np.asarray(list(columns), dtype=object)
    return names if all(isinstance(name, str) for name in names) else None


@contextmanager
def unfitted_if_refused(estimator: Any) -> Iterator[None]:
    """Forget the columns that validation noted where a first ``partial_fit`` is refused: the next may have others."""
    try:
        yield
    except ValueError:
        for noted in ("n_features_in_", "feature_names_in_"):
            estimator.__dict__.pop(noted, None)
        raise
