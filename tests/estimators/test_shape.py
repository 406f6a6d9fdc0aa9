"""Every estimator has one shape: parameters over a belief, which is there as a whole or not at all."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from adaptive import SequentialDesign
from adaptive import pool as pools
from adaptive.estimators import BeliefEstimator
from adaptive.loop.log.snapshots import pack, unpack
from tests.contract.cases import CASES

# Views of one person in a model of all: making one is a fit of all, and they are no `BeliefEstimator`.
OF_ONE = {"CollaborativePreference's person", "PoissonFactorization's user", "Respondent ordinal"}
OURS = [case for case in CASES if case.name not in OF_ONE and isinstance(case.make(), BeliefEstimator)]
AT_ANY_TIME = {"measurements_"}  # before any fit: none


@pytest.fixture(params=OURS, ids=lambda case: case.name)
def case(request):
    return request.param


def same(one, other):
    """Whether nested plain data are equal, to the bit."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return repr(one) == repr(other)


def fitted_attributes(estimator):
    """Names of what is read off the belief."""
    found = inspect.getmembers(type(estimator), lambda member: isinstance(member, property))
    return {name for name, _ in found if name.endswith("_") and not name.startswith("_")} - AT_ANY_TIME


def test_unfitted(case, tmp_path):
    model = case.make()
    names = fitted_attributes(model)
    assert {"posterior_", "log_evidence_", "evidence_kind_", "objective_trace_", "n_iter_", "converged_"} <= names
    for name in [*names, "belief_"]:
        with pytest.raises(NotFittedError if name in names else AttributeError):
            getattr(model, name)
        assert not hasattr(model, name)
    assert model.state() == {} and model.restore({}) is model and model.state() == {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        design = SequentialDesign(model, case.candidates, initial=[0])
        design.ask()
        design.save(tmp_path / "saved")
    with SequentialDesign.load(tmp_path / "saved", case.make(), case.candidates) as again:
        assert again.ask().positions.tolist() == [0]


def test_fitted(case):
    model = case.fitted()
    for name in fitted_attributes(model):
        getattr(model, name)  # all of them are there
    assert [
        name for name in vars(model) if name.endswith("_") and not name.startswith(("n_features", "feature_n"))
    ] == ["belief_"]


def test_state_is_plain_and_comes_back(case):
    model = case.fitted()
    state = model.state()
    again = case.make().restore(unpack(pack(state)))
    assert same(again.state(), state)
    ours, theirs = (one.predictive(case.candidates) for one in (model, again))
    for name in ("mean", "variance", "probabilities", "outcome_entropy"):
        if ours.provides(name):
            assert same(np.asarray(getattr(ours, name)), np.asarray(getattr(theirs, name))), name


def test_what_is_refused_changes_nothing(case):
    wrong = pools.take(case.candidates, np.array([0]))
    fresh, model = case.make(), case.fitted()
    for one in (fresh, model):
        before = one.state()
        with pytest.raises((ValueError, TypeError)):
            one.partial_fit(wrong, _unusable(case.measure(wrong)))
        assert same(one.state(), before)
    fresh.partial_fit(*case.learn)  # whatever the refused one looked like


def _unusable(outcomes):
    """As many outcomes, of which none is finite, known or a count."""
    if isinstance(outcomes, np.ndarray) and outcomes.dtype.kind in "US":
        return np.array(["neither"] * len(outcomes))
    if isinstance(outcomes, np.ndarray) and outcomes.ndim == 1 and outcomes.dtype.kind in "iu":
        return -17 - outcomes  # no class, and no count either
    return [np.full(np.shape(one), np.nan) for one in outcomes]
