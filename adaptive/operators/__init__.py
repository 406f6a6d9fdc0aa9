"""Linear maps with their adjoints, batch axes first: what instruments measure, and what priors look at."""

from .base import Operator, adjoint_error
from .identity import Identity
from .matrix import Dense, FromSciPy, Sparse, as_operator

__all__ = ["Dense", "FromSciPy", "Identity", "Operator", "Sparse", "adjoint_error", "as_operator"]
