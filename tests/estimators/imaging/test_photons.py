"""Images from counts of photons: evidence and moments by brute force, exposures, patterns, designs, bad input."""

import numpy as np
import pytest
from scipy.special import gammaln

from adaptive import ImageReconstructor, SequentialDesign, inference
from adaptive.estimators.imaging.photons import photon_evidence
from adaptive.inference import GLM
from adaptive.operators import Convolution, Identity, Scaled
from adaptive.potentials import Laplace, Poisson

PICTURE = np.tri(8)
BLUR = Convolution((8, 8), np.full((3, 3), 1 / 9))


def counted(operator, seed=0):
    return np.random.default_rng(seed).poisson(np.maximum(operator.forward(PICTURE), 0.0)).astype(float)


@pytest.fixture(scope="module")
def fitted():
    camera = Scaled(10.0, BLUR)
    return ImageReconstructor((8, 8), likelihood="poisson", prior="tv").fit(camera, counted(camera))


def test_two_pixels_agree_with_integration_by_brute_force():
    """Laplace on the difference, blurred counts of both: mass, means and variances on a grid."""
    A, y, scale = np.array([[4.0, 2.0], [1.0, 5.0]]), np.array([7.0, 2.0]), 0.5
    u = np.linspace(-1.5, 6.0, 1501)
    first, second = np.meshgrid(u, u, indexing="ij")
    density = np.exp(-abs(first - second) / scale) / (2 * scale)
    density *= np.exp(-0.5 * (first**2 + second**2) / 9.0) / (2 * np.pi * 9.0)
    for row, count in zip(A, y, strict=True):
        rate = np.maximum(row[0] * first + row[1] * second, 0.0)
        density *= np.where(rate > 0, np.exp(count * np.log(np.maximum(rate, 1e-300)) - rate - gammaln(count + 1)), 0.0)
    cell = (u[1] - u[0]) ** 2
    mass = density.sum() * cell
    mean = np.array([(density * one).sum() for one in (first, second)]) * cell / mass
    variance = np.array([(density * one**2).sum() for one in (first, second)]) * cell / mass - mean**2
    model = GLM(B=[[[1.0, -1.0]], A], potentials=[Laplace(scale), Poisson(y, "rectified")], prior_covariance=9.0)
    posterior = inference.expectation_propagation(model)
    assert posterior.log_evidence == pytest.approx(np.log(mass), abs=0.03)
    np.testing.assert_allclose(posterior.mean, mean, atol=0.03)
    np.testing.assert_allclose(posterior.variances(), variance, rtol=0.08)


def test_counts_are_deblurred_better_than_they_are_seen(fitted):
    seen = counted(Scaled(10.0, BLUR)) / 10.0
    assert abs(fitted.image_ - PICTURE).mean() < 0.9 * abs(seen - PICTURE).mean()
    image, std = fitted.predict(return_std=True)
    assert image.shape == std.shape == (8, 8) and np.all(std > 0)
    assert np.mean(abs(image - PICTURE) < 2 * std) > 0.7
    assert fitted.evidence_kind_ == "approximation" and fitted.converged_


def test_the_gaussian_baseline_has_the_same_prior_and_engine(fitted):
    """The wrong noise model on the same photons: it reconstructs as well, and is no better."""
    seen = counted(Scaled(10.0, BLUR)) / 10.0
    options = {"prior": "tv", "inference": "expectation_propagation", "prior_scales": fitted.prior_scales_}
    gaussian = ImageReconstructor((8, 8), noise_variance=float(seen.mean()) / 10.0, **options).fit(BLUR, seen)
    errors = [abs(model.image_ - PICTURE).mean() for model in (fitted, gaussian)]
    assert errors[0] <= 1.05 * errors[1] < 1.05 * abs(seen - PICTURE).mean()
    assert np.log(gaussian.variance_factor_.value) < 2 * gaussian.variance_factor_.error


def test_single_precision_gives_the_same_image_and_bands(fitted):
    camera = Scaled(10.0, BLUR)
    single = ImageReconstructor((8, 8), likelihood="poisson", prior="tv", dtype="float32").fit(camera, counted(camera))
    assert single.posterior_.gaussian.kind == "single_precision" and fitted.posterior_.gaussian.kind == "precision"
    assert single.prior_scales_["tv"] == pytest.approx(fitted.prior_scales_["tv"], rel=1e-2)
    np.testing.assert_allclose(single.image_, fitted.image_, atol=1e-2 * fitted.image_std_.max())
    np.testing.assert_allclose(single.image_std_, fitted.image_std_, rtol=1e-2)


def test_the_learnt_scale_has_the_highest_evidence_of_its_neighbours(fitted):
    model, scale = fitted.belief_.model, fitted.prior_scales_["tv"]
    posterior, engine = fitted.posterior_, fitted.belief_.settings.given.engine
    best = photon_evidence(model, {"tv": scale}, posterior)
    for other in (scale / 2, scale * 2):
        there = photon_evidence(model, {"tv": other}, model.posterior({"tv": other}, engine, 0))
        assert there < best


def test_twice_the_exposure_is_two_counts_added():
    """max(0, e a.u): one row counted twice, or once for twice as long, say the same of the image."""
    rows = np.random.default_rng(0).uniform(0, 1, (40, 64))
    first, second = (np.random.default_rng(s).poisson(3.0 * rows @ PICTURE.ravel()).astype(float) for s in (1, 2))
    settings = {"likelihood": "poisson", "prior": "tv", "prior_scales": 0.3}
    apart = ImageReconstructor((8, 8), **settings).fit(3 * np.vstack([rows, rows]), np.append(first, second))
    together = ImageReconstructor((8, 8), **settings).fit(6 * rows, first + second)
    np.testing.assert_allclose(apart.image_, together.image_, atol=5e-3)
    np.testing.assert_allclose(apart.image_std_, together.image_std_, rtol=5e-2)


def test_patterns_and_exposures_are_chosen_and_inpainted():
    """Pixels that are not negative, some not seen; a longer exposure teaches more, per second less."""
    seen = np.random.default_rng(5).random(64) > 0.35
    rows = 20.0 * np.eye(64)
    y = np.random.default_rng(0).poisson(20.0 * PICTURE.ravel()).astype(float)
    model = ImageReconstructor((8, 8), likelihood="poisson", prior="tv", prior_scales=0.1).fit(rows[seen], y[seen])
    unseen = PICTURE.ravel()[~seen]
    assert abs(model.image_.ravel()[~seen] - unseen).mean() < 0.7 * abs(unseen.mean() - unseen).mean()
    pixel = int(np.flatnonzero(~seen)[5])
    exposures = np.array([1.0, 5.0, 20.0])
    candidates = exposures[:, None] * np.eye(64)[pixel]
    _, gains = model.select(candidates, 3, joint=False, return_scores=True)
    assert model.select(candidates)[0] == 2 and np.all(np.diff(gains) < 0)
    assert model.select(candidates, cost=exposures)[0] == 0
    design = SequentialDesign(
        model, rows[~seen], lambda query: y[~seen][query.positions], cost=None, random_state=0
    )  # fmt: skip
    design.run(3)
    assert len(design.estimator_.measurements_[1]) == seen.sum() + 3
    again = ImageReconstructor((8, 8), likelihood="poisson", prior="tv", prior_scales=0.1).restore(model.state())
    np.testing.assert_array_equal(again.image_, model.image_)


def test_log_predictives_are_of_counts_alone(fitted):
    rows = 0.1 * np.random.default_rng(0).uniform(0, 1, (3, 64))
    found = np.exp([fitted.log_predictive(rows, np.full(3, float(y))) for y in range(60)])
    np.testing.assert_allclose(found.sum(axis=0), 1.0, atol=1e-6)
    believed = fitted.predictive(rows).probabilities
    np.testing.assert_allclose(found[: believed.shape[1]].T, believed[:, :60], atol=1e-6)
    with pytest.raises(ValueError, match="^y must have shape"):
        fitted.log_predictive(rows, [1.0])
    assert not hasattr(ImageReconstructor((8, 8)), "log_predictive")


@pytest.mark.parametrize(
    ("options", "y", "match"),
    [
        ({}, [1.0, -1.0], "^y must hold counts"),
        ({}, [1.0, 0.5], "^y must hold counts"),
        ({}, [1.0, np.nan], "finite"),
        ({"prior": "tree"}, [1.0, 2.0], "does not take prior='tree'"),
        ({"reconstruction": "map"}, [1.0, 2.0], "does not take reconstruction='map'"),
        ({"dtype": "complex64"}, [1.0, 2.0], "does not take dtype='complex64'"),
        ({"likelihood": "counts"}, [1.0, 2.0], "^likelihood must be one of"),
    ],
)
def test_bad_input(options, y, match):
    model = ImageReconstructor((8, 8), **{"likelihood": "poisson", "prior_scales": 0.1, **options})
    with pytest.raises(ValueError, match=match):
        model.fit(np.ones((2, 64)), y)
    assert not hasattr(model, "belief_")


def test_blocks_of_several_rows_are_no_candidates(fitted):
    with pytest.raises(ValueError, match="^candidates must be rows, or blocks of one row each"):
        fitted.select([Identity((8, 8))])


@pytest.fixture(scope="module")
def far_too_sure():
    """A scale of a hundredth of the right one: pixels are thought alike, and counts show that they are not."""
    counts = np.random.default_rng(0).poisson(40.0 * PICTURE)
    return ImageReconstructor((8, 8), likelihood="poisson", prior="tv", prior_scales=0.002).fit(
        40.0 * np.eye(64), counts.ravel()
    )


def test_counts_left_out_widen_bands_that_are_far_too_sure(far_too_sure):
    model = far_too_sure
    factor = model.variance_factor_
    assert factor.value > 10 and factor.n == 64 and factor.gain > 0
    with pytest.warns(UserWarning, match="variances are taken .* times as large"):
        std = model.image_std_
    posterior = np.sqrt(model.posterior_.variances()).reshape(8, 8)
    np.testing.assert_allclose(std, np.sqrt(factor.value) * posterior, rtol=1e-12)
    apart = abs(model.image_ - PICTURE)
    assert np.mean(apart < 1.645 * std) > 0.8 > 0.5 > np.mean(apart < 1.645 * posterior)


def test_the_factor_is_for_intervals_alone_and_comes_back(far_too_sure):
    model, pool = far_too_sure, 10.0 * np.eye(64)
    plain = inference.expectation_propagation(model.belief_.model.glm({"tv": 0.002}), tol=1e-4)
    np.testing.assert_array_equal(model.posterior_.mean, plain.mean)
    np.testing.assert_allclose(model.predictive(pool).variance, plain.projection_moments(pool)[1], rtol=1e-9)
    again = ImageReconstructor((8, 8), likelihood="poisson", prior="tv", prior_scales=0.002).restore(model.state())
    assert again.variance_factor_ == model.variance_factor_


def test_where_bands_hold_the_factor_stays_near_one(fitted):
    assert 1.0 <= fitted.variance_factor_.value < 1.5


def test_a_scale_of_the_evidence_that_is_far_too_sure_gives_way_to_what_predicts_counts_best(monkeypatch):
    """The evidence may look among small scales alone here, as it does by itself on some dark photographs."""
    monkeypatch.setattr("adaptive.estimators.imaging.photons.FACTORS", (0.02, 0.021))
    counts = np.random.default_rng(0).poisson(40.0 * PICTURE)
    model = ImageReconstructor((8, 8), likelihood="poisson", prior="tv")
    with pytest.warns(UserWarning, match="predicts each count best from the others"):
        model.fit(Scaled(40.0, Identity((8, 8))), counts)
    (scale,) = model.prior_scales_.values()
    small = ImageReconstructor((8, 8), likelihood="poisson", prior="tv", prior_scales=scale / 10)
    small.fit(Scaled(40.0, Identity((8, 8))), counts)
    assert model.leave_one_out_.log_score.sum() > small.leave_one_out_.log_score.sum()
    assert model.variance_factor_.value < 4
