"""The classifier of `adaptive label`, `classify` and `serve`: the default one, and of texts their pool's prior.

Of texts, weights vary as the words of the pool do (``prior_covariance="pool"``): fewer labels are needed than by
independent weights, or by LogisticRegression, of two classes (``ours-hyper-text-pool``) and of six
(``ours-default-texts``), also beside other columns (``ours-default-mixed``). Tables without texts keep independent
weights, as rare directions may matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adaptive.estimators import BayesianLogisticRegression

__all__ = ["classifier_of"]


def classifier_of(classes: Iterable[Any], pool: Any = None, **options: Any) -> BayesianLogisticRegression:
    """Return a model that has learnt nothing and knows the classes.

    Parameters
    ----------
    classes : iterable of labels
    pool : (n, d) array or sparse matrix, optional
        The rows that may be asked for, where texts are among their columns.
    **options
        Of `BayesianLogisticRegression`.
    """
    from adaptive.estimators import BayesianLogisticRegression

    if pool is not None:
        options |= {"prior_covariance": "pool", "pool": pool}
    return BayesianLogisticRegression(classes=sorted(classes), **options)
