"""All simple rules at all their settings: the best of them, tuned on other images, is what a chosen design must beat.

    rule            settings
    low_pass, one_sided_low_pass, equispaced                                      none
    variable_density, half_plane_variable_density, half_plane_quantiles           exponents

A design that beats one rule may lose to another at the next number of lines: variable density is poor at a quarter of
the lines and good at half of them, its half plane the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import generator
from designs.kspace.comparison import comparison_designs

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["simple_rules"]

EXPONENTS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
_FIXED = ("low_pass", "one_sided_low_pass", "equispaced")
_WITH_EXPONENT = ("variable_density", "half_plane_variable_density", "half_plane_quantiles")


def simple_rules(
    n: int,
    n_lines: int,
    n_central: int,
    *,
    exponents: Sequence[float] = EXPONENTS,
    n_draws: int = 10,
    random_state: RandomState = None,
) -> dict[str, list[np.ndarray]]:
    """Every simple rule at every setting, to find the best one with `adaptive.images.best_parameter`.

    Parameters
    ----------
    n, n_lines, n_central
        As in ``low_pass``.
    exponents : sequence of float > 0, default (1, 1.5, 2, 3, 4, 6, 8)
        What is tried for each rule that has one.
    n_draws : int, default 10
        Of each random rule at each setting.
    random_state : None, int or NumPy generator
        The draws of a rule are the same at any list of ``exponents`` that holds its own.

    Returns
    -------
    dict of str to list of arrays (n_lines,)
        By rule and setting, as in "half_plane_quantiles, exponent 2".

    Examples
    --------
    >>> from adaptive.images import best_parameter, head_scan, simulate_scan
    >>> from adaptive.operators import FourierLines
    >>> training = simulate_scan(head_scan()[12].image, snr=50, random_state=0)
    >>> rules = simple_rules(128, 40, 16, exponents=[2, 4], n_draws=1, random_state=0)
    >>> len(rules)
    9
    >>> def zero_filled(scan, lines):
    ...     block = FourierLines(scan.image.shape, lines)
    ...     return block.adjoint(scan.samples(block))
    >>> best_parameter(rules, rules.__getitem__, training, zero_filled)[0]  # of linear reconstructions
    'low_pass'
    """
    drawn: dict[str, list[np.ndarray]] = {}
    start = int(generator(random_state).integers(2**32))
    for exponent in exponents:
        found = comparison_designs(
            n, n_lines, n_central, exponents=dict.fromkeys(_WITH_EXPONENT, exponent), n_draws=n_draws,
            random_state=start,
        )  # fmt: skip
        drawn |= {name: found[name] for name in _FIXED}
        drawn |= {f"{name}, exponent {exponent:g}": found[name] for name in _WITH_EXPONENT}
    return drawn
