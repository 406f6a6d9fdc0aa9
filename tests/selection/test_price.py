"""Gain less price times cost, in place of gain for each unit of cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.estimators import CollaborativePreference
from adaptive.loop import LogError
from adaptive.predictive import StatedPredictive
from adaptive.selection import select

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
COST = RNG.uniform(0.5, 4.0, 60)


class Coins:
    def predictive(self, candidates, *, target=None, random_state=None):
        p = np.asarray(candidates, dtype=float)
        return StatedPredictive(probabilities=np.column_stack([p, 1 - p]))


@given(
    st.lists(st.floats(0.01, 0.99), min_size=2, max_size=20),
    st.integers(0, 2**32 - 1),
    st.floats(0, 2, allow_subnormal=False),
)
def test_the_largest_difference_is_chosen(p, seed, price):
    p = np.array(p)
    cost = np.random.default_rng(seed).uniform(0.1, 5.0, len(p))
    position, score = select(Coins(), p, scorer="entropy", cost=cost, price=price, return_scores=True)
    entropy = -(p * np.log(p) + (1 - p) * np.log(1 - p))
    assert (entropy - price * cost)[position[0]] >= (entropy - price * cost).max() - 1e-6
    assert abs(score[0] - entropy[position[0]]) < 1e-6  # the score is without the price


@pytest.mark.parametrize("n", [1, 5])
def test_any_chunk_size_and_a_price_of_nothing(n):
    model = BayesianLogisticRegression(classes=[0, 1], hyperparameters="mode").fit(X[:20], (X[:20, 0] > 0).astype(int))
    chosen = {
        size: model.select(X, n, cost=COST, price=0.02, chunk_size=size, random_state=0).tolist() for size in (7, 60)
    }
    assert chosen[7] == chosen[60]
    free = [
        model.select(X, n, random_state=0).tolist(),
        model.select(X, n, cost=COST, price=0.0, random_state=0).tolist(),
    ]
    assert free[0] == free[1]
    dear = model.select(X, n, cost=COST, price=1e6, random_state=0)
    assert sorted(dear) == sorted(np.argsort(COST)[:n])


def test_a_design_keeps_its_price(tmp_path):
    def design(path, **options):
        return SequentialDesign(
            BayesianLogisticRegression(classes=[0, 1], hyperparameters="mode"), X,
            lambda query: (query.candidates[:, 0] > 0).astype(int), cost=COST, initial=4, log=path, random_state=0,
            **options,
        )  # fmt: skip

    with design(tmp_path / "priced", price=0.05) as priced, design(tmp_path / "plain") as plain:
        whole = design(None, price=0.05).run(12).history_["position"]
        assert whole == priced.run(6).run(0).history_["position"] + whole[6:]
        assert plain.run(12).history_["position"] != whole
    model = BayesianLogisticRegression(classes=[0, 1], hyperparameters="mode")
    measure = plain._runner.measure
    with SequentialDesign.load(tmp_path / "priced", model, X, measure, cost=COST) as again:
        assert again.price == 0.05 and again.run(6).history_["position"] == whole
    with pytest.raises(LogError, match="price is not that of log"):
        SequentialDesign.load(tmp_path / "priced", model, X, measure, cost=COST, price=0.1)


def test_what_a_price_is_not_for():
    with pytest.raises(ValueError, match="price needs cost"):
        select(Coins(), np.array([0.2, 0.5]), scorer="entropy", price=0.1)
    with pytest.raises(ValueError, match="price"):
        select(Coins(), np.array([0.2, 0.5]), scorer="entropy", cost=[1, 1], price=-0.1)
    with pytest.raises(ValueError, match="return_certificate goes with costs"):
        BayesianLogisticRegression(classes=[0, 1]).select(X, cost=COST, price=0.1, return_certificate=True)
    with pytest.raises(ValueError, match="price needs cost"):
        SequentialDesign(CollaborativePreference(), [("a", 1, 2)], price=0.1)
