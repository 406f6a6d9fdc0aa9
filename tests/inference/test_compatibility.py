"""Table 4.6, ours: every cell."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive.inference import (
    GLM,
    compatible,
    expectation_propagation,
    laplace_approximation,
    map_estimate,
    variational_bounds,
)
from adaptive.inference.compatibility import ENGINES, refusal
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
)

COLUMNS = ("exact", "laplace_approximation", "expectation_propagation", "variational_gaussian", "variational_bounds")
ROWS = [  # nickisch-gpc.md 10.9; mean_field and annealed_importance accept everything
    (Gaussian(1.0), "yes yes yes yes yes"),
    (Logistic(1.0), "no yes yes yes yes"),
    (Laplace(1.0), "no no yes yes yes"),
    (ExponentialPower(1.0, 1.0), "no no yes yes yes"),
    (ExponentialPower(1.5, 1.0), "no no yes yes yes"),
    (ExponentialPower(2.0, 1.0), "yes yes yes yes yes"),
    (ExponentialPower(3.0, 1.0), "no yes yes yes no"),
    (ExponentialPower([2.0, 3.0], 1.0), "no yes yes yes no"),
    (ExponentialPower(0.5, 1.0), "no no no yes yes"),
    (StudentT(3.0, 1.0), "no yes no yes yes"),
    (BernoulliLogit([1, -1]), "no yes yes yes yes"),
    (BernoulliProbit([1, -1]), "no yes yes yes yes"),
    (Step(0.0), "no no yes no no"),
    (Poisson([0, 2]), "no yes yes yes no"),
    (Poisson([0, 2], "softplus"), "no yes yes yes no"),
    (Poisson([0, 0], "rectified"), "no no yes yes no"),
    (Poisson([0, 2], "rectified"), "no no yes no no"),
]
ENGINE = {f.__name__: f for f in (laplace_approximation, expectation_propagation, variational_bounds, map_estimate)}


@pytest.mark.parametrize(("potential", "answers"), ROWS, ids=[repr(p) for p, _ in ROWS])
def test_table(potential, answers):
    for engine, answer in zip(COLUMNS, answers.split(), strict=True):
        assert compatible(potential, engine) == (answer == "yes"), engine
    for engine in ("mean_field", "annealed_importance"):
        assert compatible(potential, engine)
    assert compatible(potential, "map_estimate") == (potential.name != "Step")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("engine", ENGINE)
@pytest.mark.parametrize(("potential", "answers"), ROWS, ids=[repr(p) for p, _ in ROWS])
def test_engines_do_what_the_table_says(potential, answers, engine):
    model = GLM([[1.0, 0.5], [0.0, 1.0]], [1.0, 0.5], 0.5, potentials=potential)
    if compatible(potential, engine):
        posterior = ENGINE[engine](model)
        assert np.isfinite(posterior.mean).all()
        assert posterior.converged
        return
    with pytest.raises(ValueError, match=f"^{engine} refuses {potential.name} potentials: .*; use .*") as error:
        ENGINE[engine](model)
    assert "\n" not in str(error.value)
    # a mixed model is refused if any group is
    mixed = GLM(B=[None, None], potentials=[Logistic(1.0), potential], prior_covariance=[1.0, 1.0])
    with pytest.raises(ValueError, match=f"refuses {potential.name}"):
        ENGINE[engine](mixed)


def test_what_is_neither_log_concave_nor_super_gaussian_is_led_to_what_takes_it():
    class Plain(StudentT):
        bound = None

    for engine in ("expectation_propagation", "variational_bounds"):
        with pytest.raises(ValueError, match=r"; use laplace_approximation\.$"):
            ENGINE[engine](GLM([[1.0, 0.5], [0.0, 1.0]], [1.0, 0.5], 0.5, potentials=Plain(3.0, 1.0)))


def test_the_alternative_named_is_accepted():
    for potential, _ in ROWS:
        for engine in ENGINES:
            sentence = refusal(potential, engine)
            if sentence is not None:
                assert compatible(potential, sentence.rstrip(".").rsplit(" ", 1)[1])


def test_unknown_engine_lists_the_known_ones():
    with pytest.raises(ValueError, match="'expectation_propagation'.*Did you mean 'laplace_approximation'"):
        compatible(Laplace(1.0), "laplace_aproximation")


def test_student_by_ep_runs_when_forced_and_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    model = GLM(B=X, potentials=StudentT(4.0, 1.0, y), prior_covariance=1.0)
    with pytest.warns(UserWarning, match="no guarantee"):
        posterior = expectation_propagation(model, force=True)
    assert posterior.converged
    assert posterior.log_evidence == pytest.approx(laplace_approximation(model).log_evidence, abs=0.5)
