"""One design for several images: informations added, each image what it would be alone, workers or not."""

import copy
from functools import partial

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from adaptive import ImageReconstructor, SequentialDesign, SeveralImages, inference
from adaptive.images import head_scan, padded, simulate_scan
from designs.kspace import central, lines

SHAPE = (32, 32)
POOL = lines(SHAPE)
FIRST = POOL.take(central(32, 6))
REST = POOL.take(np.setdiff1d(np.arange(32), FIRST.lines))


def small(k):
    image = padded(head_scan()[k].image, 128).reshape(32, 4, 32, 4).mean(axis=(1, 3))
    return simulate_scan(image, largest_phase=0, random_state=k)


SCANS = [small(12), small(4), small(16)]


def measured(blocks, scans=SCANS):
    return [np.stack([scan.samples(block) for scan in scans]) for block in getattr(blocks, "candidates", blocks)]


def one(**settings):
    settings = {"phase": None, "noise_variance": 4e-4, "prior_scales": 0.1, "wavelet": "db2", "tol": 0.1} | settings
    return ImageReconstructor(SHAPE, **settings)


@pytest.fixture(scope="module")
def fitted():
    return SeveralImages([one(), one(), one(noise_variance=1e-3)]).fit(FIRST, measured(FIRST))


def test_every_image_is_what_it_is_alone(fitted):
    for k, (scan, noise) in enumerate(zip(SCANS, (4e-4, 4e-4, 1e-3), strict=True)):
        alone = one(noise_variance=noise).fit(FIRST, scan.measure(FIRST))
        np.testing.assert_array_equal(fitted.images_[k], alone.image_)
        np.testing.assert_array_equal(fitted.predict()[k], alone.image_)
    assert fitted.n_products_ == sum(part.n_products_ for part in fitted.reconstructors_)
    assert not hasattr(fitted.reconstructors[0], "measured_")


def test_informations_are_added(fitted):
    belief = fitted.predictive(REST)
    values, errors = belief.log_determinant()
    parts = [part.predictive(REST).log_determinant() for part in fitted.reconstructors_]
    np.testing.assert_allclose(values, sum(part[0] for part in parts))
    np.testing.assert_allclose(errors**2, sum(part[1] ** 2 for part in parts))
    later, _ = belief.given(3).log_determinant()
    apart = [part.predictive(REST).given(3).log_determinant()[0] for part in fitted.reconstructors_]
    np.testing.assert_allclose(later, sum(apart))
    chosen, scores = fitted.select(REST, 3, return_scores=True)
    assert len(set(chosen.tolist())) == 3 and (np.diff(scores) <= 1e-9).all()
    assert fitted.select(REST)[0] == np.argmax(values)


def test_exact_determinants_are_those_of_the_joint_covariance():
    scans = SCANS[:2]
    model = SeveralImages([one(refine=True), one(refine=True, design_noise_variance=1e-4)])
    model.fit(FIRST, measured(FIRST, scans))
    belief = model.predictive(REST.take([0, 5]))
    covariance = belief.covariance(1, 1)
    assert covariance.shape == (128, 128) and not covariance[:64, 64:].any()
    exact = np.linalg.slogdet(np.eye(128) + covariance / belief.likelihood.variance)[1]
    np.testing.assert_allclose(belief.refined([1]).log_determinant()[0], exact, rtol=1e-4)


def test_a_shared_design_suits_the_images_it_was_made_for(tmp_path):
    def design(model, measure, log=None):
        run = SequentialDesign(model, POOL, measure, initial=FIRST.lines, log=log, random_state=0).run(6)
        run.close()
        return run

    joint = design(SeveralImages([one(), one(), one()]), measured, tmp_path / "joint.log")
    again = SequentialDesign.load(tmp_path / "joint.log", SeveralImages([one(), one(), one()]), POOL, measured)
    assert again.history_["label"] == joint.history_["label"]
    np.testing.assert_allclose(again.estimator_.predict(), joint.estimator_.predict(), atol=1e-6)
    again.close()
    assert joint.estimator_.predict().shape == (3, 32, 32)


def test_state_and_copies(fitted):
    restored = SeveralImages([one(), one(), one(noise_variance=1e-3)]).restore(fitted.state())
    np.testing.assert_array_equal(
        restored.predictive(REST).log_determinant()[0], fitted.predictive(REST).log_determinant()[0]
    )
    assert len(clone(fitted).reconstructors) == 3
    same = copy.deepcopy(fitted).partial_fit(REST.take([0]), measured(REST.take([0])))
    assert len(same.reconstructors_[0].measured_.lines) == 7 and len(fitted.reconstructors_[0].measured_.lines) == 6
    other = fitted.reconstruct(FIRST, measured(FIRST))
    np.testing.assert_allclose(other[1], fitted.images_[1], atol=1e-6)


@pytest.mark.filterwarnings("ignore:variational_bounds has not converged")  # threads share the filters of warnings
def test_workers_give_the_same_bits(fitted):
    with joblib.parallel_config("threading", n_jobs=2):  # processes: tests/test_scale_out.py
        other = clone(fitted).fit(FIRST, measured(FIRST))
        for mine, theirs in zip(other.images_, fitted.images_, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(
            other.predictive(REST).log_determinant()[0], fitted.predictive(REST).log_determinant()[0]
        )


def test_before_any_fit_the_prior_answers():
    model = SeveralImages([one(), one()])
    values, _ = model.predictive(POOL).log_determinant()
    np.testing.assert_allclose(values, 2 * one().predictive(POOL).log_determinant()[0])


def test_bad_input_is_refused_in_one_sentence_and_changes_nothing(fitted):
    with pytest.raises(ValueError, match="reconstructors must be a list of one or more, one for each image, got"):
        SeveralImages(one()).fit(FIRST, measured(FIRST))
    with pytest.raises(ValueError, match=r"must be for images of one shape, got \[\(16, 16\), \(32, 32\)\]"):
        SeveralImages([one(), ImageReconstructor((16, 16))]).fit(FIRST, measured(FIRST))
    with pytest.raises(ValueError, match=r"y\[0\] must hold one array of samples for each of the 3 images, got 2"):
        fitted.partial_fit(REST.take([0]), measured(REST.take([0]), SCANS[:2]))
    bad = measured(REST.take([0]))
    bad[0][2, 0, 5] = np.nan
    before = [part.measured_ for part in fitted.reconstructors_]
    with pytest.raises(ValueError, match="contains"):
        fitted.partial_fit(REST.take([0]), bad)
    assert [part.measured_ for part in fitted.reconstructors_] == before


def test_other_inference():
    exact = partial(inference.variational_bounds, variances="lanczos", n_steps=30)
    model = SeveralImages([one(inference=exact), one(inference=exact)])
    assert model.fit(FIRST, measured(FIRST, SCANS[:2])).select(REST).shape == (1,)
