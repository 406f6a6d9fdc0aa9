"""Item-response models: curves, calibration, what is believed of people, against brute force."""

import copy
import warnings

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import expit, logsumexp
from scipy.stats import multivariate_normal, norm
from scipy.stats import t as student_t

from adaptive import Questionnaire, SequentialDesign, scorers
from adaptive.estimators.questionnaires import simulation
from adaptive.estimators.questionnaires.answers import Answers
from adaptive.estimators.questionnaires.base import trait_grid
from adaptive.estimators.questionnaires.calibration import calibrate
from adaptive.estimators.questionnaires.curves import CURVES, difficulties, from_difficulties
from adaptive.estimators.questionnaires.respondent import Respondent
from adaptive.loop import MaxSteps, TargetDeviation

MODELS = list(CURVES)


def drawn(n_people, n_items, seed=0, low=0.7):
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(low, 2.0, n_items), rng.uniform(-1.5, 1.5, n_items)
    x = rng.standard_normal(n_people)
    answers = (rng.random((n_people, n_items)) < expit(a * (x[:, None] - b))).astype(float)
    return answers, a, b, x


def coordinates(model, n_categories, seed=0, n_traits=1):
    rng = np.random.default_rng(seed)
    mean, _ = CURVES[model].prior(n_categories, n_traits)
    return np.r_[rng.uniform(0.5, 1.5, n_traits), mean + 0.5 * rng.standard_normal(len(mean))]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n_traits", [1, 2])
def test_curves_are_probabilities_and_their_scores_are_derivatives(model, n_traits):
    n = 2 if CURVES[model].dichotomous else 4
    c, x = coordinates(model, n, n_traits=n_traits), np.random.default_rng(1).normal(size=(5, n_traits))
    p, scores = CURVES[model](c, x)
    np.testing.assert_allclose(p.sum(axis=-1), 1.0, atol=1e-12)
    for k in range(5):
        for r in range(n):
            numeric = approx_fprime(c, lambda at, k=k, r=r: float(np.log(CURVES[model](at, x)[0][k, r])), 1e-7)
            np.testing.assert_allclose(scores[k, r], numeric, atol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_difficulties_and_back(model):
    c = coordinates(model, 2 if CURVES[model].dichotomous else 5)
    np.testing.assert_allclose(from_difficulties(model, difficulties(model, c, 1), 1), c, atol=1e-10)


@pytest.mark.parametrize(
    "model", ["two_parameter", "graded", "partial_credit", "nominal", "three_parameter", "four_parameter"]
)
def test_calibration_is_at_the_maximum_of_the_penalised_likelihood(model):
    answers, *_ = drawn(80, 3)
    if not CURVES[model].dichotomous:
        answers = answers + np.roll(answers, 1, axis=1) + 1.0
    data, curve = Answers.of_table(answers, None), CURVES[model]
    found = calibrate(curve, data, np.ones((3, 1), dtype=bool), tol=1e-9, max_iter=2000)
    mean, deviation = curve.prior(len(data.categories))
    slopes = multivariate_normal(np.ones(3), np.eye(3) + 1.0)
    x = trait_grid(1)
    table = data.table()

    def objective(flat):
        c = flat.reshape(3, -1)
        p = np.log(curve(c, x)[0])
        joint = sum(p[i][:, table[:, i]].T for i in range(3)) + norm.logpdf(x[:, 0])
        prior = slopes.logpdf(c[:, 0]) - 0.5 * np.sum(((c[:, 1:] - mean) / deviation) ** 2)
        return logsumexp(joint, axis=1).sum() + prior

    slope = approx_fprime(found.coordinates.ravel(), objective, 1e-6)
    np.testing.assert_allclose(slope, 0.0, atol=2e-2)
    assert np.all(np.diff(found.trace) > -1e-7)  # each round of EM improves it


def test_parameters_and_their_deviations_are_found():
    answers, a, b, _ = drawn(1500, 20)
    model = Questionnaire("two_parameter").fit(answers)
    errors = (model.bank_.coordinates - np.column_stack([a, -a * b])).ravel()
    deviations = np.sqrt(np.einsum("ipp->ip", model.bank_.covariances)).ravel()
    assert 0.75 < np.sqrt(np.mean((errors / deviations) ** 2)) < 1.35
    assert model.converged_ and model.bank_.shared[0, 0, 0] == pytest.approx(1 / 1500, rel=0.5)
    rasch = Questionnaire("rasch").fit(answers)
    assert len(set(rasch.item_parameters_[:, 0])) == 1
    assert rasch.prequential_evidence_ < model.prequential_evidence_ and rasch.log_evidence_ < model.log_evidence_


def test_the_order_of_people_does_not_matter_and_a_flipped_scale_mirrors():
    answers, *_ = drawn(60, 5)
    one, other = Questionnaire("two_parameter").fit(answers), Questionnaire("two_parameter").fit(answers[::-1])
    np.testing.assert_allclose(one.item_parameters_, other.item_parameters_, atol=1e-8)
    np.testing.assert_allclose(one.trait_mean_, other.trait_mean_[::-1], atol=1e-8)
    turned = answers.copy()
    turned[:, 2] = 1 - turned[:, 2]
    mirrored = Questionnaire("two_parameter", reverse=[2]).fit(turned)
    np.testing.assert_allclose(one.trait_mean_, mirrored.trait_mean_, atol=1e-10)
    np.testing.assert_allclose(one.predict_proba(answers)[:, 2], mirrored.predict_proba(turned)[:, 2, ::-1], atol=1e-10)


def test_item_uncertainty_is_integrated_exactly():
    """The table of expected answers against joint quadrature over trait and both items' coordinates."""
    bank = Questionnaire.from_parameters(
        [1.2, 0.8], [0.3, -0.5], covariance=[[[0.2, 0.05], [0.05, 0.3]], [[0.1, 0.0], [0.0, 0.2]]]
    )
    person = bank.respondent(prior=(0.0, 1.0)).partial_fit([0, 1], [1, 0])
    x, w = np.polynomial.hermite_e.hermegauss(25)
    w = w / w.sum()
    grid = np.linspace(-6, 6, 241)
    joint = norm.pdf(grid)
    for item, answer in ((0, 1), (1, 0)):
        mean, covariance = bank.bank_.known(item)
        root = np.linalg.cholesky(covariance)
        nodes = mean + np.stack(np.meshgrid(x, x, indexing="ij"), -1).reshape(-1, 2) @ root.T
        p = expit(nodes[:, :1] * grid + nodes[:, 1:])
        joint = joint * (np.outer(w, w).ravel() @ (p if answer else 1 - p))
    joint /= joint.sum()
    assert person.mean[0] == pytest.approx(joint @ grid, abs=1e-6)
    assert person.std[0] == pytest.approx(np.sqrt(joint @ grid**2 - (joint @ grid) ** 2), abs=1e-6)
    known = Questionnaire.from_parameters([1.2, 0.8], [0.3, -0.5]).respondent(prior=(0.0, 1.0))
    known = known.partial_fit([0, 1], [1, 0])
    assert person.std[0] > known.std[0]


def test_an_estimate_never_moves_the_wrong_way_nor_collapses():
    bank = Questionnaire.from_parameters(np.full(9, 3.0), np.linspace(-2, 2, 9))
    person = bank.respondent()
    for item in (4, 0, 8, 2):
        up, down = (copy.deepcopy(person).partial_fit([item], [answer]) for answer in (1, 0))
        assert up.mean[0] > person.mean[0] > down.mean[0]
        assert min(up.std[0], down.std[0]) > 0.3 * person.std[0]
        person = up


def test_respondents_share_the_bank_and_never_mix():
    bank = Questionnaire.from_parameters([1.0, 1.5, 2.0], [0.0, 0.5, -0.5])
    first = bank.respondent()
    second = copy.deepcopy(first)
    coordinates = bank.bank_.coordinates.copy()
    first.partial_fit([0], [1])
    assert second.mean[0] == pytest.approx(0.0, abs=1e-12) and first.bank is second.bank
    assert bank.bank_.coordinates.tobytes() == coordinates.tobytes()
    again = bank.respondent().restore(first.state())
    assert again.mean.tobytes() == first.mean.tobytes() and again.items == (0,)


def test_several_traits_apart_and_together():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((400, 2))
    traits = ["warm", "warm", "warm", "sharp", "sharp", "sharp"]
    which = np.array([0, 0, 0, 1, 1, 1])
    answers = (rng.random((400, 6)) < expit(2 * x[:, which])).astype(float)
    model = Questionnaire("two_parameter", item_traits=traits).fit(answers)
    assert len(model.bank_.parts) == 2 and model.trait_mean_.shape == (400, 2)
    assert np.corrcoef(model.trait_mean_[:, 0], x[:, 0])[0, 1] > 0.7
    person = model.respondent()
    belief = person.predictive([0, 3])
    assert (
        belief.target_deviation.shape == (2,) and belief.given(0, 1).target_deviation[1] == belief.target_deviation[1]
    )
    only = model.respondent("sharp")
    gains = only.predictive([0, 3]).outcome_entropy - only.predictive([0, 3]).expected_entropy
    assert gains[0] == pytest.approx(0.0, abs=1e-12) and gains[1] > 0.05
    assert only.predictive([0, 3]).fisher_information[1] > 0
    together = Questionnaire("two_parameter", n_traits=2, max_iter=20, tol=0.05).fit(answers)
    assert len(together.bank_.parts) == 1 and together.item_parameters_[0, 1] == 0.0


def test_simulate_makes_the_choices_of_the_loop():
    answers, *_ = drawn(200, 12)
    model = Questionnaire("two_parameter").fit(answers)
    answers[3, 4] = np.nan
    for scorer in ("information_gain", "fisher_information", "random"):
        replayed = model.simulate(answers[:20], 6, scorer=scorer, stop=0.55, random_state=5)
        for u in range(20):
            items = [i for i in range(12) if not np.isnan(answers[u, i])]
            design = SequentialDesign(
                model.respondent(), items, lambda query, u=u: answers[u, list(query.candidates)], scorer=scorer,
                stop=TargetDeviation(0.55) | MaxSteps(6), random_state=5,
            ).run()  # fmt: skip
            asked = design.history_["label"]
            if scorer != "random":  # positions differ once candidates are taken out, and with them what is drawn
                assert replayed.items[u, : len(asked)].tolist() == asked
                assert replayed.std[u, -1] == pytest.approx(design.estimator_.std[0], abs=1e-12)
            assert set(replayed.items[u, len(asked) :]) <= {None} or scorer == "random"


@pytest.mark.parametrize("target", [None, "total"])
@pytest.mark.parametrize("scorer", ["information_gain", "query_by_committee"])
def test_a_crowd_is_asked_what_each_would_be_asked_alone(target, scorer):
    """Of a total of some of the items, one of which is reversed."""
    answers, *_ = drawn(200, 14)
    model = Questionnaire("two_parameter", reverse=[1]).fit(answers)
    person = Respondent(model.bank_, target, counted=range(9) if target else None)
    table = answers[:6].astype(int)
    assert simulation._together(person, scorer)
    crowd = simulation.replay(person, table, 9, scorer=scorer, random_state=0)
    alone = simulation._one_by_one(person, table, 9, scorers.get(scorer), None, 0, False)
    np.testing.assert_array_equal(crowd.chosen, alone.chosen)
    np.testing.assert_allclose(crowd.std, alone.std, atol=1e-7)


def test_reports():
    answers, *_ = drawn(400, 8)
    groups = np.arange(400) % 2
    shifted = answers.copy()
    shifted[groups == 1, 5] = 0.0  # an item that one group never gets right
    model = Questionnaire("two_parameter").fit(shifted)
    report = model.differential_functioning(shifted, groups)
    assert np.argmax(np.abs(report["z"][0])) == 5
    assert model.item_fit(shifted)["answers"].tolist() == [400] * 8
    assert np.isfinite(model.person_fit(shifted)).all()
    assert model.information([0.0, 1.0]).shape == (8, 2)


@pytest.mark.parametrize(("name", "options", "off"), [
    ("graded", {}, 1e-12), ("nominal", {}, 1e-12), ("ordinal", {}, 0.005), ("partial_credit", {"n_traits": 4}, 0.02),
])  # fmt: skip
def test_an_answer_is_foretold_from_the_others_of_the_person(name, options, off):
    """As if the item had not been asked: exactly on grids, nearly where a site is taken out of a Gaussian."""
    rng = np.random.default_rng(0)
    x, ends = rng.normal(size=120), np.sort(rng.normal(size=(6, 2)), axis=1)
    answers = np.sum(1.5 * x[:, None, None] + rng.logistic(size=(120, 6, 1)) > ends, axis=2).astype(float)
    answers[:, 2] = 2 - answers[:, 2]
    model = Questionnaire(name, reverse=[2], **options).fit(answers)
    some = answers[:20]
    given, p, _ = model._given_others(some)
    alone = [model.predict_proba(np.where(np.arange(6) == item, np.nan, some))[:, item] for item in range(6)]
    expected = np.stack(alone, axis=1)[given.person, given.item]
    assert np.abs(p - expected).mean() < off
    assert np.abs(model.predict_proba(some)[given.person, given.item] - expected).mean() > 4 * off  # knows the answer


def test_fit_is_as_expected_where_the_model_holds():
    answers, *_ = drawn(600, 16, seed=3)
    model = Questionnaire("two_parameter").fit(answers)
    assert np.all(np.abs(model.item_fit(answers)["infit"] - 1.0) < 0.12)
    fit = model.person_fit(answers)
    assert abs(fit.mean()) < 0.2 and 0.8 < fit.std() < 1.2
    careless = answers[:200].copy()
    careless[:, ::2] = np.random.default_rng(0).integers(0, 2, careless[:, ::2].shape)
    assert model.person_fit(careless).mean() < fit[:200].mean() - 0.8
    rng = np.random.default_rng(1)
    z = np.stack([model.differential_functioning(answers, rng.integers(0, 3, 600))["z"] for _ in range(20)])
    assert 0.9 < z.std() < 1.1
    assert not model.differential_functioning(answers, np.zeros(600))["z"].any()


def test_no_item_is_asked_of_more_than_its_share_in_a_simulation_or_in_the_loop():
    answers, *_ = drawn(60, 12)
    model = Questionnaire("two_parameter").fit(answers)
    replayed = model.simulate(answers, 4, exposure=0.5)
    shown = model.exposure(replayed)
    assert shown.max() <= 0.5 + 1 / 60 and shown.sum() == pytest.approx(4.0)
    assert model.exposure(model.simulate(answers, 4)).max() > 0.7
    pool = model.exposure_pool(0.5, within=model.pool(["a"] * 6 + ["b"] * 6, 4))  # contents bind nobody here
    for u in range(20):
        design = SequentialDesign(
            model.respondent(), pool, lambda query, u=u: answers[u, list(query.candidates)], stop=MaxSteps(4)
        ).run()
        assert replayed.items[u].tolist() == design.history_["label"]
        pool.tested(design.estimator_)
    again = model.exposure_pool(0.5).restore(pool.state())
    assert again.people == 20 and again(model.respondent()) == pool(model.respondent())
    for wrong, message in ((0.2, "at least n_questions / items"), (1.5, "share in")):
        with pytest.raises(ValueError, match=message):
            model.simulate(answers, 4, exposure=wrong)
    with pytest.raises(ValueError, match="cap must be a share"):
        model.exposure_pool(2.0)


def test_a_person_of_whom_nothing_was_said_has_a_prior_with_tails():
    """Student's t, against quadrature; far answers move it further than a Gaussian."""
    bank = Questionnaire.from_parameters([1.5] * 6, [2.5] * 6)
    person = bank.respondent().partial_fit(range(6), [1] * 6)
    grid = np.linspace(-6, 6, 2001)
    joint = student_t(8).pdf(grid) * expit(1.5 * (grid - 2.5)) ** 6
    joint /= joint.sum()
    assert person.mean[0] == pytest.approx(joint @ grid, abs=0.02)  # the person's grid has 61 nodes
    assert person.std[0] == pytest.approx(np.sqrt(joint @ grid**2 - (joint @ grid) ** 2), abs=0.02)
    usual = bank.respondent(prior=(0.0, 1.0)).partial_fit(range(6), [1] * 6)
    assert person.mean[0] > usual.mean[0] + 0.3
    replayed = bank.simulate(np.ones((1, 6)), 6)
    assert replayed.mean[0, -1] == pytest.approx(person.mean[0], abs=1e-9)


def test_the_path_of_a_respondent():
    bank = Questionnaire.from_parameters([1.0, 2.0, 1.5], [0.0, 0.5, -0.5])
    person = bank.respondent().partial_fit([2], [1]).partial_fit([0], [0])
    path = person.path()
    assert path["item"] == [None, 2, 0] and path["answer"] == [None, 1, 0]
    assert path["mean"][-1] == person.mean[0] and path["std"][0] == pytest.approx(np.sqrt(8 / 6), abs=1e-2)
    assert path["low"][1] < path["mean"][1] < path["high"][1]
    assert path["probability"][1] == pytest.approx(bank.respondent().predictive([2]).probabilities[0, 1])
    two = Questionnaire.from_prior(["a", "b"], (1, 2, 3), item_traits=["x", "y"]).respondent().partial_fit(["a"], [3])
    assert two.path()["mean:x"][1] > 0.1 and two.path()["mean:y"][1] == pytest.approx(0.0, abs=1e-9)


def test_items_may_have_fewer_answers_than_others():
    model = Questionnaire.from_prior(["a", "b"], (1, 2, 3, 4), answers={"b": 2}, reverse=["b"])
    p = model.respondent().predictive(["a", "b"]).probabilities
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(p[1], [0.5, 0.5, 0.0, 0.0], atol=1e-9)
    person = model.respondent().partial_fit(["b"], [1])
    assert person.mean[0] > 0.1  # turned round: the lower answer means more
    with pytest.raises(ValueError, match="item 'b' has no answer 3"):
        person.fit(["b"], [3])
    for wrong, message in (({"c": 2}, "names the item 'c'"), ({"a": 5}, "has 5 answers, but there are 4")):
        with pytest.raises(ValueError, match=message):
            Questionnaire.from_prior(["a", "b"], (1, 2, 3, 4), answers=wrong)


def test_files_of_banks(tmp_path):
    answers, *_ = drawn(100, 4)
    for name in ("two_parameter", "three_parameter", "graded"):
        data = answers if name != "graded" else answers + np.roll(answers, 1, axis=1) + 1.0
        model = Questionnaire(name, reverse=[2]).fit(data)
        model.to_bank(tmp_path / "bank.csv")
        again = Questionnaire.from_bank(tmp_path / "bank.csv")
        assert again.bank_.fingerprint() == model.bank_.fingerprint()
    (tmp_path / "catsim.csv").write_text("a,b,c,d\n1.0,0.5,0.2,1\n2.0,-0.5,0.1,1\n")
    catsim = Questionnaire.from_bank(tmp_path / "catsim.csv")
    np.testing.assert_allclose(catsim.item_parameters_, [[1, 0.5, 0.2], [2, -0.5, 0.1]], atol=1e-10)
    (tmp_path / "mirt.csv").write_text("a1,d1,d2\n1.5,1.0,-1.0\n")
    mirt = Questionnaire.from_bank(tmp_path / "mirt.csv")
    p = mirt.respondent(prior=(0.0, 1e-3)).predictive([0]).probabilities[0]
    np.testing.assert_allclose(p, [1 - expit(1), expit(1) - expit(-1), expit(-1)], atol=0.05)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b\n1\n", "has no column of discriminations"),
        ("a\n1\n", "lacks the column 'b'"),
        ("a,b\nx,1\n", "line 2: a must be a number, got 'x'"),
        ("a,b\n,1\n", "line 2: a is missing"),
        ("a1,d1,d2\n1,-1,1\n", "intercepts of a graded item must decrease"),
        ("item,a,b\nq,1,1\nq,1,1\n", "two items called 'q'"),
    ],
)
def test_bad_banks(tmp_path, text, message):
    (tmp_path / "bank.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        Questionnaire.from_bank(tmp_path / "bank.csv")
    with pytest.raises(ValueError, match="there is no bank"):
        Questionnaire.from_bank(tmp_path / "nowhere.csv")


def test_bad_parameters():
    with pytest.raises(ValueError, match="must increase"):
        Questionnaire.from_parameters([1.0], thresholds=[[1.0, 0.0]], response_model="graded")
    with pytest.raises(ValueError, match="needs discrimination"):
        Questionnaire.from_parameters(None, [0.0])
    with pytest.raises(ValueError, match="either difficulty"):
        Questionnaire.from_parameters([1.0])


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([[1.5, 2.0]], "whole numbers, got 1.5"),
        ([[1.0, 12.0]], "from 0 to 10, or of the categories that are given, got 12"),
        ([[-1.0, 1.0]], "from 0 to 10, .*, got -1"),
        ([[0.0, 10.0]], r"2 to 10 categories in increasing order, got \[0, 1, "),
        ([[np.inf, 1.0]], "whole numbers, got inf|at most 1e.06, got inf"),
        ([("a", "i", 0), ("a", "j", 2)], "is for two answers, but there are 3 .0, 1, 2."),
        ([], "not empty"),
        ([("a", "i", 1), ("a", "i", 0)], "twice"),
    ],
)
def test_bad_answers(answers, message):
    model = Questionnaire("two_parameter")
    with pytest.raises(ValueError, match=message):
        model.fit(answers)
    assert not hasattr(model, "belief_")


def scored(first, n_people=120, n_items=4, seed=0):
    rng = np.random.default_rng(seed)
    trait = rng.standard_normal((n_people, 1))
    return first + (trait + 0.7 * rng.standard_normal((n_people, n_items)) > [[[-1.0]], [[0.0]], [[1.0]]]).sum(axis=0)


@pytest.mark.parametrize("model", ["graded", "partial_credit", "ordinal"])
def test_scores_may_begin_at_0(model, tmp_path):
    answers = scored(0)
    answers[:, 3] = np.minimum(answers[:, 3], 2)
    from_0, from_1 = (Questionnaire(model, tol=0.1).fit(table.astype(float)) for table in (answers, answers + 1))
    assert from_0.categories_ == (0, 1, 2, 3) and from_1.categories_ == (1, 2, 3, 4)
    np.testing.assert_array_equal(from_0.item_parameters_, from_1.item_parameters_)
    person = from_0.respondent().partial_fit([0], [0])
    assert person.mean[0] < 0 and person.path()["answer"] == [None, 0]
    from_0.to_bank(tmp_path / "bank.csv")
    assert Questionnaire.from_bank(tmp_path / "bank.csv").categories_ == (0, 1, 2, 3)
    np.testing.assert_allclose(from_0.item_fit(answers)["outfit"], from_1.item_fit(answers + 1)["outfit"])


def test_a_category_that_nobody_answered_is_said_once():
    answers = np.where(scored(0) == 2, 1, scored(0)).astype(float)
    with pytest.warns(UserWarning, match="taken to be 0, 1, 2, 3, of which nobody answered 2; give cat") as said:
        fitted = Questionnaire("graded", tol=0.1).fit(answers)
    assert sum("nobody answered" in str(one.message) for one in said) == 1 and fitted.categories_ == (0, 1, 2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        given = Questionnaire("graded", tol=0.1, categories=[0, 1, 3]).fit(answers)
    assert given.categories_ == (0, 1, 3)


@pytest.mark.parametrize("categories", [[0], [1, 0], [0, 0.5], "0-4", [0, np.nan], range(11)])
def test_what_are_no_categories_is_refused(categories):
    with pytest.raises(ValueError, match="categories must be 2 to 10 whole numbers in increasing order, got"):
        Questionnaire("graded", categories=categories).fit([[0.0, 1.0], [1.0, 0.0]])


def test_odd_answers_get_the_priors_answer():
    answers = np.array([[1.0, np.nan, 0.0], [1.0, np.nan, 1.0], [np.nan, np.nan, np.nan]])
    model = Questionnaire("two_parameter").fit(answers)  # everyone alike; an item never seen; a person without answers
    assert np.isfinite(model.item_parameters_).all()
    slopes = model.item_parameters_[:, 0]
    assert slopes[1] == pytest.approx((1 + slopes[0] + slopes[2]) / 3, abs=1e-3) and model.item_parameters_[0, 1] < 0
    assert model.trait_mean_[2, 0] == pytest.approx(0.0, abs=1e-9) and model.trait_std_[2, 0] > 1.0 - 1e-9
    with pytest.raises(ValueError, match="for two answers, but there are 3"):
        Questionnaire("two_parameter").fit([[1.0, 3.0]])
    person = model.respondent()
    for items, given, message in (([5], [1], "item 5 is not known"), ([0], [7], "among"), ([0, 0], [1, 1], "already")):
        with pytest.raises(ValueError, match=message):
            person.partial_fit(items, given)
    assert person.items == ()
    with pytest.raises(ValueError, match="known, not fitted"):
        Questionnaire.from_parameters([1.0], [0.0]).partial_fit([("a", 0, 1)])


@pytest.mark.parametrize("model", ["two_parameter", "ordinal"])
def test_who_is_worth_asking(model):
    """New people and items are candidates; information about people and items is at most that about both."""
    answers, *_ = drawn(40, 5)
    fitted = Questionnaire(model, **({"trait_noise": 1.0} if model == "ordinal" else {})).fit(answers[:, :4])
    pairs = [(0, 1), ("new", 1), ("new", "item"), (3, "item")]
    gains = {}
    for target in ("items", "people", None):
        belief = fitted.predictive(pairs, target=target)
        gains[target] = belief.outcome_entropy - belief.expected_entropy
        assert (gains[target] >= -1e-12).all()
    assert np.all(gains[None] >= np.maximum(gains["items"], gains["people"]) - 1e-9)
    assert gains["items"][3] > gains["items"][0]  # of a new item there is more to learn
    assert gains["people"][1] > gains["people"][0]  # and of a new person
    assert fitted.partial_fit([(3, "item", 1)]).items_[-1] == "item"
    with pytest.raises(ValueError, match='target must be "items"'):
        fitted.predictive(pairs, target="both")


def test_nominal_answers_are_learnt_whatever_their_order_and_traits_may_be_new():
    """Of answers that are not in the order of the trait partial credit loses half of what nominal items tell."""
    rng = np.random.default_rng(3)
    slopes, intercepts = np.array([0.0, 2.0, 0.3, 1.0]), np.array([0.0, -0.3, 0.4, 0.2])
    x = rng.standard_normal((500, 6))[:, :1].repeat(6, axis=1)
    p = np.exp(x[..., None] * slopes + intercepts)
    answers = 1.0 + (p.cumsum(axis=-1) / p.sum(axis=-1, keepdims=True) < rng.random((500, 6, 1))).sum(axis=-1)
    nominal, credit = (
        Questionnaire(model, categories=(1, 2, 3, 4)).fit(answers) for model in ("nominal", "partial_credit")
    )
    assert nominal.log_evidence_ > credit.log_evidence_ + 100
    known = nominal.item_parameters_.reshape(6, 3, 2)
    np.testing.assert_allclose(known.mean(axis=0), np.column_stack([slopes, intercepts])[1:], atol=0.2)
    told, less = (np.corrcoef(one.trait_mean_[:, 0], x[:, 0])[0, 1] for one in (nominal, credit))
    assert told > less + 0.05, (told, less)
    assert nominal.dimension_ is None
    traits = {k: "ab"[k > 2] if k != 2 else ["a", "b"] for k in range(6)}
    two = Questionnaire("nominal", item_traits=traits, categories=(1, 2, 3, 4)).fit(answers[:60, :3])
    assert two.bank_.traits == ("a", "b")
    told = [(person, item, answers[person, item]) for person in range(60) for item in range(3, 6)]
    two.partial_fit(told)
    whole = Questionnaire("nominal", item_traits=traits, categories=(1, 2, 3, 4)).fit(answers[:60])
    assert two.log_evidence_ == pytest.approx(whole.log_evidence_, abs=0.05)
    of = two.bank_.curve.traits_of(4, 2)
    for item, row in enumerate(two.bank_.coordinates):  # no slope of any answer on a trait that is not measured
        assert (row[(of >= 0) & ~two.bank_.loadings.mask[item][of]] == 0).all()
