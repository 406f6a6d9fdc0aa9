"""Control variates: what is random in an estimate is taken off by something alike whose expectation is known.

With u = A^-1 g a perturb-and-MAP sample, E g g^T = A, and a circulant M close to A,

    E (C A^-1 g)(C M^-1 g)^T = C M^-1 C^T,        E v * (C M^-1 C^T v) = diag(C M^-1 C^T)   (v random signs),

whose diagonal m has a closed form where the rows of C are shifts of a few filters. So

    mean of s^2 - c (s s' - m),    s = C u, s' = C M^-1 g,    c = 2 z m / (z var(s') + m^2)

estimates z = E s^2; this c is the best one for Gaussian samples, and close to z / m. It is computed for every sample
from the other samples, which leaves the estimate unbiased whatever c is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.linalg.circulant import Circulant
from adaptive.operators import FourierLines, FourierMask, Operator, RealStacked

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["circulant_variances", "controlled_variance", "regressed"]


def circulant_variances(inverse: Circulant, groups: Sequence[Operator]) -> np.ndarray:
    """diag(C M^-1 C^T) in closed form, group after group; nan where rows are neither shifts nor frequencies.

    Parameters
    ----------
    inverse : Circulant
        M^-1.
    groups : list of Operator
        The rows C: shifts of a few filters (operators that know their ``bands``), or Fourier samples of real images.

    Returns
    -------
    ndarray (q,)
        One for each row.

    References
    ----------
    Chan (1988), An optimal circulant preconditioner for Toeplitz systems, for M; the closed form is ours.

    Examples
    --------
    >>> from adaptive.operators import FiniteDifference
    >>> twice = Circulant(np.full((4, 4), 2.0))
    >>> circulant_variances(twice, [FiniteDifference((4, 4))])[:3].round(12)
    array([4., 4., 4.])
    """
    parts = []
    for group in groups:
        if isinstance(group, (FourierLines, FourierMask)) and not inverse.stacked:
            parts.append(_at_frequencies(inverse.spectrum(), group))
            continue
        inner = group.operator if isinstance(group, RealStacked) else group
        bands = inner.bands()
        out = np.full((2 if inverse.stacked else 1, *inner.output_shape), np.nan)
        if bands is not None and inverse.input_shape == group.input_shape:
            for part, block in enumerate(out):
                for index, power in bands:
                    block[index] = inverse.quadratic_form(power, part)
        parts.append(
            out.reshape(-1) if len(out) * inner.shape[0] == group.shape[0] else np.full(group.shape[0], np.nan)
        )
    return np.concatenate(parts)


def _at_frequencies(spectrum: np.ndarray, group: FourierLines | FourierMask) -> np.ndarray:
    if isinstance(group, FourierMask):
        return spectrum[group.mask]
    return np.moveaxis(spectrum, group.axis, 0)[group.lines].ravel()


def controlled_variance(
    s: np.ndarray, control: np.ndarray | None = None, known: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Unbiased variances of zero-mean samples, helped by correlated samples whose covariance with them is known.

    Parameters
    ----------
    s : array (N, q), real or complex
        Samples; E |s|^2 is wanted.
    control : array (N, q), optional
        Samples with E Re(s conj(control)) = ``known``.
    known : array (q,), optional
        That expectation; nan where it is not known and the plain mean is taken.

    Returns
    -------
    estimate, standard_error : array (q,)
        The estimate may be negative.

    Raises
    ------
    ValueError
        If there are fewer than two samples.

    References
    ----------
    Owen (2013), Monte Carlo theory, methods and examples, chapter 8, for control variates.

    Examples
    --------
    >>> s = np.random.default_rng(0).standard_normal((8, 5))
    >>> controlled_variance(s, 2 * s, np.full(5, 2.0))[0].round(9)
    array([1., 1., 1., 1., 1.])
    """
    from adaptive.linalg.compiled import controlled, plain

    if len(s) < 2:
        raise ValueError(f"variances need two samples or more, got {len(s)}.")
    if control is None:
        return plain(_real_parts(s))
    known = np.asarray(known)
    trusted = np.isfinite(known)
    s = _real_parts(s)
    return controlled(
        s,
        _real_parts(control).astype(s.dtype, copy=False),
        np.where(trusted, known, 0).astype(s.dtype),
        trusted.astype(s.dtype),
    )


def _real_parts(s: np.ndarray) -> np.ndarray:
    """(N, q) as real numbers of shape (N, parts, q)."""
    s = np.asarray(s)
    if s.dtype.kind == "c":
        return np.stack([s.real, s.imag], axis=1)
    return np.ascontiguousarray(s if s.dtype.char in "fd" else s.astype(float))[:, None]


def regressed(values: np.ndarray, control: np.ndarray) -> np.ndarray:
    """values - c control, E control = 0, with c of each row regressed on the other rows and drawn a little towards 1.

    Parameters
    ----------
    values, control : array (N, q)
        N independent probes, at least 3.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((4, 2))
    >>> regressed(5.0 + noise, noise).round(9)[0]
    array([5., 5.])
    """
    others = len(values) - 1
    a, b, ab, bb = (t.sum(axis=0) - t for t in (values, control, values * control, control**2))
    covariance, variance = ab - a * b / others, bb - b * b / others
    ridge = 0.2 * variance.mean()
    return values - (covariance + ridge) / np.maximum(variance + ridge, np.finfo(float).tiny) * control
