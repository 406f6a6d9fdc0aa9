"""Approximations kept as reproductions: what the field tried before, or beside, those of :mod:`adaptive.inference`.

The same arguments and the same result; each docstring says what to use instead. Reconstructions from few measurements
(least squares, basis pursuit, L1 with total variation, sparse Bayesian learning) take a warm start to which rows were
appended.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from adaptive.inference.classic.basis_pursuit import basis_pursuit
    from adaptive.inference.classic.expectation_consistent import expectation_consistent
    from adaptive.inference.classic.informative_vector_machine import informative_vector_machine
    from adaptive.inference.classic.label_regression import label_regression
    from adaptive.inference.classic.laplace_mode import laplace_mode
    from adaptive.inference.classic.least_squares import least_squares
    from adaptive.inference.classic.online_expectation_propagation import online_expectation_propagation
    from adaptive.inference.classic.sparse_bayesian_learning import sparse_bayesian_learning
    from adaptive.inference.classic.sparse_online import sparse_online
    from adaptive.inference.classic.tap import tap

__all__ = [
    "basis_pursuit",
    "expectation_consistent",
    "informative_vector_machine",
    "label_regression",
    "laplace_mode",
    "least_squares",
    "online_expectation_propagation",
    "sparse_bayesian_learning",
    "sparse_online",
    "tap",
]

__getattr__, __dir__ = _lazily(__name__)
