"""Runs, predictions, and what they cost: the same bits after a kill, one row asked per answer, memory by blocks."""

import copy
import tracemalloc

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from adaptive import ParticleEstimator, SequentialDesign
from adaptive.loop import EventLog, TargetDeviation
from adaptive.loop.log.snapshots import pack, unpack
from designs.pool import box

SETTINGS = np.linspace(0.0, 4.0, 41)[:, None]
PRIOR = {"centre": stats.uniform(0.5, 3.0), "height": stats.uniform(0.5, 1.0), "noise": stats.uniform(0.02, 0.2)}


def peak(parameters, X):
    centre, height = parameters[:, :2].T[:, :, None]
    return height / (1.0 + ((X[:, 0] - centre) / 0.3) ** 2)


def estimator(**options):
    return ParticleEstimator(model=peak, **{"prior": PRIOR, "noise": "noise", "n_particles": 500, **options})


def measure(query):
    """The same noise for the same query."""
    rng = np.random.default_rng(query.id)
    return peak(np.array([[2.2, 1.0]]), query.candidates)[0] + 0.1 * rng.standard_normal(len(query))


def drawn(n, random_state):
    return random_state.uniform(0.5, 3.5, (n, 3)) * [1.0, 0.4, 0.05]


@pytest.mark.parametrize("options", [{}, {"move": "liu_west"}, {"prior": drawn, "noise": "parameter_2"}])
@pytest.mark.filterwarnings("ignore:log .*the last line was torn:UserWarning")
def test_a_run_that_was_killed_and_resumed_is_the_same_to_the_bit(options, tmp_path):
    def make(log):
        model = estimator(random_state=5, **options)
        return SequentialDesign(model, SETTINGS, measure, repeat=True, random_state=1, log=log)

    with make(tmp_path / "whole") as whole:
        whole.run(16)
        cloud = whole.estimator_.belief_.posterior
        assert cloud.n_moves >= 2 and abs(whole.estimator_.parameters_.mean[0] - 2.2) < 0.15
    lines = (tmp_path / "whole").read_bytes().splitlines(keepends=True)
    (tmp_path / "killed").write_bytes(b"".join(lines[:20]) + lines[20][:9])  # in the middle of a line
    model = estimator(random_state=5, **options)
    with SequentialDesign.load(tmp_path / "killed", model, SETTINGS, measure) as again:
        again.run(16 - again.iteration)
        assert again.history_["position"] == whole.history_["position"]
        resumed = again.estimator_.belief_.posterior
        for name in ("values", "log_weights"):
            assert getattr(resumed, name).tobytes() == getattr(cloud, name).tobytes()
    restored = estimator(random_state=5, **options).restore(unpack(pack(whole.estimator_.state())))
    one, other = (copy.deepcopy(m).partial_fit([[2.0]], [0.7]) for m in (whole.estimator_, restored))
    assert one.belief_.posterior.values.tobytes() == other.belief_.posterior.values.tobytes()


def test_noise_of_settings_alone_is_that_of_every_particle():
    """A function of it may return what broadcasts: per particle and setting, or per setting."""
    X, y = SETTINGS[:3], np.zeros(3)

    def told(noise):
        model = estimator(noise=noise, n_particles=60, resample=0.0).fit(X, y)
        return model.log_evidence_, model.predictive(X, random_state=0).expected_entropy

    whole = told(lambda p, X: np.ones((len(p), 1)) * (0.1 + X[:, 0]))
    for noise in (lambda p, X: 0.1 + X[:, 0], lambda p, X: 0.1 + X.T):
        for one, other in zip(told(noise), whole, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)


def test_a_generator_is_a_seed_and_is_left_alone():
    rng = np.random.default_rng(3)
    before = rng.bit_generator.state
    models = [estimator(random_state=rng).fit(SETTINGS[::8], np.ones(6)) for _ in range(2)]
    assert rng.bit_generator.state == before
    assert models[0].parameters_.values.tobytes() == models[1].parameters_.values.tobytes()


def test_an_answer_asks_its_own_row_and_a_move_all_of_them():
    rows = []

    def counting(parameters, X):
        rows.append(len(X))
        return peak(parameters, X)

    model = ParticleEstimator(model=counting, prior=PRIOR, noise=0.3, n_particles=200)
    asked = {True: [], False: []}
    for step in range(60):
        rows.clear()
        before = model.n_iter_ if step else 0
        model.partial_fit(SETTINGS[[7 * step % 41]], peak(np.array([[2.2, 1.0]]), SETTINGS[[7 * step % 41]])[0])
        asked[model.n_iter_ > before].append((step, sum(rows)))
    assert {n for _, n in asked[False]} == {1}  # however many there are
    assert 1 <= len(asked[True]) <= 12 and all(n > 5 * step for step, n in asked[True])


def test_memory_is_bounded_by_blocks():
    model = estimator(n_particles=1000, noise=0.1)
    many = np.linspace(0, 4, 60_000)[:, None]
    model.select(many[:50])  # compiled, imported
    tracemalloc.start()
    predictive = model.predictive(many)
    gains = predictive.outcome_entropy - predictive.expected_entropy
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 3e8  # a table of all has 480 million bytes, and a model makes several of them
    np.testing.assert_allclose(gains[::5000], _gains(model, many[::5000]), rtol=1e-9)


def _gains(model, settings):
    predictive = model.predictive(settings)
    return predictive.outcome_entropy - predictive.expected_entropy


def test_predictions():
    model = estimator(noise=0.1, n_particles=4000).fit(SETTINGS[::4], measure_all(SETTINGS[::4]))
    new = SETTINGS[3::9]
    mean, deviation = model.predict(new, return_std=True)
    cloud = model.parameters_
    each = peak(cloud.values, new)
    np.testing.assert_allclose(mean, cloud.weights @ each)
    np.testing.assert_allclose(deviation, np.sqrt(cloud.weights @ (each - mean) ** 2))
    low, high = model.interval(new, 0.8)
    inside = cloud.weights @ (stats.norm.cdf(high, each, 0.1) - stats.norm.cdf(low, each, 0.1))
    np.testing.assert_allclose(inside, 0.8, atol=4e-3)
    exact = np.log(cloud.weights @ stats.norm.pdf(0.4, each, 0.1))
    np.testing.assert_allclose(model.log_predictive(new, np.full(len(new), 0.4)), exact)
    frame = model.to_frame()
    assert list(frame) == ["centre", "height", "noise", "weight"] and frame.weight.sum() == pytest.approx(1)
    middle = cloud.quantiles([0.5])[0]
    assert np.all(np.abs(middle - cloud.mean) < cloud.std)
    assert model.score(SETTINGS[::4], measure_all(SETTINGS[::4])) > 0.8
    assert cloud.sample(5, 0).shape == (5, 3)


def measure_all(settings):
    return peak(np.array([[2.2, 1.0]]), settings)[0] + 0.1 * np.random.default_rng(0).standard_normal(len(settings))


def test_intervals_of_counts_hold_what_they_say():
    def counted(parameters, X, y):
        return stats.poisson.logpmf(np.asarray(y), parameters[:, :1] * (1 + X[:, 0]))

    model = ParticleEstimator(counted, prior=stats.gamma(3), outcomes=range(60), n_particles=500)
    model.fit([[0.0], [1.0]], [3, 7])
    new = np.array([[0.0], [0.5]])
    low, high = model.interval(new, 0.9)
    table = model.predict_proba(new)
    for row in range(2):
        assert table[row, low[row] : high[row] + 1].sum() >= 0.9 > table[row, low[row] + 1 : high[row]].sum()
    mean, deviation = model.predict(new, return_std=True)
    np.testing.assert_allclose(mean, model.parameters_.mean[0] * np.array([1.0, 1.5]), rtol=1e-4)
    np.testing.assert_allclose(deviation, model.parameters_.std[0] * np.array([1.0, 1.5]), rtol=1e-3)


def test_particles_that_cannot_move_are_said():
    def on_a_ring(n, random_state):
        angle = random_state.uniform(0, 2 * np.pi, n)
        return np.column_stack([np.cos(angle), np.sin(angle)])

    def thin(values):
        return np.where(abs(np.hypot(*values.T) - 1) < 1e-9, 0.0, -np.inf)

    on_a_ring.logpdf = thin
    model = ParticleEstimator(model=lambda p, X: p[:, :1] + 0.0 * X[:, 0], prior=on_a_ring, noise=0.1, n_particles=300)
    with pytest.warns(ConvergenceWarning, match="the particles hardly move .*0.0% of the proposals"):
        model.fit(SETTINGS[:1], [0.5])
    assert not model.converged_
    assert estimator().fit(SETTINGS, measure_all(SETTINGS)).converged_


def test_a_box_is_refined_uphill_and_a_deviation_stops_the_run():
    inputs = box([0.0], [4.0], points=16, refine=3, random_state=0)
    model = estimator(noise=0.1)
    refined = model.select(inputs(model), return_scores=True)[1][0]
    assert refined >= model.select(SETTINGS, return_scores=True)[1][0] - 1e-3
    design = SequentialDesign(
        model, inputs, measure, target="centre", stop=TargetDeviation(0.05), random_state=0, log=EventLog(None)
    ).run(40)
    assert design.iteration < 25 and design.estimator_.parameters_.std[0] <= 0.05
    assert abs(design.estimator_.parameters_.mean[0] - 2.2) < 0.2


def test_informed_settings_leave_less_uncertain_than_evenly_spread_ones():
    """Paired over true curves: by information about the centre, against settings drawn at random."""
    ratios = []
    for seed in range(6):
        truth = np.array([[*PRIOR["centre"].rvs(1, seed), 1.0]])
        found = []
        for scorer in ("information_gain", "random"):
            rng = np.random.default_rng(seed)

            def noisy(query, rng=rng, truth=truth):
                return peak(truth, query.candidates)[0] + 0.1 * rng.standard_normal(len(query))

            model = estimator(noise=0.1, n_particles=1000)
            design = SequentialDesign(
                model, SETTINGS, noisy, scorer=scorer, target="centre", repeat=True, random_state=seed
            )
            found.append(design.run(12).estimator_.parameters_.std[0])
        ratios.append(np.log(found[0] / found[1]))
    assert np.mean(ratios) + np.std(ratios) / np.sqrt(6) < 0
