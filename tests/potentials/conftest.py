"""The potentials every test of this directory runs over: one row per potential, a new potential is one more row."""

import numpy as np
import pytest

from adaptive.potentials import (
    BernoulliLogit,
    BernoulliProbit,
    ExponentialPower,
    Flipped,
    Gaussian,
    Laplace,
    Logistic,
    Poisson,
    Step,
    StudentT,
)

POTENTIALS = {
    "gaussian": Gaussian(0.7, location=-0.3),
    "laplace": Laplace(0.4, location=0.5),
    "student_t_3": StudentT(3.0, 1.3, location=0.2),
    "student_t_cauchy": StudentT(1.0, 0.5),
    "logistic": Logistic(0.5, location=0.25),
    "power_1": ExponentialPower(1.0, 0.6),
    "power_1.5": ExponentialPower(1.5, 0.8, location=0.1),
    "power_2": ExponentialPower(2.0, 0.8),
    "power_3": ExponentialPower(3.0, 2.0),
    "power_0.5": ExponentialPower(0.5, 1.0),
    "logit": BernoulliLogit(1.0),
    "logit_negative": BernoulliLogit(-1.0),
    "probit": BernoulliProbit(-1.0),
    "flipped_logit": Flipped(BernoulliLogit(), (0.2, 0.85), 1.0),
    "flipped_probit": Flipped(BernoulliProbit(), (0.7, 0.1), -1.0),
    "poisson_exp": Poisson(4, "exp"),
    "poisson_softplus": Poisson(2, "softplus"),
    "poisson_rectified": Poisson(3, "rectified"),
    "poisson_rectified_0": Poisson(0, "rectified"),
    "step": Step(0.3),
}
FAMILIES = {
    "logit": BernoulliLogit(),
    "probit": BernoulliProbit(),
    "flipped": Flipped(BernoulliLogit(), (0.2, 0.85)),
    "poisson_exp": Poisson(rate="exp"),
    "poisson_softplus": Poisson(rate="softplus"),
    "poisson_rectified": Poisson(rate="rectified"),
}
SETS = {
    "potential": POTENTIALS,
    "density": {k: p for k, p in POTENTIALS.items() if hasattr(p, "entropy")},
    "bounded": {k: p for k, p in POTENTIALS.items() if p.bound == "width"},
    "unbounded": {k: p for k, p in POTENTIALS.items() if p.bound is None},
    "smooth": {k: p for k, p in POTENTIALS.items() if p.smooth},
    "log_concave": {k: p for k, p in POTENTIALS.items() if p.log_concave},
    "family": FAMILIES,
}


def pytest_generate_tests(metafunc):
    for name, members in SETS.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, list(members.values()), ids=list(members))


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)
