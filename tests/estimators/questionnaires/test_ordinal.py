"""The ordinal model: against importance sampling, and what must hold of any table of answers."""

import tracemalloc

import numpy as np
import pytest
from scipy.special import ndtr

from adaptive import Questionnaire
from adaptive.estimators.questionnaires.answers import Answers
from adaptive.estimators.questionnaires.ordinal import fit
from adaptive.estimators.questionnaires.ordinal.fit import fit_ordinal
from adaptive.estimators.questionnaires.ordinal.model import OrdinalModel


def drawn(n_people, n_items, n_categories=5, tau=1.0, beta=0.2, seed=0):
    rng = np.random.default_rng(seed)
    levels = n_categories - 1
    people, items = (np.sort(rng.normal(size=(n, levels)), axis=1) for n in (n_people, n_items))
    x = rng.normal(size=n_people)
    opinion = x[:, None] + tau * rng.normal(size=(n_people, n_items))
    answers = np.ones((n_people, n_items))
    for k in range(levels):
        answers += opinion > people[:, None, k] + items[None, :, k] + beta * rng.normal(size=(n_people, n_items))
    return answers, x


def test_a_tiny_case_against_importance_sampling():
    """Two people, three items, three answers: means within .04 and deviations within a tenth, as the source's."""
    table, tau, beta = np.array([[1, 2, 3], [3, 3, 2]]), 1.0, 0.2
    model = OrdinalModel(3, threshold_noise=beta)
    found = fit_ordinal(
        model, Answers.of_table(table * 1.0, None), np.zeros(3, int), np.full(3, tau), tol=1e-8, max_iter=200
    )
    rng, n = np.random.default_rng(0), 400_000
    people, items = (np.sort(rng.standard_normal((n, k, 2)), axis=2) for k in (2, 3))  # ordered: the prior given order
    x = rng.standard_normal((n, 2))
    weights = np.ones(n)
    for u in range(2):
        for i in range(3):
            h = people[:, u] + items[:, i] + beta * rng.standard_normal((n, 2))
            r = table[u, i] - 1
            low = h[:, :r].max(axis=1, initial=-np.inf)  # the opinion lies between, by its noise alone
            high = h[:, r:].min(axis=1, initial=np.inf)
            weights *= np.maximum(ndtr((high - x[:, u]) / tau) - ndtr((low - x[:, u]) / tau), 0.0)
    weights /= weights.sum()
    mean = weights @ x
    deviation = np.sqrt(weights @ (x - mean) ** 2)
    assert found.converged
    np.testing.assert_allclose(found.means[:, 2], mean, atol=0.04)
    np.testing.assert_allclose(np.sqrt(found.covariances[:, 2, 2]), deviation, rtol=0.1)
    np.testing.assert_allclose(found.item_means, np.einsum("n,nil->il", weights, items), atol=0.06)


def test_model_data_converge_cover_and_do_not_depend_on_order():
    answers, x = drawn(150, 30)
    model = Questionnaire(trait_noise=1.0).fit(answers)
    assert model.converged_ and model.n_iter_ <= 15 and model.belief_.skipped == 0
    inside = np.abs(model.trait_mean_[:, 0] - x) < 1.645 * model.trait_std_[:, 0]
    assert 0.8 < inside.mean() < 0.98 and np.corrcoef(model.trait_mean_[:, 0], x)[0, 1] > 0.8
    turned = Questionnaire(trait_noise=1.0).fit(answers[::-1])
    np.testing.assert_allclose(turned.trait_mean_[::-1], model.trait_mean_, atol=1e-8)
    mirrored = Questionnaire(trait_noise=1.0).fit(6 - answers)
    np.testing.assert_allclose(mirrored.trait_mean_, -model.trait_mean_, atol=1e-3)
    p = model.predict_proba(answers[:3])
    np.testing.assert_allclose(p.sum(axis=2), 1.0, atol=1e-12)
    uniform = -np.log(5)
    assert model.prequential_evidence_ / answers.size > uniform + 0.2


def test_the_common_move_leads_to_the_same_fixed_point_in_fewer_sweeps(monkeypatch):
    answers, _ = drawn(40, 8)
    data = Answers.of_table(answers, (1, 2, 3, 4, 5))
    options = {"max_iter": 400, "tol": 1e-9}
    moved = fit_ordinal(OrdinalModel(5), data, np.zeros(8, int), np.ones(8), **options)
    monkeypatch.setattr(fit, "_common_move", lambda *_: (np.zeros(5), np.zeros((8, 4))))
    still = fit_ordinal(OrdinalModel(5), data, np.zeros(8, int), np.ones(8), **options)
    np.testing.assert_allclose(moved.means, still.means, atol=1e-7)
    np.testing.assert_allclose(moved.item_means, still.item_means, atol=1e-7)
    assert len(moved.trace) < 0.6 * len(still.trace)


def test_more_people_and_items_need_no_more_sweeps_and_300_bytes_an_answer():
    def fitted(people, items, **options):
        return fit_ordinal(OrdinalModel(5), answers[people], np.zeros(items, int), np.ones(items), **options)

    answers = {n: Answers.of_table(drawn(n, m)[0], (1, 2, 3, 4, 5)) for n, m in ((120, 60), (250, 100))}
    found = fitted(120, 60, evidence=True)
    assert found.converged and len(found.trace) <= 15
    tracemalloc.start()
    try:
        fitted(250, 100, evidence=True, max_iter=1)  # one sweep holds as much as all of them do
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak / len(answers[250]) < 300


def test_estimates_rise_with_the_answer_and_keep_a_width():
    model = Questionnaire(trait_noise=1.0).fit(drawn(60, 10, 3)[0])
    after = [model.respondent().partial_fit([4], [answer]) for answer in (1, 2, 3)]
    assert np.all(np.diff([person.mean[0] for person in after]) > 0)
    assert min(person.std[0] for person in after) > 0.5


def test_a_bank_as_a_file(tmp_path):
    answers, _ = drawn(40, 6, 4)
    model = Questionnaire(trait_noise=2.0, reverse=[1], item_traits=["x", "x", "x", "y", "y", "y"]).fit(answers)
    model.to_bank(tmp_path / "bank.csv")
    again = Questionnaire.from_bank(tmp_path / "bank.csv")
    assert again.bank_.fingerprint() == model.bank_.fingerprint()
    np.testing.assert_array_equal(again.predict_proba(answers[:2]), model.predict_proba(answers[:2]))
    text = (tmp_path / "bank.csv").read_text().splitlines()
    (tmp_path / "bank.csv").write_text("\n".join([text[0], text[1].replace(",2.0,", ",,", 1), *text[2:]]))
    with pytest.raises(ValueError, match="line 2: .* is missing"):
        Questionnaire.from_bank(tmp_path / "bank.csv")
    with pytest.raises(ValueError, match="known, not fitted"):
        again.partial_fit([("somebody", 0, 1)])


def test_frozen_items_stay_and_people_do_not_mix():
    answers, _ = drawn(60, 10, 3)
    model = Questionnaire(trait_noise=1.0).fit(answers)
    means = model.bank_.means.copy()
    alone = model.transform(answers[:1], return_std=True)
    together = model.transform(answers[:5], return_std=True)
    np.testing.assert_allclose(alone[0][0], together[0][0], atol=1e-5)
    person = model.respondent().partial_fit([0, 1, 2], answers[0, :3])
    other = model.respondent().partial_fit([2, 0, 1], answers[0, [2, 0, 1]])
    np.testing.assert_allclose(person.mean, other.mean, atol=1e-9)
    assert model.bank_.means.tobytes() == means.tobytes()
    simulated = model.simulate(answers[:2], 3)
    assert simulated.items.shape == (2, 3) and np.all(np.diff(simulated.std, axis=1) < 0.05)


@pytest.mark.parametrize("styles", ["items", "people"])
@pytest.mark.parametrize("response", ["all", "adjacent"])
def test_styles_and_responses(styles, response):
    answers, _ = drawn(40, 6, 4)
    model = Questionnaire(trait_noise=1.0, styles=styles, response=response, max_iter=60).fit(answers)
    assert np.isfinite(model.trait_mean_).all()
    np.testing.assert_allclose(model.predict_proba(answers[:2]).sum(axis=2), 1.0, atol=1e-12)


def test_thresholds_and_traits_shifted_together_predict_the_same():
    answers, _ = drawn(30, 5, 3)
    model = Questionnaire(trait_noise=1.0).fit(answers)
    belief = model.belief_
    pairs = [(u, i) for u in range(4) for i in range(5)]
    before = belief.probabilities(pairs)
    belief.bank.means[:] += 0.7  # in a test only
    belief.means[:, 2] += 0.7
    np.testing.assert_allclose(belief.probabilities(pairs), before, atol=1e-10)


def test_two_and_ten_categories_and_reversed_items():
    rng = np.random.default_rng(0)
    binary = (rng.random((40, 4)) < 0.6).astype(float)
    assert Questionnaire(trait_noise=1.0).fit(binary).item_parameters_.shape == (4, 1)
    ten = rng.integers(1, 11, (20, 3)).astype(float)
    ten[0, 0] = 10
    assert np.isfinite(Questionnaire(trait_noise=1.0).fit(ten).trait_mean_).all()
    answers, _ = drawn(40, 4, 3)
    turned = answers.copy()
    turned[:, 1] = 4 - turned[:, 1]
    one, other = Questionnaire(trait_noise=1.0).fit(answers), Questionnaire(trait_noise=1.0, reverse=[1]).fit(turned)
    np.testing.assert_allclose(one.trait_mean_, other.trait_mean_, atol=1e-10)
    np.testing.assert_allclose(one.predict_proba(answers)[:, 1], other.predict_proba(turned)[:, 1, ::-1], atol=1e-10)


def test_evidence_chooses_the_noise():
    answers, _ = drawn(120, 12, 4, tau=2.0)
    model = Questionnaire(noise_per_item=True).fit(answers)
    assert np.median(model.bank_.trait_noise) in (1.0, 2.0, 3.0)
