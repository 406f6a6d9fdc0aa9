"""Photographs: what is measured of them, beaten baselines, bands that cover, exact scores of dense posteriors."""

import copy
import functools
import pickle
import warnings

import numpy as np
import pytest
import pywt.data
from scipy import sparse

from adaptive import ImageReconstructor, SequentialDesign
from adaptive.estimators.imaging import model as image_model
from adaptive.estimators.imaging.dense_predictive import DenseBlockPredictive
from adaptive.inference import LargePosterior
from adaptive.loop.log.event_log import EventLog
from adaptive.operators import Convolution, Dense, Diagonal, FourierLines, Identity, Product, Sparse, Wavelet
from designs import filters, kspace

N = 24
SHAPE = (N, N)
PICTURE = pywt.data.camera().astype(float)[:480, :480].reshape(N, 20, N, 20).mean(axis=(1, 3)) / 255
ENGINES = ["variational_bounds", "expectation_propagation"]
EXACT = {"inference": "expectation_propagation"}


def problem(kind):
    """(what measures, samples, naive image, noise variance if it has to be told)."""
    rng = np.random.default_rng(3)
    if kind == "denoising":
        noisy = PICTURE + 0.1 * rng.standard_normal(SHAPE)
        return Identity(SHAPE), noisy, noisy, None
    if kind == "blur":
        X = Convolution(SHAPE, np.ones((5, 5)) / 25)
        blurred = X.forward(PICTURE) + 0.02 * rng.standard_normal(SHAPE)
        return X, blurred, blurred, None
    if kind == "inpainting":
        seen = np.sort(rng.choice(N * N, N * N // 4, replace=False))
        y = PICTURE.ravel()[seen] + 0.02 * rng.standard_normal(len(seen))
        naive = np.full(N * N, y.mean())
        naive[seen] = y
        return sparse.eye_array(N * N, format="csr")[seen], y, naive.reshape(SHAPE), 4e-4
    rows = filters.uniform(SHAPE, N * N // 3, random_state=0)
    y = rows @ PICTURE.ravel() + 0.07 * rng.standard_normal(len(rows))
    return rows, y, np.linalg.lstsq(rows, y, rcond=None)[0].reshape(SHAPE), 0.07**2


def error(image):
    return np.linalg.norm(image - PICTURE)


@pytest.mark.parametrize("inference", ENGINES)
@pytest.mark.parametrize("kind", ["denoising", "blur", "inpainting", "random projections"])
def test_reconstructions_beat_the_naive_ones_and_bands_cover(kind, inference):
    X, y, naive, noise = problem(kind)
    model = ImageReconstructor(SHAPE, inference=inference, noise_variance=noise).fit(X, y)
    image, std = model.predict(return_std=True)
    assert error(image) < (0.65 if kind in ("denoising", "blur") else 0.4) * error(naive)
    inside = np.abs(image - PICTURE) < 1.645 * std
    assert 0.8 < inside.mean() < (1 if kind == "blur" else 0.995)
    assert image.dtype == float and model.unknown_.dtype == float and std.shape == SHAPE
    np.testing.assert_array_equal(model.image_, image)
    assert model.posterior_ is model.design_posterior_ or inference == "variational_bounds"


def test_the_covariance_has_the_precision_of_the_unknown():
    """In single precision everything is within the digits of double, after further measurements, too."""
    X, y, _, noise = problem("random projections")
    stated = {"noise_variance": noise, "prior_scales": {"wavelet": 0.2, "tv": 0.1}, **EXACT}
    double, single = (ImageReconstructor(SHAPE, dtype=dtype, **stated).fit(X, y) for dtype in ("float64", "float32"))
    further = filters.uniform(SHAPE, 3, random_state=1)
    for model in (double, single):
        model.partial_fit(further, further @ PICTURE.ravel())
    assert single.posterior_.gaussian.single and not double.posterior_.gaussian.single
    np.testing.assert_allclose(single.image_std_, double.image_std_, rtol=1e-2)
    assert (np.abs(single.image_ - double.image_) < 0.03 * double.image_std_).all()


@pytest.mark.parametrize("prior", ["tv", "wavelet"])
@pytest.mark.parametrize("inference", ENGINES)
def test_each_prior_alone_denoises(prior, inference):
    X, y, naive, _ = problem("denoising")
    model = ImageReconstructor(SHAPE, prior=prior, inference=inference).fit(X, y)
    assert error(model.image_) < 0.85 * error(naive)
    assert set(model.prior_scales_) == {prior}


def test_what_is_measured_first_decides_the_defaults():
    X, y, _, _ = problem("denoising")
    model = ImageReconstructor(SHAPE).fit(X, y)
    assert model.phase_ is None and model.unknown_.dtype == float
    assert model.design_posterior_ is model.posterior_ and isinstance(model.posterior_, LargePosterior)
    assert model.design_posterior_.system.noise_variance == model.noise_variance_
    lines = kspace.lines(SHAPE)
    scan = ImageReconstructor(SHAPE, prior_scales=0.1).fit(list(lines), [line.forward(PICTURE) for line in lines])
    assert scan.unknown_.dtype.kind == "c" and scan.design_posterior_.system.noise_variance == 1e-6
    told = ImageReconstructor(SHAPE, dtype="complex128", prior_scales=0.1).fit(X, y)
    assert told.unknown_.dtype.kind == "c" and told.image_.min() >= 0


def test_photographs_are_signed():
    below = -PICTURE + 0.02 * np.random.default_rng(0).standard_normal(SHAPE)
    model = ImageReconstructor(SHAPE).fit(Identity(SHAPE), below)
    assert np.linalg.norm(model.image_ + PICTURE) < 2 and model.image_.mean() < -0.2
    again = model.reconstruct(Identity(SHAPE), below)
    np.testing.assert_allclose(again, model.image_, atol=1e-3)


# -------------------------------------------------------------------------------------------- what may be measured


def small(**options):
    return ImageReconstructor((8, 8), noise_variance=1e-3, prior_scales=0.1, **options)


MIDDLE = PICTURE[4:20, 4:20]
ROWS = np.random.default_rng(1).standard_normal((24, 64)) / 8
TINY = PICTURE.reshape(8, 3, 8, 3).mean(axis=(1, 3))
OUTCOMES = ROWS @ TINY.ravel() + 0.03 * np.random.default_rng(2).standard_normal(24)


@pytest.mark.parametrize(
    "X",
    [Dense(ROWS), Sparse(sparse.csr_array(ROWS)), sparse.csr_array(ROWS), [Dense(ROWS)]],
    ids=["dense", "sparse operator", "sparse", "list"],
)
def test_a_matrix_in_any_form_is_a_matrix(X):
    wanted = small(**EXACT).fit(ROWS, OUTCOMES)
    found = small(**EXACT).fit(X, [OUTCOMES] if isinstance(X, list) else OUTCOMES)
    np.testing.assert_allclose(found.image_, wanted.image_, atol=1e-8)
    rows, y = found.measurements_
    np.testing.assert_allclose(rows, ROWS)
    np.testing.assert_array_equal(y, OUTCOMES)


def test_lazy_tables_of_rows_are_written_out():
    pool = filters.wavelets((8, 8), 40)
    model = small(**EXACT).fit(pool.take(np.arange(20)), np.asarray(pool)[:20] @ TINY.ravel())
    np.testing.assert_allclose(
        model.predictive(pool).log_determinant()[0], model.predictive(np.asarray(pool)).log_determinant()[0]
    )


def test_more_measurements_than_unknowns():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((400, 64)) / 8
    y = rows @ TINY.ravel() + 0.05 * rng.standard_normal(400)
    model = ImageReconstructor((8, 8), **EXACT).fit(rows, y)
    assert model.noise_variance_ == pytest.approx(0.05**2, rel=0.3)  # what least squares leaves over
    solved = np.linalg.lstsq(rows, y, rcond=None)[0].reshape(8, 8)
    assert np.linalg.norm(model.image_ - TINY) < 1.05 * np.linalg.norm(solved - TINY)


@pytest.mark.parametrize("kind", ["denoising", "blur"])
def test_the_noise_of_pictures_is_estimated(kind):
    X, y, _, _ = problem(kind)
    true = 0.1**2 if kind == "denoising" else 0.02**2
    assert 0.7 < ImageReconstructor(SHAPE).fit(X, y).noise_variance_ / true < 2


def test_blocks_of_several_kinds_together():
    half = Sparse(sparse.eye_array(64, format="csr")[:32])
    blur = Convolution((8, 8), np.ones((3, 3)) / 9)
    model = small(**EXACT).fit([half, blur], [TINY.ravel()[:32], blur.forward(TINY)])
    assert np.linalg.norm(model.image_ - TINY) < 0.5
    other = small().fit([half, blur], [TINY.ravel()[:32], blur.forward(TINY)])
    assert np.linalg.norm(other.image_ - TINY) < 0.5


# -------------------------------------------------------------------------------- scores of a dense posterior


def exact(posterior, rows, noise):
    covariance = posterior.covariance()
    block = rows @ covariance @ rows.T / noise
    return np.linalg.slogdet(np.eye(len(rows)) + block)[1]


@pytest.mark.parametrize("form", ["rows", "complex rows", "blocks", "lines"])
def test_scores_and_joint_batches_of_a_dense_posterior_are_exact(form):
    model = small(**EXACT).fit(ROWS, OUTCOMES)
    rng = np.random.default_rng(5)
    candidates = {
        "rows": rng.standard_normal((10, 64)),
        "complex rows": rng.standard_normal((6, 64)) + 1j * rng.standard_normal((6, 64)),
        "blocks": [Dense(rng.standard_normal((k, 64))) for k in (1, 3, 2, 5)],
        "lines": kspace.lines((8, 8)),
    }[form]
    blocks = [np.atleast_2d(c) if form.endswith("rows") else _matrix(c) for c in candidates]
    real = [np.concatenate([b.real, b.imag]) if b.dtype.kind == "c" else b for b in blocks]
    predictive = model.predictive(candidates)
    values, errors = predictive.log_determinant()
    np.testing.assert_allclose(values, [exact(model.posterior_, b, 1e-3) for b in real], rtol=1e-8)
    assert not np.any(errors)
    assert isinstance(predictive, DenseBlockPredictive) == (form != "rows")
    chosen, scores = model.select(candidates, 3, return_scores=True)
    joint = exact(model.posterior_, np.concatenate([real[k] for k in chosen]), 1e-3)
    assert scores.sum() == pytest.approx(joint / 2, rel=1e-8)  # nats
    after = predictive.given(2).log_determinant()[0]
    both = exact(model.posterior_, np.concatenate([real[2], real[0]]), 1e-3)
    assert after[0] == pytest.approx(both - values[2], rel=1e-7)
    own = predictive.covariance([0, 2], [0, 2])
    wanted = np.concatenate([real[0], real[2]])
    np.testing.assert_allclose(own, wanted @ model.posterior_.covariance() @ wanted.T, atol=1e-9)


def _matrix(block):
    return block.to_dense()


def test_lines_of_a_turned_image_are_exact_too():
    """K-space with a phase, a real unknown, and the covariance as a matrix."""
    phase = np.linspace(0, 1.5, 64).reshape(8, 8)
    lines = kspace.lines((8, 8))
    first = lines.take([3, 4, 5])
    samples = [line.forward(TINY * np.exp(1j * phase)) for line in first]
    model = small(phase=phase, dtype="float64", design_noise_variance=1e-4, design_prior_scales=0.1, **EXACT)
    model.fit(first, samples)
    values = model.predictive(lines).log_determinant()[0]
    turned = Product(FourierLines((8, 8), [0]), Diagonal(np.exp(1j * phase))).to_dense()
    stacked = np.concatenate([turned.real, turned.imag])
    assert values[0] == pytest.approx(exact(model.design_posterior_, stacked, 1e-4), rel=1e-7)
    assert np.linalg.norm(model.image_ - TINY) < np.linalg.norm(TINY) / 2


def test_before_any_fit_the_prior_answers():
    model = ImageReconstructor((8, 8), noise_variance=1e-3, **EXACT)
    chosen = model.select(np.concatenate([ROWS, np.ones((1, 64)) / 8]))
    assert chosen.tolist() == [24] and not hasattr(model, "measured_")  # the mean, which the prior knows least
    rows, outcomes = model.measurements_
    assert rows.shape == (0, 64) and outcomes.shape == (0,)
    assert model.variances_along(Wavelet((8, 8), "haar")).shape == (8, 8)
    with pytest.raises(ValueError, match="give design_noise_variance or noise_variance"):
        ImageReconstructor((8, 8), **EXACT).select(ROWS)


# ------------------------------------------------------------------------------------ one measurement after another


@pytest.mark.parametrize("inference", ENGINES)
def test_step_by_step_comes_to_what_all_at_once_does(inference, monkeypatch):
    monkeypatch.setattr(image_model, "CHANGES", (1e-12, 1e-12))
    cold = small(inference=inference, reconstruction="mean").fit(ROWS, OUTCOMES)
    warm = small(inference=inference, reconstruction="mean").fit(ROWS[:12], OUTCOMES[:12])
    for k in range(12, 24, 3):
        warm.partial_fit(ROWS[k : k + 3], OUTCOMES[k : k + 3])
    tol = 0.02 if inference == "variational_bounds" else 1e-5
    assert np.linalg.norm(warm.image_ - cold.image_) < tol * np.linalg.norm(cold.image_)
    assert len(warm.measured_.others) == 1  # one matrix
    if inference == "expectation_propagation":
        np.testing.assert_allclose(warm.image_std_, cold.image_std_, rtol=1e-5)


def test_a_small_image_is_exact_however_its_rows_come():
    """To a hundredth of a nat: sites were left alone that could change the posterior by as much, each."""
    cold, warm = small(**EXACT).fit(ROWS, OUTCOMES), small(**EXACT).fit(ROWS[:12], OUTCOMES[:12])
    for k in range(12, 24):
        warm.partial_fit(ROWS[k : k + 1], OUTCOMES[k : k + 1])
    assert abs(warm.log_evidence_ - cold.log_evidence_) < 0.01


def test_further_rows_cost_updates_and_no_factorisation(monkeypatch):
    """Of images that are not small, where one is dear."""
    monkeypatch.setattr(image_model, "SMALL", 0)
    model = small(**EXACT).fit(ROWS[:12], OUTCOMES[:12])
    before = model.design_posterior_.gaussian.work.factorisations
    for k in range(12, 24, 3):
        model.partial_fit(ROWS[k : k + 3], OUTCOMES[k : k + 3])
        assert model.n_iter_ < 60
    work = model.design_posterior_.gaussian.work
    assert work.factorisations <= before + 1 and work.absorbed == 12 and work.drift < 1e-8


@pytest.mark.parametrize("inference", ENGINES)
def test_leading_directions_are_eigenvectors_and_asking_changes_nothing(inference):
    model = small(inference=inference, n_samples=256).fit(ROWS, OUTCOMES)
    model.image_  # noqa: B018  computed now, so that it is no difference
    before = pickle.dumps(model)
    directions = model.leading_directions(3)
    covariance = model.design_posterior_.covariance()
    assert directions.shape == (3, 64)
    np.testing.assert_allclose(directions @ directions.T, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(
        np.diag(directions @ covariance @ directions.T), np.linalg.eigvalsh(covariance)[:-4:-1], rtol=1e-2
    )
    assert pickle.dumps(model) == before
    np.testing.assert_array_equal(model.leading_directions(3), directions)
    wavelets = Wavelet((8, 8), "db2")
    found, rows = model.variances_along(wavelets), wavelets.to_dense()
    tol = 1e-8 if inference == "expectation_propagation" else 0.5
    np.testing.assert_allclose(found.ravel(), np.diag(rows @ covariance @ rows.T), rtol=tol)
    np.testing.assert_allclose(model.variances_along(rows[:5]), found.ravel()[:5], rtol=tol)
    with pytest.raises(ValueError, match="leading_directions are for real images"):
        small(dtype="complex128").fit(ROWS, OUTCOMES).leading_directions(1)


@pytest.mark.parametrize("prior", ["tv", "tv+wavelet"])
def test_the_prior_has_leading_directions_too(prior):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        directions = small(prior=prior, **EXACT).leading_directions(2)
    smooth = np.abs(directions[0].reshape(8, 8))
    assert smooth.std() < 0.9 * smooth.mean()  # of low frequency


@pytest.mark.parametrize(
    "pool", [filters.LeadingDirections(2), filters.LeadingSigns(2), filters.UncertainWavelets((16, 16), 2)],
    ids=["directions", "signs", "wavelets"],
)  # fmt: skip
def test_designs_that_follow_the_posterior_resume_to_the_bit(pool, tmp_path):
    """With the answers of two steps after the snapshot replayed, and the questions not asked again."""

    first_rows = filters.uniform(MIDDLE.shape, 4, random_state=0)

    def begun():
        model = ImageReconstructor(MIDDLE.shape, noise_variance=1e-3, prior_scales=0.1, **EXACT)
        return model.fit(first_rows, first_rows @ MIDDLE.ravel())

    def measure(query):
        return query.candidates @ MIDDLE.ravel() + 0.01 * np.cos(np.arange(len(query.candidates)))

    def design(log):
        start = begun()
        return SequentialDesign(start, pool, measure, random_state=0, log=EventLog(log, snapshot_every=6), batch_size=2)

    first = design(tmp_path / "log").run(6)
    rows, mean = first.estimator_.measurements_[0], first.estimator_.design_posterior_.mean
    following = first.ask().candidates
    first.close()
    start = begun()
    with SequentialDesign.load(tmp_path / "log", start, pool, measure=measure) as again:
        np.testing.assert_array_equal(again.estimator_.measurements_[0], rows)
        np.testing.assert_array_equal(again.estimator_.design_posterior_.mean, mean)
        np.testing.assert_array_equal(again.ask().candidates, following)
        again.run(3)
        with design(tmp_path / "other").run(9) as straight:
            np.testing.assert_array_equal(again.estimator_.measurements_[0], straight.estimator_.measurements_[0])


@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("inference", ENGINES)
@pytest.mark.parametrize("prior", ["tv+wavelet", "wavelet"])  # alone it needs m x m numbers only, while these are few
def test_states_and_copies_go_on_to_the_bit(inference, matrix, prior):
    make = functools.partial(small, inference=inference, prior=prior, reconstruction="mean")
    model = make().fit(matrix(ROWS[:12]), OUTCOMES[:12])
    model.partial_fit(matrix(ROWS[12:15]), OUTCOMES[12:15])
    twins = [
        make().restore(pickle.loads(pickle.dumps(model.state()))),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
    ]
    if inference == "expectation_propagation":
        form = model.design_posterior_.gaussian.form
        assert form == ("measurements" if prior == "wavelet" else "unknowns")
    for twin in twins:
        np.testing.assert_array_equal(twin.design_posterior_.mean, model.design_posterior_.mean)
        np.testing.assert_array_equal(twin.image_, model.image_)
        scores = [m.predictive(ROWS[15:]).log_determinant()[0] for m in (twin, model)]
        np.testing.assert_array_equal(*scores)
        ahead = copy.deepcopy(model).partial_fit(matrix(ROWS[15:18]), OUTCOMES[15:18])
        twin.partial_fit(matrix(ROWS[15:18]), OUTCOMES[15:18])
        np.testing.assert_array_equal(twin.design_posterior_.mean, ahead.design_posterior_.mean)


@pytest.mark.parametrize("inference", ENGINES)
def test_the_loop_resumes_to_the_bit(inference, tmp_path):
    def measure(query):
        return ROWS[query.positions] @ TINY.ravel() + 0.01 * np.cos(query.positions)

    def design(log):
        return SequentialDesign(
            small(inference=inference), ROWS, measure, initial=[0, 1, 2], random_state=0, log=log, batch_size=2
        )

    first = design(tmp_path / "log").run(4)
    mean = first.estimator_.design_posterior_.mean
    following = first.ask().positions
    first.save(tmp_path / "log")
    first.close()
    model = small(inference=inference)
    with SequentialDesign.load(tmp_path / "log", model, ROWS, measure=measure) as again:
        np.testing.assert_array_equal(again.estimator_.design_posterior_.mean, mean)
        assert again.ask().positions.tolist() == following.tolist()


# ---------------------------------------------------------------------------------------------------- bad input


def test_odd_sizes_are_padded_and_it_is_said():
    picture = PICTURE[:23, :21]
    noisy = picture + 0.1 * np.random.default_rng(0).standard_normal(picture.shape)
    for options in ({}, EXACT):
        with pytest.warns(UserWarning, match=r"shape \(23, 21\) is padded to \(24, 24\) .* repeating its last row"):
            model = ImageReconstructor((23, 21), **options).fit(Identity((23, 21)), noisy)
        assert model.image_.shape == model.image_std_.shape == (23, 21)
        assert np.linalg.norm(model.image_ - picture) < 0.7 * np.linalg.norm(noisy - picture)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ImageReconstructor((23, 21), prior="tv").fit(Identity((23, 21)), noisy)
        model.partial_fit(Identity((23, 21)), noisy)  # said once


@pytest.mark.parametrize("inference", ENGINES)
def test_constant_images(inference):
    for noise in (0.05, 0.0):
        flat = 0.4 + noise * np.random.default_rng(0).standard_normal((16, 16))
        model = ImageReconstructor((16, 16), inference=inference, noise_variance=max(noise**2, 1e-4))
        image, std = model.fit(Identity((16, 16)), flat).predict(return_std=True)
        assert np.abs(image - 0.4).mean() < 0.7 * np.abs(flat - 0.4).mean() + 1e-3
        assert np.isfinite(std).all() and (std >= 0).all() and std.max() < 0.06


@pytest.mark.parametrize("inference", ENGINES)
def test_bad_input_is_refused_in_one_sentence_and_changes_nothing(inference):
    model = small(inference=inference).fit(ROWS[:12], OUTCOMES[:12])
    before = pickle.dumps(model)
    holed, zero = TINY.copy(), ROWS.copy()
    holed[2, 3] = np.nan
    zero[5] = 0
    for X, y, message in [
        (
            Identity((8, 8)),
            holed,
            r"contains nan at position \(2, 3\); expected finite numbers \(leave out what is not",
        ),
        (zero, OUTCOMES, r"X has rows of zeros \(row 5 is the first\), which measure nothing; leave them out"),
        (sparse.csr_array(zero), OUTCOMES, r"X has rows of zeros \(row 5 is the first\)"),
        (np.full((2, 64), np.nan), OUTCOMES[:2], r"X contains nan at position \(0, 0\)"),
        (ROWS[:, :9], OUTCOMES, r"one column per pixel of the image of shape \(8, 8\) \(64\), got 9"),
        (ROWS[0], OUTCOMES[:1], "X must be a two-dimensional array"),
        (ROWS, OUTCOMES[:3], r"must have shape \(24,\), got \(3,\)"),
        (Identity((9, 9)), np.ones((9, 9)), r"measures images of shape \(9, 9\); expected \(8, 8\)"),
        (Identity((8, 8)), np.ones((8, 8, 3)), r"must have shape \(8, 8\), got \(8, 8, 3\)"),
    ]:
        with pytest.raises(ValueError, match=message) as problem:
            model.partial_fit(X, y)
        assert "\n" not in str(problem.value)
        assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": (64,)}, "shape must be the two sides of an image or the three of a volume"),
        ({"shape": (8, 8, 8, 1)}, "shape must be the two sides of an image"),
        ({"shape": (512, 512), **EXACT}, r"matrices of 262144 x 262144 entries for an image of shape \(512, 512\)"),
        ({"noise_variance": 0.0}, "noise_variance must be > 0, got 0.0"),
        ({"noise_variance": None}, "noise_variance must be given: .* from the picture itself"),
        ({"inference": "laplace_approximation"}, "inference must be one of 'variational_bounds', 'expectation_prop"),
        ({"design_noise_variance": "later"}, "design_noise_variance must be"),
        ({"design_prior_scales": "later"}, "design_prior_scales must be"),
    ],
)
def test_bad_parameters_are_named(options, message):
    options = {"shape": (8, 8), "noise_variance": 1e-3, **options}
    with pytest.raises(ValueError, match=message) as problem:
        ImageReconstructor(**options).fit(ROWS, OUTCOMES)
    assert "\n" not in str(problem.value)


def test_rows_of_zeros_are_candidates_that_teach_nothing():
    model = small(**EXACT).fit(ROWS, OUTCOMES)
    assert model.predictive(np.zeros((2, 64))).log_determinant()[0].tolist() == [0.0, 0.0]
