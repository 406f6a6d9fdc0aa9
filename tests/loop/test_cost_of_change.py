"""A cost that knows the setting before, and a mask that is a function: asked, logged, and the same after a resume."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from adaptive import GaussianProcessRegressor, SequentialDesign

SETTINGS = np.linspace(0.0, 1.0, 41)[:, None]


def regressor():
    return GaussianProcessRegressor(RBF(0.2), alpha=0.1, optimizer=None)


def travel(settings, last):
    """A second to measure and ten for the whole way."""
    return np.ones(len(settings)) if last is None else 1.0 + 10.0 * abs(settings - last)[:, 0]


def allowed(settings):
    return settings[:, 0] >= 0.3


def measure(query):
    return np.sin(5 * query.candidates[:, 0])


def test_changing_a_setting_has_its_price(tmp_path):
    def make(path, **options):
        return SequentialDesign(regressor(), SETTINGS, measure, repeat=True, random_state=0, log=path, **options)

    there, free = make(tmp_path / "log", cost=travel, mask=allowed), make(None)
    there.run(8), free.run(8)
    way = np.abs(np.diff(SETTINGS[there.history_["position"], 0]))
    assert SETTINGS[there.history_["position"]].min() >= 0.3
    assert there.spent == pytest.approx(8 + 10 * way.sum())
    assert way.sum() < 0.5 * np.abs(np.diff(SETTINGS[free.history_["position"], 0])).sum()
    there.run(4)
    halfway = make(tmp_path / "half", cost=travel, mask=allowed).run(5)
    halfway.close()
    again = SequentialDesign.load(tmp_path / "half", regressor(), SETTINGS, measure, cost=travel, mask=allowed)
    again.run(7)
    assert again.history_["position"] == there.history_["position"] and again.spent == there.spent
    again.close(), there.close()


def test_a_mask_of_a_callable_pool_leaves_out_entries():
    design = SequentialDesign(regressor(), lambda model: SETTINGS, measure, mask=allowed, random_state=0).run(5)
    assert min(query[0] for query in design.pool) >= 0.3 and len(design.pool) == 29
    model = regressor().fit(SETTINGS[:1], [0.0])
    assert model.select(SETTINGS, mask=allowed) == model.select(SETTINGS, mask=allowed(SETTINGS))
    with pytest.raises(ValueError, match="must return 41 booleans"):
        SequentialDesign(regressor(), SETTINGS, mask=lambda settings: settings[:, 0])
