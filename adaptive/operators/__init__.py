"""Linear maps with their adjoints, batch axes first: what instruments measure, and what priors look at."""

from .base import Operator, adjoint_error
from .coils import Coils
from .convolution import Convolution
from .diagonal import Diagonal
from .finite_difference import FiniteDifference
from .fourier import FourierLines, FourierMask
from .identity import Identity
from .matrix import Dense, FromSciPy, Sparse, as_operator
from .nonuniform_fourier import NonuniformFourier
from .padded import Padded
from .phase import Phase
from .product import Product
from .real_stacked import RealStacked
from .repeated import Repeated
from .reshaped import Reshaped
from .scaled import Scaled
from .stacked import Stacked
from .toeplitz import Toeplitz
from .wavelet import Wavelet

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
