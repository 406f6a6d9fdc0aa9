"""Results of a comparison of scorers: learning curves over several seeds, and paired differences to one of them.

difference at n   = mean over seeds of  value(scorer, seed, n) - value(reference, seed, n)
interval          = mean +- t(k - 1) * standard error,   k seeds; of a single seed it is without bounds (infinite)
area              = mean height of a curve (trapezoids), so that it is in the units of the metric
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import integrate, stats

from adaptive import checks
from adaptive.loop.columns import columns_of, to_frame

__all__ = ["Comparison", "interval"]


def interval(values: np.ndarray, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean over the first axis and its confidence limits (Student's t), infinite for a single value.

    Examples
    --------
    >>> [float(round(limit, 2)) for limit in interval(np.array([0.8, 0.9, 1.0]))]
    [0.9, 0.65, 1.15]
    """
    checks.share("confidence", confidence)
    k, mean = len(values), values.mean(axis=0)
    if k == 1:
        return mean, np.full_like(mean, -np.inf), np.full_like(mean, np.inf)
    half = stats.t.ppf(0.5 + confidence / 2, k - 1) * values.std(axis=0, ddof=1) / np.sqrt(k)
    return mean, mean - half, mean + half


@dataclass(frozen=True, eq=False)
class Comparison:
    """Learning curves of several scorers from the same splits and initial questions.

    Attributes
    ----------
    metric : str
    seeds : list of int
    scorers : list of str, "random" among them
    n_labelled : (p,) array of int
        After how many answers the metric was measured.
    values : dict scorer -> (n_seeds, p) array of float
    questions : dict of lists
        Columns seed, scorer, step, position, label, outcome, score, one entry per answer; positions are those in ``X``.
    reference : str
        The scorer that differences are taken to, unless another is named.
    missing : list of int
        Seeds whose runs were lost when a worker process died.

    Examples
    --------
    >>> from adaptive import BayesianLogisticRegression, compare_with_random
    >>> from adaptive.datasets import digits_pair
    >>> X, y = digits_pair(3, 5)
    >>> model = BayesianLogisticRegression(hyperparameters="mode")
    >>> found = compare_with_random(model, X[:80], y[:80], scorers="margin", n_queries=3, seeds=2)
    >>> found.scorers, found.values["margin"].shape
    (['margin', 'random'], (2, 3))
    """

    metric: str
    seeds: list[int]
    scorers: list[str]
    n_labelled: np.ndarray
    values: dict[str, np.ndarray] = field(repr=False)
    questions: dict[str, list[Any]] = field(repr=False)
    reference: str = "random"
    missing: list[int] = field(default_factory=list)

    @property
    def columns(self) -> dict[str, list[Any]]:
        """Everything measured: columns seed, scorer, n_labelled, value."""
        rows = [
            (seed, scorer, int(n), float(value))
            for scorer in self.scorers
            for seed, curve in zip(self.seeds, self.values[scorer], strict=True)
            for n, value in zip(self.n_labelled, curve, strict=True)
        ]
        return columns_of(("seed", "scorer", "n_labelled", "value"), rows)

    def curve(self, confidence: float = 0.95) -> dict[str, list[Any]]:
        """Return the columns scorer, n_labelled, mean, lower, upper."""
        return self._summary(self.values, confidence)

    def differences(self, confidence: float = 0.95, *, reference: str | None = None) -> dict[str, list[Any]]:
        """Return the paired differences to the reference: columns scorer, n_labelled, mean, lower, upper.

        Parameters
        ----------
        confidence : float, default 0.95
        reference : str, optional
            Another scorer of this comparison, in the place of the one that it was made with.
        """
        base = self.values[self._reference(reference)]
        paired = {name: values - base for name, values in self.values.items() if values is not base}
        return self._summary(paired, confidence)

    def area(self, confidence: float = 0.95, *, reference: str | None = None) -> dict[str, list[Any]]:
        """Return the area under each curve and its paired difference to that of the reference.

        Parameters
        ----------
        confidence, reference
            As for ``differences``.

        Returns
        -------
        dict of lists
            Columns scorer, mean, lower, upper, difference, difference_lower, difference_upper.
        """
        base = self._reference(reference)
        areas = {name: _area(self.n_labelled, self.values[name]) for name in self.scorers}
        rows = []
        for name, area in areas.items():
            paired = (0.0, 0.0, 0.0) if name == base else interval(area - areas[base], confidence)
            rows.append((name, *map(float, interval(area, confidence)), *map(float, paired)))
        names = ("scorer", "mean", "lower", "upper", "difference", "difference_lower", "difference_upper")
        return columns_of(names, rows)

    def _reference(self, name: str | None) -> str:
        return self.reference if name is None else checks.choice("reference", name, self.scorers)

    def to_frame(self) -> Any:
        """Return ``columns`` as a pandas DataFrame."""
        return to_frame(self.columns)

    def __str__(self) -> str:
        area = self.area()
        lost = f" ({len(self.missing)} missing: {self.missing})" if self.missing else ""
        lines = [
            f"{self.metric}: area under the curve, paired difference to {self.reference} (95%), {len(self.seeds)} seeds"
            f"{lost}"
        ]
        for scorer, mean, paired, low, high in zip(
            *(area[name] for name in ("scorer", "mean", "difference", "difference_lower", "difference_upper")),
            strict=True,
        ):
            difference = "" if scorer == self.reference else f"  {paired:+.4f}  [{low:+.4f}, {high:+.4f}]"
            lines.append(f"  {scorer:<30} {mean:.4f}{difference}")
        return "\n".join(lines)

    def _summary(self, values: dict[str, np.ndarray], confidence: float) -> dict[str, list[Any]]:
        rows = []
        for scorer, curves in values.items():
            mean, lower, upper = interval(curves, confidence)
            for k, n in enumerate(self.n_labelled):
                rows.append((scorer, int(n), float(mean[k]), float(lower[k]), float(upper[k])))
        return columns_of(("scorer", "n_labelled", "mean", "lower", "upper"), rows)


def _area(n_labelled: np.ndarray, curves: np.ndarray) -> np.ndarray:
    if len(n_labelled) == 1:
        return curves[:, 0]
    return integrate.trapezoid(curves, n_labelled, axis=1) / (n_labelled[-1] - n_labelled[0])
