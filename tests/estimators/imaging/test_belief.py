"""The belief of an image: never changed, light to copy, made of values, and asked without a trace."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from scipy import sparse

from adaptive import ImageReconstructor
from adaptive.estimators.imaging.belief import FollowedDirections
from adaptive.estimators.imaging.conventions import Conventions, Models
from adaptive.estimators.imaging.measurements import MeasuredBlocks
from adaptive.estimators.imaging.prior import ImagePrior
from adaptive.estimators.imaging.settings import ImageSettings
from adaptive.images import l2_error, simulate_scan
from adaptive.operators import FourierLines, Identity
from designs import kspace

SHAPE = (8, 8)
RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((30, 64)) / 8
PICTURE = np.tri(8) * 0.8
OUTCOMES = ROWS @ PICTURE.ravel() + 0.03 * RNG.standard_normal(30)
EXACT = {"inference": "expectation_propagation"}


def make(**options):
    return ImageReconstructor(SHAPE, **{"noise_variance": 1e-3, "prior_scales": 0.1, **options})


@pytest.mark.parametrize("options", [{}, EXACT], ids=["sampled", "exact"])
def test_an_earlier_belief_answers_as_before(options):
    model = make(**options).fit(ROWS[:20], OUTCOMES[:20])
    belief = model.belief_
    with pytest.raises(dataclasses.FrozenInstanceError):
        belief.noise_variance = 1.0
    scores, state = belief.predictive(ROWS[20:]).log_determinant()[0], pickle.dumps(belief.data)
    model.partial_fit(ROWS[20:25], OUTCOMES[20:25])
    assert model.belief_ is not belief and pickle.dumps(belief.data) == state
    np.testing.assert_allclose(belief.predictive(ROWS[20:]).log_determinant()[0], scores, rtol=1e-6)
    assert model.n_products_ >= belief.n_products and len(model.measurements_[1]) == 25


def test_what_is_computed_when_asked_for_is_kept_and_not_copied():
    model = make(prior_scales=None).fit(Identity(SHAPE), PICTURE + 0.03 * RNG.standard_normal(SHAPE))
    before = len(pickle.dumps(model))
    assert model.belief_.learnt_scales is not None  # the model that designs has learnt them
    assert model.unknown_ is model.unknown_ and model.posterior_ is model.design_posterior_
    assert model.image_ is not model.image_  # who changes the picture changes a copy
    assert len(pickle.dumps(model)) == before
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        kept = set(vars(twin.belief_))
        assert kept == {field.name for field in dataclasses.fields(twin.belief_)} and twin.belief_.learnt_scales is None
        np.testing.assert_array_equal(twin.image_, model.image_)


def test_settings_are_values_and_conventions_leave_nothing_open():
    model = make(coils=None)
    settings = ImageSettings.of(model)
    named = {field.name for field in dataclasses.fields(settings)}
    assert named == set(model.get_params()) - {"check", "refine"}
    for fourier, dtype, noise in ((True, "complex64", 1e-6), (False, "float64", None)):
        known = Conventions.of(settings, fourier)
        one = Models(known).one_model
        assert (known.dtype, known.design_noise_variance, one) == (dtype, noise, not fourier)
        assert None not in (known.wavelet, known.reconstruction, known.design_dtype)
    for given, noise, scale in (("auto", 4e-4, 1 / 300), (None, 4e-4, 4 / 3), (1e-5, 4e-4, 1 / 30)):
        models = Models(Conventions.of(ImageSettings.of(make(coils=None, design_noise_variance=given)), True))
        assert models.design_scales(noise)["tv"] == pytest.approx(scale)  # in proportion to the noise of that model
    fitted = model.fit(ROWS, OUTCOMES)
    image, noise = fitted.image_, fitted.noise_variance_
    fitted.set_params(noise_variance=0.5, reconstruction="mean")  # of use for what is learnt next
    np.testing.assert_array_equal(fitted.image_, image)
    assert fitted.noise_variance_ == noise and fitted.partial_fit(ROWS[:1], OUTCOMES[:1]).noise_variance_ == 0.5


def test_rows_that_came_last_are_known():
    measured = MeasuredBlocks(SHAPE).with_blocks(ROWS[:3], OUTCOMES[:3])
    np.testing.assert_array_equal(measured.newest_rows(), ROWS[:3])
    longer = measured.with_blocks(ROWS[3:5], OUTCOMES[3:5])
    np.testing.assert_array_equal(longer.newest_rows(), ROWS[3:5])
    assert len(longer.others) == 1 and len(measured.others) == 1 and measured.others[0][0].shape[0] == 3
    thin = MeasuredBlocks(SHAPE).with_blocks(sparse.csr_array(ROWS), OUTCOMES)
    np.testing.assert_array_equal(thin.newest_rows().toarray(), ROWS)
    assert longer.with_blocks(Identity(SHAPE), PICTURE).newest_rows() is None
    line = FourierLines(SHAPE, [4])
    assert MeasuredBlocks(SHAPE, check=False).with_blocks([line], [line.forward(PICTURE)]).newest_rows() is None


def test_a_search_for_directions_leaves_no_trace_until_it_is_followed():
    posterior = make(**EXACT).fit(ROWS[:20], OUTCOMES[:20]).design_posterior_
    form = posterior.gaussian
    asked = FollowedDirections(posterior)
    subspace, products = form.subspace, form.work.products
    directions = asked.leading(2)
    assert form.subspace is subspace and form.work.products == products
    assert asked.leading(2) is directions
    assert asked.followed_after(None) is None and asked.followed_after(RNG.standard_normal((9, 64))) is None  # too many
    assert asked.followed_after(RNG.standard_normal((2, 64))) is False and form.subspace is subspace
    assert asked.followed_after(directions) is True and form.subspace is not subspace
    assert FollowedDirections(posterior, followed=False).followed_after(directions) is False


# A reference: an earlier image of the same object ---------------------------------------------------------------------


def test_where_a_reference_has_edges_the_prior_expects_them():
    reference, scales = np.zeros((16, 16)), {"wavelet": 0.2, "tv": 0.1}
    reference[4:12, 5:11] = 1.0
    for unknown, parts in (("real", 1), ("complex", 2)):
        plain = ImagePrior((16, 16), "tv+wavelet", "haar", None, unknown, "transform", 1.0)
        prior = plain.beside(reference)
        for (b, alike), (_, own), name in zip(plain.groups(scales), prior.groups(scales), prior.names, strict=True):
            factor = np.broadcast_to(own.scale, b.shape[0]) / alike.scale
            seen = np.tile(np.abs(plain.operators[plain.names.index(name)].forward(reference)).ravel(), parts)
            np.testing.assert_allclose(factor, (seen + seen.mean()) / (2 * seen.mean()))
            assert factor.min() == pytest.approx(0.5) and factor.mean() == pytest.approx(1.0)
        assert not plain.places  # what others share stays as it was


def test_a_reference_in_another_contrast_helps_to_reconstruct_and_is_refused_where_it_does_not_fit():
    image = np.zeros((32, 32))
    image[6:26, 8:24], image[12:20, 12:18] = 0.5, 1.0
    scan = simulate_scan(image, snr=50, random_state=0)
    block = kspace.lines((32, 32)).take(kspace.half_plane_quantiles(32, 12, 6))
    settings = {"prior_scales": 0.1, "wavelet": "haar", "check": False}
    errors = [
        l2_error(image, ImageReconstructor((32, 32), reference=r, **settings).reconstruct(block, scan.measure(block)))
        for r in (None, 1.0 - 0.9 * image, (1.0 - 0.9 * image) * np.exp(1j))
    ]
    assert errors[1] < 0.9 * errors[0] and errors[2] == pytest.approx(errors[1], rel=1e-3)
    for reference, message in (
        (image[:, :16], r"reference must have the shape of the image, \(32, 32\), got \(32, 16\)"),
        (np.where(image > 0.7, np.nan, image), "reference contains nan"),
        (0 * image, "reference must be an image of numbers that are not all zero"),
    ):
        with pytest.raises(ValueError, match=message):
            ImageReconstructor((32, 32), reference=reference, **settings).fit(block, scan.measure(block))
    with pytest.raises(ValueError, match="reference needs a prior of scales"):
        ImageReconstructor((32, 32), reference=image, prior="tree").fit(block, scan.measure(block))


def test_what_is_left_open_is_settled_by_what_is_measured():
    scan = simulate_scan(np.pad(np.ones((10, 10)), 3), snr=50, random_state=0)
    first = kspace.lines((16, 16)).take(range(4, 12))

    def settled(**options):
        model = ImageReconstructor((16, 16), wavelet="haar", check=False, **options)
        known = model.fit(first, scan.measure(first)).belief_.settings
        return known.design_dtype, known.design_imaginary

    assert settled() == ("complex64", "pixel")
    assert settled(design_dtype="float64") == ("float64", "pixel")
    assert settled(phase=np.zeros((16, 16)))[0] == "float32"
