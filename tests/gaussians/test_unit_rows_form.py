"""The form for sparse priors of weights against the precision form, and the model that leads to it."""

import numpy as np
import pytest
import scipy.sparse as sp

from adaptive.gaussians.precision_form import PrecisionForm
from adaptive.gaussians.unit_rows_form import UnitRowsForm
from adaptive.inference import GLM, expectation_propagation
from adaptive.potentials import BernoulliLogit, Gaussian, Laplace

N, K = 40, 8
RNG = np.random.default_rng(0)
WIDE = sp.random_array((K, N), density=0.3, rng=RNG, format="csr")
ROWS = sp.vstack([WIDE, 2.0 * sp.eye_array(N, format="csr")[: N - 1]], format="csr")
DATA = {"data_rows": sp.eye_array(N, format="csr")[N - 1 :], "data": np.ones(1), "data_variance": np.array([4.0])}


@pytest.mark.parametrize("prior", [None, 3.0])
@pytest.mark.parametrize("strength", [1e-3, 1.0, 30.0])
def test_it_is_the_precision_form(prior, strength):
    pi = np.concatenate([strength * RNG.random(K), 0.1 + RNG.random(N - 1)])
    nu = RNG.standard_normal(K + N - 1)
    forms = [kind(ROWS, **DATA, prior_covariance=prior).refit(pi, nu) for kind in (UnitRowsForm, PrecisionForm)]
    assert not forms[0]._whole
    for one, other in zip(*(form.marginals() for form in forms), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    for field in ("mean", "projections", "log_volume", "log_determinant"):
        np.testing.assert_allclose(*(getattr(form, field) for form in forms), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(*(form.project_variance(None) for form in forms), rtol=1e-9)
    probes = RNG.standard_normal((3, N))
    before = forms[0].mean.copy()
    np.testing.assert_allclose(*(form.project_covariance(probes, probes) for form in forms), rtol=1e-9)
    np.testing.assert_array_equal(forms[0].mean, before)  # the factor that this made changes nothing


@pytest.mark.parametrize(("first", "unit"), [(1.0, 0.0), (-0.01, 1.0), (1e6, 1e-3)])
def test_where_the_diagonal_is_no_good_everything_is_as_before(first, unit):
    pi = np.concatenate([np.full(K, first), np.full(N - 1, unit)])
    forms = [kind(ROWS, **DATA, prior_covariance=1.0) for kind in (UnitRowsForm, PrecisionForm)]
    means = [form.refit(pi, np.ones(K + N - 1)).mean for form in forms]
    np.testing.assert_allclose(*means, rtol=1e-6)
    np.testing.assert_allclose(*(form.marginals()[1] for form in forms), rtol=1e-6)


def test_a_sparse_prior_of_few_texts_takes_it():
    unit = sp.eye_array(N, format="csr")
    signs = np.where(RNG.random(K) < 0.5, 1.0, -1.0)
    potentials = [BernoulliLogit(signs), Laplace(0.5), Gaussian(9.0)]
    model = GLM(B=[WIDE, unit[: N - 1], unit[N - 1 :]], potentials=potentials)
    posterior = expectation_propagation(model, tol=1e-8)
    dense = GLM(B=[WIDE.toarray(), np.eye(N)[: N - 1], np.eye(N)[N - 1 :]], potentials=potentials)
    whole = expectation_propagation(dense, tol=1e-8)
    assert isinstance(posterior.gaussian, UnitRowsForm) and type(whole.gaussian) is PrecisionForm
    assert posterior.log_evidence == pytest.approx(whole.log_evidence, abs=1e-8)
    np.testing.assert_allclose(posterior.variances(), whole.variances(), rtol=1e-6)
