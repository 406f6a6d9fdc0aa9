"""Many traits: items by their loadings, people as Gaussians."""

import warnings

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import softmax

from adaptive import Questionnaire, SequentialDesign
from adaptive.estimators.questionnaires.answers import Answers
from adaptive.estimators.questionnaires.factors.averages import answer_averages, posterior_moments
from adaptive.estimators.questionnaires.factors.bank import FactorBank
from adaptive.estimators.questionnaires.factors.fit import _Answers, fit_factors
from adaptive.estimators.questionnaires.factors.number import number_of_traits
from adaptive.loop import MaxSteps
from adaptive.predictive.derivations import entropy


def drawn(n_people, n_items, k=2, n_answers=2, seed=0):
    """Answers of people of ``k`` traits, each item seeing one of them more than the others."""
    rng = np.random.default_rng(seed)
    loadings = rng.uniform(0.2, 0.6, (n_items, k))
    loadings[np.arange(n_items), np.arange(n_items) % k] += 1.5
    s = rng.standard_normal((n_people, k)) @ loadings.T + rng.normal(0.0, 1.0, n_items)
    p = softmax(s[..., None] * np.arange(n_answers) - 0.3 * np.arange(n_answers) ** 2, axis=-1)
    return (rng.random(s.shape)[..., None] > np.cumsum(p, axis=-1)).sum(axis=-1).astype(float)


@pytest.fixture(scope="module")
def items():
    return Questionnaire("two_parameter", n_traits=4).fit(drawn(700, 20)[:400])


def known(n_answers=2, reverse=()):
    """Items that are known, of two traits."""
    rng = np.random.default_rng(3)
    steps = np.concatenate([np.zeros((6, 1)), rng.normal(0.0, 1.0, (6, n_answers - 1)).cumsum(axis=1)], axis=1)
    turned = np.isin(np.arange(6), reverse)
    return FactorBank(range(6), range(n_answers), rng.normal(0.8, 0.7, (6, 2)), steps, np.full(6, 0.1), turned)


@pytest.mark.parametrize("n_answers", [2, 4])
def test_averages_over_a_gaussian(n_answers):
    mean, variance = (one.ravel() for one in np.meshgrid([-6.0, -0.5, 2.0], [0.0, 0.2, 2.0, 9.0, 60.0]))
    steps = np.tile([0.0, 0.4, -0.5, -2.0][:n_answers], (len(mean), 1))
    z, ranks, wide = np.linspace(-9, 9, 8001), np.arange(n_answers), (n_answers - 1) ** 2 * variance > 15
    w = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
    s = mean[:, None] + np.sqrt(variance)[:, None] * z
    q = softmax(s[..., None] * ranks + steps[:, None], axis=-1)
    rise = q * (ranks - (q @ ranks)[..., None])
    p, slope, expected = (one[0] for one in answer_averages(mean[None], variance[None], steps, entropies=True))
    for found, exact in (
        (p, np.einsum("z,mzr->mr", w, q)), (slope, np.einsum("z,mzr->mr", w, rise)), (expected, entropy(q) @ w)
    ):  # fmt: skip
        np.testing.assert_allclose(found[~wide], exact[~wide], atol=1e-3 if n_answers == 2 else 2e-3)
        np.testing.assert_allclose(found[wide], exact[wide], atol=0.004 if n_answers == 2 else 0.06)
    np.testing.assert_allclose(p[~wide], np.einsum("z,mzr->mr", w, q)[~wide], atol=1e-4 if n_answers == 2 else 1e-3)
    first, second, log_p = posterior_moments(mean, variance, steps, np.ones(len(mean), dtype=int))
    share = w * q[..., 1] / (q[..., 1] @ w)[:, None]
    mean_after = np.sum(share * s, axis=1)
    np.testing.assert_allclose(first[~wide], mean_after[~wide], atol=5e-3)
    np.testing.assert_allclose(
        second[~wide], (np.sum(share * s**2, axis=1) - mean_after**2)[~wide], rtol=0.02, atol=1e-9
    )


@pytest.mark.parametrize(
    ("n_answers", "asymptotes", "between"), [(2, 0, 0), (3, 0, 0), (2, 1, 0), (2, 2, 0), (3, 0, 1)]
)
def test_the_gradient_of_the_fit(n_answers, asymptotes, between):
    table = drawn(6, 5, n_answers=n_answers)
    table = np.clip(table + between * np.random.default_rng(1).uniform(-1, 1, table.shape), 0, n_answers - 1)
    table[0, 1:3] = np.nan
    answers = Answers.of_table(table, range(n_answers), bool(between))
    problem = _Answers(answers.person, answers.item, answers.answer, 6, 5, n_answers, 2, asymptotes)
    at = np.random.default_rng(0).normal(0.0, 0.5, 6 * 2 + 5 * 2 + 5 * (n_answers - 1 + asymptotes))
    assert check_grad(lambda v: problem(v)[0], lambda v: problem(v)[1], at) < 1e-4


def test_people_are_standard_normal_in_traits_that_are_orthogonal(items):
    bank, means = items.bank_, items.trait_mean_
    spread = means.T @ means / len(means) + items.belief_.covariances.mean(axis=0)
    np.testing.assert_allclose(spread, np.eye(4), atol=1e-8)
    products = bank.loadings_of.T @ bank.loadings_of
    np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-8)
    assert (np.diff(np.diag(products)) <= 0).all() and (bank.loadings_of.sum(axis=0) >= 0).all()


def test_as_many_traits_are_taken_as_predict_hidden_answers():
    assert number_of_traits(Answers.of_table(drawn(400, 30, k=1), None)) == 1
    chosen = Questionnaire("two_parameter", n_traits="held_out").fit(drawn(400, 30, k=4))
    assert len(chosen.bank_.traits) >= 4 and chosen.converged_


@pytest.mark.parametrize("n_answers", [2, 3])
def test_a_person_is_near_the_exact_posterior(n_answers):
    bank = known(n_answers)
    person = bank.person(np.array([[0.0, 1.0], [0.3, 0.8]]))
    person = person.after((0, 3, 4), (1, 0, n_answers - 1))
    axis = np.linspace(-5, 5, 161)
    x = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    loadings, steps = bank.curves
    p = softmax((x @ loadings.T)[..., None] * np.arange(n_answers) + steps, axis=-1)
    w = np.exp(-0.5 * x[:, 0] ** 2 - 0.5 * ((x[:, 1] - 0.3) / 0.8) ** 2)
    w *= p[:, 0, 1] * p[:, 3, 0] * p[:, 4, n_answers - 1]
    w /= w.sum()
    mean, deviation = person.moments()
    np.testing.assert_allclose(mean, w @ x, atol=0.05)
    np.testing.assert_allclose(deviation, np.sqrt(w @ x**2 - (w @ x) ** 2), atol=0.05)
    ranks = np.arange(n_answers)
    left = p[:, [1, 2, 5]]
    given = (left @ ranks).sum(axis=1)
    spread = (left @ ranks**2 - (left @ ranks) ** 2).sum(axis=1)
    total = person.total(np.arange(6), 0.9)
    assert total.mean == pytest.approx(n_answers + w @ given, abs=0.05)
    assert total.std == pytest.approx(np.sqrt(w @ (spread + given**2) - (w @ given) ** 2), rel=0.06)
    assert total.probabilities.sum() == pytest.approx(1.0) and total.values[[0, -1]].tolist() == [
        n_answers, n_answers + 3 * (n_answers - 1)
    ]  # fmt: skip


@pytest.mark.parametrize("n_answers", [2, 3])
def test_a_newcomer_is_near_the_exact_mixture(n_answers):
    bank = known(n_answers)
    best = n_answers - 1
    person = bank.person("newcomer").after((0, 3, 4), (best, best, best))
    axis = np.linspace(-4, 4, 41)
    traits = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    x = np.concatenate([np.column_stack([traits, np.full(len(traits), above)]) for above in [0.0, *(2 + axis)]])
    loadings, steps = bank.widened.curves
    p = softmax((x @ loadings.T)[..., None] * np.arange(n_answers) + steps, axis=-1)
    w = np.exp(-0.5 * np.sum(x[:, :2] ** 2, axis=1))
    normal = np.exp(-0.5 * axis**2) / np.exp(-0.5 * axis**2).sum()
    w *= np.repeat([0.8, *(0.2 * normal)], len(traits))
    w *= p[:, 0, best] * p[:, 3, best] * p[:, 4, best]
    w /= w.sum()
    assert person.gaussian.weights[0, 1] == pytest.approx(w[len(traits) :].sum(), abs=0.02)
    mean, deviation = person.moments()
    np.testing.assert_allclose(mean, w @ x[:, :2], atol=0.05)
    np.testing.assert_allclose(deviation, np.sqrt(w @ x[:, :2] ** 2 - (w @ x[:, :2]) ** 2), atol=0.05)
    ranks = np.arange(n_answers)
    left = p[:, [1, 2, 5]]
    given = (left @ ranks).sum(axis=1)
    spread = (left @ ranks**2 - (left @ ranks) ** 2).sum(axis=1)
    total = person.total(np.arange(6), 0.9)
    assert total.mean == pytest.approx(3 * best + w @ given, abs=0.05)
    assert total.std == pytest.approx(np.sqrt(w @ (spread + given**2) - (w @ given) ** 2), rel=0.06)
    belief = person.about_total(np.array([1, 2, 5]), np.arange(6))
    y = left @ ranks
    shared = (w * (y - w @ y).T) @ (given - w @ given) + w @ (left @ ranks**2 - y**2)
    rho = shared / np.sqrt((w @ (left @ ranks**2) - (w @ y) ** 2) * total.std**2)
    gain = belief.outcome_entropy - belief.expected_entropy
    np.testing.assert_allclose(gain, -0.5 * np.log(1 - rho**2), rtol=0.1)
    drawn_p = person.predictive(np.arange(6), np.arange(2)).draws(20_000)[1].mean(axis=0)
    np.testing.assert_allclose(drawn_p, np.tensordot(w, p, 1), atol=0.02)


def test_whoever_is_better_than_all_that_calibrated_is_found_sooner_as_a_newcomer(items):
    rng, bank = np.random.default_rng(5), items.bank_
    s = rng.standard_normal((200, 4)) @ bank.loadings_of.T + bank.steps[:, 1] + 2.5
    better = (rng.random(s.shape) < 1 / (1 + np.exp(-s))).astype(float)
    off, held = {}, {}
    for prior in (None, "newcomer"):
        band = items.total_band(better, 8, target="total", prior=prior)
        found = items.simulate(better, 8, target="total", prior=prior)
        off[prior] = np.sqrt(np.mean((found.mean[:, -1] - better.sum(axis=1)) ** 2))
        held[prior] = np.mean(band.off[:, -1] <= 1.645)
    assert off["newcomer"] < 0.9 * off[None] and held["newcomer"] > held[None] + 0.04


def test_information_about_the_total_is_of_its_correlation_with_the_answer():
    bank = known()
    person = bank.person(np.array([[0.0, 1.0], [0.0, 1.0]])).after((2,), (1,))
    belief = person.about_total(np.array([0, 1, 2, 3]), np.array([0, 1, 2, 5]))
    people = person.gaussian
    x = np.random.default_rng(0).multivariate_normal(people.mean[0], people.covariance[0], 100_000)
    loadings, steps = bank.curves
    y = np.random.default_rng(1).random((len(x), 6)) < 1 / (1 + np.exp(-(x @ loadings.T + steps[:, 1])))
    rho = np.corrcoef(y[:, [0, 1, 5]].sum(axis=1), y[:, [0, 1, 3]].T)[0, 1:]
    gain = belief.outcome_entropy - belief.expected_entropy
    np.testing.assert_allclose(gain[[0, 1, 3]], -0.5 * np.log(1 - rho**2), rtol=0.1, atol=0.002)
    assert belief.target_deviation[0] == pytest.approx(y[:, [0, 1, 5]].sum(axis=1).std(), rel=0.03)


def test_reversed_items_are_turned_round():
    plain, turned = known(3), known(3, reverse=(1, 4))
    prior = np.array([[0.0, 1.0], [0.0, 1.0]])
    one, other = plain.person(prior).after((1, 2), (0, 2)), turned.person(prior).after((1, 2), (2, 2))
    np.testing.assert_array_equal(one.moments(), other.moments())
    assert one.total(np.arange(6), 0.9)[:2] == other.total(np.arange(6), 0.9)[:2]
    p, q = (of.predictive(np.arange(6), np.arange(2)).probabilities for of in (one, other))
    np.testing.assert_array_equal(p[[0, 2, 3, 5]], q[[0, 2, 3, 5]])
    np.testing.assert_array_equal(p[[1, 4]], q[[1, 4], ::-1])


def test_answers_to_other_items_may_be_what_is_to_be_learnt(items):
    person = items.respondent()
    belief = person.predictive([0, 1, 2], target=[1, 6])
    gain = belief.outcome_entropy - belief.expected_entropy
    assert gain[1] == pytest.approx(belief.outcome_entropy[1])  # nothing is open once it was asked
    assert (gain > 0).all() and (gain <= belief.outcome_entropy + 1e-12).all()
    assert (person.predictive([0], target="trait_2").target_deviation == person.std[1]).all()


@pytest.mark.parametrize(("n_answers", "asymptotes"), [(2, False), (2, True), (4, False)])
def test_votes_are_the_shares_of_draws_that_find_an_answer_likeliest(n_answers, asymptotes):
    bank = known(n_answers, reverse=[2])
    if asymptotes:
        both = np.column_stack([[0.0, 0.2, 0.3, 0.6, 0.1, 0.0], [1.0, 0.9, 1.0, 1.0, 0.4, 0.95]])
        bank = FactorBank(bank.items, bank.categories, bank.loadings_of, bank.steps, bank.doubt, bank.reverse, both)
    person = bank.person("newcomer").after((0,), (1,))
    belief = person.predictive(np.arange(1, 6), np.arange(2), None, 0)
    table = belief.draws(40_000)[1]
    shares = np.stack([(table.argmax(axis=2) == c).mean(axis=0) for c in range(n_answers)], axis=1)
    np.testing.assert_allclose(belief.votes, shares, atol=0.01)


@pytest.mark.parametrize("prior", [None, "newcomer"])
def test_the_loop_asks_what_a_simulation_says(items, prior):
    answers = drawn(700, 20)[400:403]
    found = items.simulate(answers, 6, target="total", prior=prior)
    design = SequentialDesign(
        items.respondent("total", prior), list(range(20)), lambda query: answers[1, list(query.candidates)],
        scorer="information_gain", stop=MaxSteps(6), random_state=0,
    ).run()  # fmt: skip
    assert design.history_["label"] == found.items[1].tolist()
    assert design.estimator_.predict_total()[:2] == pytest.approx((found.mean[1, -1], found.std[1, -1]), abs=1e-9)


def test_more_traits_predict_totals_better(items):
    answers = drawn(700, 20)
    new, one = answers[400:], Questionnaire("two_parameter").fit(answers[:400])
    many = items.simulate(new, 6, target="total").mean[:, -1]
    alone = one.simulate(new, 6, scorer="random", target="total", random_state=0).mean[:, -1]
    truth = new.sum(axis=1)
    assert np.std(many - truth) < 0.85 * np.std(alone - truth)


def test_snapshots_and_later_answers():
    answers = drawn(60, 8)
    rows = [(u, i, int(answers[u, i])) for u in range(60) for i in range(8)]
    whole = Questionnaire("two_parameter", n_traits=4).fit(rows)
    parts = Questionnaire("two_parameter", n_traits=4).fit(rows[:200]).partial_fit(rows[200:])
    assert parts.log_evidence_ == whole.log_evidence_
    again = Questionnaire("two_parameter", n_traits=4).restore(whole.state())
    np.testing.assert_array_equal(again.predict_proba(answers), whole.predict_proba(answers))
    assert again.bank_.fingerprint() == whole.bank_.fingerprint()
    pairs = [(0, 0), (5, "new"), ("new", 1)]
    gains = {}
    for target in ("people", "items", None):
        belief = again.predictive(pairs, target=target)
        gains[target] = belief.outcome_entropy - belief.expected_entropy
    assert (gains[None] + 1e-6 >= np.maximum(gains["people"], gains["items"])).all() and (gains[None] > 0).all()


@pytest.mark.parametrize(("n_answers", "k"), [(2, 4), (3, 5), (2, 2)])
def test_a_file_holds_the_items_and_mirts_form_their_curves(tmp_path, n_answers, k):
    table = drawn(150, 8, k=k, n_answers=n_answers)
    fitted = Questionnaire(
        "two_parameter" if n_answers == 2 else "partial_credit", n_traits=k if k > 3 else "held_out", reverse=[1],
        categories=range(n_answers),
    ).fit(table)  # fmt: skip
    fitted.to_bank(tmp_path / "bank.csv")
    again = Questionnaire.from_bank(tmp_path / "bank.csv")
    assert again.bank_.fingerprint() == fitted.bank_.fingerprint()
    shown = np.where(np.arange(8) < 5, table[:4], np.nan)
    np.testing.assert_array_equal(again.predict_proba(shown), fitted.predict_proba(shown))
    told = [of.respondent("total", "newcomer").fit([0, 1], [1, 0]).predict_total()[:2] for of in (again, fitted)]
    assert told[0] == told[1]
    with pytest.raises(ValueError, match="these items are known, not fitted"):
        again.partial_fit(table)
    with pytest.warns(UserWarning, match="cannot hold how uncertain the items are"):
        fitted.to_bank(tmp_path / "mirt.csv", dialect="mirt")
    columns = np.genfromtxt(tmp_path / "mirt.csv", delimiter=",", names=True)
    x = np.random.default_rng(0).standard_normal((5, len(fitted.bank_.traits)))
    s = x @ np.stack([columns[f"a{j + 1}"] for j in range(x.shape[1])])
    first, bank = n_answers > 2, fitted.bank_
    energies = (
        s[..., None] * np.arange(n_answers) + np.stack([columns[f"d{r}"] for r in range(n_answers)], axis=-1)
        if first else np.stack([0 * s, s + columns["d"]], axis=-1)
    )  # fmt: skip
    own = (x @ bank.loadings_of.T)[..., None] * np.arange(n_answers) + bank.steps
    expected = softmax(own, axis=-1)
    expected[:, 1] = expected[:, 1, ::-1]
    np.testing.assert_allclose(softmax(energies, axis=-1), expected, atol=1e-12)
    if len(bank.traits) > 3:
        read = Questionnaire.from_bank(tmp_path / "mirt.csv").bank_
        np.testing.assert_allclose(np.delete(read.loadings_of, 1, axis=0), np.delete(bank.loadings_of, 1, axis=0))
        assert not read.doubt.any() and read.items == bank.items


def test_people_who_saw_few_items_each():
    answers, rng = drawn(1100, 30, k=4)[:800], np.random.default_rng(0)
    sparse = np.where(rng.random(answers.shape) < 0.5, answers, np.nan)
    many, one = (Questionnaire("two_parameter", n_traits=k).fit(sparse) for k in (4, 1))
    new = drawn(1100, 30, k=4)[800:]
    shown, hidden = np.where(np.arange(30) < 20, new, np.nan), new[:, 20:].astype(int)
    scores = [
        np.log(np.take_along_axis(of.predict_proba(shown)[:, 20:], hidden[..., None], axis=2)).mean()
        for of in (many, one)
    ]
    assert scores[0] > scores[1]


def test_what_cannot_be_is_refused(items, tmp_path):
    answers = drawn(30, 6)
    with pytest.raises(ValueError, match='catsim has items of one trait, but each of these sees 4: take "mirt"'):
        items.to_bank(tmp_path / "bank.csv", dialect="catsim")
    for text, said in (
        ("a1,a2,a3,a4,d,g,u\n1,1,1,1,0,.2,.1\n", "item 0 of .* has asymptotes that are not 0 <= g < u <= 1"),
        ("a1,a2,a3,a4,ak0,ak1,ak2,d0,d1,d2,g\n1,1,1,1,0,1,2,0,1,2,.2\n", "an asymptote"),
        ("item,loading_1,step_1,doubt,upper,categories\nq,1,0,1,0,0 1\n", "line 2: asymptotes must be 0 <= lower < u"),
        ("a1,a2,a3,a4,d1,d2\n1,1,1,1,0,-1\n", "each must have two answers, or all as many by partial credit"),
        ("item,loading_1,step_1,step_2,doubt,categories\nq,1,0,1,0,0 1\n", "must have 1 steps for 2 answers, got 2"),
        ("item,loading_1,step_1,doubt,categories\nq,1,0,-1,0 1\n", "line 2: doubt must be a variance"),
    ):
        (tmp_path / "wrong.csv").write_text(text)
        with pytest.raises(ValueError, match=said):
            Questionnaire.from_bank(tmp_path / "wrong.csv")
    with pytest.raises(ValueError, match="information needs an item-response model of one trait"):
        items.information([0.0])
    with pytest.raises(ValueError, match='prior="newcomer" is for items of many traits'):
        Questionnaire.from_parameters([1.0], [0.0]).respondent(prior="newcomer")
    assert items.item_parameters_.shape == (20, 5)
    with pytest.raises(ValueError, match="n_traits=5 needs response_model to be one of two_parameter, three_parameter"):
        Questionnaire("rasch", n_traits=5).fit(answers)
    with pytest.raises(ValueError, match="item_traits names the traits"):
        Questionnaire("two_parameter", n_traits="held_out", item_traits=["a"] * 6).fit(answers)
    with pytest.raises(ValueError, match="n_traits must be"):
        Questionnaire("two_parameter", n_traits="many").fit(answers)
    with pytest.raises(ValueError, match="response_model='three_parameter' is for answers 0 and 1"):
        Questionnaire("three_parameter", n_traits=5, categories=range(3)).fit(answers)
    with pytest.raises(ValueError, match="needs categories: the marks between which answers lie"):
        Questionnaire("continuous").fit(answers)
    with pytest.raises(ValueError, match=r"answers must be from 0 to 1, got 1.5"):
        Questionnaire("continuous", categories=(0, 1)).fit(answers + 0.5)
    fit = fit_factors(Answers.of_table(answers, None), 6)
    assert np.isfinite(fit.loadings).all() and np.isfinite(fit.doubt).all()


# -- asymptotes, and answers between the categories ------------------------------------------------------------------


def by_hand(x, bank):
    """(k, items, R) probabilities at traits, asymptotes and all."""
    loadings, steps = bank.curves
    p = softmax((x @ loadings.T)[..., None] * np.arange(len(bank.categories)) + steps, axis=-1)
    if len(bank.categories) > 2:
        return p
    low, high = bank.asymptotes.T
    right = low + (high - low) * p[..., 1]
    return np.stack([1 - right, right], axis=-1)


def grid():
    axis = np.linspace(-5, 5, 161)
    x = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    return x, np.exp(-0.5 * np.sum(x**2, axis=1))


def test_a_person_who_may_guess_is_near_the_exact_posterior():
    plain, rng = known(), np.random.default_rng(5)
    asymptotes = np.column_stack([rng.uniform(0.1, 0.3, 6), rng.uniform(0.85, 1.0, 6)])
    bank = FactorBank(range(6), (0, 1), plain.loadings_of, plain.steps, plain.doubt, plain.reverse, asymptotes)
    x, w = grid()
    p = by_hand(x, bank)
    w *= p[:, 0, 1] * p[:, 3, 1] * p[:, 4, 0]
    w /= w.sum()
    person = bank.person(np.array([[0.0, 1.0], [0.0, 1.0]])).after((0, 3, 4), (1, 1, 0))
    mean, deviation = person.moments()
    np.testing.assert_allclose(mean, w @ x, atol=0.05)
    np.testing.assert_allclose(deviation, np.sqrt(w @ x**2 - (w @ x) ** 2), atol=0.05)
    belief = person.predictive(np.array([1, 2, 5]), np.arange(2))
    left = p[:, [1, 2, 5]]
    np.testing.assert_allclose(belief.probabilities, np.einsum("k,kir->ir", w, left), atol=0.02)
    gain = entropy(np.einsum("k,kir->ir", w, left)) - w @ entropy(left)
    np.testing.assert_allclose(belief.outcome_entropy - belief.expected_entropy, gain, atol=0.01)
    np.testing.assert_allclose(belief.draws(20_000)[1].mean(axis=0), belief.probabilities, atol=0.02)
    total = person.total(np.arange(6), 0.9)
    given = left[..., 1].sum(axis=1)
    assert total.mean == pytest.approx(2 + w @ given, abs=0.05)
    again = FactorBank.from_state(bank.state())
    assert again.fingerprint() == bank.fingerprint() != plain.fingerprint()


@pytest.mark.parametrize("model", ["three_parameter", "four_parameter"])
def test_guessing_of_many_traits_is_learnt_kept_and_asked(model, tmp_path):
    rng = np.random.default_rng(2)
    table = drawn(1300, 24, k=4)
    table = np.where(rng.random(table.shape) < 0.3, 1.0, table)  # whoever does not know has .3
    fitted, plain = (Questionnaire(one, n_traits=4, reverse=[1]).fit(table[:1000]) for one in (model, "two_parameter"))
    low, high = fitted.bank_.asymptotes.T
    assert 0.05 < np.median(low) < 0.4 and (high == 1).all() == (model == "three_parameter")
    shown, hidden = np.where(np.arange(24) < 14, table[1000:], np.nan), table[1000:, 14:].astype(int)
    scores = [
        np.log(np.take_along_axis(of.predict_proba(shown)[:, 14:], hidden[..., None], axis=2)).mean()
        for of in (fitted, plain)
    ]
    assert scores[0] > scores[1]
    replayed = fitted.simulate(table[1000:1003], 4, target="total", prior="newcomer")
    loop = SequentialDesign(
        fitted.respondent("total", "newcomer"), list(range(24)), measure=lambda query: table[1000, query.labels],
        stop=MaxSteps(4), random_state=0,
    ).run()  # fmt: skip
    assert list(loop.estimator_.items) == replayed.items[0].tolist()
    assert loop.estimator_.predict_total().mean == pytest.approx(replayed.mean[0, -1], rel=1e-12)
    for dialect in (None, "mirt"):
        path = tmp_path / f"{dialect}.csv"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted.to_bank(path, dialect)
        read = Questionnaire.from_bank(path)
        assert read.response_model == (model if dialect is None else "four_parameter")
        if dialect is None:
            assert read.bank_.fingerprint() == fitted.bank_.fingerprint()
        else:
            expected = np.where(
                fitted.bank_.reverse[:, None], 1 - fitted.bank_.asymptotes[:, ::-1], fitted.bank_.asymptotes
            )
            np.testing.assert_allclose(read.bank_.asymptotes, expected)


def test_a_score_between_two_answers_is_taken_as_it_is():
    one = known(4)
    bank = FactorBank(range(6), range(4), one.loadings_of, one.steps, one.doubt, one.reverse, between=True)
    loadings, steps = bank.curves
    x, w = grid()
    for item, y in ((0, 1.4), (3, 2.0), (4, 2.9)):
        energy = (x @ loadings[item])[:, None] * np.arange(4) + steps[item]
        w = w * np.exp(y * (x @ loadings[item])) / np.exp(energy).sum(axis=1)
    w /= w.sum()
    person = bank.person(np.array([[0.0, 1.0], [0.0, 1.0]])).after((0, 3, 4), (1.4, 2.0, 2.9))
    mean, deviation = person.moments()
    np.testing.assert_allclose(mean, w @ x, atol=0.05)
    np.testing.assert_allclose(deviation, np.sqrt(w @ x**2 - (w @ x) ** 2), atol=0.05)
    total = person.total(np.arange(6), 0.9)
    assert total.values[0] == pytest.approx(1.4 + 2.0 + 2.9) and len(total.values) == 10
    whole = FactorBank(range(6), range(4), one.loadings_of, one.steps, one.doubt, one.reverse)
    np.testing.assert_array_equal(
        whole.person(person.prior).after((0, 3), (1, 2)).moments(),
        bank.person(person.prior).after((0, 3), (1.0, 2.0)).moments(),
    )


def test_continuous_scores_are_learnt_asked_and_kept(tmp_path):
    rng = np.random.default_rng(4)
    x, loadings = rng.standard_normal((400, 2)), rng.normal(0.6, 0.5, (12, 2))
    scores = 9 / (1 + np.exp(-(x @ loadings.T + rng.normal(0.0, 0.8, (400, 12)))))
    items = Questionnaire("continuous", n_traits=2, categories=range(10), reverse=[3]).fit(scores[:300])
    rounded = Questionnaire("partial_credit", n_traits="held_out", categories=range(10)).fit(np.round(scores[:300]))
    replayed = items.simulate(scores[300:], 5, target="total")
    loop = SequentialDesign(
        items.respondent("total"), list(range(12)), measure=lambda query: scores[300, query.labels], stop=MaxSteps(5),
        random_state=0,
    ).run()  # fmt: skip
    person = loop.estimator_
    assert list(person.items) == replayed.items[0].tolist()
    assert person.predict_total().mean == pytest.approx(replayed.mean[0, -1], rel=1e-12)
    assert person.path()["answer"][1] == pytest.approx(scores[300, person.items[0]])
    again = items.respondent("total").restore(person.state())
    assert again.predict_total().mean == person.predict_total().mean
    truth = np.where(np.arange(12) == 3, 9 - scores[300:], scores[300:]).sum(axis=1)
    error = np.sqrt(np.mean((replayed.mean[:, -1] - truth) ** 2))
    of_grades = rounded.simulate(np.round(scores[300:]), 5, target="total").mean[:, -1]
    assert error < 1.05 * np.sqrt(np.mean((of_grades - scores[300:].sum(axis=1)) ** 2))
    items.to_bank(tmp_path / "bank.csv")
    read = Questionnaire.from_bank(tmp_path / "bank.csv")
    assert read.bank_.fingerprint() == items.bank_.fingerprint() and read.response_model == "continuous"
    band = items.total_band(scores[300:], 5, target="total")
    assert 0.5 < np.quantile(band.off[:, -1], 0.9) < 3
    assert np.isfinite(items.prequential_evidence_) and np.isfinite(items.person_fit(scores[300:])).all()
    refit = Questionnaire("continuous", n_traits=2, categories=range(10), reverse=[3]).restore(items.state())
    grown = refit.partial_fit([("somebody", k, 4.5) for k in range(12)])
    assert len(grown.people_) == 301
