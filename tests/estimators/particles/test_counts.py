"""Counts: posteriors and informations against sums over all counts, on grids of parameters."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from adaptive import ParticleEstimator, SequentialDesign, scorers
from adaptive.diagnostics import simulation_based_calibration, uniformity
from adaptive.estimators.particles.inference.count_density import (
    binomial_places,
    mixture_of_counts,
    poisson_places,
)  # fmt: skip

GRID = np.linspace(0.0, 1.0, 41)


def on_grid(noise, model, grid=GRID, **options):
    """A prior of equal weights on a grid: particles that never move are the exact posterior."""
    return ParticleEstimator(
        model=model, prior=lambda n, random_state: np.resize(grid, (n, 1)), noise=noise, n_particles=3 * len(grid),
        resample=0.0, random_state=0, **options,
    )  # fmt: skip


def level(parameters, X):
    """Mean counts, chances: between the ends of a scale that X holds."""
    return X[:, 0] + parameters[:, :1] * (X[:, 1] - X[:, 0])


def pmf(family, counts, mean, size, spread=0.0):
    if family == "binomial":
        return stats.binom.pmf(counts, int(size), mean)
    if spread:
        return stats.nbinom.pmf(counts, 1 / spread, 1 / (1 + spread * mean * size))
    return stats.poisson.pmf(counts, mean * size)


CASES = [
    ("poisson", [0.01, 4.0, 1.0], 60, 0.0),
    ("poisson", [30.0, 900.0, 2.5], 3000, 0.0),
    ("poisson", [1900.0, 2100.0, 1.0], 4000, 0.0),
    ("poisson", [1.0, 40.0, 3.0], 4000, 0.5),
    ("poisson", [500.0, 900.0, 1.0], 3000, 0.002),
    ("binomial", [0.0, 1.0, 1.0], 1, 0.0),
    ("binomial", [0.02, 0.4, 40.0], 40, 0.0),
    ("binomial", [0.3, 0.97, 1500.0], 1500, 0.0),
]


def estimator(family, spread):
    column = {"exposure": 2} if family == "poisson" else {"trials": 2}
    return on_grid(family, level, **column, **({"overdispersion": spread} if spread else {}))


@pytest.mark.parametrize(("family", "row", "top", "spread"), CASES, ids=str)
def test_posterior_predictive_and_information_by_brute_force(family, row, top, spread):
    low, high, size = row
    X, mean = np.array([row]), low + GRID * (high - low)
    counts = np.arange(top + 1)
    model = estimator(family, spread)
    table = np.array([pmf(family, counts, one, size, spread) for one in mean])  # (41, top + 1)
    weights = np.full(len(GRID), 1 / len(GRID))
    for y in (None, round(0.6 * mean[20] * size), round(mean[28] * size)):
        if y is not None:
            model.partial_fit(X, [y])
            weights = weights * table[:, y]
            weights /= weights.sum()
            cloud = model.parameters_
            np.testing.assert_allclose(cloud.weights.reshape(3, -1).sum(axis=0), weights, atol=1e-12)
        total = weights @ table
        entropy = -np.sum(total[total > 0] * np.log(total[total > 0]))
        own = -np.sum(np.where(table > 0, table * np.log(np.where(table > 0, table, 1.0)), 0.0), axis=1)
        predictive = model.predictive(X)
        assert abs(predictive.outcome_entropy[0] - entropy) < 1e-6
        assert abs(scorers.information_gain(predictive)[0] - (entropy - weights @ own)) < 1e-4
        if y is None:
            continue
        np.testing.assert_allclose(model.predict(X), weights @ (mean * size), rtol=1e-9)
        assert model.log_predictive(X, [y])[0] == pytest.approx(np.log(total[y]), abs=1e-9)
        below = np.cumsum(total)
        at_low, at_high = (float(ends[0]) for ends in model.interval(X, 0.9))
        inside = below[int(at_high)] - (below[int(at_low) - 1] if at_low else 0.0)
        assert inside >= 0.9 - 1e-3 and below[int(at_high) - 1 if at_high else 0] - below[int(at_low)] < 0.9 + 1e-3
        bounds = model.information_bounds(X)
        assert (
            bounds.lower[0] == pytest.approx(entropy - weights @ own, abs=1e-4) and bounds.upper[0] >= bounds.lower[0]
        )


@pytest.mark.parametrize("spread", [0.0, 0.01, 2.0])
def test_entropies_from_a_hundredth_to_a_million(spread):
    rng = np.random.default_rng(0)
    for low, high in ((0.01, 0.05), (0.01, 30.0), (80.0, 350.0), (5.0, 5000.0), (2e4, 2.3e4), (9.9e5, 1e6)):
        means, weights = rng.uniform(low, high, 5), rng.dirichlet(np.ones(5))
        places = poisson_places(means.min(), means.max(), spread, spread)
        found = mixture_of_counts(places, weights, means, np.full(5, spread))
        widest = high + 12 * np.sqrt(high + spread * high**2) + 45 * (1 + spread * high)
        if widest > 4e6:  # too many to add up one by one: what is left is the mass
            assert places.weights @ found.probabilities == pytest.approx(1.0, abs=1e-6)
            continue
        counts = np.arange(int(widest) + 50)
        table = np.array([pmf("poisson", counts, mean, 1.0, spread) for mean in means])
        total, each = weights @ table, np.where(table > 0, table, 1.0)
        assert found.entropy == pytest.approx(-np.sum(total[total > 0] * np.log(total[total > 0])), abs=1e-5)
        assert found.part_entropy == pytest.approx(-weights @ np.sum(table * np.log(each), axis=1), abs=1e-5)


def test_many_particles_stand_on_few_places():
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(4000))
    for places, means in (
        (poisson_places(0.0, 120.0), rng.uniform(0.0, 120.0, 4000)),
        (binomial_places(3000), rng.uniform(0.0, 1.0, 4000)),
    ):
        few = mixture_of_counts(places, weights, means)
        parts = [mixture_of_counts(places, weights[k : k + 50], means[k : k + 50]) for k in range(0, 4000, 50)]
        p = np.sum([part.probabilities for part in parts], axis=0)
        np.testing.assert_allclose(few.probabilities, p, rtol=1e-5, atol=1e-6 * p.max())
        assert few.part_entropy == pytest.approx(sum(part.part_entropy for part in parts), abs=1e-5)


def test_a_target_is_what_is_left_of_a_nuisance():
    prior = {"signal": stats.uniform(20.0, 30.0), "background": stats.uniform(40.0, 30.0)}
    model = ParticleEstimator(
        model=lambda theta, X: theta[:, :1] * X[:, 0] + theta[:, 1:2], prior=prior, noise="poisson",
        n_particles=4000, random_state=0,
    )  # fmt: skip
    X = np.array([[0.0], [1.0]])
    gain = scorers.information_gain(model.predictive(X, target="signal"))
    # brute force: signal and background on grids of their own
    counts = np.arange(300)
    signal, background = 20.0 + 30.0 * (np.arange(60) + 0.5) / 60, 40.0 + 30.0 * (np.arange(60) + 0.5) / 60
    table = stats.poisson.pmf(counts, (signal[:, None] + background)[:, :, None]).mean(axis=1)
    total = table.mean(axis=0)
    entropy, own = (-np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0), axis=-1) for p in (total, table))
    assert gain[0] < 0.01 and gain[1] == pytest.approx(entropy - own.mean(), rel=0.05)


def test_posterior_of_a_moving_cloud_is_the_conjugate_one():
    model = ParticleEstimator(
        model=lambda theta, X: np.repeat(theta[:, :1], len(X), axis=1), prior={"rate": stats.gamma(3.0, scale=2.0)},
        noise="poisson", exposure=0, random_state=0,
    )  # fmt: skip
    exposure = np.array([[0.5], [2.0], [4.0], [1.0]])
    y = np.array([3.0, 7.0, 22.0, 9.0])
    model.fit(exposure, y)
    exact = stats.gamma(3.0 + y.sum(), scale=1.0 / (0.5 + exposure.sum()))
    assert model.parameters_.mean[0] == pytest.approx(exact.mean(), rel=0.03)
    assert model.parameters_.std[0] == pytest.approx(exact.std(), rel=0.08)
    shape, rate = 3.0, 0.5
    evidence = 0.0
    for count, e in zip(y, exposure[:, 0], strict=True):
        evidence += stats.nbinom.logpmf(count, shape, rate / (rate + e))
        shape, rate = shape + count, rate + e
    assert model.log_evidence_ == pytest.approx(evidence, abs=4 * model.log_evidence_std_ + 0.05)


def test_overdispersion_is_learnt_and_simulated_counts_are_calibrated():
    prior = {"rate": stats.lognorm(0.5, scale=20.0), "spread": stats.lognorm(0.7, scale=0.2)}
    model = ParticleEstimator(
        model=lambda theta, X: theta[:, :1] * X[:, 0], prior=prior, noise="poisson", overdispersion="spread",
        n_particles=300, random_state=0,
    )  # fmt: skip
    X = np.linspace(0.5, 2.0, 12)[:, None]
    draws = model.simulated_outcomes(np.tile([[30.0, 0.5]], (4000, 1)), X[:1], random_state=0)[:, 0]
    assert draws.mean() == pytest.approx(15.0, rel=0.03) and draws.var() == pytest.approx(15 + 0.5 * 225, rel=0.1)
    design = SequentialDesign(model, X, repeat=True, random_state=0)
    table = simulation_based_calibration(design, 40, steps=6, random_state=0)
    assert min(uniformity(table)["p_value"]) > 1e-3


def test_a_design_of_counts_goes_where_counts_tell(tmp_path):
    def peak(theta, X):
        return 5.0 + 200.0 * np.exp(-0.5 * ((X[:, 0] - theta[:, :1]) / 0.3) ** 2)

    X = np.linspace(0.0, 4.0, 81)[:, None]
    rng = np.random.default_rng(1)
    model = ParticleEstimator(
        model=peak, prior={"centre": stats.uniform(0.0, 4.0)}, noise="poisson", n_particles=500, random_state=0
    )
    design = SequentialDesign(
        model, X, lambda query: rng.poisson(peak(np.array([[2.63]]), query.candidates)[0]), repeat=True, random_state=0
    ).run(8)
    assert abs(design.estimator_.parameters_.mean[0] - 2.63) < 0.05
    assert abs(design.estimator_.parameters_.std[0]) < 0.03
    state = design.estimator_.state()
    again = ParticleEstimator(
        model=peak, prior={"centre": stats.uniform(0.0, 4.0)}, noise="poisson", n_particles=500, random_state=0
    ).restore(state)
    np.testing.assert_array_equal(again.predict(X), design.estimator_.predict(X))
    surprise = again.predictive(X)
    assert surprise.tail_probability(0, 5.0) > 0.5 and surprise.tail_probability(0, 60.0) < 1e-6


@pytest.mark.parametrize(
    ("options", "answer", "message"),
    [
        ({"noise": "poisson"}, 1.5, "y must hold counts 0, 1, 2, ..., got 1.5"),
        ({"noise": "poisson"}, -1, "y must hold counts 0, 1, 2, ..., got -1"),
        ({"noise": "poisson"}, 1j, "y must hold counts 0, 1, 2, ..., got complex"),
        ({"noise": "binomial", "trials": 1}, 8, "y must be at most the trials, got 8 of 3 in row 0"),
        ({"noise": "binomial"}, 2, "y must be at most the trials, got 2 of 1"),
        ({"noise": "poisson", "trials": 1}, 1, 'trials goes with noise="binomial", got noise=.poisson.'),
        ({"noise": 0.3, "exposure": 1}, 1, 'exposure goes with noise="poisson", got noise=0.3'),
        ({"noise": "poisson", "exposure": "time"}, 1, "exposure names the column .time., which X does not have"),
        ({"noise": "poisson", "exposure": 0.5}, 1, "exposure must be the number or the name of a column of X"),
        ({"noise": "poisson", "exposure": 7}, 1, "exposure is column 7, but X has 2 columns"),
        ({"noise": "poisson", "exposure": 0}, 1, "exposure must be positive, got 0"),
        ({"noise": "poisson", "overdispersion": "b"}, 1, "overdispersion"),
        ({"noise": "poisson", "overdispersion": -1.0}, 1, "overdispersion must be"),
        ({"noise": "poisson", "model": lambda theta, X: theta[:, :1] * X[:, 0] - 1.0}, 1, "expected a mean count >= 0"),
        ({"noise": "binomial", "model": lambda theta, X: theta[:, :1] + 1.0 + 0 * X[:, 0]}, 1, "a chance from 0 to 1"),
        ({"noise": "poison"}, 1, "noise"),
    ],
)
def test_what_is_refused(options, answer, message):
    given = {"model": lambda theta, X: theta[:, :1] * X[:, 0], "prior": {"a": stats.uniform(0.1, 0.9)}}
    with pytest.raises(ValueError, match=message):
        ParticleEstimator(**{**given, **options}, n_particles=20, random_state=0).fit([[0.0, 3.0]], [answer])


@pytest.mark.parametrize(("noise", "column"), [("poisson", "exposure"), ("binomial", "trials")])
def test_the_column_of_sizes_may_be_named_in_a_frame(noise, column, tmp_path):
    frame = pd.DataFrame({"place": np.tile(np.linspace(0, 2, 5), 2), "n": np.repeat([1.0, 20.0], 5)})
    rng = np.random.default_rng(0)

    def model(parameters, X):
        return 0.05 + 0.9 / (1.0 + np.exp(-4.0 * (X[:, 0] - parameters[:, :1])))

    def fresh(of):
        return ParticleEstimator(
            model=model, prior={"at": stats.uniform(0, 2)}, noise=noise, n_particles=300, random_state=0, **{column: of}
        )

    by_name, by_number = fresh("n"), fresh(1)
    assert by_name.select(frame)[0] == by_number.select(frame.to_numpy())[0] >= 5  # more of them tell more
    drawn = by_name.simulated_outcomes([[1.0]], frame, random_state=1)
    np.testing.assert_array_equal(drawn, by_number.simulated_outcomes([[1.0]], frame.to_numpy(), random_state=1))
    y = np.minimum(rng.poisson(0.5 * frame["n"]), frame["n"])
    by_name.fit(frame[:6], y[:6]).partial_fit(frame[6:], y[6:])
    by_number.fit(frame.to_numpy(), y)
    np.testing.assert_array_equal(by_name.predict(frame), by_number.predict(frame.to_numpy()))
    again = fresh("n").restore(by_name.state())
    np.testing.assert_array_equal(again.predict(frame), by_name.predict(frame))
    np.testing.assert_array_equal(again.partial_fit(frame[:1], y[:1]).predict(frame),
                                  by_name.partial_fit(frame[:1], y[:1]).predict(frame))  # fmt: skip
    swapped = fresh("n").fit(frame[["n", "place"]].set_axis(["n", "other"], axis=1), y)  # another table, anew
    assert swapped.fit(frame, y).predict(frame) == pytest.approx(by_number.predict(frame.to_numpy()))
    for path, measure in (
        (tmp_path / "log", lambda query: query.candidates["n"].to_numpy() // 2),
    ) * 2:  # begins, and goes on
        with SequentialDesign.open(path, fresh("n"), frame, measure, repeat=True, random_state=0) as design:
            design.run(3)
    assert design.iteration == 6
    with pytest.raises(ValueError, match=f"{column} names the column 'n', which X does not have; its columns have no"):
        fresh("n").fit(frame.to_numpy(), y)
    with pytest.raises(ValueError, match=f"{column} names the column 'shots', which X does not have; columns:"):
        fresh("shots").select(frame)
