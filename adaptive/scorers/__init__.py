"""Scorers: what a measurement is worth.  One function per file, ``(predictive, random_state) -> (m,)``, larger is
better.

This namespace is the registry: a new scorer is one file, one line below, one row in the parametrised test.
What it needs and promises stands beside it in a `Record` (:mod:`adaptive.scorers.record`): ``@scorer(whole_pool=True)``
if it must see all candidates at once.

Which one?  The model is trusted: `information_gain` (a batch: BatchBALD), or `predictive_information_gain` where the
inputs to be predicted are known.  Only probabilities are there: `margin`, `entropy`, `uncertainty`.  Errors or losses
at given inputs count: `expected_error_reduction`, ``value_of_information(losses)``.  Members of an ensemble:
`query_by_committee`, `consensus_divergence`.  Diversity, with a model or without: `badge`, `core_set`.  Outliers
disturb: ``density_weighted(scorer)``, ``power(scorer)``.  A cold start: ``typical_first(scorer)``.  Tests of people:
`information_gain`, or what is customary there, `fisher_information`, ``randomesque(scorer, n)``,
``stratified(scorer, n)``.  One of two outcomes is a gain, such as a thing shown that is taken: `thompson`,
``upper_confidence_bound(deviations)``.  A measurement only pays after another: ``look_ahead(scorer)``.  Those with
brackets make a scorer: pass what they return.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adaptive import checks
from adaptive.scorers.a_optimality import a_optimality
from adaptive.scorers.badge import badge
from adaptive.scorers.consensus_divergence import consensus_divergence
from adaptive.scorers.core_set import core_set
from adaptive.scorers.d_optimality import d_optimality
from adaptive.scorers.density_weighted import density_weighted
from adaptive.scorers.e_optimality import e_optimality
from adaptive.scorers.entropy import entropy
from adaptive.scorers.expected_error_reduction import expected_error_reduction
from adaptive.scorers.fisher_information import fisher_information
from adaptive.scorers.information_gain import information_gain
from adaptive.scorers.least_confident import least_confident
from adaptive.scorers.look_ahead import look_ahead
from adaptive.scorers.margin import margin
from adaptive.scorers.power import power
from adaptive.scorers.predictive_information_gain import predictive_information_gain
from adaptive.scorers.predictive_variance import predictive_variance
from adaptive.scorers.query_by_committee import query_by_committee
from adaptive.scorers.random import random
from adaptive.scorers.randomesque import randomesque
from adaptive.scorers.record import BESIDE, Record
from adaptive.scorers.stratified import stratified
from adaptive.scorers.thompson import thompson
from adaptive.scorers.typical_first import typical_first
from adaptive.scorers.uncertainty import uncertainty
from adaptive.scorers.upper_confidence_bound import upper_confidence_bound
from adaptive.scorers.value_of_information import value_of_information
from adaptive.scorers.variational_information_gain import variational_information_gain

if TYPE_CHECKING:
    from adaptive.types import Scorer

__all__ = [
    "a_optimality",
    "badge",
    "consensus_divergence",
    "core_set",
    "d_optimality",
    "e_optimality",
    "entropy",
    "expected_error_reduction",
    "fisher_information",
    "information_gain",
    "least_confident",
    "margin",
    "predictive_information_gain",
    "predictive_variance",
    "query_by_committee",
    "random",
    "thompson",
    "uncertainty",
    "variational_information_gain",
]

#: Stands for the scorer that an estimator names.
AUTO = "auto"
#: Functions that make a scorer with settings.
FACTORIES: dict[str, Callable[..., Callable[..., Any]]] = {
    "density_weighted": density_weighted,
    "look_ahead": look_ahead,
    "power": power,
    "typical_first": typical_first,
    "randomesque": randomesque,
    "stratified": stratified,
    "upper_confidence_bound": upper_confidence_bound,
    "value_of_information": value_of_information,
}

# What scorers are called elsewhere.
_ELSEWHERE = {
    "bald": "information_gain",
    "batchbald": "information_gain (of a joint batch, n_select > 1)",
    "batch_bald": "information_gain (of a joint batch, n_select > 1)",
    "eig": "information_gain",
    "mutual_information": "information_gain",
    "epig": "predictive_information_gain",
    "eer": "expected_error_reduction",
    "qbc": "query_by_committee",
    "vote_entropy": "query_by_committee",
    "consensus_entropy": "consensus_divergence",
    "k_center_greedy": "core_set",
    "kcenter": "core_set",
    "least_confidence": "least_confident",
    "max_info": "fisher_information",
    "urry": "uncertainty",
    "information_density": "density_weighted(scorer)",
    "ucb": "upper_confidence_bound(deviations)",
    "voi": "value_of_information(losses)",
}


def record_of(scorer: object) -> Record:
    """Return the record beside a scorer; of a function without one the `Record` by default.

    Examples
    --------
    >>> record_of(len)
    Record(whole_pool=False, ignores_outcomes=False, sees_asked=False, monotone=False, about_inputs=False)
    """
    return getattr(scorer, BESIDE, Record())


def named(scorer: Scorer, estimator: object) -> Scorer:
    """Return the name that "auto" stands for: what ``estimator`` says as its ``default_scorer``; all else as it is.

    Examples
    --------
    >>> named("auto", None), named("margin", None)
    ('information_gain', 'margin')
    """
    automatic = isinstance(scorer, str) and scorer == AUTO
    return getattr(estimator, "default_scorer", "information_gain") if automatic else scorer


def get(scorer: Scorer, estimator: object = None) -> Callable[..., Any]:
    """Return the scorer of that name, or the callable itself.

    Parameters
    ----------
    scorer : str or callable
        As of `named`.
    estimator : estimator, optional

    Raises
    ------
    ValueError
        If the name is unknown; the message lists the known ones, or says what the scorer is called here.

    Examples
    --------
    >>> get("entropy") is entropy
    True
    """
    scorer = named(scorer, estimator)
    name = scorer if isinstance(scorer, str) else getattr(scorer, "__name__", "")
    if name in FACTORIES and scorer in (name, FACTORIES[name]):
        raise ValueError(f"{name} makes a scorer: call it, and pass what it returns (adaptive.scorers.{name}).")
    if callable(scorer):
        _check_arguments(scorer)
        return scorer
    if name.lower().replace("-", "_") in _ELSEWHERE:
        raise ValueError(f"scorer {name!r} is called {_ELSEWHERE[name.lower().replace('-', '_')]} here.")
    return globals()[checks.choice("scorer", scorer, __all__)]


def _check_arguments(scorer: Callable[..., Any]) -> None:
    """Refuse a function that cannot be called with a predictive and a generator, where it says what it takes."""
    try:
        signature = inspect.signature(scorer)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(None, None)
    except TypeError:
        name = getattr(scorer, "__name__", type(scorer).__name__)
        raise ValueError(f"scorer must take (predictive, random_state), got {name}{signature}.") from None
