"""Simulations in the place of a likelihood: against exact posteriors and informations, to the bit; what is refused."""

import copy
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from adaptive import SequentialDesign, SimulatorEstimator
from adaptive.estimators.particles.bounds import nested_bounds
from adaptive.estimators.particles.simulators.densities import Kernel, Synthetic
from adaptive.estimators.particles.simulators.lattice import Lattice
from adaptive.loop import MaxSteps, TargetDeviation
from adaptive.loop.log.snapshots import pack, unpack

NORMAL = stats.norm(0.0, 1.0)
PLACES = np.linspace(0.0, 2.0, 9)[:, None]


def shifted(parameters, x, generator):
    """theta x + N(0, 1/4)."""
    return parameters[:, 0] * x[0] + 0.5 * generator.standard_normal(len(parameters))


def counted(parameters, x, generator):
    return np.where(generator.random(len(parameters)) < 1 / (1 + np.exp(-parameters[:, 0] * x[0])), "yes", "no")


def estimator(simulate=shifted, prior=NORMAL, **options):
    return SimulatorEstimator(simulate, prior, **({"n_particles": 300, "random_state": 0} | options))


# ----------------------------------------------------------------------------------------------- the posterior


@pytest.mark.parametrize("move", ["liu_west", "random_walk"])
def test_a_gaussian_mean_is_learnt_as_exactly(move):
    rng = np.random.default_rng(0)
    X, few = rng.uniform(0.5, 2.0, (10, 1)), move == "random_walk"
    y = 0.7 * X[:, 0] + 0.5 * rng.standard_normal(10)
    model = estimator(move=move, n_simulations=100, n_particles=200 if few else 500)
    for k in range(10):
        model.partial_fit(X[[k]], y[[k]])
    precision = 1.0 + np.square(X).sum() / 0.25
    mean, std = (X[:, 0] @ y) / 0.25 / precision, precision**-0.5
    assert model.n_iter_ >= 1
    assert model.parameters_.mean[0] == pytest.approx(mean, abs=4 * std / np.sqrt(100))
    assert model.parameters_.std[0] == pytest.approx(std, rel=0.2)
    covariance = np.eye(10) * 0.25 + X @ X.T
    exact = stats.multivariate_normal(np.zeros(10), covariance).logpdf(y)
    assert model.log_evidence_ == pytest.approx(exact, abs=4 * model.log_evidence_std_ + 0.3)


def test_kernels_follow_what_is_not_gaussian():
    rng = np.random.default_rng(1)
    points = rng.exponential(1.0, (1, 4000, 1))
    grid = np.array([[0.5], [1.0], [3.0]])
    truth = -grid[:, 0]
    assert np.abs(Kernel(points).log_density(grid)[0] - truth).max() < 0.1
    assert np.abs(Synthetic(points).log_density(grid)[0] - truth).max() > 0.5
    for density in (Kernel(points), Synthetic(points)):  # and both are densities
        where = np.linspace(-6, 14, 4001)[:, None]
        assert np.exp(density.log_density(where)[0]).sum() * 0.005 == pytest.approx(1.0, abs=1e-3)
        below, above = density.beyond(np.array([1.0]))
        np.testing.assert_allclose(below + above, 1.0)


@pytest.mark.parametrize(("s", "R"), [(1, 4), (1, 12), (2, 9)])
def test_the_synthetic_density_is_right_on_average_however_few_simulations_there_are(s, R):
    rng = np.random.default_rng(0)
    root = rng.standard_normal((s, s)) + 2.0 * np.eye(s)
    density = Synthetic(rng.standard_normal((40_000, R, s)) @ root.T)
    truth = stats.multivariate_normal(np.zeros(s), root @ root.T)
    for outcome in (np.zeros(s), root @ np.full(s, 1.0), root @ np.full(s, -1.5)):
        each = np.exp(density.log_density(outcome[None])[:, 0])
        assert each.mean() == pytest.approx(truth.pdf(outcome), abs=4 * each.std() / 200)
    assert np.isfinite(density.log_density(np.full((1, s), 1e6))).all()  # an answer from elsewhere stops nobody


def test_counts_are_right_on_average_and_add_up_to_one():
    rng = np.random.default_rng(0)
    rates = np.exp(rng.normal(1.0, 1.0, 3000))
    lattice = Lattice(rng.poisson(rates[:, None, None], (3000, 50, 1)).astype(float))
    np.testing.assert_allclose(np.exp(lattice.log_density(np.arange(200.0)[:, None])).sum(axis=1), 1.0, atol=1e-5)
    for low, high in ((0.4, 0.6), (1.8, 2.2), (5.0, 7.0)):
        alike = (rates > low) & (rates < high)
        for y in stats.poisson((low + high) / 2).ppf([0.1, 0.5, 0.9]):
            said = np.exp(lattice.log_density(np.array([[y]])))[alike, 0].mean()
            assert said == pytest.approx(stats.poisson.pmf(y, rates[alike]).mean(), rel=0.1)
    below, above = lattice.beyond(np.array([3.0]))
    np.testing.assert_allclose(below + above - 1.0, np.exp(lattice.log_density(np.array([[3.0]]))), atol=1e-5)
    drawn = lattice.draw(np.full(20_000, 7), np.zeros((20_000, 1)), rng.random(20_000))
    assert drawn.mean() == pytest.approx(lattice.mean[7, 0], rel=0.1)


def test_counts_with_a_shape_of_their_own_are_believed():
    """Either nothing or about 40: moments alone would say 20."""
    rng = np.random.default_rng(0)
    replicates = np.where(rng.random((200, 50, 1)) < 0.5, 0.0, rng.poisson(40.0, (200, 50, 1)))
    said = np.exp(Lattice(replicates).log_density(np.array([[0.0], [20.0]]))).mean(axis=0)
    assert said[0] == pytest.approx(0.5, abs=0.05) and said[1] < 2e-3


def nothing_early(parameters, x, generator):
    """Counts of which there are none at x = 0."""
    return generator.poisson(np.exp(parameters[:, 0]) * x[0]).astype(float)


def saturated(parameters, x, generator):
    """A gauge that stands at its end below x = 0."""
    return shifted(parameters, x, generator) if x[0] > 0 else np.full(len(parameters), 0.3)


@pytest.mark.parametrize("density", ["synthetic", "kernel"])
@pytest.mark.parametrize("simulate", [nothing_early, saturated])
def test_a_setting_where_all_simulations_are_alike_teaches_nothing_and_stops_nobody(simulate, density):
    model = estimator(simulate, density=density)
    always = 0.0 if simulate is nothing_early else 0.3
    before = model.fit([[1.0]], [1.0]).parameters_.weights
    gains = model.select([[0.0], [1.0]], 2, joint=False, return_scores=True)
    assert gains[0][0] == 1 and gains[1][-1] == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(model.predict([[0.0]]), always)
    np.testing.assert_allclose(np.ravel(model.interval([[0.0]])), always, atol=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit([[0.0]], [always])
    np.testing.assert_allclose(model.parameters_.weights, before, atol=1e-9)
    with pytest.warns(ConvergenceWarning, match="simulations say anything about the answer"):
        model.partial_fit([[0.0]], [always + 3.0])  # what the simulator cannot give is said, and teaches nothing
    np.testing.assert_allclose(model.parameters_.weights, before, atol=1e-9)
    assert np.isfinite(model.log_evidence_)
    goes_on = model.partial_fit([[2.0]], [2.0]).parameters_.weights
    assert np.isfinite(goes_on).all() and not np.allclose(goes_on, before)


def test_a_simulator_without_noise_is_said_and_learnt_by_distances():
    model = estimator(lambda p, x, g: p[:, 0] * x[0])
    with pytest.warns(ConvergenceWarning, match="the same summary number 0 for every repetition"):
        model.fit([[1.0]], [0.5])
    assert model.parameters_.mean[0] == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize("kind", [Synthetic, Kernel])
def test_a_density_draws_what_it_says(kind):
    rng = np.random.default_rng(2)
    density = kind(rng.standard_normal((2, 40, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]]))
    n = 20_000
    drawn = density.draw(np.full(n, 1), rng.standard_normal((n, 2)), rng.random(n))
    logs = density.log_density(drawn[:500], np.array([1]))[0]
    dense = stats.gaussian_kde(drawn.T).logpdf(drawn[:500].T)
    assert np.mean(logs - dense) == pytest.approx(0.0, abs=0.06)


def test_labels_are_counted():
    model = estimator(counted, outcomes=["no", "yes"], n_simulations=200).fit(
        [[1.0], [1.0], [2.0]], ["yes", "no", "yes"]
    )
    theta = np.linspace(-5, 5, 2001)
    p = [1 / (1 + np.exp(-theta * x)) for x in (1.0, 2.0)]
    weights = NORMAL.pdf(theta) * p[0] * (1 - p[0]) * p[1]
    assert model.parameters_.mean[0] == pytest.approx(weights @ theta / weights.sum(), abs=0.15)
    assert model.effective_simulations_.min() > 1000
    assert model.predict_proba([[1.0]]).sum() == pytest.approx(1.0)
    bounds, gain = model.information_bounds([[2.0]]), model.select([[2.0]], return_scores=True)[1]
    assert bounds.lower[0] == pytest.approx(gain[0]) and gain[0] <= bounds.upper[0] < np.log(2)


# -------------------------------------------------------------------------------------------- informations


@pytest.mark.parametrize("density", ["synthetic", "kernel"])
def test_bounds_enclose_the_information(density):
    model = estimator(density=density, n_simulations=100, n_particles=300)
    found = model.information_bounds(PLACES[::4])
    exact = 0.5 * np.log1p(np.square(PLACES[::4, 0]) / 0.25)
    slack = 0.02 if density == "synthetic" else 0.08  # kernels widen the noise
    assert np.all(found.lower - 4 * found.lower_error <= exact + slack)
    assert np.all(found.upper + 4 * found.upper_error >= exact - slack)
    assert np.all(found.lower <= found.upper) and found.lower.max() <= np.log(256)
    gain = model.select(PLACES[::4], return_scores=True)[1][0]
    assert gain == pytest.approx(exact.max(), abs=0.15)


def test_bounds_about_one_of_two_parameters():
    """y = a + b + noise about a: 1/2 log (v_a + v_b + s^2) / (v_b + s^2)."""

    def both(parameters, x, generator):
        return parameters.sum(axis=1) + 0.5 * generator.standard_normal(len(parameters))

    model = estimator(both, {"a": NORMAL, "b": stats.norm(0, 0.5)}, n_simulations=200, n_particles=1500, n_nested=512)
    exact = 0.5 * np.log(1.5 / 0.5)
    found = model.information_bounds([[0.0]], target="a")
    assert found.lower[0] - 4 * found.lower_error[0] <= exact <= found.upper[0] + 4 * found.upper_error[0]
    assert found.lower[0] == pytest.approx(exact, abs=0.12) and found.upper[0] == pytest.approx(exact, abs=0.15)


def test_lower_bounds_grow_and_upper_ones_fall_with_the_draws():
    rng = np.random.default_rng(0)
    means = {}
    for n in (8, 64):
        theta = rng.standard_normal((400, n))
        y = theta + 0.2 * rng.standard_normal((400, n))
        tables = -0.5 * np.square((y[:, None] - theta[:, :, None]) / 0.2)
        means[n] = np.mean([nested_bounds(table)[:2] for table in tables], axis=0)
    exact = 0.5 * np.log1p(25.0)
    assert means[8][0] < means[64][0] < exact < means[64][1] < means[8][1]


def test_what_is_imagined_is_what_is_learnt_and_its_surprise_is_uniform():
    model = estimator(lambda p, x, g: np.column_stack([shifted(p, x, g), shifted(p, x, g)]), resample=0.0)
    belief = model.predictive(PLACES[[4, 8]])
    after = belief.given(0, np.array([0.3, 0.5]))
    taught = copy.deepcopy(model).partial_fit(PLACES[[4]], [[0.3, 0.5]])
    np.testing.assert_allclose(after.weights, taught.parameters_.weights, atol=1e-12)
    rng = np.random.default_rng(3)
    for one, kind in ((model, 2), (estimator(), 1)):
        truths = one.prior_draws(300, rng)
        drawn = one.simulated_outcomes(truths, PLACES[[4]], rng)[:, 0]
        said = [one.predictive(PLACES[[4]]).tail_probability(0, y) for y in drawn]
        if kind == 1:
            assert stats.kstest(said, "uniform").pvalue > 1e-3
        else:  # twice the smaller of two that go together
            assert 0.03 < np.mean(np.array(said) < 0.1) < 0.14


# -------------------------------------------------------------------------------------------- the loop


def design(**options):
    rng = np.random.default_rng(5)
    answers = dict(zip(range(9), 0.7 * PLACES[:, 0] + 0.5 * rng.standard_normal(9), strict=True))
    return dict(
        candidates=PLACES, measure=lambda q: [answers[k] for k in q.positions.tolist()], random_state=0, **options
    )


def test_a_run_that_was_stopped_goes_on_to_the_bit(tmp_path):
    model = estimator(move="random_walk", n_particles=60, n_simulations=20, n_nested=32)
    whole = SequentialDesign(model, **design()).run(5)
    first = SequentialDesign(model, **design()).run(3)
    first.save(tmp_path / "run")
    with SequentialDesign.load(tmp_path / "run", estimator(**model.get_params()), **design()) as second:
        second.run(2)
        ours, theirs = whole.estimator_.state(), second.estimator_.state()
        assert whole.history_["position"] == second.history_["position"]
        np.testing.assert_array_equal(ours["belief"]["cloud"]["values"], theirs["belief"]["cloud"]["values"])
        np.testing.assert_array_equal(ours["belief"]["cloud"]["log_weights"], theirs["belief"]["cloud"]["log_weights"])
        again = estimator(**model.get_params()).restore(unpack(pack(ours)))
        np.testing.assert_array_equal(again.effective_simulations_, whole.estimator_.effective_simulations_)


def test_a_deviation_ends_a_run():
    model = estimator(n_particles=200, n_simulations=20, n_nested=64)
    done = SequentialDesign(model, **design(repeat=True, stop=TargetDeviation(0.3) | MaxSteps(30))).run()
    assert done.iteration < 30 and done.estimator_.parameters_.std[0] <= 0.3
    assert done.history_["position"][0] == 8  # where the lever is longest


def test_seeds_make_runs():
    states = [estimator(random_state=s).fit([[1.0]], [0.4]).parameters_.weights for s in (1, 1, 2)]
    np.testing.assert_array_equal(states[0], states[1])
    assert not np.array_equal(states[0], states[2])


def test_an_answer_that_no_simulation_comes_near_is_said():
    with pytest.warns(ConvergenceWarning, match="simulations say anything about the answer"):
        model = estimator(density="kernel").fit([[1.0]], [8.0])
    assert model.effective_simulations_[0] < 30
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert estimator().fit([[1.0]], [0.5]).effective_simulations_[0] > 30


REFUSED = {
    "simulate must be a function": {"simulate": None},
    "summary must be a function of outcomes": {"summary": 3},
    "density must be one of": {"density": "exact"},
    "n_simulations must be at least 4": {"n_simulations": 2},
    "n_nested must be at least 8": {"n_nested": 1},
    "move must be one of": {"move": "jump"},
    "summary goes with outcomes that are numbers": {"summary": np.sum, "outcomes": [0, 1]},
    "outcomes must be a list of labels": {"outcomes": (0.0, 1.0)},
    r"simulate must return shape \(\d+,\)": {"simulate": lambda p, x, g: np.zeros((3, 2))},
    "simulate raised ZeroDivisionError": {"simulate": lambda p, x, g: 1 / 0},
    "simulate gave nan for parameters": {"simulate": lambda p, x, g: np.full(len(p), np.nan)},
    "n_simulations must be at least 6 where 3 numbers are kept": {
        "simulate": lambda p, x, g: g.standard_normal((len(p), 3)),
    },
    r"summary must return shape": {"summary": lambda outcomes: np.zeros(3)},
    "summary gave": {"summary": lambda outcomes: np.log(-np.ones(len(outcomes)))},
    "simulate gave 'maybe' at setting": {
        "simulate": lambda p, x, g: np.full(len(p), "maybe"), "outcomes": ["no", "yes"],
    },
    "prior must be": {"prior": None},
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("said", REFUSED)
def test_what_is_refused_is_said_in_one_sentence_and_changes_nothing(said):
    options = {"n_particles": 20, "n_simulations": 5, "simulate": shifted, "prior": NORMAL} | REFUSED[said]
    model = SimulatorEstimator(**options)
    answer = ["no"] if options.get("outcomes") == ["no", "yes"] else [1]
    with pytest.raises(ValueError, match=said) as problem:
        model.fit([[1.0]], answer)
    assert str(problem.value).count("\n") == 0 and not hasattr(model, "belief_")


def test_an_answer_of_another_shape_is_refused():
    model = estimator(n_particles=20, n_simulations=5)
    with pytest.raises(ValueError, match="y must hold outcomes like those of simulate, of which 1 numbers are kept"):
        model.fit([[1.0]], [[1.0, 2.0]])


def of_noise(draw):
    """A line whose outcomes scatter as ``draw`` says."""

    def simulate(parameters, x, generator):
        return parameters[:, 0] * x[0] + draw(generator, len(parameters))

    return SimulatorEstimator(simulate, {"slope": stats.norm(0.0, 1.0)}, n_particles=100, random_state=0)


def test_summaries_that_are_not_normal_are_told_once_a_call():
    odd = of_noise(lambda generator, n: generator.exponential(1.0, n))
    X, y = [[0.5], [1.0], [2.0]], [1.0, 1.2, 0.8]
    with pytest.warns(UserWarning, match="are not normal where the answer") as told:
        odd.set_params(density="synthetic").fit(X, y)
    assert len([one for one in told if "not normal" in str(one.message)]) == 1
    assert "surrogate" in SimulatorEstimator.information_bounds.__doc__


def test_summaries_that_are_normal_raise_no_alarm():
    X, y = np.linspace(0.5, 2.0, 30)[:, None], np.linspace(0.2, 0.9, 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        of_noise(lambda generator, n: generator.normal(0.0, 1.0, n)).fit(X, y)
        for density in ("transformed", "kernel"):
            of_noise(lambda generator, n: generator.exponential(1.0, n)).set_params(density=density).fit(X, y)
