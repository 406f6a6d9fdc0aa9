"""Types that signatures share. They are for readers and type checkers: nothing is imported from here at run time.

    if TYPE_CHECKING:
        from adaptive.types import Matrix, RandomState

What has a class of its own (`Posterior`, `Predictive`, `Likelihood`, `Potential`, `Operator`, `GLM`) is named by it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from adaptive.operators import Operator
from adaptive.potentials import Potential
from adaptive.predictive import Predictive

__all__ = [
    "Array",
    "ArrayLike",
    "Classifier",
    "Cost",
    "Covariance",
    "DType",
    "Estimator",
    "Id",
    "Index",
    "Inputs",
    "LazyPool",
    "Mask",
    "Matrix",
    "Number",
    "OperatorLike",
    "Options",
    "Outcomes",
    "Pool",
    "Potentials",
    "Predictor",
    "Projections",
    "RandomState",
    "Rows",
    "Scorer",
    "State",
    "Table",
    "Transformer",
]

Array: TypeAlias = npt.NDArray[Any]
ArrayLike: TypeAlias = npt.ArrayLike
DType: TypeAlias = npt.DTypeLike
Number: TypeAlias = float | np.ndarray  # a scalar, or one entry per row
Index: TypeAlias = int | np.integer[Any] | slice | Sequence[int] | np.ndarray  # positions in an array, or a mask
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | np.random.SeedSequence | None

Id: TypeAlias = Hashable  # of a user, an item, a person, as it was given

Matrix: TypeAlias = np.ndarray | sp.sparray | sp.spmatrix
OperatorLike: TypeAlias = Operator | npt.ArrayLike | sp.sparray | sp.spmatrix | LinearOperator  # see `as_operator`
Projections: TypeAlias = OperatorLike | Sequence[OperatorLike]  # one group, or several
Rows: TypeAlias = np.ndarray | sp.sparray | sp.spmatrix | Operator  # what projects a latent vector
Covariance: TypeAlias = float | np.ndarray  # a variance, one per unknown, or a matrix
Inputs: TypeAlias = np.ndarray  # of a kernel: (n, D), or a list of what it takes
State: TypeAlias = dict[str, Any]  # plain data: numbers, text, arrays, and lists and dictionaries of them
Options: TypeAlias = dict[str, Any]  # arguments, by name
Potentials: TypeAlias = Potential | Sequence[Potential]  # one group, or one entry per group


class Frame(Protocol):
    """A table of pandas or polars."""

    @property
    def columns(self) -> Any: ...
    def __len__(self) -> int: ...
    def __getitem__(self, column: Any, /) -> Any: ...
    def to_numpy(self) -> np.ndarray: ...


class LazyPool(Protocol):
    """A pool that is not written out: users times items, lines of k-space."""

    def __len__(self) -> int: ...
    def take(self, positions: Any) -> Any: ...


Table: TypeAlias = npt.ArrayLike | sp.sparray | sp.spmatrix | Frame  # features as users give them
Pool: TypeAlias = np.ndarray | sp.sparray | sp.spmatrix | Frame | LazyPool | Sequence[Any]
Outcomes: TypeAlias = npt.ArrayLike | Sequence[Any]
Cost: TypeAlias = npt.ArrayLike | Callable[..., npt.ArrayLike] | None
Mask: TypeAlias = npt.ArrayLike | Callable[[Any], npt.ArrayLike] | None  # True where a candidate may be chosen
Scorer: TypeAlias = str | Callable[..., npt.ArrayLike]


class Estimator(Protocol):
    """Estimator as the loop drives it: it is fitted to answers and says what it believes."""

    def partial_fit(self, X: Any, y: Any) -> Any: ...
    def predictive(self, candidates: Any, *, target: Any = None, random_state: RandomState = None) -> Predictive: ...


class Predictor(Protocol):
    """A fitted estimator of scikit-learn."""

    def predict(self, X: Any) -> Any: ...
    def score(self, X: Any, y: Any) -> Any: ...


class Transformer(Protocol):
    """A transformer of scikit-learn."""

    def fit(self, X: Any) -> Any: ...
    def transform(self, X: Any) -> Any: ...


class Classifier(Predictor, Protocol):
    """A classifier of scikit-learn that states probabilities."""

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def fit(self, X: Any, y: Any) -> Any: ...
    def predict_proba(self, X: Any) -> Any: ...
