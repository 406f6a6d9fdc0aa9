"""Rows of potentials: indexing, joining, expanding, pickling, names, and clear sentences for bad input."""

import pickle

import numpy as np
import pytest

from adaptive.potentials import (
    BernoulliLogit,
    BernoulliProbit,
    ExponentialPower,
    Gaussian,
    Laplace,
    Logistic,
    Poisson,
    Step,
    StudentT,
    join,
)

ARRAYS = [
    Gaussian([1.0, 2.0, 3.0]),
    Laplace([1.0, 2.0, 3.0], location=0.5),
    StudentT(3.0, [1.0, 2.0, 3.0]),
    Logistic([1.0, 2.0, 3.0]),
    ExponentialPower([1.0, 1.5, 2.0], 2.0),
    BernoulliLogit([1, -1, 1]),
    BernoulliProbit([1, -1, 1]),
    Poisson([0, 2, 5]),
    Poisson([0, 2, 5], "rectified"),
    Poisson([0, 2, 5], "softplus"),
    Step([0.0, 1.0, -1.0]),
]
named = pytest.mark.parametrize("several", ARRAYS, ids=repr)
S = np.array([0.4, 1.7, 2.2])


@named
def test_every_method_works_row_by_row(several):
    mean, variance = np.array([0.3, -0.2, 1.0]), np.array([0.5, 2.0, 1.0])
    together = [several.log_density(S), *several.derivatives(S), *several.tilted_moments(mean, variance, 0.7)]
    together.append(several.expectation(mean, variance))
    if several.bound:
        together += [several.tight_width(S), *several.inner(S, 0.1, 0.4, 1.0)]
    for j in range(3):
        one = several[j]
        assert one.size is None
        single = [one.log_density(S[j]), *one.derivatives(S[j]), *one.tilted_moments(mean[j], variance[j], 0.7)]
        single.append(one.expectation(mean[j], variance[j]))
        if several.bound:
            single += [one.tight_width(S[j]), *one.inner(S[j], 0.1, 0.4, 1.0)]
        for whole, part in zip(together, single, strict=True):
            assert whole.shape == (3,)
            assert whole[j] == part or whole[j] == pytest.approx(float(part), rel=1e-11)


@named
def test_leading_axes_broadcast(several):
    block = np.stack([S, S + 0.1])
    np.testing.assert_array_equal(several.log_density(block)[1], several.log_density(S + 0.1))
    log_normaliser, mean, variance = several.tilted_moments(block, 0.5)
    assert log_normaliser.shape == mean.shape == variance.shape == (2, 3)
    np.testing.assert_allclose(mean[1], several.tilted_moments(S + 0.1, 0.5)[1], rtol=1e-10)


@named
def test_indexing_and_joining_are_inverse(several):
    again = join([several[:1], several[np.array([1, 2])]])
    assert again.size == 3
    np.testing.assert_array_equal(again.log_density(S), several.log_density(S))
    mask = np.array([True, False, True])
    np.testing.assert_array_equal(several[mask].log_density(S[mask]), several.log_density(S)[mask])


@named
def test_pickle_keeps_everything(several):
    copy = pickle.loads(pickle.dumps(several))
    assert repr(copy) == repr(several)
    np.testing.assert_array_equal(copy.log_density(S), several.log_density(S))


def test_scalars_stay_scalar():
    assert Laplace(1.0)[np.array([0, 5])].size is None
    assert join([Laplace(1.0), Laplace(1.0)]).size is None
    assert Laplace([1.0, 2.0], location=0.5)[:1].location == 0.5
    expanded = Laplace(1.0, location=[0.0, 1.0]).expand(2)
    np.testing.assert_array_equal(expanded.scale, [1.0, 1.0])


def test_a_family_can_be_observed_twice():
    noise = Gaussian(1.0)
    assert noise.observe([1.0, 2.0]).observe([1.0, 2.0, 3.0]).size == 3
    assert BernoulliLogit([1, -1]).observe(np.ones(5)).size == 5


def test_names_and_parameters():
    assert repr(Poisson([1, 2], "rectified")) == "Poisson(y=<2 values>, rate='rectified')"
    assert Laplace(2.0).name == "Laplace" and Laplace(2.0).parameters == {"scale": 2.0, "location": 0.0}
    assert BernoulliLogit().parameters == {"y": None}


@pytest.mark.parametrize("kind", [BernoulliLogit, BernoulliProbit, Gaussian, Laplace, Poisson])
def test_a_subclass_is_what_it_is_whatever_it_is_called(kind):
    renamed = type("Renamed", (kind,), {})
    mean, variance = np.array([0.4, -1.0]), np.array([0.5, 3.0])
    for name in ("expectation", "expectation_derivatives", "tilted_moments"):
        own, theirs = (getattr(k(1.0), name)(mean, variance) for k in (renamed, kind))
        np.testing.assert_array_equal(own, theirs)
    for name in ("outcome_entropy", "expected_outcome_entropy"):
        own, theirs = (getattr(k() if k(1.0).discrete else k(1.0), name)(mean, variance) for k in (renamed, kind))
        np.testing.assert_array_equal(own, theirs)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Laplace(0.0), "scale must be > 0, got 0.0"),
        (lambda: Gaussian(-1.0), "variance must be > 0, got -1.0"),
        (lambda: StudentT(np.nan, 1.0), "df contains nan"),
        (lambda: Laplace([1.0, 2.0], location=[0.0, 1.0, 2.0]), "location must have length 2"),
        (lambda: Laplace(np.ones((2, 2))), r"scale must be a scalar or a 1-d array, got shape \(2, 2\)"),
        (lambda: BernoulliLogit([0, 1]), "y must hold the outcomes -1, 1, got 0"),
        (lambda: Poisson([1.5]), r"y must hold counts \(integers >= 0\), got 1.5"),
        (lambda: Poisson([-1]), "y must hold counts"),
        (lambda: Poisson(1, "square"), "rate must be one of 'exp', 'rectified', 'softplus', got 'square'"),
        (lambda: Laplace(1.0).tilted_moments(0.0, 0.0), "variance must be > 0, got 0.0"),
        (lambda: Laplace(1.0).tilted_moments(np.inf, 1.0), "mean contains inf"),
        (lambda: Laplace(1.0).tilted_moments(0.0, 1.0, 1.5), r"fraction must be in \(0, 1\], got 1.5"),
        (lambda: Laplace(1.0).tilted_moments(0.0, 1.0, 0.0), "fraction must be > 0"),
        (lambda: Laplace([1.0, 2.0]).tilted_moments(np.zeros(3), 1.0), "do not broadcast against the 2 potentials"),
        (lambda: Laplace(1.0).inner(0.0, z2=-1.0), "z2 of the inner function must be >= 0, got -1"),
        (lambda: join([]), "join needs at least one potential"),
        (lambda: join([Laplace(1.0), Gaussian(1.0)]), "join needs potentials of one class"),
        (lambda: join([Poisson([1], "exp"), Poisson([1], "softplus")]), "join needs potentials of one class"),
        (lambda: join([Laplace(1.0), Laplace(2.0)]), "cannot count the rows of scalar potentials whose scale differs"),
        (lambda: join([BernoulliLogit(), BernoulliLogit([1])]), "with and without y"),
        (lambda: Laplace([1.0, 2.0]).expand(3), "cannot be expanded to 3 rows"),
        (lambda: Step().observe(1.0), "Step is not a likelihood family"),
        (lambda: Laplace(1.0).outcome_probabilities(0.0, 1.0), "Laplace has no discrete outcomes"),
        (lambda: BernoulliLogit().sample(), "draws outcomes at projections: give s"),
    ],
)
def test_bad_input_ends_in_one_clear_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        make()
    assert "\n" not in str(caught.value)
