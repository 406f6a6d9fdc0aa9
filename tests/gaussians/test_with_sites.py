"""The dense Gaussian with sites equals plain dense algebra, in both representations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from adaptive.gaussians.covariance_form import CovarianceForm
from adaptive.gaussians.precision_form import PrecisionForm
from adaptive.gaussians.single_precision_form import SinglePrecisionForm
from adaptive.gaussians.with_sites import gaussian_with_sites
from adaptive.linalg.matrices import covariance_root

N, Q, M = 5, 4, 8


class Plain:
    """Mean, covariance and log normaliser by inverting everything."""

    def __init__(self, problem, pi, nu):
        B, S, mu = problem["rows"], problem["prior_covariance"], problem["prior_mean"]
        precision, linear, constant = B.T @ np.diag(pi) @ B, B.T @ nu, 0.0
        self.S = None if S is None else np.diag(np.broadcast_to(S, N)) if np.ndim(S) < 2 else S
        if S is not None:
            inverse = np.linalg.inv(self.S)
            precision, linear = precision + inverse, linear + inverse @ mu
            constant -= 0.5 * mu @ inverse @ mu + 0.5 * np.linalg.slogdet(2 * np.pi * self.S)[1]
        if problem["data_rows"] is not None:
            G, t, r = problem["data_rows"], problem["data"], problem["data_variance"]
            precision, linear = precision + G.T @ (G / r[:, None]), linear + G.T @ (t / r)
            constant -= 0.5 * t @ (t / r) + 0.5 * np.sum(np.log(2 * np.pi * r))
        self.covariance = np.linalg.inv(precision)
        self.mean = self.covariance @ linear
        self.log_normaliser = (
            constant + 0.5 * linear @ self.mean + 0.5 * np.linalg.slogdet(2 * np.pi * self.covariance)[1]
        )


def make(prior, data, negative, seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(N, N))
    problem = {
        "rows": rng.normal(size=(Q, N)),
        "data_rows": rng.normal(size=(M, N)) if data else None,
        "data": rng.normal(size=M) if data else None,
        "data_variance": rng.uniform(0.1, 1, M) if data else None,
        "prior_mean": np.zeros(N) if prior == "none" else rng.normal(size=N),
        "prior_covariance": {
            "none": None,
            "number": 2.0,
            "diagonal": rng.uniform(0.5, 2, N),
            "full": root @ root.T + 0.1 * np.eye(N),
        }[prior],
    }
    pi, nu = rng.uniform(0.1, 2, Q), rng.normal(size=Q)
    if negative:
        pi[1] = -0.05
    return problem, pi, nu


CASES = [
    (prior, data, form)
    for prior in ("none", "number", "diagonal", "full")
    for data in (False, True)
    for form in ("precision", "covariance")
    if not (prior == "none" and (form == "covariance" or not data))
]


def build(problem, form, sparse):
    convert = scipy.sparse.csr_array if sparse else np.asarray
    given = {k: convert(v) if k.endswith("rows") and v is not None else v for k, v in problem.items()}
    return gaussian_with_sites(given.pop("rows"), form=form, **given)


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("prior", "data", "form"), CASES)
def test_fit_equals_dense_algebra(prior, data, form, sparse, negative):
    problem, pi, nu = make(prior, data, negative)
    plain, g = Plain(problem, pi, nu), build(problem, form, sparse).refit(pi, nu)
    B, V = problem["rows"], plain.covariance
    np.testing.assert_allclose(g.mean, plain.mean, atol=1e-11)
    mean, variance = g.marginals()
    np.testing.assert_allclose(mean, B @ plain.mean, atol=1e-11)
    np.testing.assert_allclose(variance, np.diag(B @ V @ B.T), rtol=1e-10)
    site_part = np.sum(nu * mean - 0.5 * pi * mean**2)
    assert g.log_volume + site_part == pytest.approx(plain.log_normaliser, abs=1e-10)
    assert g.log_determinant == pytest.approx(np.linalg.slogdet(V)[1], abs=1e-10)
    np.testing.assert_allclose(g.covariance_times(np.eye(N)), V, atol=1e-11)
    np.testing.assert_allclose(g.project_variance(None), np.diag(V), rtol=1e-10)
    np.testing.assert_allclose(g.project_covariance(B, np.eye(N)), B @ V, atol=1e-11)
    root = g.root_times(B)
    if root is not None:
        np.testing.assert_allclose(root @ root.T, B @ V @ B.T, atol=1e-11)


@pytest.mark.parametrize(("prior", "data"), [(prior, data) for prior, data, form in CASES if form == "precision"])
def test_single_precision_equals_dense_algebra_but_for_its_digits(prior, data):
    """And a precision whose pivots would lose them is factorised in double."""
    problem, pi, nu = make(prior, data, False)
    plain = Plain(problem, pi, nu)
    g = gaussian_with_sites(**problem, form="precision", dtype="float32").refit(pi, nu)
    B, V = problem["rows"], plain.covariance
    assert type(g) is SinglePrecisionForm and g.factor.dtype == np.float32
    near = {"atol": 1e-4 * max(1.0, np.abs(V).max(), np.abs(plain.mean).max())}
    np.testing.assert_allclose(g.mean, plain.mean, **near)
    np.testing.assert_allclose(g.marginals()[1], np.diag(B @ V @ B.T), **near)
    np.testing.assert_allclose(g.covariance_times(np.eye(N)), V, **near)
    np.testing.assert_allclose(g.root_times(B) @ g.root_times(B).T, B @ V @ B.T, **near)
    assert g.log_determinant == pytest.approx(np.linalg.slogdet(V)[1], abs=1e-4)
    assert g.sample(3, np.random.default_rng(0)).dtype == float
    g.start_updates()
    g.rank_one(0, 0.5, 0.1)
    pi[0] += 0.5
    nu[0] += 0.1
    np.testing.assert_allclose(g.project(g.coefficients), B @ Plain(problem, pi, nu).mean, **near)
    steep = 1e7 * (np.arange(Q) == 0) + 1e-4
    double = gaussian_with_sites(**problem, form="precision").refit(steep, nu)
    if not data:
        g.refit(steep, nu)
        assert g.factor.dtype == float
        np.testing.assert_array_equal(g.mean, double.mean)


@pytest.mark.parametrize(("prior", "data", "form"), CASES)
def test_rank_one_updates_equal_a_refit(prior, data, form):
    problem, pi, nu = make(prior, data, False, seed=1)
    g = build(problem, form, False).refit(pi, nu)
    g.start_updates()
    for j, d_pi, d_nu in [(2, 0.3, -0.2), (0, -0.05, 0.2), (3, 0.0, 0.7), (2, -0.3, 0.2)]:
        g.rank_one(j, d_pi, d_nu)
    changed = [g.marginal(j) for j in range(Q)]
    new_pi, new_nu = g.pi.copy(), g.nu.copy()
    mean, variance = g.refit(new_pi, new_nu).marginals()
    np.testing.assert_allclose(changed, np.stack([mean, variance], axis=1), atol=1e-10)
    np.testing.assert_allclose(new_pi, pi + [-0.05, 0, 0, 0], atol=1e-15)


@pytest.mark.parametrize(("prior", "data", "form"), CASES)
def test_energy_and_projections_follow_the_coefficients(prior, data, form):
    """-log base(u) up to a constant, evaluated along a line, and B u."""
    problem, pi, nu = make(prior, data, False, seed=2)
    g = build(problem, form, False).refit(pi, nu)
    c = g.coefficients
    other = g.refit(pi + 0.5, nu - 1.0).coefficients

    def plain_energy(u):
        total, S = 0.0, problem["prior_covariance"]
        if S is not None:
            full = np.diag(np.broadcast_to(S, N)) if np.ndim(S) < 2 else S
            gap = u - problem["prior_mean"]
            total += 0.5 * gap @ np.linalg.solve(full, gap)
        if data:
            gap = problem["data"] - problem["data_rows"] @ u
            total += 0.5 * gap @ (gap / problem["data_variance"])
        return total

    for t in (0.0, 0.3, 1.0):
        point = c + t * (other - c)
        u = g.latent(point)
        assert g.energy(point) == pytest.approx(plain_energy(u), rel=1e-9)
        np.testing.assert_allclose(g.project(point), problem["rows"] @ u, atol=1e-10)


@pytest.mark.parametrize("form", ["precision", "covariance"])
@pytest.mark.parametrize("prior", ["number", "diagonal", "full"])
def test_sensitivity_to_the_prior_covariance(prior, form):
    problem, pi, nu = make(prior, True, False, seed=3)
    rng = np.random.default_rng(0)
    S = problem["prior_covariance"]
    root = rng.normal(size=(N, N))
    changes = {"number": [None, 0.7], "diagonal": [None, rng.normal(size=N)], "full": [None, root + root.T, np.ones(N)]}
    for change in changes[prior]:
        change_of_s = 2 * S if change is None else np.diag(change) if np.ndim(change) < np.ndim(S) else change

        def at(t, change_of_s=change_of_s):
            return Plain({**problem, "prior_covariance": S + t * change_of_s}, pi, nu)

        g = build(problem, form, False).refit(pi, nu)
        slope = (at(1e-5).log_normaliser - at(-1e-5).log_normaliser) / 2e-5
        assert g.prior_sensitivity(change) == pytest.approx(slope, rel=1e-6)
        response = (at(1e-5).mean - at(-1e-5).mean) / 2e-5
        np.testing.assert_allclose(g.prior_response(change), response, atol=1e-7)


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize(("prior", "data", "form"), CASES)
def test_samples_have_the_mean_and_covariance(prior, data, form, negative):
    problem, pi, nu = make(prior, data, negative)
    plain, g = Plain(problem, pi, nu), build(problem, form, False).refit(pi, nu)
    draws = g.sample(20_000, np.random.default_rng(0))
    assert draws.shape == (20_000, N)
    error = np.sqrt(np.diag(plain.covariance) / 20_000)
    assert np.all(np.abs(draws.mean(0) - plain.mean) < 5 * error)
    assert np.abs(np.cov(draws.T) - plain.covariance).max() < 0.05 * np.abs(plain.covariance).max()


@pytest.mark.parametrize("form", ["precision", "covariance"])
def test_an_improper_result_is_refused_whatever_the_number_of_negative_sites(form):
    """The covariance form counts negative eigenvalues: an even number of sign changes must not slip through."""
    rows, zero, refused = np.eye(2), np.zeros(2), 0
    for prior in (np.eye(2), np.array([[1.0, 0.9], [0.9, 1.0]])):
        g = gaussian_with_sites(rows, prior_covariance=prior, form=form)
        for pi in ([-0.3, -0.2], [-1.5, 0.0], [-1.5, -1.2], [5.0, -1.5], [-8.0, 30.0], [-8.0, -9.0]):
            if np.linalg.eigvalsh(np.linalg.inv(prior) + np.diag(pi))[0] > 0:
                g.refit(np.array(pi), zero)
                continue
            refused += 1
            with pytest.raises(np.linalg.LinAlgError):
                g.refit(np.array(pi), zero)
    assert refused == 9


def test_indefinite_factor_agrees_with_lu():
    """Table 4.3: log|I + K W| and K - K C K for some W < 0."""
    rng = np.random.default_rng(4)
    root = rng.normal(size=(6, 6))
    K, w = root @ root.T, np.array([0.5, -0.02, 1.0, 0.0, -0.01, 2.0])
    g = gaussian_with_sites(np.eye(6), prior_covariance=K).refit(w, np.ones(6))
    assert isinstance(g, CovarianceForm)
    system = np.eye(6) + K * w
    V = np.linalg.solve(system, K)
    np.testing.assert_allclose(g.project_covariance(None, None), V, atol=1e-10)
    log_ratio = g.log_determinant - np.linalg.slogdet(K)[1]
    assert log_ratio == pytest.approx(-np.linalg.slogdet(system)[1], abs=1e-10)


def test_the_representation_is_chosen_by_size():
    assert isinstance(gaussian_with_sites(np.ones((3, 5)), prior_covariance=1.0), CovarianceForm)
    assert isinstance(gaussian_with_sites(np.ones((5, 3)), prior_covariance=1.0), PrecisionForm)
    assert isinstance(gaussian_with_sites(np.ones((3, 5))), PrecisionForm)
    with pytest.raises(ValueError, match="at most 20000 rows"):
        gaussian_with_sites(scipy.sparse.eye_array(30_000))


def test_singular_prior_covariances_are_no_obstacle():
    """Duplicate inputs of a kernel: both forms, never an inverse."""
    K = np.array([[2.0, 2.0, 1.0], [2.0, 2.0, 1.0], [1.0, 1.0, 3.0]])
    pi, nu = np.array([0.5, 1.5, 1.0]), np.array([1.0, -1.0, 0.3])
    a = gaussian_with_sites(np.eye(3), prior_covariance=K, form="covariance").refit(pi, nu)
    b = gaussian_with_sites(np.eye(3), prior_covariance=K, form="precision").refit(pi, nu)
    np.testing.assert_allclose(a.mean, b.mean, atol=1e-7)
    np.testing.assert_allclose(a.project_variance(None), b.project_variance(None), atol=1e-7)
    assert a.log_volume == pytest.approx(b.log_volume, abs=1e-7)
    root = covariance_root(K)
    np.testing.assert_allclose(root @ root.T, K, atol=1e-7)


def test_strong_sites_keep_their_digits():
    """V = K - K C K cancels where a site outweighs its prior; the variances must not."""
    K = 1e12 * np.array([[1.0, 0.5], [0.5, 1.0]])
    g = gaussian_with_sites(np.eye(2), prior_covariance=K).refit(np.array([0.25, 0.5]), np.zeros(2))
    np.testing.assert_allclose(g.marginals()[1], [4.0, 2.0], rtol=1e-10)


@pytest.mark.parametrize("form", ["precision", "covariance"])
def test_priors_twenty_orders_wider_than_the_data(form):
    """Copies of one row under a prior whose precision is lost beside theirs: the sum is never formed."""
    row, prior = np.array([3.0, -2.0, 1.0]), 1e20
    g = gaussian_with_sites(np.repeat(row[None], 3, axis=0), prior_covariance=prior, form=form)
    g.refit(np.full(3, 0.25), np.array([1.0, 0.0, 0.5]))
    mean, variance = g.marginals()
    np.testing.assert_allclose(variance, 1 / 0.75, rtol=1e-5)
    np.testing.assert_allclose(mean, 2.0, rtol=1e-5)
    assert g.log_determinant == pytest.approx(3 * np.log(prior) - np.log(prior * row @ row * 0.75), rel=1e-9)


def test_what_nothing_determines_is_refused():
    g = gaussian_with_sites(np.ones((2, 2)))
    with pytest.raises(np.linalg.LinAlgError):
        g.refit(np.ones(2), np.zeros(2))


@pytest.mark.parametrize("prior", [0.5, "full"])
@pytest.mark.parametrize("form", ["precision", "covariance"])
def test_rows_that_stay_sparse_equal_dense_ones(form, prior, monkeypatch):
    monkeypatch.setattr("adaptive.linalg.matrices.row_blocks.__defaults__", (5_000,))  # several blocks
    rng = np.random.default_rng(0)
    rows = scipy.sparse.random_array((260, 200), density=0.02, random_state=1, format="csr")
    data_rows = scipy.sparse.random_array((300, 200), density=0.02, random_state=2, format="csr")
    covariance = np.eye(200) + 0.5 if prior == "full" else prior
    data = {"data": rng.normal(size=300), "data_variance": np.full(300, 0.3), "prior_covariance": covariance}
    pi, nu = rng.uniform(0, 1, 260), rng.normal(size=260)
    a = gaussian_with_sites(rows, data_rows=data_rows, form=form, **data).refit(pi, nu)
    b = gaussian_with_sites(rows.toarray(), data_rows=data_rows.toarray(), form=form, **data).refit(pi, nu)
    assert scipy.sparse.issparse(a.rows) or (prior == "full" and form == "precision")
    np.testing.assert_allclose(a.mean, b.mean, atol=1e-12)
    np.testing.assert_allclose(a.marginals(), b.marginals(), rtol=1e-9, atol=1e-12)
    assert a.log_volume == pytest.approx(b.log_volume)
    new = scipy.sparse.random_array((70, 200), density=0.02, random_state=3, format="csr")
    for ask in ("project_variance", "prior_sensitivity"):
        argument = (new, new.toarray()) if ask == "project_variance" else (None, None)
        np.testing.assert_allclose(getattr(a, ask)(argument[0]), getattr(b, ask)(argument[1]), rtol=1e-9)
    np.testing.assert_allclose(a.project_covariance(new, rows), b.project_covariance(new.toarray(), rows), atol=1e-12)
    for g in (a, b):
        g.start_updates()
        g.rank_one(7, 0.4, -1.0)
    np.testing.assert_allclose([a.marginal(j) for j in (3, 7)], [b.marginal(j) for j in (3, 7)], rtol=1e-9)


def test_many_sparse_features_stay_sparse():
    rows = scipy.sparse.random_array((60, 60_000), density=1e-3, random_state=0, format="csr")
    g = gaussian_with_sites(rows, prior_covariance=2.0)
    assert isinstance(g, CovarianceForm)
    assert scipy.sparse.issparse(g.cross)
    g.refit(np.full(60, 0.2), np.ones(60))
    few = rows[:5]
    np.testing.assert_allclose(np.diag(g.project_covariance(few, few)), g.project_variance(few), rtol=1e-10)
    np.testing.assert_allclose(g.project_variance(few), g.marginals()[1][:5], rtol=1e-10)


def test_variances_of_many_sparse_rows_are_those_of_few():
    """Above 4,096 rows at once they come from the whitened cross covariance, below it from a solve per row."""
    rows = scipy.sparse.random_array((30, 400), density=0.02, random_state=0, format="csr")
    g = gaussian_with_sites(rows, prior_covariance=np.linspace(0.5, 2.0, 400))
    many = scipy.sparse.random_array((5_000, 400), density=0.01, random_state=1, format="csr")
    for pi in (0.2, 3.0):
        g.refit(np.full(30, pi), np.ones(30))
        parts = [g.project_variance(many[k : k + 1_000]) for k in range(0, 5_000, 1_000)]
        np.testing.assert_allclose(g.project_variance(many), np.concatenate(parts), rtol=1e-9, atol=1e-12)


def test_without_sites_it_is_the_prior():
    root = np.random.default_rng(0).normal(size=(N, N))
    S, B, mu = root @ root.T + np.eye(N), np.random.default_rng(1).normal(size=(Q, N)), np.arange(1.0, N + 1)
    form = CovarianceForm(B, prior_mean=mu, prior_covariance=S).refit(np.zeros(Q), np.zeros(Q))
    np.testing.assert_allclose(form.marginals()[1], np.einsum("ij,jk,ik->i", B, S, B))
    np.testing.assert_allclose(form.mean, mu)
    np.testing.assert_allclose(form.project_covariance(None, None), S, atol=1e-12)
    assert form.log_volume == 0.0
    linear = np.array([0.3, -1.0, 0.0, 2.0])  # a slope without a precision moves the mean alone
    np.testing.assert_allclose(form.refit(np.zeros(Q), linear).mean, mu + S @ B.T @ linear)
    np.testing.assert_allclose(form.project_covariance(None, None), S, atol=1e-12)
