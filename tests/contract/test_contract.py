"""The contract, for every estimator and every scorer that its predictive has the fields for.

Adding an estimator is one entry in ``cases/``; adding a scorer is one file and one line in its package. A test is one
item per estimator; the scorer that failed stands below the message.
"""

import copy
import itertools
import pickle

import numpy as np
import pytest

from adaptive import SequentialDesign, pool, scorers, selection
from adaptive.predictive import MissingField
from adaptive.predictive.answers.projections import answered, can_be_answered
from adaptive.selection.worlds import are_many, drawn_answers
from tests.contract.cases import CASES, SCORED_BY
from tests.culprits import naming

INFORMATIONS = ["information_gain", "predictive_information_gain", "consensus_divergence"]
NEED_NO_WHAT_IF = ["random", "core_set", "badge"]
# A scorer for each way through a batch: by outcomes, about given inputs, and those that need no what-if.
BATCHES = ["information_gain", "entropy", "predictive_information_gain", *NEED_NO_WHAT_IF]


def of_cases(keep=lambda case: True):
    return pytest.mark.parametrize("case", [case for case in CASES if keep(case)], ids=lambda case: case.name)


def states_of(case):
    """The estimator before any fit and after one; a plain classifier is asked at random until it saw two classes."""
    for state, estimator in (("before any fit", case.make()), ("fitted", case.fitted())):
        if not estimator.predictive(case.candidates).undecided:
            yield state, estimator


def discrete(predictive):
    return predictive.provides("probabilities")


def aligned(*tables):
    """Tables of probabilities with as many columns as the widest: counts are cut off where each belief has no more."""
    width = max(table.shape[1] for table in tables)
    return [np.pad(table, ((0, 0), (0, width - table.shape[1]))) for table in tables]


# ------------------------------------------------------------------------------------------- every scorer


@of_cases()
def test_the_scorers_that_it_serves_are_recorded_and_the_others_name_what_they_miss(case):
    line = f"{case.name}: {' '.join(case.scorers)}"
    assert SCORED_BY.get(case.name) == case.scorers, f"tests/contract/scored_by.txt should say:\n{line}"
    belief = case.beliefs(case.fitted())
    for name in [name for name in scorers.__all__ if name not in case.scorers]:
        with naming(name), pytest.raises(MissingField, match=f"^{name} needs ") as problem:
            scorers.get(name)(belief(name), 0)
        assert str(problem.value).count("\n") == 0
        field = str(problem.value).split(" needs ")[1].split(",")[0]
        assert field.startswith("a likelihood") or not belief(name).provides(field), (name, field)


def test_nothing_is_recorded_of_whom_there_is_not():
    assert list(SCORED_BY) == [case.name for case in CASES]


@of_cases()
def test_scores_have_the_shape_are_finite_and_never_negative(case):
    for state, estimator in states_of(case):
        belief = case.beliefs(estimator)
        for name in case.scorers:
            with naming(f"{name}, {state}"):
                scores = selection.evaluate(scorers.get(name), belief(name), seed=1)
                assert scores.shape == (len(case.candidates),) and scores.dtype == float
                assert np.isfinite(scores).all() and scores.min() >= -1e-9


@of_cases()
def test_selecting_changes_nothing(case):
    estimator = case.fitted()
    before, attributes = pickle.dumps(estimator), set(vars(estimator))
    for name in case.scorers:
        with naming(name):
            options = {"scorer": name, "target": case.about(name), "joint": case.given is not None, "random_state": 0}
            first = selection.select(estimator, case.candidates, 2, **options)
            again = estimator.select(case.candidates, 2, **options)
            assert set(vars(estimator)) == attributes and pickle.dumps(estimator) == before
            np.testing.assert_array_equal(first, again)


def same_in_any_chunks(case, estimator, name, sizes, **options):
    """Select with chunks of these sizes; positions and scores are those of one chunk, and what is masked stays out."""
    results = [
        selection.select(
            estimator, case.candidates, scorer=name, target=case.about(name), random_state=3, return_scores=True,
            mask=np.arange(len(case.candidates)) % 7 != 2, chunk_size=size, **options,
        )
        for size in sizes
    ]  # fmt: skip
    for positions, scores in results[1:]:
        np.testing.assert_array_equal(positions, results[0][0])
        np.testing.assert_allclose(scores, results[0][1], rtol=1e-9, atol=1e-10)
    assert not np.any(results[0][0] % 7 == 2) and len(set(results[0][0])) == options["n_select"]


@of_cases()
def test_chunks_never_change_the_best(case):
    estimator = case.fitted()
    for name in case.scorers:
        with naming(name):
            same_in_any_chunks(case, estimator, name, (1000, 8, 1), n_select=3, joint=False)


@of_cases()
def test_chunks_never_change_a_batch(case):
    estimator, pending = case.fitted(), pool.take(case.candidates, [4, 9])
    for name in [name for name in case.scorers if name in BATCHES]:
        with naming(name):
            if case.given is None and name not in NEED_NO_WHAT_IF:
                with pytest.raises(ValueError, match="given, which .* does not provide"):
                    selection.select(estimator, case.candidates, 3, scorer=name)
            else:
                same_in_any_chunks(case, estimator, name, (1000, 8), n_select=2, pending=pending)


@of_cases()
def test_every_estimator_runs_in_the_loop(case):
    for name in case.scorers:
        with naming(name):
            design = SequentialDesign(
                case.fitted(), case.candidates, lambda query: case.measure(query.candidates), scorer=name,
                target=case.about(name), random_state=0,
            )  # fmt: skip
            design.run(2)
            assert len(set(design.history_["position"])) == 2
            assert np.isfinite(design.history_["score"]).all()


# ------------------------------------------------------------------------------------------ informations


@of_cases()
def test_informations_are_at_most_the_entropy_of_the_outcome(case):
    for state, estimator in states_of(case):
        belief = case.beliefs(estimator)
        for name in [name for name in case.scorers if name in INFORMATIONS]:
            predictive = belief(name)
            if discrete(predictive):
                with naming(f"{name}, {state}"):
                    scores = selection.evaluate(scorers.get(name), predictive, seed=1)
                    assert np.all(scores <= predictive.outcome_entropy + 1e-9)
                    assert np.all(predictive.outcome_entropy <= np.log(len(predictive.outcomes)) + 1e-12)


@of_cases()
def test_probabilities_are_probabilities(case):
    predictive = case.fitted().predictive(case.candidates)
    if discrete(predictive):
        assert predictive.probabilities.shape == (len(case.candidates), len(predictive.outcomes))
        assert predictive.probabilities.min() >= 0
        np.testing.assert_allclose(predictive.probabilities.sum(axis=1), 1.0, atol=1e-9)


@of_cases()
def test_routes_agree_where_two_exist(case, record_property):
    for target in (None, case.target):
        predictive = case.fitted().predictive(case.candidates, target=target, random_state=0)
        routes = {}
        if predictive.provides("log_determinant"):
            routes["log_determinant"] = 0.5 * predictive.log_determinant()[0]
        if predictive.provides("outcome_entropy") and predictive.provides("expected_entropy"):
            routes["entropies"] = predictive.outcome_entropy - predictive.expected_entropy
        if predictive.provides("target_entropy") and predictive.provides("expected_target_entropy"):
            routes["what-ifs"] = predictive.target_entropy - predictive.expected_target_entropy
        exact = case.given == "exact"
        for (first, a), (second, b) in itertools.combinations(routes.items(), 2):
            # what-ifs by moment matching are approximate: how far they are off, and below zero, is reported
            record_property(f"{first} against {second}", float(abs(a - b).max()))
            np.testing.assert_allclose(a, b, atol=1e-9 if exact else 0.03, err_msg=f"{first}, {second}")
        if "what-ifs" in routes:
            lowest = float(routes["what-ifs"].min())
            record_property("lowest information by given", lowest)
            print(f"{case.name}: lowest information by given {lowest:.2g} nats")
            assert lowest >= (-1e-9 if exact else -1e-3)


@of_cases(lambda case: case.given is not None)
def test_quadrature_and_draws_agree_within_the_error_of_draws(case):
    predictive = case.fitted().predictive(case.candidates, random_state=0)
    if not (predictive.provides("draws") and predictive.provides("likelihood")):
        return  # there is one of the two routes only
    weights, table = predictive.draws(20_000)
    np.testing.assert_allclose(np.tensordot(weights, table, axes=1), predictive.probabilities, atol=0.015)
    entropies = -np.sum(table * np.log(np.maximum(table, 1e-300)), axis=2)
    np.testing.assert_allclose(weights @ entropies, predictive.expected_entropy, atol=0.015)


# ---------------------------------------------------------------------------------------------- what-ifs


def fields(predictive):
    """The numbers that tell one belief from another."""
    if discrete(predictive):
        return predictive.probabilities
    return np.column_stack([predictive.mean, predictive.variance])


def outcomes_of(case, predictive, i):
    return list(predictive.outcomes) if discrete(predictive) else list(case.measure(pool.take(case.candidates, [i])))


@of_cases(lambda case: case.given == "exact")
def test_given_equals_partial_fit(case):
    """To 1e-8, for every outcome, also of a second measurement and of the target."""
    for estimator, i in itertools.product((case.make(), case.fitted()), (0, 5)):
        belief = estimator.predictive(case.candidates, target=case.target)
        for outcome in outcomes_of(case, belief, i):
            taught = copy.deepcopy(estimator).partial_fit(pool.take(case.candidates, [i]), np.array([outcome]))
            refitted = taught.predictive(case.candidates, target=case.target)
            what_if = belief.given(i, outcome)
            np.testing.assert_allclose(fields(what_if), fields(refitted), atol=1e-8)
            np.testing.assert_allclose(fields(what_if.target), fields(refitted.target), atol=1e-8)
            second = outcomes_of(case, belief, 7)[0]
            taught.partial_fit(pool.take(case.candidates, [7]), np.array([second]))
            np.testing.assert_allclose(
                fields(what_if.given(7, second)), fields(taught.predictive(case.candidates)), atol=1e-8
            )


@of_cases(lambda case: case.given == "direction")
def test_given_moves_where_partial_fit_moves(case):
    """With the same engine: the changes of all probabilities point the same way."""
    estimator = case.fitted()
    belief = estimator.predictive(case.candidates)
    cosines = []
    for i, outcome in itertools.product((0, 5, 11), belief.outcomes):
        if belief.probabilities[i, list(belief.outcomes).index(outcome)] < 1e-6:
            continue  # the members of a forest may agree for sure
        taught = copy.deepcopy(estimator).partial_fit(pool.take(case.candidates, [i]), np.array([outcome]))
        refitted, what_if = taught.predictive(case.candidates), belief.given(i, outcome)
        before, by_fit, by_given = aligned(belief.probabilities, refitted.probabilities, what_if.probabilities)
        by_fit, by_given = by_fit - before, by_given - before
        c = list(belief.outcomes).index(outcome)
        assert by_given[i, c] > 0  # an answer makes itself more probable
        if case.moves_on:
            by_fit[i] = by_given[i] = 0.0
        if case.own_draws and np.abs(by_fit).max() < 1e-9:  # what is learnt of one says nothing of the others
            cosines.append(float(np.abs(by_given).max() < 1e-9))
            continue
        cosines.append(np.sum(by_fit * by_given) / (np.linalg.norm(by_fit) * np.linalg.norm(by_given) + 1e-12))
    assert np.mean(cosines) > 0.5, cosines


@of_cases(lambda case: case.given is not None)
def test_scenarios_average_to_what_is_believed(case):
    belief = case.fitted().predictive(case.candidates, random_state=0)
    scenarios = belief.scenarios(0)
    assert sum(p for p, _ in scenarios) == pytest.approx(1.0) and all(p > 0 for p, _ in scenarios)
    if discrete(belief):
        believed, *after = aligned(belief.probabilities, *(scenario.probabilities for _, scenario in scenarios))
        mean = sum(p * table for (p, _), table in zip(scenarios, after, strict=True))
        np.testing.assert_allclose(mean, believed, atol=1e-8 if case.given == "exact" else 0.05)


@of_cases(lambda case: case.given is not None)
def test_futures_are_eight_where_outcomes_have_more_than_sixteen_cases(case):
    belief = case.fitted().predictive(case.candidates, random_state=0)
    futures = selection.Futures([(1.0, belief)], seed=0)
    for i in range(6):
        futures = futures.after(i)
        weights = [weight for weight, _ in futures.weighted]
        assert len(weights) <= 16 and sum(weights) == pytest.approx(1.0) and min(weights) > 0
    if belief.likely_outcomes(0) is not None:
        assert len(weights) <= 8


@of_cases(lambda case: case.given is not None)
def test_four_pending_rows_are_answered_at_once_as_in_turn_and_alike_in_any_chunks(case):
    """Where predictives learn answers without a copy: every moment as after `given` of one after the other."""
    estimator, positions = case.fitted(), [4, 9, 1, 7]
    pending = pool.take(case.candidates, positions)
    belief = estimator.predictive(pool.concatenate([pending, case.candidates]), random_state=0)
    if not can_be_answered(belief) or not are_many(estimator.predictive(pending, random_state=0)):
        return
    answers = drawn_answers(estimator.predictive(pending, random_state=0), 0)[:2]
    for given, after in zip(answers, answered(belief, answers), strict=True):
        in_turn = belief
        for i, outcome in enumerate(given):
            in_turn = in_turn.given(i, outcome)
        parts = zip(after.components, in_turn.components, strict=True)
        for (weight, ours), (theirs_weight, theirs) in parts:
            assert weight == pytest.approx(theirs_weight, rel=1e-6)
            np.testing.assert_allclose(ours.mean, theirs.mean, atol=1e-6 * np.abs(theirs.mean).max() + 1e-9)
            np.testing.assert_allclose(ours.variance, theirs.variance, atol=1e-6 * theirs.variance.max())
    chosen = [
        selection.select(
            estimator, case.candidates, pending=pending, exclude=positions, random_state=3, chunk_size=size
        ).tolist()
        for size in (1000, 8)
    ]  # fmt: skip
    assert chosen[0] == chosen[1]


# ------------------------------------------------------------------------------------------- joint draws


@of_cases(lambda case: case.given is not None)
def test_two_equal_candidates_have_dependent_outcomes(case):
    estimator = case.fitted()
    best = int(estimator.select(case.candidates)[0])
    twice = estimator.predictive(pool.take(case.candidates, [best, best]), random_state=0)
    if not discrete(twice):
        assert twice.covariance([0], [1]) == pytest.approx(twice.covariance([0], [0]), abs=1e-9)
        return
    p = twice.probabilities[0]
    if twice.provides("draws"):
        weights, table = twice.draws()
        joint = np.einsum("k,kc,kd->cd", weights, table[:, 0], table[:, 1])
        p = joint.sum(axis=1)
        assert np.trace(joint) > p @ p + 1e-3
        np.testing.assert_allclose(table[:, 0], table[:, 1])
    assert twice.given(0, twice.outcomes[0]).probabilities[1, 0] > p[0]


@of_cases(lambda case: case.unrelated is not None)
def test_two_unrelated_candidates_have_independent_outcomes(case):
    pair = case.fitted().predictive(case.unrelated, random_state=0)
    if not discrete(pair):
        assert pair.covariance([0], [1]) == pytest.approx(0.0, abs=1e-12)
        return
    weights, table = pair.draws(10_000 if case.own_draws else None)
    joint = np.einsum("k,kc,kd->cd", weights, table[:, 0], table[:, 1])
    tolerance = 1e-3 if case.own_draws else 1e-12
    np.testing.assert_allclose(joint, np.outer(joint.sum(axis=1), joint.sum(axis=0)), atol=tolerance)
    for outcome, _ in pair.likely_outcomes(0):
        np.testing.assert_allclose(pair.given(0, outcome).probabilities[1], pair.probabilities[1], atol=1e-12)


def drawn_exactly(case, predictive):
    """Whether the draws are all there are: members, a grid."""
    return not (case.own_draws or predictive.sampled) and not any(
        part.provides("likelihood") for _, part in predictive.components
    )


def joint_information(case, predictive, positions, target=None):
    """I(outcomes at positions; what is unknown), by the determinant or by enumeration of outcomes over draws."""
    positions = list(positions)
    if not discrete(predictive):
        noise = predictive.likelihood.parameters["variance"]
        block = predictive.covariance(positions, positions)
        return 0.5 * np.linalg.slogdet(np.eye(len(block)) + block / noise)[1]
    exact = drawn_exactly(case, predictive)
    weights, table = predictive.draws() if exact else predictive.draws(10_000)
    joint = weights[:, None]
    for i in positions:
        joint = (joint[:, :, None] * table[:, i][:, None, :]).reshape(len(weights), -1)
    entropy = -np.sum(joint.sum(axis=0) * np.log(np.maximum(joint.sum(axis=0), 1e-300)))
    if target is not None:  # the target is coarser than the draws
        joint = np.stack([joint[target == value].sum(axis=0) for value in np.unique(target)])
    shares = joint.sum(axis=1, keepdims=True)
    terms = np.where(joint > 0, joint * np.log(np.maximum(joint, 1e-300) / np.maximum(shares, 1e-300)), 0.0)
    return entropy + terms.sum()


@of_cases(lambda case: case.given is not None)
def test_scores_of_a_joint_batch_add_up_to_its_joint_information(case):
    estimator = case.fitted()
    candidates = pool.take(case.candidates, range(10))
    predictive = estimator.predictive(candidates, random_state=0)
    if discrete(predictive) and not predictive.provides("draws"):
        return  # nothing else to compare what-ifs with
    if not discrete(predictive) and not predictive.provides("likelihood"):
        return  # a mixture: tests/estimators/particles compare it with quadrature
    if predictive.only_draws:
        return  # tests/selection/test_votes.py
    cases = len(predictive.outcomes) if discrete(predictive) else 1
    many = cases > 10  # triples of counts are more than can be listed
    listed = (cases if many else cases**2) <= selection.MOST_CASES  # else futures are a sample
    positions, scores = selection.select(
        estimator, candidates, 2 if many else 3, scorer="information_gain", return_scores=True, random_state=0
    )
    exact = case.given == "exact" or drawn_exactly(case, predictive)
    tolerance = (1e-9 if exact else 0.01) if listed else 0.1
    target = getattr(estimator, "trait", None)
    assert scores.sum() == pytest.approx(joint_information(case, predictive, positions, target), abs=tolerance)
    chosen = []
    for position in positions:  # and each was the best addition to those before it
        gains = [
            -np.inf if i in chosen else joint_information(case, predictive, [*chosen, i], target) for i in range(10)
        ]
        assert gains[position] >= max(gains) - tolerance
        chosen.append(int(position))


@of_cases(lambda case: case.given is not None)
def test_what_is_pending_is_not_asked_again_in_other_words(case):
    estimator = case.fitted()
    best = estimator.select(case.candidates, random_state=0)
    twins = pool.concatenate([pool.take(case.candidates, best), pool.take(case.candidates, best)])
    alone = selection.select(estimator, twins, return_scores=True, random_state=0)[1]
    beside = selection.select(estimator, twins, pending=pool.take(case.candidates, best), return_scores=True)[1]
    assert beside[0] < alone[0]
