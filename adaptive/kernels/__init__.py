"""Kernels that scikit-learn lacks, in the form of its own ones, with which they add and multiply.

A new one is one file: hyper-parameters, ``__call__`` with the gradient in their logarithms, ``diag``,
``is_stationary``.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from adaptive.kernels.additive import Additive
    from adaptive.kernels.masked import Masked
    from adaptive.kernels.neural_network import NeuralNetwork
    from adaptive.kernels.piecewise_polynomial import PiecewisePolynomial
    from adaptive.kernels.weighted_sum import WeightedSum

__all__ = ["Additive", "Masked", "NeuralNetwork", "PiecewisePolynomial", "WeightedSum"]

__getattr__, __dir__ = _lazily(__name__)
