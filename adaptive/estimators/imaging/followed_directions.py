"""Leading directions of a posterior that is updated, so that what is asked never changes what comes next.

A search for them is quick where it begins near them: with what the last search ended with, moved along as further
measurements came. Were every search to leave its end behind, a design that was resumed from its log, whose questions
are not asked again, would part from one that went on. So a search here leaves nothing; only when measurements come that
lie along the directions, the search that shows it (the one that was asked for, as a rule) is kept.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from adaptive.inference import Posterior
from adaptive.linalg.matrices import dense

__all__ = ["FollowedDirections"]

TOL = 1e-2  # residual of a direction, as a share of the largest variance
ALONG = 0.5  # share of the length of measured rows that lies along the directions, from where they are followed


class FollowedDirections:
    """Searches for the leading directions of one posterior, each made once.

    Parameters
    ----------
    posterior : Posterior
    followed : bool or None
        Whether the measurements so far lay along them; None: not known yet.
    """

    def __init__(self, posterior: Posterior, followed: bool | None = None):
        self.posterior, self.followed = posterior, followed
        self._found: dict[int, tuple[np.ndarray, Any]] = {}

    def leading(self, n: int) -> np.ndarray:
        """The ``n`` unit directions of largest variance, (n, unknowns)."""
        return self._search(n)[0]

    def _search(self, n: int) -> tuple[np.ndarray, Any]:
        if n not in self._found:
            form: Any = self.posterior.gaussian
            if not hasattr(form, "subspace"):
                self._found[n] = self.posterior.leading_directions(n, tol=TOL)[1], None
                return self._found[n]
            before = copy.deepcopy((form.subspace, form.work))
            try:
                directions = self.posterior.leading_directions(n, tol=TOL)[1]
                self._found[n] = directions, (form.subspace, form.work)
            finally:
                form.subspace, form.work = before
        return self._found[n]

    def before(self, rows: Any) -> bool | None:
        """Whether to follow on, now that ``rows`` (m, unknowns) are measured; if so the next search begins here."""
        form: Any = self.posterior.gaussian
        m, n = rows.shape
        if not hasattr(form, "subspace") or self.followed is False or n != self.posterior.n or m > n // 16:
            return self.followed
        rows = dense(rows)
        directions, end = self._search(m)
        if np.sum(np.abs(rows @ directions.T) ** 2) < ALONG * np.sum(np.abs(rows) ** 2):
            return False
        form.subspace, form.work = end
        return True

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_found": {}}
