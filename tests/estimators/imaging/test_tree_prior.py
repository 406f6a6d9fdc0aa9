"""`ImageReconstructor(prior="tree")`: denoising, inpainting, random projections, and the next pixel to look at."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from adaptive import ImageReconstructor, SequentialDesign
from adaptive.estimators.imaging.trees import TreeMixture
from adaptive.operators import Convolution, FourierLines, Identity, Wavelet

SIDE = 32
SHAPE = (SIDE, SIDE)
TREES = ("tree", "student_t_tree")


def picture():
    rows, columns = np.mgrid[:SIDE, :SIDE] / SIDE
    return 0.2 + 0.5 * (rows + 0.4 * columns > 0.7) + 0.2 * ((rows - 0.3) ** 2 + (columns - 0.7) ** 2 < 0.04)


def noisy(seed=0):
    return picture() + 0.1 * np.random.default_rng(seed).standard_normal(SHAPE)


def pixels(count, seed=0):
    """Rows that look at single pixels, and what they see."""
    chosen = np.sort(np.random.default_rng(seed).permutation(SIDE**2)[:count])
    rows = sp.csr_array((np.ones(count), (np.arange(count), chosen)), shape=(count, SIDE**2))
    return rows, picture().ravel()[chosen]


def error(model):
    return np.mean((model.image_ - picture()) ** 2)


@pytest.mark.parametrize("prior", TREES)
def test_denoising(prior):
    model = ImageReconstructor(SHAPE, prior=prior, noise_variance=0.01, wavelet="haar").fit(Identity(SHAPE), noisy())
    assert error(model) < 0.4 * 0.01
    assert isinstance(model.prior_scales_, TreeMixture)
    assert model.evidence_kind_ == "lower_bound"
    assert 0 < model.image_std_.min() < model.image_std_.max() < 0.15
    mode = ImageReconstructor(SHAPE, prior=prior, noise_variance=0.01, wavelet="haar", reconstruction="map")
    assert error(mode.fit(Identity(SHAPE), noisy())) < 0.01


@pytest.mark.parametrize("prior", TREES)
def test_inpainting_and_the_next_pixels(prior):
    rows, values = pixels(SIDE**2 // 3)
    model = ImageReconstructor(SHAPE, prior=prior, noise_variance=1e-4).fit(rows, values)
    filled = np.full(SIDE**2, values.mean())
    filled[rows.indices] = values
    assert error(model) < 0.5 * np.mean((filled - picture().ravel()) ** 2)
    # the score of a pixel is 1/2 log(1 + variance / noise); those that were seen have nothing left to tell
    everything = sp.eye_array(SIDE**2, format="csr")
    chosen = model.select(everything)
    assert not np.isin(chosen, rows.indices).any()
    predictive = model.predictive(everything)
    gains = 0.5 * predictive.log_determinant()[0]
    np.testing.assert_allclose(gains, 0.5 * np.log1p(model.design_posterior_.variances() / 1e-4), rtol=1e-6)
    assert gains[rows.indices].mean() < 0.5 * gains.mean()


def test_designed_pixels_teach_more_than_random_ones():
    rows, values = pixels(200)
    everything = sp.eye_array(SIDE**2, format="csr")
    model = ImageReconstructor(SHAPE, prior="tree", noise_variance=1e-4, wavelet="haar").fit(rows, values)
    left = np.setdiff1d(np.arange(SIDE**2), rows.indices)
    best = left[model.select(everything[left], 60, joint=False)]
    drawn = np.random.default_rng(1).choice(left, 60, replace=False)
    covariance = model.design_posterior_.covariance()

    def learnt(seen):  # the fall of the total variance
        seen_twice = covariance[np.ix_(seen, seen)] + 1e-4 * np.eye(len(seen))
        return np.trace(covariance[:, seen] @ np.linalg.solve(seen_twice, covariance[seen]))

    assert learnt(best) > learnt(drawn)


def test_directions_and_variances_are_those_of_the_covariance():
    rows, values = pixels(300)
    model = ImageReconstructor(SHAPE, prior="tree", noise_variance=1e-3, wavelet="haar", n_samples=100)
    model.fit(rows, values)
    covariance = model.design_posterior_.covariance()
    direction = model.leading_directions(1)[0]
    assert direction @ covariance @ direction == pytest.approx(np.linalg.eigvalsh(covariance)[-1], rel=1e-2)
    wavelet = Wavelet(SHAPE, "haar")
    exact = np.einsum("ij,jk,ik->i", wavelet.to_dense(), covariance, wavelet.to_dense())
    np.testing.assert_allclose(model.variances_along(wavelet).ravel(), exact, rtol=0.6)


def test_random_projections_and_blur():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((260, SIDE**2)) / SIDE
    model = ImageReconstructor(SHAPE, prior="tree", noise_variance=1e-4, wavelet="haar")
    model.fit(X, X @ picture().ravel() + 0.01 * rng.standard_normal(260))
    assert error(model) < 0.5 * picture().var()
    kernel = np.outer([0.25, 0.5, 0.25], [0.25, 0.5, 0.25])
    blur = Convolution(SHAPE, kernel)
    blurred = blur.forward(picture()) + 0.01 * rng.standard_normal(SHAPE)
    model.fit(blur, blurred)
    assert error(model) < np.mean((blurred - picture()) ** 2)


def test_further_measurements_go_on_from_what_is_believed():
    rows, values = pixels(300)
    model = ImageReconstructor(SHAPE, prior="tree", noise_variance=1e-4).fit(rows[:220], values[:220])
    before = error(model)
    model.partial_fit(rows[220:], values[220:])
    assert error(model) < before
    assert model.design_posterior_.n_iter <= 2


def test_state_comes_back_and_the_prior_answers_before_any_fit():
    rows, values = pixels(300)
    model = ImageReconstructor(SHAPE, prior="student_t_tree", noise_variance=1e-4).fit(rows, values)
    other = ImageReconstructor(SHAPE, prior="student_t_tree", noise_variance=1e-4).restore(model.state())
    everything = sp.eye_array(SIDE**2, format="csr")
    np.testing.assert_array_equal(other.select(everything, 3), model.select(everything, 3))
    np.testing.assert_array_equal(other.design_scales_.wide, model.design_scales_.wide)
    fresh = ImageReconstructor(SHAPE, prior="tree", noise_variance=1e-4)
    assert fresh.predictive(everything).log_determinant()[0].min() > 0


def test_a_run_saved_and_loaded_asks_for_the_same(tmp_path):
    everything, image = sp.eye_array(SIDE**2, format="csr"), picture().ravel()
    path = tmp_path / "run.log"

    def estimator():
        return ImageReconstructor(SHAPE, prior="tree", noise_variance=1e-3, wavelet="haar")

    with SequentialDesign(estimator(), everything, initial=200, log=path, random_state=0) as loop:
        for _ in range(3):
            query = loop.ask()
            loop.tell(query, image[query.positions])
        asked = loop.ask().positions
    with SequentialDesign.load(path, estimator(), everything) as again:
        np.testing.assert_array_equal(again.ask().positions, asked)


def test_given_parameters_are_kept():
    prior = TreeMixture.generic(Wavelet(SHAPE, "haar"), 0.05)
    model = ImageReconstructor(SHAPE, prior="tree", prior_scales=prior, noise_variance=0.01, wavelet="haar")
    model.fit(Identity(SHAPE), noisy())
    assert model.prior_scales_ is prior
    number = ImageReconstructor(SHAPE, prior="tree", prior_scales=0.05, noise_variance=0.01, wavelet="haar")
    np.testing.assert_allclose(number.fit(Identity(SHAPE), noisy()).image_, model.image_)


def test_a_real_image_from_lines_of_k_space():
    X = [FourierLines(SHAPE, [k]) for k in range(SIDE // 2 - 8, SIDE // 2 + 6)]
    options = {"dtype": "float64", "design_dtype": "float64", "phase": None, "wavelet": "haar"}
    model = ImageReconstructor(SHAPE, prior="tree", noise_variance=1e-5, **options)
    model.fit(X, [x.forward(picture()) for x in X])
    assert error(model) < 0.3 * picture().var()
    further = [FourierLines(SHAPE, [k]) for k in (0, SIDE // 2 + 7)]
    assert model.select(further) in (0, 1)


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"dtype": "complex64"}, 'prior="tree" is for real images'),
        ({"shape": (31, 32)}, "needs images with even sides"),
        ({"inference": "expectation_propagation"}, 'has a double loop of its own: inference must be "variational_bou'),
        ({"prior_scales": {"wavelet": 1.0}}, "every key of prior_scales"),
        ({"prior_scales": TreeMixture.generic(Wavelet((8, 8), "haar"), 0.1)}, r"a prior of images of shape \(8, 8\)"),
    ],
)
def test_bad_settings_end_in_one_sentence(options, sentence):
    options = {"shape": SHAPE, "prior": "tree", "noise_variance": 0.01, **options}
    shape = options.pop("shape")
    with pytest.raises(ValueError, match=sentence), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ImageReconstructor(shape, **options).fit(Identity(shape), np.zeros(shape))
