"""What is wrong is said in one sentence that names it, and changes nothing."""

import numpy as np
import pytest
from scipy import stats

from adaptive import ParticleEstimator
from tests.estimators.test_shape import same

PRIOR = {"a": stats.norm(), "s": stats.uniform(0.5, 1.0)}
X, Y = np.array([[0.0], [1.0]]), np.array([0.3, 0.1])


def mean(parameters, X):
    return parameters[:, :1] + 0.0 * X[:, 0]


def answered(parameters, X, y):
    """Labels 0 and 1; at settings beyond 5 the answer is always 1, beyond 9 something is wrong."""
    p = np.where(X[:, 0] > 5, 1.0, 1 / (1 + np.exp(-parameters[:, :1])))
    with np.errstate(divide="ignore"):
        found = np.log(np.where(np.asarray(y) == 1, p, 1 - p))
    found = np.where(X[:, 0] > 9, np.nan, found)
    return np.where(X[:, 0] > 19, np.inf, found)


def raising(parameters, X):
    if parameters[:, 0].max() > 2.0:
        raise OverflowError("the solver ran away\nand more")
    return mean(parameters, X)


def particles(**options):
    return ParticleEstimator(prior=PRIOR, n_particles=50, **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "log_likelihood or model must be given, one of the two, got neither"),
        ({"model": mean, "log_likelihood": answered}, "got both"),
        ({"model": 3.0, "noise": 1.0}, "model must be a function .* got float"),
        ({"model": mean}, "noise must be given with model"),
        ({"model": mean, "noise": -1.0}, "noise must be > 0, got -1.0"),
        ({"model": mean, "noise": "sigma"}, "noise must be one of 'a', 's', 'poisson', 'binomial', got 'sigma'"),
        ({"model": mean, "noise": "a"}, "noise gave .* expected finite standard deviations > 0"),
        ({"model": mean, "noise": lambda p, X: np.ones((3, 4))}, "noise must return .* that broadcast"),
        ({"model": mean, "noise": 1.0, "outcomes": [0, 1]}, "outcomes goes with log_likelihood"),
        ({"log_likelihood": answered, "noise": 1.0}, "noise goes with model"),
        ({"log_likelihood": answered, "outcomes": [1]}, "outcomes must be a list of two or more different values"),
        ({"log_likelihood": answered, "outcomes": (1, 1)}, "or a tuple \\(low, high\\)"),
        ({"model": mean, "noise": 1.0, "move": "hop"}, "move must be one of 'random_walk', 'liu_west', got 'hop'"),
        ({"model": mean, "noise": 1.0, "resample": 2}, "resample must be a share of the particles from 0 to 1, got 2"),
        ({"model": lambda p, X: p[:, 0], "noise": 1.0}, r"model must return shape \(50, 1\), .* got \(50,\)"),
        ({"model": lambda p, X: mean(p, X).T, "noise": 1.0}, r"model must return shape \(50, 1\), .* got \(1, 50\)"),
        ({"model": lambda p, X: np.log(mean(p, X)), "noise": 1.0}, "model gave nan .* expected finite numbers"),
        ({"model": raising, "noise": 1.0}, r"model raised OverflowError \(the solver ran away\) for 50 parameter rows"),
        (
            {"log_likelihood": lambda p, X, y: np.zeros((len(p), 3))},
            r"log_likelihood must return shape \(50, 1\), .* got \(50, 3\)",
        ),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_wrong_parameters(options, said):
    with pytest.raises(ValueError, match=said) as problem:
        particles(**options).fit(X, Y if options.get("outcomes") is None else [0, 1])
    assert str(problem.value).count("\n") == 0


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        ([[0.0]], [2], r"y must hold outcomes out of \[0, 1\], one per setting, got 2"),
        ([[0.0]], [[0, 1]], "y must hold outcomes out of"),
        ([[0.0]], [0, 1], "y must hold one outcome per setting, got 2 for 1 rows of X"),
        ([[6.0]], [0], r"y holds .*0.* at setting \[6.0\], which is impossible under every one of the 50 particles"),
        ([[0.0], [6.0]], [1, 0], "nothing was learnt"),
        ([[10.0]], [1], "log_likelihood returned nan for parameters .* at setting .*10.0"),
        ([[20.0]], [1], "log_likelihood returned inf"),
        ([[np.nan]], [1], "NaN"),
        ([[0.0, 1.0]], [1], "features"),
    ],
)
def test_a_wrong_answer_changes_nothing(X, y, said):
    model = particles(log_likelihood=answered, outcomes=[0, 1]).partial_fit([[0.0]], [1])
    fresh = particles(log_likelihood=answered, outcomes=[0, 1])
    before = model.state()
    for one in (model, fresh) if said != "features" else (model,):
        with pytest.raises(ValueError, match=said):
            one.partial_fit(X, y)
    assert same(model.state(), before) and fresh.state() == {}
    fresh.partial_fit([[0.0]], [1]).partial_fit([[6.0]], [1])


@pytest.mark.parametrize("y", [["x"], [np.nan], np.zeros((1, 1, 1))])
def test_a_number_that_is_none(y):
    with pytest.raises(ValueError, match="^y "):
        particles(model=mean, noise=1.0).fit([[0.0]], y)


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        (None, "outcomes must be given with log_likelihood to say what may come back"),
        ([1, 2, 3], "outcomes must hold all that may come back, but exp.* adds up to 1\\..* at setting"),
        ((0.0, 4.0), "outcomes must hold all that may come back"),
    ],
)
def test_choosing_needs_to_know_what_may_come_back(outcomes, said):
    model = particles(log_likelihood=answered, outcomes=outcomes)
    with pytest.raises(ValueError, match=said):
        model.select(X)


def test_questions_that_make_no_sense():
    labels = ParticleEstimator(
        lambda p, X, y: answered(p, X, (np.asarray(y) == "yes") * 1), prior=PRIOR, outcomes=["no", "yes"]
    ).fit(X, ["no", "yes"])
    assert set(labels.predict(X)) <= {"no", "yes"} and labels.predict_proba(X).shape == (2, 2)
    numbers = particles(model=mean, noise=1.0).fit(X, Y)
    for question, said in [
        (lambda: labels.predict(X, return_std=True), "return_std must be False"),
        (lambda: labels.interval(X), "interval needs outcomes that are numbers"),
        (lambda: numbers.interval(X, 1.5), "level must lie between 0 and 1"),
        (lambda: numbers.predict_proba(X), "predict_proba needs outcomes"),
        (lambda: numbers.select(X, target="b"), "target must be one of 'a', 's', got 'b'"),
        (lambda: numbers.select(X, target=lambda p: p[:3]), "must return .* one row per parameter row"),
        (lambda: numbers.log_predictive(X, [1.0]), "y must hold one outcome per setting, got 1 for 2 rows"),
        (lambda: numbers.parameters_.quantiles(2), "probabilities must lie between 0 and 1"),
    ]:
        with pytest.raises(ValueError, match=said):
            question()
