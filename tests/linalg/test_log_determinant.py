import numpy as np
import pytest

from adaptive.linalg import PrecisionOperator, circulant_preconditioner, log_determinant, stochastic_log_determinant


def test_exact(model):
    np.testing.assert_allclose(log_determinant(model.system), np.linalg.slogdet(model.A)[1], rtol=1e-12)


@pytest.mark.parametrize("controlled", [False, True])
def test_stochastic_within_three_standard_errors(model, controlled):
    M = circulant_preconditioner(model.system) if controlled else None
    truth = np.linalg.slogdet(model.A)[1]
    value, error = stochastic_log_determinant(model.system, n_probes=16, n_steps=25, circulant=M, random_state=0)
    assert 0 < error < 0.05 * abs(truth)
    assert abs(value - truth) < 3 * error


def test_standard_errors_are_honest_over_seeds(real_model):
    truth = np.linalg.slogdet(real_model.A)[1]
    M = circulant_preconditioner(real_model.system)
    runs = [
        stochastic_log_determinant(real_model.system, n_probes=10, n_steps=20, circulant=M, random_state=seed)
        for seed in range(20)
    ]
    scores = np.array([(value - truth) / error for value, error in runs])
    assert abs(scores.mean()) < 1.0
    assert 0.5 < np.sqrt(np.mean(scores**2)) < 1.8


def test_the_circulant_takes_variance_away(photograph):
    system = photograph(32)
    M = circulant_preconditioner(system)
    errors = [
        np.mean([stochastic_log_determinant(system, circulant=c, n_steps=15, random_state=s)[1] for s in range(3)])
        for c in (None, M)
    ]
    assert errors[1] < 0.5 * errors[0]


def test_exact_for_a_circulant_matrix_whatever_the_probes():
    system = PrecisionOperator(prior_precision=3.0, shape=(4, 4))
    value, error = stochastic_log_determinant(system, n_probes=2, n_steps=1, circulant=circulant_preconditioner(system))
    np.testing.assert_allclose(value, 16 * np.log(3.0))
    assert error < 1e-10


def test_singular_precisions_are_named():
    system = PrecisionOperator(np.ones((1, 3)))
    with pytest.raises(ValueError, match="positive definite"):
        log_determinant(system)
    with pytest.raises(ValueError, match="positive definite"):
        stochastic_log_determinant(PrecisionOperator(np.diag([1.0, 1.0, 0.0])), random_state=0)
