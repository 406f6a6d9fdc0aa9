"""Lines of k-space: operators that measure them, pools of them, and the comparison designs."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import fft

from adaptive.operators import FourierLines, adjoint_error
from adaptive.pool import concatenate, fingerprint, labels, length, take
from designs import kspace

DESIGNS = [
    "low_pass",
    "one_sided_low_pass",
    "equispaced",
    "uniform",
    "variable_density",
    "half_plane_variable_density",
    "half_plane_quantiles",
]
MIRROR_FREE = ["one_sided_low_pass", "half_plane_variable_density", "half_plane_quantiles"]
HALVED = ["low_pass", "equispaced", "uniform"]  # with the half-plane rule as an option
RANDOM = ["uniform", "variable_density", "half_plane_variable_density"]


def design(name, n, n_lines, n_central, seed=0, **keywords):
    if name in RANDOM:
        keywords["random_state"] = seed
    return getattr(kspace, name)(n, n_lines, n_central, **keywords)


def mirrored_pairs(n, lines, n_central):
    """Lines outside the centre whose mirror, another line, is measured too."""
    outside = np.setdiff1d(lines, kspace.central(n, n_central))
    mirrors = kspace.mirror(n, outside)
    return int(np.sum((mirrors != outside) & np.isin(mirrors, lines)))


# Lines and pools -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(8, 6), (7, 6), (6, 9)])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_line_measures_its_frequency(shape, axis):
    n, rng = shape[axis], np.random.default_rng(0)
    u = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    along = fft.fft(
        fft.ifftshift(u), axis=1 - axis, norm="ortho"
    )  # the other axis by SciPy, this one by its definition
    positions = np.arange(n) - n // 2
    for line in range(n):
        wave = np.exp(-2j * np.pi * (line - n // 2) * fft.ifftshift(positions) / n) / np.sqrt(n)
        expected = fft.fftshift(np.tensordot(wave, along, (0, axis)))
        np.testing.assert_allclose(kspace.Line(shape, line, axis).forward(u).ravel(), expected, atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_line_is_an_operator_with_its_adjoint_and_its_mask(axis):
    line = kspace.Line((8, 6), 3, axis)
    assert adjoint_error(line) < 1e-13
    assert line.shape == (6 if axis == 0 else 8, 48)
    u = np.random.default_rng(1).standard_normal((8, 6))
    full = FourierLines((8, 6), range(8)).forward(u)
    np.testing.assert_allclose(line.forward(u).ravel(), full[line.mask], atol=1e-13)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.data())
def test_a_mirror_holds_the_conjugate_samples_of_a_real_image(n, data):
    line = data.draw(st.integers(0, n - 1))
    other = int(kspace.mirror(n, line))
    assert kspace.mirror(n, other) == line
    u = np.random.default_rng(n).standard_normal((n, 3))
    one, two = (kspace.Line((n, 3), k).forward(u).ravel() for k in (line, other))
    np.testing.assert_allclose(one, two[::-1].conj(), atol=1e-12)


def test_lines_are_recognised_by_equality_and_survive_copies():
    pool = kspace.lines((8, 6))
    line = pool[3]
    assert line == pool[3] and hash(line) == hash(pool[3]) and line is not pool[3]
    assert line != pool[4] and line != kspace.Line((8, 6), 3, axis=1) and line != kspace.Line((8, 7), 3) and line != 3
    assert pickle.loads(pickle.dumps(line)) == line == copy.deepcopy(line)
    assert line in list(pool)


def test_a_pool_is_taken_from_joined_labelled_and_fingerprinted():
    pool = kspace.lines((8, 6))
    part = take(pool, [5, 2])
    assert [line.line for line in part] == part.labels() == [5, 2] and length(part) == 2
    assert labels(pool, [1, 7]) == [1, 7] and all(type(label) is int for label in labels(pool, [0]))
    assert pool.take(np.array([], int)).labels() == [] and pool[-1].line == 7
    joined = concatenate([part, pool.take([2])])  # pending lines may be candidates too
    assert joined.labels() == [5, 2, 2] and isinstance(joined, kspace.LinePool)
    assert fingerprint(pool) == pool.fingerprint() == fingerprint(kspace.lines((8, 6)))
    different = [part, kspace.lines((8, 8)), kspace.lines((8, 6), axis=1)]
    assert len({other.fingerprint() for other in [pool, *different]}) == 4
    assert pool.take([5, 2, 7]).positions([7, 5]).tolist() == [2, 0]
    with pytest.raises(IndexError):
        pool[8]
    with pytest.raises(ValueError, match="line 1 is not among the 2 candidates"):
        part.positions([5, 1])
    with pytest.raises(ValueError, match="only line pools of the same scan can be joined"):
        concatenate([pool, kspace.lines((8, 8))])


@pytest.mark.parametrize("n", [8, 9, 96, 256])
@pytest.mark.parametrize("n_central", [1, 2, 3, 4])
def test_the_half_plane_pool_holds_one_line_of_every_pair_outside_the_centre(n, n_central):
    half = kspace.lines((n, 4), half_plane=True, n_central=n_central).lines
    assert np.isin(kspace.central(n, n_central), half).all()
    assert mirrored_pairs(n, half, n_central) == 0
    np.testing.assert_array_equal(np.union1d(half, kspace.mirror(n, half)), np.arange(n))


def test_the_half_plane_pool_has_the_sources_size():
    # Nickisch (2010): 224 candidates outside 32 central lines of 256, or 112 in one half.
    assert len(kspace.lines((256, 256))) - 32 == 224
    assert len(kspace.lines((256, 256), half_plane=True, n_central=32)) - 32 == 112


# Comparison designs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DESIGNS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_every_design_is_sorted_distinct_complete_and_keeps_the_centre(name, data):
    n = data.draw(st.integers(1, 70))
    n_central = data.draw(st.integers(1, n))
    n_lines = data.draw(st.integers(n_central, n))
    keywords = {"half_plane": data.draw(st.booleans())} if name in HALVED else {}
    lines = design(name, n, n_lines, n_central, **keywords)
    assert lines.dtype.kind == "i" and len(lines) == n_lines
    assert (np.diff(lines) > 0).all() and lines[0] >= 0 and lines[-1] < n
    assert np.isin(kspace.central(n, n_central), lines).all()
    if name in MIRROR_FREE or keywords.get("half_plane"):
        # So many lines outside the centre can be had without a mirror; the rest are forced.
        free = n // 2 - n_central // 2
        assert mirrored_pairs(n, lines, n_central) == 0 or n_lines > n_central + free


@pytest.mark.parametrize("name", RANDOM)
def test_a_seed_decides_a_random_design(name):
    first, again, other = (design(name, 128, 48, 16, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    generator = np.random.default_rng(3)
    np.testing.assert_array_equal(first, design(name, 128, 48, 16, seed=generator))
    assert not np.array_equal(first, design(name, 128, 48, 16, seed=generator))


def test_low_pass_designs_are_nested_intervals_around_dc():
    for n in (9, 16):
        for k in range(1, n + 1):
            np.testing.assert_array_equal(kspace.low_pass(n, k), kspace.central(n, k))
    assert kspace.central(256, 32)[[0, -1]].tolist() == [112, 143]  # frequencies -16 to 15
    one_sided = kspace.one_sided_low_pass(256, 64, 32)
    np.testing.assert_array_equal(one_sided, np.arange(80, 144))


def test_equispaced_lines_have_equal_gaps():
    lines = kspace.equispaced(256, 64, 32)
    outside = np.setdiff1d(lines, kspace.central(256, 32))
    rank = np.where(outside < 112, outside, outside - 32)  # position among the rest: every seventh
    assert set(np.diff(rank)) == {7}
    half = np.setdiff1d(kspace.equispaced(256, 64, 32, half_plane=True), kspace.central(256, 32))
    assert half.max() < 112 and set(np.diff(half)) <= {3, 4}


def test_variable_density_follows_its_density():
    # First draws: with one line outside the centre, its frequency of being drawn is the density itself (total 1).
    n, n_central, p, draws = 16, 4, 3.0, 4000
    rng = np.random.default_rng(0)
    outside = np.setdiff1d(np.arange(n), kspace.central(n, n_central))
    counts = np.zeros(n)
    for _ in range(draws):
        counts[kspace.variable_density(n, n_central + 1, n_central, exponent=p, random_state=rng)] += 1
    falling = (1 - np.abs(np.linspace(-1, 1, n))) ** p
    low, high = -1.0, 1.0
    for _ in range(60):  # bisection for c, written out
        c = (low + high) / 2
        low, high = (c, high) if np.clip(falling[outside] + c, 0, 1).sum() < 1 else (low, c)
    density = np.clip(falling[outside] + c, 0, 1)
    error = np.sqrt(density * (1 - density) / draws) + 1e-12
    assert (np.abs(counts[outside] / draws - density) < 4.5 * error).all()
    assert (counts[kspace.central(n, n_central)] == draws).all()


def test_larger_exponents_have_heavier_tails():
    # The total is fixed: what a narrower peak loses, the constant under it gains.
    def share_far_out(p):
        drawn = [kspace.variable_density(256, 96, 32, exponent=p, random_state=seed) for seed in range(20)]
        return np.mean(np.abs(np.concatenate(drawn) - 128) > 96)

    shares = [share_far_out(p) for p in (1, 2, 4, 6)]
    assert (np.diff(shares) > 0).all()
    uniform = np.mean([np.mean(np.abs(kspace.uniform(256, 96, 32, random_state=s) - 128) > 96) for s in range(20)])
    assert uniform > shares[-1]


def test_half_plane_variable_density_follows_its_density():
    n, n_central, p, draws = 16, 4, 2.0, 4000
    rng = np.random.default_rng(1)
    counts = np.zeros(n)
    for _ in range(draws):
        counts[kspace.half_plane_variable_density(n, n_central + 1, n_central, exponent=p, random_state=rng)] += 1
    weights = (1 - np.abs(np.linspace(-1, 1, n)))[:6] ** p
    density = weights / weights.sum()
    assert (np.abs(counts[:6] / draws - density) < 4.5 * np.sqrt(density * (1 - density) / draws) + 1e-12).all()
    assert not counts[10:].any()


def test_quantiles_hold_in_every_stretch_as_many_lines_as_the_density():
    n, n_lines, n_central, p = 128, 48, 16, 2.0
    lines = kspace.half_plane_quantiles(n, n_lines, n_central, exponent=p)
    outside, wanted = np.arange(n // 2 - n_central // 2), n_lines - n_central
    weights = (1 - np.abs(np.linspace(-1, 1, n)))[outside] ** p
    low, high = 0.0, 1e3
    for _ in range(80):  # bisection for the factor, written out
        c = (low + high) / 2
        low, high = (c, high) if np.minimum(c * weights, 1).sum() < wanted else (low, c)
    expected = np.cumsum(np.minimum(c * weights, 1)[::-1])  # outwards from the centre
    counted = np.cumsum(np.isin(outside, lines)[::-1])
    assert np.abs(counted - expected).max() <= 0.5 + 1e-6
    steeper = kspace.half_plane_quantiles(n, n_lines, n_central, exponent=6.0)
    assert np.abs(steeper - n // 2).sum() < np.abs(lines - n // 2).sum()


def test_simple_rules_hold_every_rule_at_every_setting():
    found = kspace.simple_rules(64, 24, 8, exponents=[2, 4], n_draws=3, random_state=1)
    assert len(found) == 3 + 2 * 3
    for name, draws in found.items():
        assert len(draws) == (3 if "variable" in name else 1)
        assert all(len(np.unique(lines)) == 24 and np.isin(kspace.central(64, 8), lines).all() for lines in draws)
    alone = kspace.simple_rules(64, 24, 8, exponents=[4], n_draws=3, random_state=1)
    for name, draws in alone.items():
        np.testing.assert_array_equal(draws, found[name])


def test_uniform_draws_every_line_equally_often():
    rng = np.random.default_rng(5)
    counts = sum(np.bincount(kspace.uniform(12, 5, 2, random_state=rng), minlength=12) for _ in range(3000))
    outside = np.delete(counts, kspace.central(12, 2)) / 3000
    assert (np.abs(outside - 0.3) < 4.5 * np.sqrt(0.21 / 3000)).all()


def test_mirrors_are_measured_only_when_forced():
    n, n_central = 64, 8
    for name in MIRROR_FREE:
        assert mirrored_pairs(n, design(name, n, 8 + 28, n_central), n_central) == 0
        forced = design(name, n, 8 + 28 + 5, n_central)
        assert np.isin(np.arange(36), forced).all() and len(forced) == 41  # all of the half plane, then five mirrors
    np.testing.assert_array_equal(kspace.one_sided_low_pass(64, 41, 8), np.arange(41))


def test_the_comparison_designs_are_those_designs():
    found = kspace.comparison_designs(96, 40, 16, n_draws=3, random_state=2)
    assert sorted(found) == sorted(DESIGNS)
    for name, draws in found.items():
        assert len(draws) == (3 if name in RANDOM else 1)
        assert all(len(lines) == 40 and np.isin(kspace.central(96, 16), lines).all() for lines in draws)
        if name in RANDOM:
            assert not np.array_equal(draws[0], draws[1])
        else:
            np.testing.assert_array_equal(draws[0], design(name, 96, 40, 16))
    again = kspace.comparison_designs(96, 40, 16, exponents={"variable_density": 6.0}, n_draws=3, random_state=2)
    for name in RANDOM:  # a tuned exponent changes its own design only
        assert np.array_equal(found[name], again[name]) == (name != "variable_density")
    longer = kspace.comparison_designs(96, 40, 16, n_draws=5, random_state=2)
    np.testing.assert_array_equal(longer["uniform"][:3], found["uniform"])


# Bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DESIGNS)
def test_designs_refuse_in_one_sentence(name):
    with pytest.raises(ValueError, match=r"n_lines counts the central lines too: .* n_central = 32, got 16"):
        design(name, 256, 16, 32)
    with pytest.raises(ValueError, match="n_central must be at least 1 .without central lines .* got 0"):
        design(name, 256, 64, 0)
    with pytest.raises(ValueError, match="n_lines must be at most n = 64"):
        design(name, 64, 65, 8)
    with pytest.raises(ValueError, match="n_lines must be an integer, got float 10.5"):
        design(name, 64, 10.5, 8)


def test_other_bad_input_is_named():
    with pytest.raises(ValueError, match="exponent must be > 0"):
        kspace.variable_density(64, 32, 8, exponent=0)
    with pytest.raises(ValueError, match="exponent contains nan"):
        kspace.half_plane_variable_density(64, 32, 8, exponent=np.nan)
    with pytest.raises(ValueError, match="exponents must be one of 'variable_density', .*, got 'uniform'"):
        kspace.comparison_designs(64, 32, 8, exponents={"uniform": 2.0})
    with pytest.raises(ValueError, match="random_state must be"):
        kspace.uniform(64, 32, 8, random_state="seed")
    with pytest.raises(ValueError, match="lines holds line 5 twice"):
        kspace.as_lines(64, [32, 5, 5])
    with pytest.raises(ValueError, match=r"lines must be between 0 and 63 \(there are 64; DC is 32\), got 64"):
        kspace.as_lines(64, [32, 64])
    with pytest.raises(ValueError, match=r"the central line 31 \(frequency -1\)"):
        kspace.as_lines(64, [32, 33], n_central=3)
    with pytest.raises(ValueError, match="lines must be a list of line indices"):
        kspace.as_lines(64, [32.5])
    with pytest.raises(ValueError, match="shape must be the two sides of an image"):
        kspace.lines((4, 4, 4))
    with pytest.raises(ValueError, match="axis must be one of '0', '1'"):
        kspace.lines((4, 4), axis=2)
    with pytest.raises(ValueError, match="n_central must be at most n = 4"):
        kspace.lines((4, 4), n_central=5)
    assert kspace.as_lines(64, np.array([33, 32])).tolist() == [32, 33]
