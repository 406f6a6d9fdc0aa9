"""Approximations kept as reproductions: what the field tried before, or beside, those of :mod:`adaptive.inference`.

The same arguments and the same result; each docstring says what to use instead.
"""

from .expectation_consistent import expectation_consistent
from .informative_vector_machine import informative_vector_machine
from .label_regression import label_regression
from .online_expectation_propagation import online_expectation_propagation
from .sparse_online import sparse_online
from .tap import tap

__all__ = [
    "expectation_consistent",
    "informative_vector_machine",
    "label_regression",
    "online_expectation_propagation",
    "sparse_online",
    "tap",
]
