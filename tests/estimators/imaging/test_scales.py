"""Scales and noise learnt by evidence: at the maximum of the bound, found by scanning it with exact determinants."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from adaptive.estimators.imaging.measurements import MeasuredBlocks
from adaptive.estimators.imaging.model import Engine, ImageModel
from adaptive.estimators.imaging.prior import ImagePrior
from adaptive.estimators.imaging.scales import learn_scales, scale_evidence
from adaptive.images import head_scan, simulate_scan
from adaptive.inference import variational_bounds
from adaptive.operators import FourierLines

SIDE = 16
IMAGE = head_scan()[12].image[16:112:6, 0:96:6]
SCAN = simulate_scan(IMAGE, snr=20, largest_phase=0.3, random_state=0)
LINES = [1, 3, 5, 6, 7, 8, 9, 10, 13]


def exact(model, **settings):
    """The double loop with exact variances and determinants."""
    return variational_bounds(model, variances="exact", **settings)


def problem(kind="tv+wavelet", unknown="real", noise=SCAN.noise_variance):
    block = FourierLines((SIDE, SIDE), LINES)
    measured = MeasuredBlocks((SIDE, SIDE)).with_blocks([block], [SCAN.samples(block)])
    prior = ImagePrior((SIDE, SIDE), kind, "db2", 2, unknown, "transform", 1.0)
    return ImageModel(measured, SCAN.phase, noise, prior, "float64" if unknown == "real" else "complex128")


def evidence(model, scales):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        posterior = exact(model.glm(scales), max_iter=60, tol=1e-5)
    return scale_evidence(model, scales, posterior)


@pytest.mark.parametrize("kind", ["tv", "tv+wavelet"])
def test_learnt_scales_are_where_the_exact_bound_is_largest(kind):
    model = problem(kind)
    learnt = learn_scales(model, Engine(exact, 16, 0))
    for name in model.prior.names:  # along every scale, and along all together
        factors = np.exp(np.linspace(-0.8, 0.8, 5))
        values = [evidence(model, {**learnt.scales, name: learnt.scales[name] * f}) for f in factors]
        top = -np.polyfit(np.log(factors), values, 4)  # a smooth maximum
        position = np.roots(np.polyder(top)).real
        assert np.abs(position).min() < 0.06  # in the logarithm of the scale
        assert max(values) - values[2] < 1e-3 * abs(values[2])
        assert values[2] - min(values) > 3  # a scan that says something


def test_sampled_variances_lead_to_the_same_scales():
    model = problem()
    reference = learn_scales(model, Engine(exact, 16, 0)).scales
    learnt = learn_scales(model, Engine("variational_bounds", 64, 0)).scales
    for name, scale in reference.items():
        assert learnt[name] == pytest.approx(scale, rel=0.03)


def test_the_learnt_noise_is_where_the_exact_bound_is_largest():
    model = problem("tv", noise=5 * SCAN.noise_variance)
    learnt = learn_scales(model, Engine(exact, 256, 0), noise=True, tol=1e-3)
    factors = np.exp(np.linspace(-0.6, 0.6, 5))
    at = [replace(model, noise_variance=learnt.noise_variance * f) for f in factors]
    values = [evidence(one, learnt.scales) for one in at]
    assert np.argmax(values) == 2
    position = np.roots(np.polyder(np.polyfit(np.log(factors), values, 4))).real
    assert np.abs(position).min() < 0.1
    assert 0.4 < learnt.noise_variance / SCAN.noise_variance < 1.6
    assert model.noise_variance == 5 * SCAN.noise_variance  # the model itself is left alone


@pytest.mark.parametrize("start", [5.0, 0.2])
def test_the_noise_of_a_real_image_drawn_from_the_model_is_found(start):
    prior = ImagePrior((32, 32), "wavelet", "db2", 2, "real", "transform", 1.0)
    rng = np.random.default_rng(0)
    image = prior.operators[0].adjoint(rng.laplace(scale=0.05, size=(32, 32)))
    block, sd = FourierLines((32, 32), range(6, 26)), 0.005
    noise = sd * (rng.standard_normal((20, 32)) + 1j * rng.standard_normal((20, 32)))
    measured = MeasuredBlocks((32, 32), 1.0, check=False).with_blocks([block], [block.forward(image) + noise])
    model = ImageModel(measured, np.zeros((32, 32)), start * sd**2, prior, "float64")
    learnt = learn_scales(model, Engine("variational_bounds", 32, 0), noise=True)
    assert learnt.noise_variance == pytest.approx(sd**2, rel=0.25)
    assert learnt.scales["wavelet"] == pytest.approx(0.05, rel=0.25)


def test_what_is_learnt_of_a_complex_image_raises_the_bound():
    model = problem("tv", unknown="complex", noise=3 * SCAN.noise_variance)
    engine = Engine("variational_bounds", 64, 0)
    alone, both = learn_scales(model, engine), learn_scales(model, engine, noise=True)
    assert alone.noise_variance == model.noise_variance
    assert both.posterior.system.noise_variance == pytest.approx(both.noise_variance, rel=0.02)
    values = [
        evidence(replace(model, noise_variance=noise), scales)
        for noise, scales in (
            (model.noise_variance, {"tv": 0.1}),
            (alone.noise_variance, alone.scales),
            (both.noise_variance, both.scales),
        )
    ]
    assert values[0] + 1 < values[1] and values[1] + 1 < values[2]


def test_nothing_can_be_learnt_from_nothing():
    model = replace(problem(), measured=MeasuredBlocks((SIDE, SIDE)))
    with pytest.raises(ValueError, match="nothing was measured"):
        learn_scales(model, Engine("variational_bounds", 16, 0))
