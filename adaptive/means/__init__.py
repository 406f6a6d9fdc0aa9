"""Mean functions of Gaussian processes: zero, constant, linear, and their sums, products and powers.

A new one is one class: ``parameters`` by name, and ``__call__`` with the derivatives in them.
"""

from adaptive.means.base import Mean
from adaptive.means.composite import Power, Product, Sum
from adaptive.means.simple import Constant, Linear, Zero

__all__ = ["Constant", "Linear", "Mean", "Power", "Product", "Sum", "Zero"]
