"""Answers are judged before they are learnt: a right model is left in peace, a wrong one is found out."""

import warnings

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from adaptive import GaussianProcessRegressor, SequentialDesign, diagnostics
from adaptive.loop import PredictiveCheck, UnlikelyAnswerWarning
from adaptive.loop.predictive_check import overall_probability

X = np.linspace(0, 1, 21)[:, None]
NOISE = 0.1


def smooth():
    return GaussianProcessRegressor(RBF(0.5), alpha=NOISE**2, optimizer=None)


def run(answer, steps=8, **options):
    check = PredictiveCheck()
    rng = np.random.default_rng(0)
    design = SequentialDesign(
        smooth(), X, lambda q: answer(q.candidates[:, 0]) + NOISE * rng.standard_normal(len(q)), callbacks=[check],
        random_state=0, **options,
    )  # fmt: skip
    return design.run(steps), check


def test_each_answer_is_judged_by_what_was_believed_before_it():
    design, check = run(np.sin)
    model, expected = smooth(), []
    for position, outcome in zip(design.history_["position"], design.history_["outcome"], strict=True):
        expected.append(model.predictive(X[[position]]).tail_probability(0, outcome))
        model.partial_fit(X[[position]], [outcome])
    assert check.history_["probability"] == pytest.approx(expected)
    assert check.history_["overall"] == pytest.approx([overall_probability(expected[: k + 1]) for k in range(8)])
    assert check.history_["position"] == design.history_["position"]
    again = diagnostics.predictive_check(design)
    assert again["probability"] == pytest.approx(expected) and again["n_labelled"] == list(range(1, 9))


def test_a_right_model_is_left_in_peace_and_a_wrong_one_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(np.sin)
    with pytest.warns(UnlikelyAnswerWarning, match=r"had probability .* under the model"):
        _, check = run(lambda x: 5.0 * (x > 0.6))
    assert min(check.history_["overall"]) < 1e-4


def test_batches_late_answers_and_what_was_taken_back():
    design, check = run(np.sin, steps=0, batch_size=2)
    first, second = design.ask(), design.ask(another=True)
    design.tell(second, [0.1, 0.2]).tell(first, [0.0, 0.1])
    model = smooth()
    expected = [model.predictive(X[second.positions]).tail_probability(k, y) for k, y in enumerate((0.1, 0.2))]
    assert check.history_["probability"][:2] == pytest.approx(expected)
    assert len(check.history_["probability"]) == 4
    design.retract(first)
    design.tell(first, [0.0, 0.1])
    assert check.history_["probability"][4:] == pytest.approx(check.history_["probability"][2:4])


@pytest.mark.parametrize("threshold", [0.0, 1.0, -1])
def test_a_threshold_is_a_probability(threshold):
    with pytest.raises(ValueError, match="threshold must lie between 0 and 1, got"):
        PredictiveCheck(threshold)


def test_alarms_are_as_rare_as_they_say():
    """However often one looks; and they come where answers are all a little, or one of them far, too far out."""
    rng = np.random.default_rng(1)
    runs = rng.random((400, 100))
    ever = np.mean([overall_probability(p) < 0.1 for p in runs])  # it never rises again: the last look is all of them
    assert 0.01 < ever < 0.1 + 3 * np.sqrt(0.09 / 400)
    for p in runs[:5]:
        looks = [overall_probability(p[: k + 1]) for k in range(100)]
        assert looks == sorted(looks, reverse=True)
    assert overall_probability(rng.random(60) ** 2) < 1e-3
    assert overall_probability([*rng.random(20), 1e-6]) < 1e-3


def test_the_martingale_is_the_integral():
    p = np.array([0.3, 0.02, 0.9])
    k = (np.arange(200_000) + 0.5) / 200_000
    mixtures = [np.mean(np.prod([k * q ** (k - 1) for q in p[: t + 1]], axis=0)) for t in range(3)]
    expected = min(1.0, 2.0 / max(1.0, *mixtures), 2 * min(2 * 0.3, 6 * 0.02, 12 * 0.9))
    assert overall_probability(p) == pytest.approx(expected, rel=1e-6)
    many = np.full(8, 0.03)
    assert overall_probability(many) == pytest.approx(2.0 / np.mean(k**8 * 0.03 ** (8 * (k - 1))), rel=1e-6)
