"""Phase encodes of volumes: the operator against the full transform, pools, and designs that look at no data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive import ImageReconstructor, SequentialDesign, pool
from adaptive.images import simulate_coils, simulate_scan
from adaptive.operators import FourierMask, adjoint_error
from designs import kspace

SHAPE = (6, 5, 8)
DESIGNS = ("low_pass", "uniform", "variable_density", "poisson_disc")


def design(name, plane, n, n_central, **more):
    if name != "low_pass":
        more.setdefault("random_state", 0)
    return getattr(kspace, f"{name}_encodes")(plane, n, n_central, **more)


def flat(plane, encodes):
    return np.ravel_multi_index(tuple(np.asarray(encodes).T), plane)


# The operator --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("readout", [0, 1, 2])
def test_an_encode_measures_one_line_of_the_full_transform(readout):
    rng = np.random.default_rng(readout)
    u = rng.standard_normal((2, *SHAPE)) + 1j * rng.standard_normal((2, *SHAPE))
    plane = tuple(side for axis, side in enumerate(SHAPE) if axis != readout)
    full = FourierMask(SHAPE, np.ones(SHAPE, bool)).forward(u).reshape(2, *SHAPE)
    for encode in [(0, 0), (plane[0] - 1, 2), (plane[0] // 2, plane[1] // 2)]:
        block = kspace.PhaseEncode(SHAPE, encode, readout)
        mask = FourierMask(SHAPE, block.mask)
        found = block.forward(u)
        np.testing.assert_allclose(found, np.moveaxis(full, 1 + readout, 1)[:, :, encode[0], encode[1]], atol=1e-12)
        np.testing.assert_allclose(found, mask.forward(u), atol=1e-12)
        np.testing.assert_allclose(block.adjoint(found), mask.adjoint(found), atol=1e-12)
        np.testing.assert_allclose(block.normal(u, 2.0), mask.normal(u, 2.0), atol=1e-12)
        np.testing.assert_allclose(block.normal(u.real), mask.normal(u.real), atol=1e-12)
        np.testing.assert_allclose(block.normal_spectrum(), mask.normal_spectrum())
        assert adjoint_error(block) < 1e-14
        assert block.forward(u.astype(np.complex64)).dtype == np.complex64
        assert block.adjoint(found.astype(np.complex64)).dtype == np.complex64


def test_an_encode_of_a_plane_measures_one_point_of_its_transform():
    rng = np.random.default_rng(0)
    u = rng.standard_normal((2, 6, 5)) + 1j * rng.standard_normal((2, 6, 5))
    for block in kspace.phase_encodes((6, 5)):
        point = FourierMask((6, 5), block.mask)
        assert block.mask.sum() == 1 and block.mask[block.encode] and block.readout is None
        np.testing.assert_allclose(block.forward(u), point.forward(u), atol=1e-12)
        np.testing.assert_allclose(block.adjoint(block.forward(u)), point.adjoint(point.forward(u)), atol=1e-12)
    assert adjoint_error(block) < 1e-14
    assert block == kspace.PhaseEncode((6, 5), (5, 4), None) != kspace.PhaseEncode((1, 6, 5), (5, 4))


@pytest.mark.parametrize("n_coils", [0, 3])
def test_points_of_a_plane_are_measured_and_judged_like_masks_of_one_sample(n_coils):
    shape = (16, 16)
    picture = np.pad(np.outer(np.hanning(10), np.hanning(10)) + 0.2, 3)
    maps = simulate_coils(shape, n_coils, random_state=0) if n_coils else None
    scan = simulate_scan(picture, snr=100, coils=maps, largest_phase=0.0, random_state=0)
    every = kspace.phase_encodes(shape)
    inner = np.flatnonzero((abs(every.encodes - 8) <= 3).all(axis=1))
    first, others = every.take(inner), every.take(np.setdiff1d(np.arange(256), inner)[::9])
    masks = [[FourierMask(shape, block.mask) for block in some] for some in (first, others)]
    models = [
        ImageReconstructor(shape, coils=maps, phase=None, n_samples=8, prior_scales=0.1).fit(
            blocks, scan.measure(blocks)
        )
        for blocks in (first, masks[0])
    ]
    np.testing.assert_array_equal(models[0].image_, models[1].image_)
    values = models[0].predictive(others).log_determinant()[0]
    if n_coils:  # neighbouring samples of several coils belong together, which a point alone does not see
        exact = models[0].predictive(others).refined(range(len(others))).log_determinant()[0]
        assert np.corrcoef(np.argsort(np.argsort(values)), np.argsort(np.argsort(exact)))[0, 1] > 0.9
        np.testing.assert_allclose(values, exact, rtol=0.4)
    else:
        np.testing.assert_allclose(values, models[1].predictive(masks[1]).log_determinant()[0], rtol=1e-9)


def test_encodes_are_equal_when_they_measure_the_same():
    a, b = kspace.PhaseEncode(SHAPE, (1, 2)), kspace.PhaseEncode(SHAPE, np.array([1, 2]))
    assert a == b and hash(a) == hash(b)
    assert a != kspace.PhaseEncode(SHAPE, (1, 2), 1) and a != kspace.PhaseEncode(SHAPE, (2, 2))


# Pools ---------------------------------------------------------------------------------------------------------------


def test_a_pool_of_encodes():
    every = kspace.phase_encodes((4, 6, 8))
    assert pool.length(every) == 48 and every.plane == (6, 8) and every.mask().all()
    assert pool.labels(every, [0, 9]) == [(0, 0), (1, 1)]
    part = pool.take(every, [9, 0])
    assert part.labels() == [(1, 1), (0, 0)] and part[0] == kspace.PhaseEncode((4, 6, 8), (1, 1))
    assert part.fingerprint() != every.fingerprint()
    assert every.fingerprint() == kspace.phase_encodes((4, 6, 8)).fingerprint()
    assert pool.concatenate([part, part]).labels() == [(1, 1), (0, 0)] * 2
    assert every.positions([(1, 1), (5, 7)]).tolist() == [9, 47]
    with pytest.raises(ValueError, match=r"encode \(6, 0\) is not among the 48"):
        every.positions([(6, 0)])
    with pytest.raises(ValueError, match="only phase encodes of the same scan can be joined"):
        pool.concatenate([every, kspace.phase_encodes((4, 6, 8), readout=1)])


@given(n0=st.integers(1, 9), n1=st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_half_of_the_plane_holds_one_of_every_mirrored_pair(n0, n1):
    kept = kspace.phase_encodes((4, n0, n1), half_plane=True).encodes
    mirrored = kspace.mirror_encodes((n0, n1), kept)
    both = set(flat((n0, n1), kept)) | set(flat((n0, n1), mirrored))
    assert len(both) == n0 * n1
    paired = np.isin(flat((n0, n1), mirrored), flat((n0, n1), kept))
    np.testing.assert_array_equal(mirrored[paired], kept[paired])  # only those that are their own mirrors


def test_central_encodes_are_nearest_to_dc():
    centre = kspace.central_encodes((64, 64), 49)
    distance = np.hypot(*(np.indices((64, 64)) - 32))
    inside = np.zeros((64, 64), bool)
    inside[tuple(centre.T)] = True
    assert inside.sum() == 49 and distance[inside].max() <= distance[~inside].min()
    wide = kspace.central_encodes((64, 16), 40) - [32, 8]  # the same resolution along both axes
    assert np.ptp(wide[:, 0]) > 3 * np.ptp(wide[:, 1])


# Designs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("half_plane", [False, True])
@pytest.mark.parametrize("name", DESIGNS)
@given(n0=st.integers(4, 24), n1=st.integers(4, 24), data=st.data())
@settings(max_examples=20, deadline=None)
def test_every_design_holds_the_centre_and_as_many_encodes_as_asked(name, half_plane, n0, n1, data):
    plane = (n0, n1)
    n_central = data.draw(st.integers(1, n0 * n1 // 3))
    most = len(kspace.phase_encodes((2, n0, n1), half_plane=half_plane, n_central=n_central))
    n = data.draw(st.integers(n_central, most))
    found = design(name, plane, n, n_central, half_plane=half_plane)
    assert found.shape == (n, 2) and len(set(map(tuple, found.tolist()))) == n
    centre = flat(plane, kspace.central_encodes(plane, n_central))
    assert np.isin(centre, flat(plane, found)).all()
    assert (np.diff(flat(plane, found)) > 0).all()
    if half_plane:
        others = found[~np.isin(flat(plane, found), centre)]
        mirrored = kspace.mirror_encodes(plane, others)
        again = np.isin(flat(plane, mirrored), flat(plane, others)) & (mirrored != others).any(axis=1)
        assert not again.any()


def test_low_pass_is_a_disc_and_density_falls_off():
    plane = (64, 64)
    radius = np.hypot(*(np.indices(plane) - 32)) / 32
    disc = kspace.low_pass_encodes(plane, 600)
    inside = np.zeros(plane, bool)
    inside[tuple(disc.T)] = True
    assert radius[inside].max() <= radius[~inside].min()
    half = kspace.low_pass_encodes(plane, 600, half_plane=True)
    assert radius[tuple(half.T)].max() > 1.35 * radius[tuple(disc.T)].max()  # sqrt 2 as far
    draws = {}
    for name in ("uniform", "variable_density", "poisson_disc"):
        draws[name] = np.mean([radius[tuple(design(name, plane, 600, 50, random_state=k).T)].mean() for k in range(4)])
    assert draws["variable_density"] < 0.85 * draws["uniform"] and draws["poisson_disc"] < 0.85 * draws["uniform"]


def test_poisson_discs_keep_their_distance():
    plane = (48, 48)
    found = kspace.poisson_disc_encodes(plane, 300, 30, slope=4.0, random_state=1)
    radius = np.hypot(*(np.indices(plane) - 24)) / 24
    centre = kspace.central_encodes(plane, 30)
    others = found[~np.isin(flat(plane, found), flat(plane, centre))]
    apart = np.linalg.norm(found[:, None] - others[None], axis=2) + 1e9 * (found[:, None] == others[None]).all(axis=2)
    kept = apart.min(axis=0) / (1 + 4 * radius[tuple(others.T)])
    # One r serves for all: a random subset of as many points leaves some of them side by side.
    other = kspace.variable_density_encodes(plane, 300, 30, random_state=1)
    loose = other[~np.isin(flat(plane, other), flat(plane, centre))]
    near = np.linalg.norm(other[:, None] - loose[None], axis=2) + 1e9 * (other[:, None] == loose[None]).all(axis=2)
    assert kept.min() > 2 * (near.min(axis=0) / (1 + 4 * radius[tuple(loose.T)])).min()
    even = kspace.poisson_disc_encodes(plane, 300, 1, slope=0.0, random_state=1)
    assert np.linalg.norm(even[:, None] - even[None], axis=2)[~np.eye(300, dtype=bool)].min() >= 2


def test_the_comparison_designs_are_those_designs():
    found = kspace.comparison_encodes((16, 16), 60, 9, n_draws=2, random_state=2)
    assert sorted(found) == sorted(DESIGNS)
    np.testing.assert_array_equal(found["low_pass"][0], kspace.low_pass_encodes((16, 16), 60, 9))
    again = kspace.comparison_encodes((16, 16), 60, 9, tuned={"poisson_disc": 9.0}, n_draws=2, random_state=2)
    for name in DESIGNS:
        assert np.array_equal(found[name], again[name]) == (name != "poisson_disc")


# Bad input -----------------------------------------------------------------------------------------------------------


def test_bad_input_is_named():
    for name in DESIGNS:
        with pytest.raises(ValueError, match="n_encodes counts the central encodes too: .* n_central = 9, got 4"):
            design(name, (8, 8), 4, 9)
        with pytest.raises(ValueError, match="n_encodes must be at most 64, those that there are, got 65"):
            design(name, (8, 8), 65, 9)
    with pytest.raises(ValueError, match="shape must be the three sides of a volume, or the two of one plane"):
        kspace.phase_encodes((4,))
    with pytest.raises(ValueError, match="readout must be one of '0', '1', '2', got '3'"):
        kspace.phase_encodes((4, 4, 4), readout=3)
    with pytest.raises(ValueError, match=r"a volume of shape \(1024, 1024, 1024\) has 1.07e\+09 voxels"):
        kspace.phase_encodes((1024, 1024, 1024))
    with pytest.raises(
        ValueError, match=r"encodes must be between \(0, 0\) and \(3, 3\) \(DC is \(2, 2\)\), got \(4, 0"
    ):
        kspace.PhaseEncode((4, 4, 4), (4, 0))
    with pytest.raises(ValueError, match=r"encodes holds \(1, 1\) twice"):
        kspace.PhaseEncodePool((4, 4, 4), [(1, 1), (1, 1)])
    with pytest.raises(ValueError, match="encodes must be pairs of integers"):
        kspace.as_encodes((4, 4), [[0.5, 1]])
    with pytest.raises(ValueError, match=r"the central encode \(2, 2\) \(DC\): without it"):
        kspace.as_encodes((4, 4), [[0, 0]])
    with pytest.raises(ValueError, match="tuned must be one of 'variable_density', 'poisson_disc', got 'low_pass'"):
        kspace.comparison_encodes((8, 8), 20, 4, tuned={"low_pass": 1.0})
    mask = np.zeros((4, 4), bool)
    mask[2, 1:3] = True
    assert kspace.as_encodes((4, 4), mask).tolist() == [[2, 1], [2, 2]]


# In select and in the loop -------------------------------------------------------------------------------------------


def test_encodes_are_designed_logged_and_replayed(tmp_path):
    r = np.stack(np.meshgrid(*[np.linspace(-1, 1, 8)] * 3, indexing="ij"))
    scan = simulate_scan((np.linalg.norm(r, axis=0) < 0.8).astype(float), largest_phase=0, random_state=0)
    every = kspace.phase_encodes((8, 8, 8), half_plane=True, n_central=9)
    first = every.positions(kspace.central_encodes((8, 8), 9))

    def model():
        return ImageReconstructor((8, 8, 8), noise_variance=4e-4, prior_scales=0.1, wavelet="db2", phase=None, tol=0.1)

    log = tmp_path / "encodes.log"
    design = SequentialDesign(model(), every, scan.measure, initial=first, batch_size=3, log=log, random_state=0)
    design.run(2).close()
    labels = design.history_["label"]
    assert len(set(labels)) == len(labels) and all(isinstance(label, tuple) for label in labels)
    again = SequentialDesign.load(log, model(), every, scan.measure)
    assert again.history_["label"] == labels
    np.testing.assert_allclose(again.estimator_.image_, design.estimator_.image_, atol=1e-6)
    again.close()
