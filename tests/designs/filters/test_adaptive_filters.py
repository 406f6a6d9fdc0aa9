"""Callable pools of filters: best directions, their signs, uncertain wavelets, the search in the tree."""

import numpy as np
import pytest

from adaptive import ImageReconstructor, SequentialDesign
from adaptive.operators import Wavelet
from adaptive.potentials import Gaussian
from adaptive.predictive import GaussianProjections
from designs import filters

SHAPE, NOISE = (8, 8), 0.01


class LinearBelief:
    """A Gaussian belief about a picture, with all that callable pools may ask for."""

    def __init__(self, prior):
        self.prior = prior
        self.measurements_ = np.empty((0, len(prior))), np.empty(0)

    def partial_fit(self, X, y):
        rows, outcomes = self.measurements_
        self.measurements_ = np.concatenate([rows, X]), np.concatenate([outcomes, y])
        return self

    @property
    def covariance(self):
        rows, _ = self.measurements_
        gain = self.prior @ rows.T
        return self.prior - gain @ np.linalg.solve(rows @ gain + NOISE * np.eye(len(rows)), gain.T)

    def leading_directions(self, n):
        return np.linalg.eigh(self.covariance)[1][:, ::-1][:, :n].T

    def variances_along(self, operator):
        rows = operator.to_dense()
        return np.einsum("ij,jk,ik->i", rows, self.covariance, rows)

    def select(self, candidates, n_select=1, **more):
        return (np.arange(n_select), np.zeros(n_select)) if more.get("return_scores") else np.arange(n_select)

    def predictive(self, candidates, **more):
        X = np.asarray(candidates)
        return GaussianProjections(X @ np.zeros(X.shape[1]), X @ self.covariance @ X.T, Gaussian(NOISE))


@pytest.fixture
def belief():
    root = np.random.default_rng(0).standard_normal((64, 64)) * 0.9 ** np.arange(64)
    return LinearBelief(root @ root.T)


def information(covariance, rows):
    return 0.5 * np.linalg.slogdet(np.eye(len(rows)) + rows @ covariance @ rows.T / NOISE)[1]


def test_no_filters_teach_more_than_the_leading_directions(belief):
    best = filters.LeadingDirections(3)(belief)
    np.testing.assert_allclose(best @ best.T, np.eye(3), atol=1e-10)
    rng = np.random.default_rng(1)
    others = [filters.uniform(SHAPE, 3, random_state=rng) for _ in range(50)]
    others += [filters.as_filters(best + 0.05 * one) for one in others[:20]]
    gains = [information(belief.covariance, one) for one in others]
    assert information(belief.covariance, best) > max(gains)


def test_signs_are_patterns_of_the_leading_directions_and_never_repeated(belief):
    pool = filters.LeadingSigns(2)
    first = pool(belief)
    np.testing.assert_allclose(np.abs(first), 1 / 8)
    np.testing.assert_array_equal(first, filters.signs(belief.leading_directions(2)))
    known = belief.leading_directions(6)
    belief.measurements_ = -np.vstack([first, first[:1]]) * 3, np.zeros(3)  # as if they had been measured already
    belief.leading_directions = lambda n: known[:n]
    again = pool(belief)
    np.testing.assert_array_equal(again, filters.signs(belief.leading_directions(4))[2:])


def test_signs_end_when_there_is_nothing_new():
    class Belief:
        measurements_ = np.ones((1, 2)), np.ones(1)

        def leading_directions(self, n):
            return np.array([[0.6, 0.8], [0.8, 0.6]])[:n]

    assert filters.LeadingSigns(2)(Belief()).shape == (0, 2)


def test_uncertain_wavelets_are_the_largest_variances_that_were_not_measured(belief):
    W = Wavelet(SHAPE)
    pool = filters.UncertainWavelets(SHAPE, 2)
    used = []
    for _ in range(5):
        variances = belief.variances_along(W)
        variances[used] = -1
        wanted = np.argsort(-variances)[:2]
        rows = pool(belief)
        coefficients = W.forward(rows.reshape(-1, *SHAPE)).reshape(2, -1)
        np.testing.assert_array_equal(np.argmax(np.abs(coefficients), axis=1), wanted)
        used += wanted.tolist()
        belief.partial_fit(rows * [[2.0], [-1.0]], np.zeros(2))  # also where the sign or the length is another
    assert len(set(used)) == 10


def brute_force_search(values, W, m, penalty):
    """The queue of the specification, written out: (measured flat indices, in order)."""
    side, level = W.output_shape[0], W.level
    coarse = side // 2**level
    flat = lambda scale, h, p: (h[0] * (side // 2**scale) + p[0]) * side + h[1] * (side // 2**scale) + p[1]  # noqa: E731
    measured = [flat(level, (0, 0), (i, j)) for i in range(coarse) for j in range(coarse)]
    queue = []
    for rank, h in enumerate([(1, 0), (0, 1), (1, 1)]):
        for p in np.ndindex(coarse, coarse):
            measured.append(flat(level, h, p))
            queue.append((-abs(values[measured[-1]]), rank, p, level, h))
    while queue and len(measured) < m:
        queue.sort()
        _, rank, p, scale, h = queue.pop(0)
        if scale == 1:
            continue
        for shift in np.ndindex(2, 2):
            child = (2 * p[0] + shift[0], 2 * p[1] + shift[1])
            measured.append(flat(scale - 1, h, child))
            depth = level - scale + 1
            queue.append((-abs(values[measured[-1]]) * 2.0 ** (-penalty * depth), rank, child, scale - 1, h))
    return measured[:m]


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_the_tree_search_follows_its_queue(penalty):
    W = Wavelet((16, 16))
    values = np.random.default_rng(4).standard_normal(256)
    search = filters.TreeSearch((16, 16), depth_penalty=penalty)
    belief, order = LinearBelief(np.eye(256)), []
    while len(order) < 256:
        rows = search(belief)
        index = np.argmax(np.abs(W.forward(rows.reshape(-1, 16, 16)).reshape(len(rows), -1)), axis=1)
        belief.partial_fit(rows, values[index])
        order += index.tolist()
    assert sorted(order) == list(range(256))
    wanted = brute_force_search(values, W, 256, penalty)
    assert order[16:128:4] == wanted[16:128:4]  # the first of every four siblings
    assert [set(order[k : k + 4]) for k in range(16, 256, 4)] == [set(wanted[k : k + 4]) for k in range(16, 256, 4)]


def test_the_search_reads_values_of_scaled_and_repeated_filters_and_passes_over_others():
    search = filters.TreeSearch((4, 4), name="haar")
    belief = LinearBelief(np.eye(16))
    roots = search(belief)
    rows = np.vstack([roots, filters.uniform((4, 4), 3, random_state=0), -2 * roots[2:3]])
    belief.partial_fit(rows, np.array([5.0, 1.0, 2.0, 0.5, 99.0, 99.0, 99.0, -2 * 8.0]))  # the third: 2 and 8, mean 5
    np.testing.assert_array_equal(search.order(belief)[:8], [2, 3, 6, 7, 8, 9, 12, 13])


def test_where_no_parent_is_open_the_search_goes_coarse_to_fine():
    search = filters.TreeSearch((4, 4), 3, name="haar")
    belief = LinearBelief(np.eye(16))
    belief.partial_fit(np.asarray(filters.wavelets((4, 4), 14, name="haar")), np.zeros(14))
    assert len(search(belief)) == 2
    belief.partial_fit(search(belief), np.zeros(2))
    assert search(belief).shape == (0, 16)


@pytest.mark.parametrize(
    ("pool", "needs"),
    [
        (filters.LeadingDirections(), "leading_directions"),
        (filters.LeadingSigns(), "leading_directions"),
        (filters.UncertainWavelets(SHAPE), "variances_along"),
        (filters.TreeSearch(SHAPE), "measurements_"),
    ],
)
def test_an_estimator_that_cannot_answer_is_refused(pool, needs):
    with pytest.raises(ValueError, match=f"estimator must have {needs} to design filters, object has none"):
        pool(object())


@pytest.mark.parametrize(
    ("pool", "size"),
    [
        (filters.LeadingDirections(3), 3),
        (filters.LeadingSigns(3), 3),
        (filters.UncertainWavelets(SHAPE, 3), 3),
        (filters.TreeSearch(SHAPE, 4), 4),
    ],
)
def test_the_loop_designs_filters_and_resumes(pool, size, belief, tmp_path):
    image = np.random.default_rng(2).standard_normal(64)

    def measure(query):
        return np.asarray(query.candidates) @ image

    whole = SequentialDesign(belief, pool, measure, batch_size=size, log=tmp_path / "whole").run(4)
    half = SequentialDesign(belief, pool, measure, batch_size=size, log=tmp_path / "half").run(2)
    rows, _ = half.estimator_.measurements_
    half.close()
    resumed = SequentialDesign.load(tmp_path / "half", belief, pool, measure=measure).run(2)
    for design in (whole, resumed):
        assert design.estimator_.measurements_[0].shape == (4 * size, 64)
    np.testing.assert_array_equal(resumed.estimator_.measurements_[0], whole.estimator_.measurements_[0])
    np.testing.assert_array_equal(resumed.estimator_.measurements_[0][: len(rows)], rows)


def test_a_fixed_ensemble_is_a_pool_of_the_loop(belief):
    pool = filters.wavelets(SHAPE, 10)
    design = SequentialDesign(belief, pool, lambda query: np.zeros(len(query.candidates)), initial=range(10)).run(10)
    np.testing.assert_array_equal(design.estimator_.measurements_[0], np.asarray(pool))


@pytest.mark.parametrize(
    "pool",
    [
        filters.LeadingDirections(2),
        filters.LeadingSigns(2),
        filters.UncertainWavelets(SHAPE, 2),
        filters.TreeSearch(SHAPE, 2),
    ],
)
def test_photographs_are_measured_with_designed_filters(pool):
    image = np.kron([[0.2, 0.8], [0.6, 0.4]], np.ones((4, 4)))
    model = ImageReconstructor(SHAPE, noise_variance=1e-3, prior_scales=0.1, inference="expectation_propagation")
    first = np.asarray(filters.wavelets(SHAPE, 16))  # the roots of the tree
    model.fit(first, first @ image.ravel())
    before = np.linalg.norm(model.image_ - image)
    design = SequentialDesign(
        model, pool, lambda query: np.asarray(query.candidates) @ image.ravel(), batch_size=2, random_state=0
    ).run(4)
    rows, _ = design.estimator_.measurements_
    assert rows.shape == (24, 64)
    assert np.linalg.matrix_rank(rows) == 24
    assert np.linalg.norm(design.estimator_.image_ - image) < before
