"""Settings ranked by few particles: nearly the best is chosen, whatever the chunks; by all particles on request."""

import numpy as np
import pytest
from scipy import stats

from adaptive import ParticleEstimator, scorers
from adaptive.estimators.particles.predictive import ParticlePredictive
from adaptive.selection import select

X = np.column_stack([np.linspace(0.0, 4.0, 60), np.full(60, 40.0)])
Y = [30.0, 12.0, 35.0, 20.0]


def chance(parameters, X):
    place, width, top = parameters.T[:, :, None]
    return 0.02 + top / (1.0 + ((X[:, 0] - place) / width) ** 2)


def fitted(noise, screening=256):
    prior = {"place": stats.uniform(0.5, 3.0), "width": stats.uniform(0.2, 1.0), "top": stats.uniform(0.5, 0.4)}
    sizes = {"binomial": {"trials": 1}, "poisson": {"exposure": 1}}.get(noise, {})
    model = ParticleEstimator(model=chance, prior=prior, noise=noise, screening=screening, random_state=0, **sizes)
    y = Y if sizes else np.divide(Y, 40.0)
    return model.fit(X[[10, 20, 40, 50]], y)


@pytest.mark.parametrize("noise", ["poisson", "binomial", 0.1])
def test_the_choice_tells_nearly_as_much_as_the_best(noise):
    model, exact = fitted(noise), fitted(noise, screening=0)
    for target in (None, "place"):
        gains = scorers.information_gain(model.predictive(X, target=target))
        (chosen,), score = model.select(X, target=target, return_scores=True)
        assert score == pytest.approx(gains[chosen], rel=1e-12)  # what is said of it is by all particles
        assert gains[chosen] > (0.99 if target is None else 0.9) * gains.max()
        assert exact.select(X, target=target)[0] == gains.argmax()
        assert {int(select(model, X, target=target, chunk_size=n)[0]) for n in (7, 25, 60)} == {chosen}
    (last,) = model.select(X, mask=np.arange(60) >= 20)  # few are looked at as closely
    assert last == 20 + scorers.information_gain(model.predictive(X[20:])).argmax() or noise != 0.1


def test_what_is_pending_and_what_it_costs_are_seen():
    model = fitted("poisson")
    first = model.select(X)
    second = model.select(X, pending=X[first])[0]
    exact = fitted("poisson", screening=0).select(X, pending=X[first], return_scores=True)
    after = select(model, X, pending=X[first], chunk_size=20, return_scores=True)
    assert after[0][0] == second and after[1][0] > 0.98 * exact[1][0]
    cost = 1.0 + X[:, 0]
    gains = scorers.information_gain(model.predictive(X))
    assert (gains / cost)[model.select(X, cost=cost)[0]] > 0.99 * (gains / cost).max()


def test_few_particles_are_not_fewer_than_they_must(monkeypatch):
    monkeypatch.setattr(ParticlePredictive, "refined", None)
    small = ParticleEstimator(model=chance, prior=[stats.uniform(0.5, 1)] * 3, noise=0.1, n_particles=300)
    small.select(X)  # 300 are few already
    fitted(0.1).select(X[:30])
    with pytest.raises(ValueError, match="screening must be"):
        fitted(0.1, screening=-1)
