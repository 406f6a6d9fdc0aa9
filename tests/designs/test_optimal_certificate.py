"""Certificates of optimal designs, beside the best of all designs where these can be listed."""

import itertools

import numpy as np
import pytest

from designs.optimal import Efficiency, coordinate_exchange, optimal_design

SLACK = 1e-9


def log_det(M):
    return np.linalg.slogdet(M)[1]


def listed(N, n, most):
    """All designs of n runs, as positions."""
    every = itertools.combinations_with_replacement(range(N), n)
    return [list(B) for B in every if (np.bincount(B, minlength=N) <= most).all()]


def test_no_design_is_more_efficient_than_the_share_allows():
    """D-optimal designs without a prior: twelve problems, with replicates, without any and with a few."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        N, d = 7, int(rng.choice([2, 3]))
        n = d + int(rng.integers(1, 3))
        X = rng.standard_normal((N, d)) if seed % 2 else np.vander(np.linspace(-1, 1, N), d)
        most = [n, 1, rng.integers(1, 3, N)][seed % 3]
        found = optimal_design(X, n, max_replicates=most, random_state=0)
        best = max(log_det(X[B].T @ X[B]) for B in listed(N, n, most))
        own = log_det(found.information)
        certificate = found.certificate
        assert isinstance(certificate, Efficiency) and 0 < certificate.share <= 1
        assert np.exp((own - best) / d) >= certificate.share - SLACK, seed
        assert certificate.share == found.efficiency > 0.8, seed
        assert f"any {n} runs" in str(certificate) and "under this model" in str(certificate)


def test_limits_of_replicates_make_the_bound_tighter():
    X = np.vander(np.linspace(-1, 1, 21), 4)
    once = optimal_design(X, 9, max_replicates=1, random_state=0)
    from designs.optimal.approximate import approximate_design

    anyhow = approximate_design(X, n_runs=9)[2] / once.value
    assert anyhow < 0.95 * once.efficiency and once.efficiency > 0.99


@pytest.mark.parametrize("constant", [False, True], ids=["own effects", "with an intercept"])
def test_of_bayesian_designs_in_blocks_no_assignment_tells_more(constant):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        N, sizes, prior = 4, [2, 2], rng.uniform(0.2, 2.0, 2 + constant)
        X = rng.standard_normal((N, 2))
        X = np.column_stack([np.ones(N), X]) if constant else X
        found = optimal_design(X, 4, prior_precision=prior, blocks=sizes, random_state=0)
        Z = np.repeat(np.eye(2), sizes, axis=0)[:, 1 if constant else 0 :]
        centre = np.eye(4) - Z @ np.linalg.solve(Z.T @ Z, Z.T)

        def told(runs, X=X, prior=prior, centre=centre):
            return 0.5 * (log_det(X[runs].T @ centre @ X[runs] + np.diag(prior)) - np.log(prior).sum())

        best = max(told(list(runs)) for runs in itertools.product(range(N), repeat=4))
        certificate = found.certificate
        assert certificate.information == pytest.approx(told(found.positions))
        assert certificate.bound >= best - SLACK and 0 < certificate.share <= 1 and certificate.kind == "bound"


def test_bayesian_designs_without_blocks_tell_nearly_the_most():
    X = np.vander(np.linspace(-1, 1, 21), 4)
    for n, more in ((3, {}), (9, {}), (3, {"max_replicates": 1}), (9, {"allowed": np.arange(21) % 2 == 0})):
        design = optimal_design(X, n, prior_precision=[1.0, 2.0, 1.0, 0.5], random_state=0, **more)
        rows = X[design.positions] / np.sqrt([1.0, 2.0, 1.0, 0.5])
        assert design.certificate.information == pytest.approx(0.5 * log_det(np.eye(n) + rows @ rows.T))
        assert design.certificate.share > 0.95 and design.certificate.kind == "bound"
    improper = optimal_design(X, 9, prior_precision=[0.0, 1.0, 1.0, 1.0], random_state=0)
    assert improper.certificate is None


def test_designs_by_coordinates_have_the_certificate_of_all_settings():
    def effects(x):
        return np.column_stack([np.ones(len(x)), x, x[:, 0] * x[:, 1]])

    levels = [[-1, 0, 1]] * 2
    plain = coordinate_exchange(levels, 6, effects, include=[[0.5, 0.5]], random_state=0)
    assert isinstance(plain.certificate, Efficiency) and 0.7 < plain.certificate.share <= 1
    other = coordinate_exchange(levels, 6, effects, "A", random_state=0).certificate
    assert "A-efficiency" in str(other) and other.share > 0.85
    bayesian = coordinate_exchange(levels, 3, effects, prior_precision=1.0, random_state=0).certificate
    assert bayesian.share > 0.9 and "information under this model" in str(bayesian)
