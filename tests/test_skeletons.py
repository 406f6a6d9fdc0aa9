"""The worked examples of CONTRIBUTING, added as a contributor would add them.

Each works in the loop; each keeps the test that is named for its kind; and each, with its formula broken, fails that
one. "One row" is taken literally: the example becomes a row of the table that the named test runs over, and the test is
called as it is.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from adaptive import SequentialDesign, scorers
from adaptive.potentials import BernoulliLogit, Gaussian, Laplace
from skeletons.assumed_density_inference import assumed_density_filtering
from skeletons.cyclic_difference_operator import CyclicDifference
from skeletons.forecast_error_scorer import forecast_error
from skeletons.hyperbolic_potential import Hyperbolic
from skeletons.linear_model_estimator import LinearModel
from skeletons.negative_binomial_likelihood import NegativeBinomial
from tests.contract import test_contract as contract
from tests.contract.case import Case
from tests.estimators import test_shape as shape
from tests.inference import test_one_potential as one_potential
from tests.operators import test_operators as operators
from tests.potentials import test_entropies as entropies
from tests.potentials import test_log_density as log_density
from tests.scorers import test_outcome_scorers as outcome_scorers

ROOT = Path(__file__).resolve().parents[1]
RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
WEIGHTS = np.array([1.0, 1.0, -1.0, 2.0])


# ---------------------------------------------------------------------------------------------------------- in the loop


def learnt(model, y, scorer="information_gain", n=15, rows=X):
    """Run the loop and return the correlation of the learnt weights with the true ones."""
    design = SequentialDesign(model, rows, lambda query: y[query.positions], scorer=scorer, random_state=0)
    design.run(n)
    assert design.iteration == n and len(set(design.history_["position"])) == n
    assert np.isfinite(design.history_["score"]).all()
    return np.corrcoef(design.estimator_.coef_.ravel(), WEIGHTS)[0, 1]


@pytest.mark.parametrize(
    "model",
    [
        LinearModel(),
        LinearModel(Hyperbolic(0.3)),
        LinearModel(Hyperbolic(0.3), inference=assumed_density_filtering),
        LinearModel(Gaussian(0.1), prior=(CyclicDifference(4), Laplace(1.0))),
    ],
    ids=["estimator", "potential", "inference", "operator"],
)
def test_an_addition_works_in_the_loop(model):
    assert learnt(model, Hyperbolic(0.3).sample(X @ WEIGHTS, 0)) > 0.99


def test_a_likelihood_of_counts_works_in_the_loop():
    rows, family = X[:30] / 4, NegativeBinomial(dispersion=0.1)
    y = family.sample(rows @ WEIGHTS, 0)
    assert learnt(LinearModel(family), y, n=20, rows=rows) > 0.8


def test_an_estimator_of_counts_keeps_the_contract_and_its_shape():
    rows = 0.15 * X[:14]  # so that tables of counts are short
    counts = NegativeBinomial(dispersion=0.1).sample(rows @ WEIGHTS, 0).astype(int)
    row = Case(
        "LinearModel of counts", lambda: LinearModel(NegativeBinomial(dispersion=0.1), prior_variance=0.25), rows,
        (rows[:6], counts[:6]), lambda some: (np.asarray(some)[:, 0] > 0).astype(int), target=rows[:4],
        given="direction",
    )  # fmt: skip
    assert {"information_gain", "entropy", "consensus_divergence", "d_optimality"} <= set(row.scorers)
    contract.test_scores_have_the_shape_are_finite_and_never_negative(row)
    contract.test_informations_are_at_most_the_entropy_of_the_outcome(row)
    contract.test_probabilities_are_probabilities(row)
    contract.test_quadrature_and_draws_agree_within_the_error_of_draws(row)
    contract.test_given_moves_where_partial_fit_moves(row)
    shape.test_what_is_refused_changes_nothing(row)


def test_a_scorer_works_in_the_loop():
    y = np.where(X @ WEIGHTS > 0, 1.0, -1.0)
    assert learnt(LinearModel(BernoulliLogit()), y, scorer=forecast_error, n=25) > 0.9


# -------------------------------------------------------------------------------------------- the tests of their kinds


class Additions:
    """For each example: the row that makes it one of its kind, and the named test of that kind."""

    def __init__(self, monkeypatch):
        self.monkeypatch = monkeypatch

    def hyperbolic_potential(self, module):
        log_density.test_derivatives_are_those_of_log_density(potential=module.Hyperbolic(0.5, 0.2))

    def negative_binomial_likelihood(self, module):
        log_density.test_derivatives_are_those_of_log_density(potential=module.NegativeBinomial(4.0, 0.3))
        log_density.test_families_sum_to_one_over_outcomes(module.NegativeBinomial(dispersion=0.3))
        entropies.test_a_table_of_counts_holds_the_normalisers_of_their_factors(module.NegativeBinomial(dispersion=0.3))

    def cyclic_difference_operator(self, module):
        self.monkeypatch.setitem(operators.CASES, "skeleton", module.CyclicDifference(7))
        operators.test_the_adjoint_is_exact("skeleton")

    def assumed_density_inference(self, module):
        self.monkeypatch.setitem(one_potential.ENGINES, "skeleton", module.assumed_density_filtering)
        one_potential.test_one_potential_is_exact("skeleton", Laplace(0.4, location=[1.3]))

    def forecast_error_scorer(self, module):
        self.monkeypatch.setattr(scorers, "forecast_error", module.forecast_error, raising=False)
        self.monkeypatch.setattr(scorers, "__all__", [*scorers.__all__, "forecast_error"])
        self.monkeypatch.setattr(outcome_scorers, "OF_PROBABILITIES", ["forecast_error"])
        outcome_scorers.test_zero_is_certain_uniform_is_most_and_none_is_negative()

    def linear_model_estimator(self, module):
        row = Case(
            "LinearModel", module.LinearModel, X[:20], (X[20:22], X[20:22] @ WEIGHTS),
            lambda rows: np.asarray(rows) @ WEIGHTS, target=X[30:34],
        )  # fmt: skip
        contract.test_given_equals_partial_fit(row)


BREAKS = [  # example, its formula, the formula broken
    ("hyperbolic_potential", "-1.0 / root**3", "-1.0 / root**2"),
    ("hyperbolic_potential", "-z / root / self.scale", "-z / root"),
    ("negative_binomial_likelihood", "r * log_expit(-odds)", "log_expit(-odds)"),
    ("negative_binomial_likelihood", "y * rest - r * p", "y * rest - p"),
    ("negative_binomial_likelihood", "deviation[i] * NODES", "variance[i] * NODES"),
    ("negative_binomial_likelihood", "entr(table).sum(axis=1) for", "entr(table).sum(axis=1) / 2 for"),
    ("cyclic_difference_operator", "np.roll(v, 1, axis=1) - v", "np.roll(v, -1, axis=1) - v"),
    ("cyclic_difference_operator", "np.roll(u, -1, axis=1) - u", "u - np.roll(u, -1, axis=1)"),
    ("assumed_density_inference", "1 / new_variance - 1 / variance", "1 / new_variance"),
    ("assumed_density_inference", "log_evidence += log_normaliser", "log_evidence -= log_normaliser"),
    ("forecast_error_scorer", "p * (1.0 - p)", "p * (0.9 - p)"),
    ("forecast_error_scorer", "p * (1.0 - p)", "p * p"),
    ("linear_model_estimator", "covariance=self.posterior.covariance()", "covariance=2 * self.posterior.covariance()"),
    ("linear_model_estimator", "self.family.observe(data.y)", "self.family.observe(data.y[::-1])"),
]
EXAMPLES = list(dict.fromkeys(name for name, _, _ in BREAKS))


@pytest.fixture
def additions(monkeypatch):
    return Additions(monkeypatch)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_addition_keeps_the_named_test_of_its_kind(name, additions):
    getattr(additions, name)(importlib.import_module(f"skeletons.{name}"))


@pytest.mark.parametrize(("name", "right", "wrong"), BREAKS)
def test_a_broken_formula_fails_the_named_test(name, right, wrong, additions, monkeypatch):
    source = (ROOT / "skeletons" / f"{name}.py").read_text(encoding="utf-8")
    assert source.count(right) == 1
    broken = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, broken)  # where dataclasses look their types up
    exec(compile(source.replace(right, wrong), f"{name} with {wrong}", "exec"), broken.__dict__)
    with pytest.raises((AssertionError, ExceptionGroup)) as failure:  # a group where Hypothesis finds two broken
        getattr(additions, name)(broken)
    assert not isinstance(failure.value, ExceptionGroup) or failure.value.split(AssertionError)[1] is None


def test_every_example_is_in_both_tables_and_its_named_test_exists():
    table, page = (ROOT / "skeletons/README.md").read_text(), (ROOT / "CONTRIBUTING.md").read_text()
    for path in (ROOT / "skeletons").glob("*.py"):
        assert path.stem in EXAMPLES and path.name in page
        (row,) = [line for line in table.splitlines() if f"({path.name})" in line]
        file, test = re.search(r"`(tests/\S+\.py)::(\w+)`", row).groups()
        names = [node.name for node in ast.parse((ROOT / file).read_text()).body if isinstance(node, ast.FunctionDef)]
        assert test in names and f".{test}(" in Path(__file__).read_text()
