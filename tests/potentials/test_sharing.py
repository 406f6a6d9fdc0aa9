"""Groups of potentials and weighted ones have every member that a potential has, shared out as one list says."""

import inspect

import numpy as np
import pytest

from adaptive.potentials import (
    BernoulliLogit,
    BernoulliProbit,
    ExponentialPower,
    Gaussian,
    Laplace,
    Potential,
    StudentT,
)
from adaptive.potentials.grouped import GroupedPotential
from adaptive.potentials.sharing import MEMBERS
from adaptive.potentials.weighted import Weighted

PARTS = [Laplace([0.5, 1.0], location=0.3), Gaussian(2.0), ExponentialPower([1.0, 1.5], 0.8)]
LENGTHS = [2, 3, 2]
GROUPED = GroupedPotential(PARTS, LENGTHS)
WEIGHTS = np.array([1.0, 0.3, 2.0])
WEIGHTED = Weighted(Laplace(0.8, location=[0.0, 1.0, -1.0]), WEIGHTS)
CLASSES = [(GroupedPotential, GROUPED, 0), (Weighted, WEIGHTED, 1)]
RNG = np.random.default_rng(5)


def public(cls):
    return {name for name in dir(cls) if not name.startswith("_")}


def arguments(name, q):
    """Arrays for the arguments without a default, positive where they must be."""
    given = [p for p in inspect.signature(getattr(Potential, name)).parameters.values() if p.default is p.empty][1:]
    return [RNG.uniform(0.1, 0.3, q) if p.name in ("width", "variance") else RNG.standard_normal(q) for p in given]


def parts_of(answer):
    return answer if isinstance(answer, tuple) else (answer,)


def test_the_list_names_every_member_of_a_potential():
    assert set(MEMBERS) == public(Potential)


def test_a_member_that_is_forgotten_is_noticed(monkeypatch):
    monkeypatch.setattr(Potential, "skewness", lambda self: 0.0, raising=False)
    assert public(Potential) - set(MEMBERS) == {"skewness"}


@pytest.mark.parametrize(("cls", "instance", "column"), CLASSES, ids=["grouped", "weighted"])
def test_classes_are_as_the_list_says(cls, instance, column):
    for name, member in MEMBERS.items():
        how = member[column]
        assert how in ("own", "default", *(("same", "times") if column else ("rows", "column", "all", "any", "common")))
        written = name in {**vars(cls), **vars(instance)}
        assert written == (how != "default"), name
        if inspect.isfunction(getattr(Potential, name)) and written:
            here, there = (list(inspect.signature(getattr(c, name)).parameters) for c in (cls, Potential))
            assert here == there, name


@pytest.mark.parametrize("name", [name for name, member in MEMBERS.items() if member.groups == "rows"])
def test_rows_are_split_among_groups(name):
    given = arguments(name, sum(LENGTHS))
    together = parts_of(getattr(GROUPED, name)(*given))
    apart = [parts_of(getattr(p, name)(*(a[rows] for a in given))) for p, rows in GROUPED.parts()]
    for found, own in zip(together, zip(*apart, strict=True), strict=True):
        np.testing.assert_array_equal(found, np.concatenate(own))


def test_arguments_may_be_named():
    s, z = np.linspace(-1, 1, 7), np.linspace(0.1, 0.7, 7)
    for found, expected in zip(GROUPED.inner(s, z2=z), GROUPED.inner(s, 0.0, z, 0.0), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", [name for name, member in MEMBERS.items() if member.weighted == "times"])
def test_weights_multiply(name):
    given = arguments(name, 3)
    own = parts_of(getattr(WEIGHTED.potential, name)(*given))
    for found, expected in zip(parts_of(getattr(WEIGHTED, name)(*given)), own, strict=True):
        np.testing.assert_array_equal(found, WEIGHTS * expected)


def test_what_follows_for_a_power_from_the_rest_is_right():
    s, step = np.array([0.2, 1.5, -3.0]), np.array([0.1, -0.7, 2.0])
    np.testing.assert_allclose(WEIGHTED.log_ratio(s, step), WEIGHTED.log_density(s + step) - WEIGHTED.log_density(s))
    mean, variance = np.array([0.3, -1.0, 0.4]), np.array([0.5, 1.0, 2.0])
    best = WEIGHTED.best_width(mean, variance)

    def integral(width):  # log of the bound's integral over N(mean, variance)
        x = mean - WEIGHTED.location
        pulled = x + variance * WEIGHTED.tilt
        shrink = 1 + variance / width
        value = 0.5 * (pulled**2 / (variance * shrink) - x**2 / variance - np.log(shrink))
        return value - 0.5 * WEIGHTED.height(width)

    assert np.all(integral(best) >= np.maximum(integral(best * 1.01), integral(best / 1.01)))
    for one, other in zip(WEIGHTED.convex_height(best)[1:], WEIGHTED.height_derivatives(best), strict=True):
        np.testing.assert_array_equal(one, other)


def test_flags_and_columns_of_groups():
    assert GROUPED.log_concave and GROUPED.super_gaussian and not GROUPED.smooth and GROUPED.singular
    assert GROUPED.bound == "width" and GROUPED.kinks == (0.0,) and not GROUPED.discrete
    np.testing.assert_array_equal(GROUPED.location, [0.3, 0.3, 0, 0, 0, 0, 0])
    assert GROUPED.weights is None and GROUPED.shape == (7,) and GROUPED.expand(7) is GROUPED
    mixed = GroupedPotential([BernoulliProbit([1, -1]), StudentT(3.0, 1.0), Weighted(Laplace(1.0), WEIGHTS)], [2, 1, 3])
    assert mixed.bound is None and not mixed.log_concave and not mixed.super_gaussian
    np.testing.assert_array_equal(mixed.weights, [1, 1, 1, *WEIGHTS])
    lower, upper = mixed.support
    assert np.all(lower == -np.inf) and np.all(upper == np.inf) and len(lower) == 6
    with pytest.raises(ValueError, match="GroupedPotential of length 7 cannot be expanded to 8 rows"):
        GROUPED.expand(8)
    assert repr(GroupedPotential([Gaussian(1.0)], [2])) == ("GroupedPotential([Gaussian(variance=1, location=0)], [2])")


def test_weighted_rows_can_be_expanded_to_their_own_number_only():
    again = WEIGHTED.expand(3)
    np.testing.assert_array_equal(again.log_density(np.ones(3)), WEIGHTED.log_density(np.ones(3)))
    with pytest.raises(ValueError, match="cannot be expanded to 4 rows"):
        WEIGHTED.expand(4)
    assert Weighted(BernoulliLogit([1.0]), [2.0]).discrete
