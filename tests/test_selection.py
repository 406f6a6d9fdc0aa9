"""Selection: cost, mask, ties, chunks, batches, what is pending, what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import sparse

from adaptive.potentials import BernoulliLogit, Gaussian
from adaptive.predictive import GaussianProjections, Predictive, StatedPredictive, Undecided
from adaptive.scorers.record import scorer
from adaptive.selection import select


class Linear:
    """A linear model that counts what it is asked."""

    def __init__(self, n=3, likelihood=None, seed=0):
        rng = np.random.default_rng(seed)
        self.mean, self.root = rng.standard_normal(n), rng.standard_normal((n, n))
        self.likelihood = likelihood or Gaussian(0.5)
        self.asked = []

    def predictive(self, candidates, *, target=None, random_state=None):
        self.asked.append(candidates)
        return GaussianProjections.from_rows(
            candidates, self.mean, root=self.root, likelihood=self.likelihood, target=target, random_state=random_state
        )


class Scores:
    """Candidates are their own scores."""

    def predictive(self, candidates, *, target=None, random_state=None):
        return StatedPredictive(variance=np.array(candidates, dtype=float))


def best(values, n_select=1, **options):
    return select(
        Scores(), np.asarray(values, dtype=float), n_select, scorer="predictive_variance", joint=False, **options
    )


def rows(m, n=3, seed=1):
    return np.random.default_rng(seed).standard_normal((m, n))


# -------------------------------------------------------------------------------------- cost, mask, ties


def test_the_highest_score_per_cost_is_chosen_and_its_score_returned():
    positions, scores = best([1.0, 3.0, 4.0], cost=[1, 1, 2], return_scores=True)
    assert positions.tolist() == [1] and scores.tolist() == [3.0]
    positions, scores = best([1.0, 3.0, 4.0], 3, cost=lambda pool: np.array([0.1, 1, 2]), return_scores=True)
    assert positions.tolist() == [0, 1, 2] and scores.tolist() == [1.0, 3.0, 4.0]
    assert positions.dtype.kind == "i"


def test_what_is_masked_or_excluded_is_never_looked_at():
    estimator, pool = Linear(), rows(6)
    pool[3] = np.nan  # would be refused, or poison the scores
    chosen = select(estimator, pool, 4, mask=np.array([1, 1, 1, 0, 1, 1], dtype=bool), exclude=[0])
    assert sorted(chosen) == [1, 2, 4, 5]
    assert len(estimator.asked[0]) == 4
    with pytest.raises(ValueError, match="cost must be finite and > 0, got nan at position 4"):
        best([1, 2, 3, 4, 5], mask=[True] * 5, cost=[1, 1, 1, 1, np.nan])
    assert best([1, 2, 3, 4, 5], mask=[True] * 4 + [False], cost=[1, 1, 1, 1, np.nan]) == [3]
    assert best([1, 2, 3], exclude={2}) == [1] and best([1, 2, 3], exclude=np.array([2, 2])) == [1]
    assert best([1, 2, 3], mask=[True, True, True], exclude=()) == [2]


@settings(max_examples=50, deadline=None)
@given(values=st.lists(st.sampled_from([0.0, 1.0, 2.0, 0.1 + 0.2, 0.3]), min_size=1, max_size=12), data=st.data())
def test_ties_go_to_the_lowest_position_also_those_that_only_rounding_breaks(values, data):
    n = data.draw(st.integers(1, len(values)))
    rounded = np.round(values, 9)  # 0.1 + 0.2 and 0.3 are the same score
    expected = np.lexsort((np.arange(len(values)), -rounded))[:n]
    np.testing.assert_array_equal(best(values, n), expected)


def test_a_score_of_minus_infinity_means_never_unless_nothing_else_is_left():
    def picky(predictive, random_state=None):
        return np.where(predictive.variance > 2, -np.inf, predictive.variance)

    assert select(Scores(), np.array([1.0, 5.0, 2.0]), scorer=picky) == [2]
    chosen = select(Scores(), np.array([1.0, 5.0, 2.0]), 3, scorer=picky, joint=False)
    assert chosen.tolist() == [2, 0, 1]


# ------------------------------------------------------------------------------------------------ chunks


@pytest.mark.parametrize("scorer", ["information_gain", "random", "d_optimality"])
@pytest.mark.parametrize("as_pool", [np.asarray, sparse.csr_matrix, list], ids=["array", "sparse", "list"])
def test_chunks_and_workers_never_change_a_result(scorer, as_pool):
    estimator, pool = Linear(likelihood=BernoulliLogit()), rows(500)
    pool[400] = pool[20]  # a tie across chunks
    if as_pool is list:
        pool = [row.tolist() for row in pool]
    options = {"scorer": scorer, "random_state": 0, "return_scores": True, "exclude": [7]}
    for n in (1, 5):
        whole = select(estimator, as_pool(pool), n, **options)
        for size in (499, 64, 7):
            chosen, scores = select(estimator, as_pool(pool), n, chunk_size=size, **options)
            np.testing.assert_array_equal(chosen, whole[0])
            np.testing.assert_allclose(scores, whole[1], rtol=1e-10)


def test_workers_return_the_same_bits():
    estimator, pool = Linear(likelihood=BernoulliLogit()), rows(400)
    options = {"chunk_size": 90, "random_state": 0, "return_scores": True, "joint": False}
    alone = select(estimator, pool, 400, **options)
    with parallel_config(backend="loky", n_jobs=2):
        shared = select(estimator, pool, 400, **options)
    threads = select(estimator, pool, 400, n_jobs=2, **options)
    for other in (shared, threads):
        np.testing.assert_array_equal(other[0], alone[0])
        np.testing.assert_array_equal(other[1], alone[1])


def test_one_chunk_is_one_predictive_of_the_very_pool():
    estimator, pool = Linear(), rows(50)
    select(estimator, pool)
    assert len(estimator.asked) == 1 and estimator.asked[0] is pool


def test_random_needs_no_field_and_is_uniform_over_what_is_allowed():
    class Silent:
        def predictive(self, candidates, *, target=None, random_state=None):
            return Predictive(len(candidates), probabilities=lambda: 1 / 0)

    counts = np.zeros(4)
    for seed in range(400):
        counts[select(Silent(), [0, 1, 2, 3], scorer="random", random_state=seed, exclude=[2])] += 1
    assert counts[2] == 0 and np.all(abs(counts[[0, 1, 3]] - 400 / 3) < 4 * np.sqrt(400 * 2 / 9))
    batch = select(Silent(), [0, 1, 2, 3], 4, scorer="random", random_state=0, pending=[9])
    assert sorted(batch) == [0, 1, 2, 3]


def test_an_undecided_estimator_is_asked_at_random_whatever_the_scorer():
    class Unfitted:
        def predictive(self, candidates, *, target=None, random_state=None):
            return Undecided(len(candidates))

    options = {"random_state": 3, "pending": [8]}
    first = select(Unfitted(), list(range(30)), 5, scorer="margin", **options)
    assert len(set(first)) == 5 and not np.array_equal(first, np.arange(5))
    np.testing.assert_array_equal(
        first, select(Unfitted(), list(range(30)), 5, scorer="margin", chunk_size=4, **options)
    )


def test_a_scorer_of_the_whole_pool_sees_it_at_once():
    @scorer(whole_pool=True)
    def central(predictive, random_state=None):
        seen.append(len(predictive))
        return -abs(predictive.mean - predictive.mean.mean())

    seen = []
    chosen = select(Linear(), rows(100), 2, scorer=central, chunk_size=10)
    assert set(seen) == {100} and len(chosen) == 2


def test_the_pool_may_follow_from_the_estimator():
    estimator = Linear()
    chosen = select(estimator, lambda e: np.vstack([e.root.T, 10 * e.root.T[:1]]), cost=lambda pool: np.ones(len(pool)))
    assert chosen == [3]


# ------------------------------------------------------------------------------------ batches and pending


def joint_gain(estimator, pool, positions):
    X = np.asarray(pool)[list(positions)] @ estimator.root
    return 0.5 * np.linalg.slogdet(np.eye(len(X)) + X @ X.T / 0.5)[1]


@pytest.mark.parametrize("m", [12, 1500])
def test_a_joint_batch_is_no_less_than_the_greedy_one_and_adds_up_also_from_a_short_list(m):
    estimator, pool = Linear(), rows(m)
    positions, scores = select(estimator, pool, 4, return_scores=True, chunk_size=200)
    assert scores.sum() == pytest.approx(joint_gain(estimator, pool, positions))
    chosen = []
    for _ in positions:
        gains = [joint_gain(estimator, pool, [*chosen, i]) if i not in chosen else -np.inf for i in range(m)]
        chosen.append(int(np.argmax(gains)))
    assert joint_gain(estimator, pool, positions) >= joint_gain(estimator, pool, chosen) - 1e-9
    among = [joint_gain(estimator, pool, [i]) for i in positions]
    assert scores[0] == pytest.approx(max(among))  # the members in the greedy's order
    assert joint_gain(estimator, pool, positions) > joint_gain(estimator, pool, select(estimator, pool, 4, joint=False))


def test_costs_are_weighed_at_every_step_of_a_batch():
    estimator, pool = Linear(), rows(12)
    cost = np.random.default_rng(5).uniform(0.5, 3, 12)
    chosen = []
    for position in select(estimator, pool, 4, cost=cost):
        before = joint_gain(estimator, pool, chosen) if chosen else 0.0
        gains = [
            (joint_gain(estimator, pool, [*chosen, i]) - before) / cost[i] if i not in chosen else -np.inf
            for i in range(12)
        ]
        assert gains[position] == pytest.approx(max(gains), abs=1e-9)
        chosen.append(position)


def test_pending_candidates_are_conditioned_on():
    estimator, pool = Linear(), rows(30)
    pending = rows(2, seed=9)
    position, score = select(estimator, pool, pending=pending, return_scores=True)
    gains = [joint_gain(estimator, np.vstack([pending, pool]), [0, 1, i + 2]) for i in range(30)]
    assert gains[position[0]] == pytest.approx(max(gains))
    assert score[0] == pytest.approx(max(gains) - joint_gain(estimator, pending, [0, 1]))
    np.testing.assert_array_equal(select(estimator, pool, pending=pool[:0]), select(estimator, pool))


def test_asking_in_one_batch_or_one_after_the_other_beside_pending_is_the_same():
    estimator, pool = Linear(likelihood=BernoulliLogit()), rows(30)
    batch = select(estimator, pool, 3, random_state=0)
    single = []
    for _ in range(3):
        single.append(int(select(estimator, pool, pending=pool[single], exclude=single, random_state=0)[0]))
    assert batch.tolist() == single


def test_refined_scores_decide_where_the_predictive_offers_them():
    class Coarse:
        """Scores within 10%; exact ones for a few candidates."""

        exact = np.array([1.0, 2.0, 2.1, 0.5, 1.9, *np.linspace(0, 0.4, 20)])

        def predictive(self, candidates, *, target=None, random_state=None):
            truth = self.exact[candidates]
            coarse = truth * (1 + 0.1 * (np.asarray(candidates) % 2))
            refined_counts.append(0)

            def refined(positions):
                refined_counts[-1] += len(positions)
                return StatedPredictive(variance=truth[positions])

            return StatedPredictive(
                variance=coarse, refined=refined, given=lambda i, outcome=None: self.predictive(candidates)
            )

    refined_counts = []
    pool = np.arange(25)
    for size in (100, 4):
        position, score = select(Coarse(), pool, scorer="predictive_variance", return_scores=True, chunk_size=size)
        assert position == [2] and score == [2.1]
        assert 0 < max(refined_counts) <= 8
    assert select(Coarse(), pool, 3, scorer="predictive_variance", joint=False).tolist() == [2, 1, 4]
    assert select(Coarse(), pool, 3, scorer="predictive_variance").tolist() == [2, 1, 4]


def test_the_same_seed_gives_the_same_choice_and_every_chunk_the_same_draws():
    class Recorder(Linear):
        def predictive(self, candidates, *, target=None, random_state=None):
            seeds.append(random_state)
            return super().predictive(candidates, target=target, random_state=random_state)

    seeds = []
    select(Recorder(), rows(30), chunk_size=10, random_state=4)
    assert len(set(seeds)) == 1
    select(Recorder(), rows(30), random_state=4)
    assert len(set(seeds)) == 1
    select(Recorder(), rows(30), random_state=5)
    assert len(set(seeds)) == 2


# ------------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("n_select is 4, but only 3 of 3 candidates are allowed", {"n_select": 4}),
        ("n_select is 3, but only 2 of 3 candidates are allowed", {"n_select": 3, "exclude": [1]}),
        ("n_select must be at least 1, got 0", {"n_select": 0}),
        ("n_select must be an integer, got float", {"n_select": 1.5}),
        ("mask and exclude leave none of the 3 candidates", {"mask": [False] * 3}),
        ("mask must be 3 booleans.*got dtype bool and shape \\(2,\\)", {"mask": [True, True]}),
        ("mask must be 3 booleans.*got dtype int64", {"mask": [1, 0, 1]}),
        ("exclude contains 3, but positions go from 0 to 2", {"exclude": [3]}),
        ("exclude contains -1, but positions", {"exclude": [-1]}),
        ("exclude must be a sequence of integer positions", {"exclude": [0.5]}),
        ("cost must be finite and > 0, got 0.0 at position 1", {"cost": [1, 0, 1]}),
        ("cost must be finite and > 0, got -1.0 at position 0", {"cost": [-1, 1, 1]}),
        ("cost must be finite and > 0, got nan at position 2", {"cost": [1, 1, np.nan]}),
        ("cost must have one entry for each of the 3 candidates, got shape \\(2,\\)", {"cost": lambda pool: [1, 1]}),
        ("cost must be 3 numbers > 0", {"cost": "cheap"}),
        ("scorer must be one of 'a_optimality'.*got 'best'", {"scorer": "best"}),
        ("chunk_size must be at least 1", {"chunk_size": 0}),
        ("random_state must be", {"random_state": "now"}),
        ("pending must hold candidates \\(not positions\\)", {"pending": np.array([1])}),
    ],
)
def test_bad_arguments_end_in_one_clear_line(message, options):
    with pytest.raises(ValueError, match=message) as problem:
        select(Linear(), rows(3), **options)
    assert "\n" not in str(problem.value)


def test_bad_pools_predictives_and_scorers_end_in_one_clear_line():
    with pytest.raises(ValueError, match="candidates is empty"):
        select(Linear(), rows(0))
    with pytest.raises(ValueError, match="Halves.predictive returned a predictive of 2 candidates for 4"):

        class Halves(Scores):
            def predictive(self, candidates, **options):
                return super().predictive(candidates[::2], **options)

        select(Halves(), np.ones(4), scorer="predictive_variance")
    with pytest.raises(ValueError, match="candidates must be a pool"):
        select(Linear(), 5)
    with pytest.raises(ValueError, match="a joint batch needs given, which StatedPredictive does not.*joint=False"):
        select(Scores(), np.ones(3), 2, scorer="predictive_variance")
    with pytest.raises(ValueError, match="conditioning on pending candidates needs given"):
        select(Scores(), np.ones(3), scorer="predictive_variance", pending=np.ones(1))
    with pytest.raises(ValueError, match="information_gain needs outcome_entropy, which StatedPredictive"):
        select(Scores(), np.ones(3))
    with pytest.raises(ValueError, match="scorer broken returned NaN for the candidate at position 2"):

        def broken(predictive, random_state=None):
            return np.where(predictive.variance > 1, np.nan, 1.0)

        select(Scores(), np.array([1.0, 1.0, 2.0]), scorer=broken, mask=[False, True, True])
    with pytest.raises(ValueError, match=r"scorer short must return 3 scores, one per candidate, got shape \(2,\)"):

        def short(predictive, random_state=None):
            return np.ones(2)

        select(Scores(), np.ones(3), scorer=short)


def test_a_long_batch_says_on_a_terminal_how_far_it_is(monkeypatch):
    import io

    from rich import console

    text, clock = io.StringIO(), iter(range(0, 1000, 3))
    screen = console.Console(file=text, force_terminal=True, width=80)
    monkeypatch.setattr(console, "Console", lambda **options: screen)
    select(Linear(likelihood=BernoulliLogit()), rows(20), 3, random_state=0)
    assert text.getvalue() == ""  # it took less than two seconds
    monkeypatch.setattr("adaptive.showing.time.monotonic", lambda: float(next(clock)))
    select(Linear(likelihood=BernoulliLogit()), rows(20), 3, random_state=0)
    assert "of 3 chosen" in text.getvalue()
