"""Every form has what its protocol asks for, and comes back from plain data to the last bit."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.sparse

from adaptive.gaussians import (
    CovarianceForm,
    DowndatedForm,
    EmpiricalForm,
    FactorisedForm,
    Gaussian,
    GaussianPart,
    LowRankForm,
    MeanFieldForm,
    PrecisionForm,
    SequentialForm,
    SiteGaussian,
    SquareRootForm,
    gaussian_from_state,
)
from adaptive.gaussians.kinds import FORMS
from adaptive.gaussians.projection_rows import ProjectionRows
from adaptive.gaussians.single_precision_form import SinglePrecisionForm
from adaptive.gaussians.unit_rows_form import UnitRowsForm
from adaptive.linalg import LowRankCovariance
from adaptive.loop.log.snapshots import pack, unpack
from adaptive.operators import Dense, FiniteDifference, Identity

N, Q = 6, 4
RNG = np.random.default_rng(0)
ROWS, SOME = RNG.normal(size=(Q, N)), RNG.normal(size=(3, N))
PI, NU = RNG.uniform(0.5, 2.0, Q), RNG.normal(size=Q)
DATA = {"data_rows": RNG.normal(size=(2, N)), "data": RNG.normal(size=2), "data_variance": np.array([0.5, 0.1])}
MEAN, ROOT = RNG.normal(size=N), RNG.normal(size=(N, N))
PART = GaussianPart(ROWS, **DATA, prior_mean=MEAN, prior_covariance=ROOT @ ROOT.T)
PLAIN = GaussianPart(ROWS, prior_covariance=1.5)


def without_sites(cls, part):
    return cls(*part).refit(np.zeros(Q), np.zeros(Q))


def sequential(operators, form=None, prior_covariance=None):
    """Kept through changes of sites of either sign, new data, and a search."""
    rows = ProjectionRows(operators)
    q, n = rows.shape
    rng = np.random.default_rng(1)
    X, y, variance = rng.normal(size=(5, n)), rng.normal(size=5), np.full(5, 0.1)
    part = GaussianPart(rows, X, y, variance, prior_covariance=prior_covariance)
    start = SequentialForm(*part._replace(data_rows=X[:3], data=y[:3], data_variance=variance[:3]), form=form)
    start.refit(np.full(q, 2.0), rng.normal(size=q)).leading(2, None, 1e-3)
    moved = start.transfer(X, y, variance)
    for i in range(4):
        moved.update_site(i, -0.5 if i % 2 else 0.7, 0.3)
    return moved, part


LOW = GaussianPart(scipy.sparse.eye_array(N, format="csr"), prior_covariance=LowRankCovariance(ROOT[:, :2], 0.3))
WEIGHTS = np.array([0.2, 0.3, 0.1, 0.4])
CASES = {
    "precision": lambda: (PrecisionForm(*PART).refit(PI, NU), PART),
    "precision, no prior": lambda: (
        PrecisionForm(np.eye(N), **DATA).refit(np.ones(N), MEAN),
        GaussianPart(np.eye(N), **DATA),
    ),
    "single_precision": lambda: (SinglePrecisionForm(*PART).refit(PI, NU), PART),
    "covariance": lambda: (CovarianceForm(*PART).refit(PI, NU), PART),
    "covariance, a negative site": lambda: (CovarianceForm(*PLAIN).refit(-0.01 * PI, NU), PLAIN),
    "low_rank": lambda: (LowRankForm(*LOW).refit(np.ones(N), MEAN), LOW),
    "sequential": lambda: sequential([FiniteDifference(64), Identity(64)]),
    "sequential, over measurements": lambda: sequential([Identity(64)], form="measurements", prior_covariance=2.0),
    "mean_field": lambda: (MeanFieldForm(CovarianceForm(*PART), ROWS, 1e-3).refit(PI, NU), PART),
    "mean_field, another base": lambda: (MeanFieldForm(PrecisionForm(*PART), ROWS, 1e-3).refit(PI, NU), PART),
    "downdated": lambda: (DowndatedForm(without_sites(PrecisionForm, PART), ROWS, NU, 0.01 * np.eye(Q)), PART),
    "downdated, another base": lambda: (
        DowndatedForm(without_sites(CovarianceForm, PLAIN), ROWS, NU, 0.01 * np.eye(Q)),
        PLAIN,
    ),
    "unit_rows": lambda: (
        UnitRowsForm(scipy.sparse.eye_array(N, format="csr")).refit(np.ones(N), MEAN),
        GaussianPart(scipy.sparse.eye_array(N, format="csr")),
    ),
    "square_root": lambda: (SquareRootForm(MEAN, ROOT[:, :3]), PART),
    "empirical": lambda: (EmpiricalForm(ROOT[:4], WEIGHTS), PART),
}


def members(protocol):
    """The names that a protocol asks for."""
    asking = [one for one in protocol.__mro__ if one.__module__ == "adaptive.gaussians.protocols"]
    return {name for one in asking for name in (*vars(one), *inspect.get_annotations(one)) if name[0] != "_"}


def protocol_of(form):
    return SiteGaussian if isinstance(form, (FactorisedForm, SequentialForm, MeanFieldForm)) else Gaussian


def test_every_kind_is_tried():
    assert {name.partition(",")[0] for name in CASES} == set(FORMS)
    assert {"mean", "kind", "sample", "state", "from_state", "root_times"} <= members(Gaussian) < members(SiteGaussian)


@pytest.mark.parametrize("name", CASES)
def test_every_form_has_what_its_protocol_asks_for(name):
    form, _ = CASES[name]()
    protocol = protocol_of(form)
    for member in members(protocol):
        assert hasattr(form, member), member
        asked = inspect.getattr_static(protocol, member, None)
        if inspect.isfunction(asked):
            given = inspect.signature(inspect.getattr_static(form, member)).parameters
            assert list(given) == list(inspect.signature(asked).parameters), member
    assert isinstance(form, SiteGaussian) == (protocol is SiteGaussian)
    assert FORMS[form.kind] is type(form)


def test_a_factorised_form_that_lacks_something_cannot_be_made():
    for member in ("sample", "refit", "rank_one", "prior_response", "determined"):
        lacking = type("Lacking", (PrecisionForm,), {member: getattr(FactorisedForm, member)})
        with pytest.raises(TypeError, match=member):
            lacking(*PART)


@pytest.mark.parametrize("name", CASES)
def test_a_form_comes_back_from_plain_data(name):
    form, part = CASES[name]()
    state = unpack(pack(form.state()))
    back = gaussian_from_state(state, part)
    assert type(back) is type(form) and state["kind"] == name.partition(",")[0]
    rows = np.random.default_rng(2).normal(size=(3, form.n))
    answers = [
        (
            one.mean,
            *(one.project_variance(given) for given in (None, rows, scipy.sparse.csr_array(rows))),
            *(one.project_covariance(given, None) for given in (None, rows)),
            one.covariance_times(rows.T),
            one.sample(5, np.random.default_rng(3)),
        )
        for one in (form, back)
    ]
    for ours, theirs in zip(*answers, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    if protocol_of(form) is SiteGaussian:
        for ours, theirs in zip(*((g.pi, g.nu, g.projections, *g.marginals()) for g in (form, back)), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert back.log_volume == form.log_volume
    if form.leading is not None:
        for ours, theirs in zip(form.leading(2, None, 1e-3), back.leading(2, None, 1e-3), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert back.work == form.work
    np.testing.assert_equal(unpack(pack(back.state())), unpack(pack(form.state())))


def test_variances_that_are_known_are_those_of_the_rows():
    form, part = CASES["sequential"]()
    for operator in (*part.rows.operators, Dense(np.random.default_rng(4).normal(size=(3, 64)))):
        np.testing.assert_allclose(
            form.operator_variance(operator), form.project_variance(operator.to_dense()), rtol=1e-9
        )


def test_a_state_of_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind must be one of 'precision', 'covariance', .*, got 'wavelet'"):
        gaussian_from_state({"kind": "wavelet"}, PART)
