"""Active learning by inclusion: what is kept about a pool is what would be computed, and costs a product per answer."""

import copy
import functools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from adaptive import BayesianLogisticRegression, SequentialDesign, inference
from adaptive.estimators.linear.pool_marginals import PoolMarginals

LANCZOS = functools.partial(inference.variational_bounds, variances="lanczos", n_steps=40)
SETTINGS = {
    "bounds": {"inference": "variational_bounds"},
    "bounds, laplace": {"inference": "variational_bounds", "prior": "laplace"},
    "bounds, student_t": {"prior": "student_t"},
    "moments": {},
    "laplace's method": {"inference": "laplace_approximation"},
    "no intercept": {"inference": "variational_bounds", "fit_intercept": False},
    "lanczos": {"inference": LANCZOS},
}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X)[:300, :20], y[:300]


def model_of(name, **options):
    return BayesianLogisticRegression(prior_scale=1.0, update="inclusion", classes=[0, 1], **SETTINGS[name], **options)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", SETTINGS)
def test_kept_marginals_are_those_of_the_posterior(cancer, name, sparse):
    """Through inclusions and steps: the pool's marginals are what the posterior says about the same rows."""
    X, y = cancer
    pool = sp.csr_array(X) if sparse else X
    model = model_of(name, block_size=3).fit(X[:20], y[:20])
    for k in range(20, 27):
        model.select(pool, scorer="uncertainty")
        marginals = model.belief_._kept.marginals
        belief = model.predictive(X)
        np.testing.assert_allclose(marginals.mean[:, 0], belief.mean, atol=1e-8)
        if name != "lanczos":  # whose variances are lower bounds here, and samples there
            np.testing.assert_allclose(marginals.variance[:, 0], belief.variance, atol=1e-8)
        model.partial_fit(X[[k]], y[[k]])


@pytest.mark.parametrize("name", ["bounds", "bounds, laplace", "moments"])
def test_selection_is_that_of_a_model_that_keeps_nothing(cancer, name):
    X, y = cancer
    kept = model_of(name, block_size=4).fit(X[:20], y[:20])
    for k in range(6):
        options = {"scorer": ["information_gain", "uncertainty"][k % 2], "exclude": range(20), "return_scores": True}
        if k == 4:
            options |= {"n_select": 3}
        if k == 5:
            options |= {"pending": X[200:202], "cost": lambda rows: 1 + np.abs(rows[:, 0])}
        positions, scores = kept.select(X, **options)
        fresh = copy.deepcopy(kept)
        fresh.update = "refit"  # the same belief, whose predictive is computed from the rows
        other, other_scores = fresh.select(X, **options)
        assert positions.tolist() == other.tolist()
        np.testing.assert_allclose(scores, other_scores, atol=1e-9)
        kept.partial_fit(X[positions[:1]], y[positions[:1]])


@pytest.mark.parametrize("name", SETTINGS)
def test_a_step_costs_one_product_with_the_pool(cancer, name):
    X, y = cancer
    model = model_of(name, block_size=5).fit(X[:20], y[:20])
    model.select(X)
    marginals = model.belief_._kept.marginals
    first = marginals.n_products
    for k in range(20, 24):
        model.partial_fit(X[[k]], y[[k]])
        model.select(X)
        assert model.belief_._kept.marginals is marginals
    assert marginals.n_products == first + 4
    model.partial_fit(X[[24]], y[[24]])  # the block's end: a step, and the marginals of the new Gaussian
    model.select(X)
    anew = marginals.n_products - first - 4
    assert first <= anew <= first + 5  # at most one more for each row learnt since


@pytest.mark.parametrize("name", ["bounds", "bounds, laplace", "moments", "laplace's method"])
def test_blocks_of_any_size_end_near_the_fit_of_all(cancer, name):
    """One step per block keeps the belief close to what a fit of all rows says; a last fit makes it equal."""
    X, y = cancer
    whole, ending = (model_of(name, tol=1e-8).fit(X[:k], y[:k]) for k in (60, 61))
    for block in (1, 3, 10):
        model = model_of(name, block_size=block, tol=1e-8).fit(X[:30], y[:30])
        for k in range(30, 60):
            model.partial_fit(X[[k]], y[[k]])
        np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=0.05)
        model.set_params(update="refit").partial_fit(X[[60]], y[[60]])
        np.testing.assert_allclose(model.coef_, ending.coef_, atol=1e-4)


def test_the_scale_is_learnt_again_when_there_are_a_quarter_more_rows(cancer):
    X, y = cancer
    model = BayesianLogisticRegression(update="inclusion", block_size=4, hyperparameters="mode").fit(X[:20], y[:20])
    scale = model.prior_scale_
    model.partial_fit(X[20:24], y[20:24])
    assert model.prior_scale_ == scale
    model.partial_fit(X[[24]], y[[24]])
    refitted = BayesianLogisticRegression(hyperparameters="mode").fit(X[:25], y[:25])
    assert model.prior_scale_ == pytest.approx(refitted.prior_scale_, rel=0.05)
    assert model.prior_scale_ != scale


@pytest.mark.parametrize("name", SETTINGS)
def test_state_and_pickle_come_back_to_the_last_bit(cancer, name):
    X, y = cancer
    model = model_of(name, block_size=4).fit(X[:20], y[:20])
    for k in range(20, 26):
        model.select(X)
        model.partial_fit(X[[k]], y[[k]])
    restored = model_of(name, block_size=4).restore(model.state())
    for other in (restored, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        twin = copy.deepcopy(model)
        for k in range(26, 30):
            for one in (other, twin):
                one.partial_fit(X[[k]], y[[k]])
            assert np.array_equal(other.posterior_.mean, twin.posterior_.mean)
            positions = [one.select(X, return_scores=True) for one in (other, twin)]
            assert np.array_equal(*(scores for _, scores in positions))


def test_rows_that_lanczos_variances_cannot_judge_are_dropped_until_the_next_block(cancer):
    """With few Lanczos steps a true decrease exceeds what was estimated: such rows are not asked."""
    X, y = cancer
    rows = np.vstack([X, X])  # every row has a twin, whose variance falls when the row is included
    engine = functools.partial(inference.variational_bounds, variances="lanczos", n_steps=2)
    model = BayesianLogisticRegression(prior_scale=3.0, update="inclusion", block_size=6, inference=engine)
    model.fit(X[:20], y[:20])
    asked, dropped = [], 0
    for _ in range(5):
        position = int(model.select(rows, scorer="information_gain", exclude=asked)[0])
        negative = model.belief_._kept.marginals.variance < 0
        dropped += int(negative.sum())
        assert not negative[position]
        asked.append(position)
        model.partial_fit(rows[[position]], y[[position % 300]])
    assert dropped > 0


def test_a_design_runs_resumes_and_takes_what_is_pending(cancer, tmp_path):
    X, y = cancer

    def design():
        model = BayesianLogisticRegression(
            prior_scale=1.0, classes=[0, 1], update="inclusion", block_size=3, inference="variational_bounds"
        )
        return model, SequentialDesign(model, X, lambda q: y[q.positions], initial=list(range(12)), random_state=0)

    first = design()[1].run(12)
    again = design()[1].run(5)
    again.save(tmp_path / "run")
    model, _ = design()
    loaded = SequentialDesign.load(tmp_path / "run", model, X, measure=lambda q: y[q.positions]).run(7)
    assert loaded.to_frame()["position"].tolist() == first.to_frame()["position"].tolist()
    query = loaded.ask()
    further = loaded.ask(another=True)
    assert set(query.positions).isdisjoint(further.positions)


def test_single_precision_changes_nothing(cancer):
    X, y = cancer
    posterior = model_of("bounds").fit(X[:20], y[:20]).belief_.posterior
    single, double = (PoolMarginals(X.astype(dtype), True).follow([posterior]) for dtype in (np.float32, float))
    np.testing.assert_allclose(single.variance, double.variance, rtol=1e-5)
    np.testing.assert_allclose(single.mean[:, 0], X @ posterior.mean[:-1] + posterior.mean[-1], atol=1e-5)


def test_settings_are_checked(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="update must be one of 'auto', 'refit', 'inclusion'"):
        BayesianLogisticRegression(update="online").fit(X, y)
    with pytest.raises(ValueError, match="block_size must be at least 1"):
        BayesianLogisticRegression(block_size=0).fit(X, y)


@pytest.mark.parametrize("options", [{"prior_scale": 1.0}, {}], ids=["one scale", "integrated"])
def test_a_scorer_about_inputs_without_a_target_asks_a_sample_of_the_kept_pool(cancer, options):
    """As it does of rows whose marginals are not kept."""
    X, y = cancer
    model = BayesianLogisticRegression(update="inclusion", classes=[0, 1], **options).fit(X[:30, :4], y[:30])
    pool = X[30:150, :4]
    scorer = "predictive_information_gain"
    chosen = model.select(pool, 2, scorer=scorer, return_scores=True)
    given = model.select(pool, 2, scorer=scorer, target=pool, return_scores=True)
    np.testing.assert_array_equal(chosen[0], given[0])
    np.testing.assert_allclose(chosen[1], given[1], rtol=1e-9)
