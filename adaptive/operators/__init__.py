"""Linear maps with their adjoints, batch axes first: what instruments measure, and what priors look at."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from adaptive.operators.base import Operator, adjoint_error
    from adaptive.operators.coils import Coils
    from adaptive.operators.convolution import Convolution
    from adaptive.operators.diagonal import Diagonal
    from adaptive.operators.finite_difference import FiniteDifference
    from adaptive.operators.fourier import FourierLines, FourierMask
    from adaptive.operators.identity import Identity
    from adaptive.operators.matrix import Dense, FromSciPy, Sparse, as_operator
    from adaptive.operators.nonuniform_fourier import NonuniformFourier
    from adaptive.operators.padded import Padded
    from adaptive.operators.phase import Phase
    from adaptive.operators.product import Product
    from adaptive.operators.real_stacked import RealStacked
    from adaptive.operators.repeated import Repeated
    from adaptive.operators.reshaped import Reshaped
    from adaptive.operators.scaled import Scaled
    from adaptive.operators.stacked import Stacked
    from adaptive.operators.toeplitz import Toeplitz
    from adaptive.operators.wavelet import Wavelet

__all__ = [
    "Coils",
    "Convolution",
    "Dense",
    "Diagonal",
    "FiniteDifference",
    "FourierLines",
    "FourierMask",
    "FromSciPy",
    "Identity",
    "NonuniformFourier",
    "Operator",
    "Padded",
    "Phase",
    "Product",
    "RealStacked",
    "Repeated",
    "Reshaped",
    "Scaled",
    "Sparse",
    "Stacked",
    "Toeplitz",
    "Wavelet",
    "adjoint_error",
    "as_operator",
]

__getattr__, __dir__ = _lazily(__name__)
