"""Every engine's own objective equals its definition by quadrature at its solution, and the solution is stationary."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from adaptive.inference import (
    compatible,
    expectation_propagation,
    laplace_approximation,
    variational_bounds,
    variational_gaussian,
)
from adaptive.inference.compatibility import as_gaussian

pytestmark = pytest.mark.filterwarnings("ignore:variational_bounds may have several optima")


def active_rows(model):
    """Rows b_j (n,) with their single potential, for all potentials that are not Gaussian."""
    result = []
    for b, p in model.groups:
        if as_gaussian(p) is None:
            dense = b.to_dense()
            result += [(dense[j], p[j : j + 1]) for j in range(len(dense))]
    return result


def log_base(brute, model, u):
    """The model without its active potentials."""
    total = brute.log_joint(model, u)
    for row, p in active_rows(model):
        total = total - p.log_density((u @ row)[:, None])[:, 0]
    return total


def active_sites(model, posterior):
    keep = np.concatenate([np.full(b.shape[0], as_gaussian(p) is None) for b, p in model.groups])
    return posterior.sites[0][keep], posterior.sites[1][keep]


def gradient(function, x, step=1e-5):
    return np.array([(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(len(x))])


def hessian(function, x, step=1e-4):
    return np.array(
        [(gradient(function, x + e, step) - gradient(function, x - e, step)) for e in step * np.eye(len(x))]
    ) / (2 * step)


# ---------------------------------------------------------------------- Laplace's method
def test_laplace_is_its_formula_at_the_mode(brute, laplace_model):
    model = brute.models[laplace_model]
    posterior = laplace_approximation(model)

    def joint(u):
        return brute.log_joint(model, u[None])[0]

    assert np.abs(gradient(joint, posterior.mean)).max() < 1e-7
    precision = -hessian(joint, posterior.mean)
    np.testing.assert_allclose(np.linalg.inv(precision), posterior.covariance(), rtol=1e-4, atol=1e-5)
    definition = joint(posterior.mean) - 0.5 * np.linalg.slogdet(precision / (2 * np.pi))[1]
    assert posterior.log_evidence == pytest.approx(definition, abs=1e-6)


# ---------------------------------------------------------------------- expectation propagation
@pytest.mark.parametrize("fraction", [1.0, 0.7])
def test_ep_is_its_free_energy_and_stationary(brute, ep_model, fraction):
    """Z_EP = int base prod sites * prod_j (int cavity_j T_j^eta / int cavity_j site_j^eta)^(1/eta)."""
    model = brute.models[ep_model]
    posterior = expectation_propagation(model, fraction=fraction, tol=1e-10)
    pi, nu = active_sites(model, posterior)
    rows = active_rows(model)

    def gaussian(u):
        s = np.stack([u @ row for row, _ in rows], axis=1)
        # the base of a model with a step cannot be had by dividing the joint by T: add its parts instead
        return base(u) + s @ nu - 0.5 * s**2 @ pi

    def base(u):
        stripped = [(b, p) for b, p in model.groups if as_gaussian(p) is not None]
        return _without(brute, model, stripped, u)

    definition = brute.integrate(gaussian, posterior.mean, posterior.covariance())
    for (row, p), pi_j, nu_j in zip(rows, pi, nu, strict=True):
        mean, variance = row @ posterior.mean, row @ posterior.covariance() @ row
        precision = 1 / variance - fraction * pi_j
        centre, sd = (mean / variance - fraction * nu_j) / precision, precision**-0.5
        lower = float(np.max(np.asarray(p.support[0])))
        kinks = [float(k) + float(np.max(np.asarray(p.location))) for k in p.kinks]
        edges = [x for x in [max(lower, centre - 12 * sd), mean, *kinks, lower, centre + 12 * sd] if np.isfinite(x)]
        edges = sorted(x for x in edges if max(lower, centre - 12 * sd) <= x <= centre + 12 * sd)

        def moment(order, tilted, edges=edges, p=p, centre=centre, sd=sd, mean=mean, pi_j=pi_j, nu_j=nu_j):
            def density(s):
                log = p.log_density(np.array([s]))[0] if tilted else nu_j * s - 0.5 * pi_j * s * s
                return (s - mean) ** order * np.exp(fraction * log) * scipy.stats.norm.pdf(s, centre, sd)

            ends = edges if tilted else [centre - 12 * sd, mean, centre + 12 * sd]
            parts = pairwise(ends)
            return sum(scipy.integrate.quad(density, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in parts if b > a)

        normaliser = moment(0, True)
        definition += np.log(normaliser / moment(0, False)) / fraction
        # stationary: the tilted distribution has the marginal's moments
        assert moment(1, True) / normaliser == pytest.approx(0, abs=1e-7 * np.sqrt(variance))
        assert moment(2, True) / normaliser == pytest.approx(variance, rel=1e-6)
    assert posterior.log_evidence == pytest.approx(definition, abs=1e-6)


def _without(brute, model, groups, u):
    kept, model.groups = model.groups, groups
    try:
        return brute.log_joint(model, u)
    finally:
        model.groups = kept


# ---------------------------------------------------------------------- variational bounds
def test_variational_bound_is_its_integral_and_stationary(brute, vb_model):
    """ln int base prod_j exp(tilt x - x^2/(2 g) - h(g)/2), at the optimal widths g."""
    model = brute.models[vb_model]
    posterior = variational_bounds(model, tol=1e-13, max_iter=2000)
    rows = active_rows(model)
    pi, nu = active_sites(model, posterior)
    contact = [p.bound == "contact" for _, p in rows]
    # what is free: ln width, or the contact point of a bound of fixed width
    free = np.array(
        [
            posterior.mean @ row if fixed else -np.log(p_j)
            for (row, _), fixed, p_j in zip(rows, contact, pi, strict=True)
        ]
    )

    def log_bound(free):
        def function(u):
            total = _without(brute, model, [(b, p) for b, p in model.groups if as_gaussian(p) is not None], u)
            for (row, p), fixed, z in zip(rows, contact, free, strict=True):
                s = u @ row
                if fixed:
                    at = np.array([z])
                    total = total + p.log_density(at) + p.derivatives(at)[0] * (s - z) - 0.5 * (s - z) ** 2
                else:
                    x, g = s - float(np.max(p.location)), np.exp(np.array([z]))
                    total = total + float(np.max(p.tilt)) * x - 0.5 * x * x / g - 0.5 * p.height(g)
            return total

        return function

    def value(free, points=None):
        return brute.integrate(log_bound(free), posterior.mean, posterior.covariance(), points)

    assert posterior.log_evidence == pytest.approx(value(free), abs=1e-6)
    assert np.abs(gradient(lambda z: value(z, 61), free, 1e-4)).max() < 2e-5
    if not any(contact):
        location = np.array([float(np.max(p.location)) for _, p in rows])
        tilt = np.array([float(np.max(p.tilt)) for _, p in rows])
        np.testing.assert_allclose(nu, tilt + location * pi, rtol=1e-12)
    # each factor is a lower bound of its potential everywhere
    s = np.linspace(-20, 20, 201)
    for (_, p), p_j, n_j, z in zip(rows, pi, nu, free, strict=True):
        if p.bound == "width":
            x = s - float(np.max(p.location))
            bound = float(np.max(p.tilt)) * x - 0.5 * p_j * x * x - 0.5 * p.height(np.array([1 / p_j]))[0]
        else:
            at = np.array([z])
            bound = p.log_density(at) + n_j * (s - z) - 0.5 * (s**2 - z**2)
        assert np.all(bound <= p.log_density(s[:, None])[:, 0] + 1e-9)


# ---------------------------------------------------------------------- the variational Gaussian
def test_variational_gaussian_is_jensens_bound_and_stationary(brute, kl_model):
    """E_Q[ln P(y, u)] + H(Q) on a grid, lower wherever mean and covariance are moved to."""
    model = brute.models[kl_model]
    posterior = variational_gaussian(model, tol=1e-9)
    assert posterior.log_evidence == pytest.approx(posterior.jensen_evidence, abs=1e-10)
    points = {2: 401, 3: 81}[model.n]
    axis = np.linspace(-7.0, 7.0, points)
    t = np.stack(np.meshgrid(*[axis] * model.n, indexing="ij"), -1).reshape(-1, model.n)
    weights = np.exp(-0.5 * (t**2).sum(1))
    weights /= weights.sum()

    def bound(mean, root):
        entropy = np.log(np.abs(np.linalg.det(root))) + 0.5 * model.n * np.log(2 * np.pi * np.e)
        return weights @ brute.log_joint(model, mean + t @ root.T) + entropy

    mean, root = posterior.mean, np.linalg.cholesky(posterior.covariance())
    kinked = "laplace" in kl_model or kl_model in ("mixed", "exponential power", "poisson rectified")
    value = bound(mean, root)
    assert posterior.log_evidence == pytest.approx(value, abs=1e-3 if kinked else 1e-6)
    rng = np.random.default_rng(0)
    for _ in range(6):
        d_mean, d_root = 0.05 * root @ rng.normal(size=model.n), 0.05 * np.tril(rng.normal(size=root.shape)) @ root
        up, down = bound(mean + d_mean, root + d_root), bound(mean - d_mean, root - d_root)
        curvature = 2 * value - up - down
        assert curvature > 0 or "student" in kl_model
        assert abs(up - down) < 0.05 * abs(curvature) + 1e-5


# ---------------------------------------------------------------------- orderings
def test_bounds_stay_below_the_exact_evidence(brute, any_model):
    model = brute.models[any_model]
    guess = (expectation_propagation if "student" not in any_model else laplace_approximation)(model)
    truth = brute.exact(model, guess)
    slack = 2e-3 if any_model in ("laplace", "laplace, fewer rows", "mixed", "step", "poisson rectified") else 1e-6
    if compatible([p for _, p in model.groups], "variational_bounds"):
        posterior = variational_bounds(model, tol=1e-12)
        assert posterior.log_evidence <= posterior.jensen_evidence + 1e-9
        assert posterior.jensen_evidence <= truth.log_evidence + slack
        highest = variational_gaussian(model).log_evidence
        assert posterior.jensen_evidence <= highest + 1e-9
        assert highest <= truth.log_evidence + slack
    # Jensen's bound is one for any Gaussian, that of EP or Laplace included
    assert guess.jensen_evidence <= truth.log_evidence + slack
    assert abs(guess.log_evidence - truth.log_evidence) < (0.2 if "student" in any_model else 0.05)
    sd = np.sqrt(np.diag(truth.covariance))
    assert np.all(np.abs(guess.mean - truth.mean) < 0.2 * sd)


def test_jensen_is_its_definition(brute, vb_model):
    """E_Q[ln P(y, u)] + H(Q) on a grid."""
    model = brute.models[vb_model]
    posterior = variational_bounds(model)
    mean, V = posterior.mean, posterior.covariance()
    points, width = {2: 401, 3: 81}[model.n], 7.0
    axis = np.linspace(-width, width, points)
    t = np.stack(np.meshgrid(*[axis] * model.n, indexing="ij"), -1).reshape(-1, model.n)
    weights = np.exp(-0.5 * (t**2).sum(1))
    expected = weights @ brute.log_joint(model, mean + t @ np.linalg.cholesky(V).T) / weights.sum()
    entropy = 0.5 * np.linalg.slogdet(2 * np.pi * np.e * V)[1]
    tolerance = 1e-3 if "laplace" in vb_model or vb_model in ("mixed", "exponential power") else 1e-6
    assert posterior.jensen_evidence == pytest.approx(expected + entropy, abs=tolerance)
