"""What comes next: forms of histories, sums of log probabilities, members reweighted, own matrices, what is refused."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import entr
from sklearn.exceptions import ConvergenceWarning

from adaptive import CollaborativeRNN, memory, scorers
from adaptive.estimators.sequences import belief, next_items
from adaptive.estimators.sequences.nets.training import Plan
from adaptive.estimators.sequences.settings import SequenceSettings

PLACES = ["home", "work", "shop", "gym"]


def rounds(n_users=6, length=20, seed=0):
    """Everybody goes round, half of them the other way, with some surprises."""
    rng = np.random.default_rng(seed)
    steps = [np.where(rng.random(length + u) < 0.85, 1 if u % 2 else 3, 2) for u in range(n_users)]
    return {f"u{u}": [PLACES[k] for k in np.cumsum(one) % 4] for u, one in enumerate(steps)}


def net(**options):
    known = {"n_components": 4, "n_members": 3, "learning_rate": 0.03, "max_iter": 8, "patience": 3, "batch_size": 3}
    return CollaborativeRNN(**{**known, "random_state": 0, **options})


def quiet(model, *given, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*given, **named)


@pytest.fixture(scope="module")
def fitted():
    return quiet(net(), rounds())


@pytest.fixture(scope="module")
def by_laplace():
    return quiet(net(n_members=1, uncertainty="laplace", n_draws=8), rounds())


def events(histories):
    return [(user, item) for user, items in histories.items() for item in items]


def test_the_defaults_of_a_plan_are_those_of_the_estimator():
    assert SequenceSettings.of(CollaborativeRNN()).plan == Plan()


def test_all_forms_of_histories_are_the_same(fitted):
    histories = rounds()
    as_list = quiet(net(), list(histories.values()))
    assert as_list.users_.tolist() == list(range(6))
    rows = events(histories)
    frame = pd.DataFrame(rows, columns=["user", "item"])
    users, items = zip(*rows, strict=True)
    proba = fitted.predict_proba(fitted.users_)
    np.testing.assert_array_equal(as_list.predict_proba(range(6)), proba)
    for given in ((rows,), (frame,), (np.array(rows),), (users, items)):
        np.testing.assert_array_equal(quiet(net(), *given).predict_proba(list(histories)), proba)
    timed = [(user, item, k) for k, (user, item) in enumerate(rows)]
    mixed = [timed[k] for k in np.random.default_rng(0).permutation(len(timed))]
    whole = quiet(net(items=PLACES), sorted(mixed, key=lambda row: (row[0], row[2])))
    with pytest.warns(UserWarning, match="events were out of order in time; they have been sorted"):
        again = quiet(net(items=PLACES), sorted(mixed, key=lambda row: (row[0], -row[2])))
    np.testing.assert_array_equal(again.predict_proba(list(histories)), whole.predict_proba(list(histories)))
    assert fitted.history("u2").tolist() == histories["u2"] and len(fitted.history("nobody")) == 0


@pytest.mark.parametrize("kind", ["ensemble", "laplace", "pooled"])
def test_log_predictive_adds_up_to_the_log_probability_of_the_sequence(kind, fitted, by_laplace):
    """By enumeration: over all sequences of two events the probabilities add up to one; and by partial_fit."""
    model = {"ensemble": fitted, "laplace": by_laplace}.get(kind) or quiet(net(pooled=True, cell="tanh"), rounds())
    total = 0.0
    for first in PLACES:
        for second in PLACES:
            known, fresh = model.log_predictive({"u1": [first, second], "nobody": [first]})
            total += np.exp(known.sum())
            assert np.exp(known[0]) == pytest.approx(model.predict_proba(["u1"])[0][list(model.items_).index(first)])
            assert np.exp(fresh[0]) == pytest.approx(model.predict_proba(["x"])[0][list(model.items_).index(first)])
    assert total == pytest.approx(1.0)
    mixed = model.log_predictive(["u1", "u3", "u1"], ["home", "gym", "shop"])
    one, other = model.log_predictive({"u1": ["home", "shop"], "u3": ["gym"]})
    np.testing.assert_allclose(mixed, [one[0], other[0], one[1]])
    assert model.score({"u1": ["home", "shop"], "u3": ["gym"]}) == pytest.approx((one.mean() + other.mean()) / 2)
    if kind != "laplace":  # there partial_fit solves again
        assert np.log(quiet(net(**model.get_params()), rounds()).partial_fit(["u1"], ["home"]).predict_proba(["u1"]))[
            0, list(model.items_).index("shop")
        ] == pytest.approx(one[1])
        (whole,) = model.log_predictive({"u1": ["home", "shop", "gym"]}, anew=True)
        (begun,) = model.log_predictive({"u1": ["home"]}, anew=True)
        assert whole[0] == pytest.approx(begun[0]) and whole.shape == (3,)


def test_partial_fit_reweights_members_for_everybody_else_as_given_does(fitted):
    users = ["u0", "u1", "u2", "nobody"]
    belief = fitted.predictive(users, target=["u4"])
    taught = quiet(net(), rounds()).partial_fit({"u1": ["shop"]}).partial_fit(["somebody"], ["home"])
    after, other = belief.given(1, "shop").given(3, "home"), [0, 2]
    np.testing.assert_allclose(after.probabilities[other], taught.predict_proba(["u0", "u2"]), atol=1e-10)
    np.testing.assert_allclose(after.target.probabilities, taught.predict_proba(["u4"]), atol=1e-10)
    assert taught.users_[-1] == "somebody" and taught.history("u1")[-1] == "shop"
    grown = {**rounds(), "somebody": ["home"]}
    grown["u1"] = [*grown["u1"], "shop"]
    np.testing.assert_allclose(  # where everybody stands is what the whole history says
        taught.belief_.heads, net_states(taught, [grown[user] for user in taught.users_.tolist()]), atol=1e-10
    )


def net_states(model, histories):
    from adaptive.estimators.sequences.nets.scoring import states_after

    places = {item: k for k, item in enumerate(model.items_.tolist())}
    codes = [np.array([places[item] for item in one]) for one in histories]
    return states_after(model.belief_.posterior, model.belief_.posterior.own, codes)


@pytest.mark.parametrize("kind", ["ensemble", "laplace"])
def test_entropies_are_those_of_the_table_and_information_stays_in_its_bounds(kind, fitted, by_laplace, monkeypatch):
    model = fitted if kind == "ensemble" else by_laplace
    users = ["u0", "u5", "nobody", "u5"]
    belief = model.predictive(users)
    weights, table = belief.draws()
    np.testing.assert_allclose(np.tensordot(weights, table, 1), belief.probabilities)
    np.testing.assert_allclose(belief.outcome_entropy, entr(belief.probabilities).sum(axis=1))
    np.testing.assert_allclose(belief.expected_entropy, weights @ entr(table).sum(axis=2))
    gains = scorers.information_gain(belief)
    assert gains.min() >= -1e-12 and gains.max() <= np.log(len(weights)) and gains[1] > 1e-6
    monkeypatch.setattr(next_items, "BLOCK", 1)  # users one at a time
    np.testing.assert_allclose(scorers.information_gain(model.predictive(users)), gains, atol=1e-12)
    alone = model.predictive(users[1:2], target=["u2"])  # the same draws, whoever stands beside
    np.testing.assert_allclose(alone.probabilities, belief.probabilities[1:2], atol=1e-10)
    np.testing.assert_array_equal(model.select(users, 2, chunk_size=1), model.select(users, 2))
    what_if = belief.given(1, "home")
    assert what_if.probabilities[1, 0] == what_if.probabilities[3, 0]
    c = list(model.items_).index("home")
    assert what_if.probabilities[1, c] > belief.probabilities[1, c]
    _, table = what_if.draws(4000)
    np.testing.assert_allclose(table.mean(axis=0), what_if.probabilities, atol=0.02)
    if kind == "laplace":  # what is learnt of one user says nothing of another
        np.testing.assert_allclose(what_if.probabilities[[0, 2]], belief.probabilities[[0, 2]], atol=1e-14)
    mean = sum(p * belief.given(1, y).probabilities for y, p in belief.likely_outcomes(1))
    np.testing.assert_allclose(mean, belief.probabilities, atol=1e-12)


def test_of_one_net_nothing_is_uncertain():
    model = quiet(net(n_members=1), rounds())
    belief = model.predictive(["u0", "u1"])
    assert not any(belief.provides(name) for name in ("draws", "given", "expected_entropy"))
    assert model.select(["u0", "u1"], scorer="entropy") in ([0], [1])
    with pytest.raises(
        ValueError, match="information_gain needs expected_entropy, .*: one net is sure of itself; n_members=2"
    ):
        model.select(["u0", "u1"])


def test_own_matrices_of_laplace_are_settled_again_and_newcomers_begin_at_the_prior(by_laplace):
    belief = by_laplace.belief_
    np.testing.assert_allclose(belief.newcomer[0, 0], belief.prior.mean)
    again = quiet(net(n_members=1, uncertainty="laplace", n_draws=8), rounds())
    sequence = ["home", "work", "shop", "gym"] * 4
    again.partial_fit({"new": sequence})
    moved = again.belief_.posterior.own[0, -1] - belief.prior.mean
    assert abs(moved).max() > 1e-3
    np.testing.assert_array_equal(again.belief_.posterior.own[0, :-1], belief.posterior.own[0])
    together, before = again.score({"new": sequence}), by_laplace.score({"newer": sequence})
    assert together > before
    restored = net(n_members=1, uncertainty="laplace", n_draws=8).restore(again.state())
    assert restored.predict_proba(["new", "x"]).tobytes() == again.predict_proba(["new", "x"]).tobytes()


@pytest.mark.parametrize("kind", ["ensemble", "laplace"])
def test_of_nothing_nothing_is_learnt_and_no_number_is_made(kind, fitted, by_laplace):
    model = copy.deepcopy(fitted if kind == "ensemble" else by_laplace)
    before = model.predict_proba(["u0", "x"])
    model.partial_fit({}).partial_fit({"u0": [], "x": []})
    np.testing.assert_array_equal(model.predict_proba(["u0", "x"]), before)
    assert model.predict_proba([]).shape == (0, 4) and model.log_predictive({}) == []
    with pytest.raises(ValueError, match="sequences must hold at least one event to be scored"):
        model.score({"u0": []})


def test_laplace_is_the_same_in_groups_of_users_and_tells_of_nobody_else(by_laplace, monkeypatch):
    users = ["u0", "u5", "nobody"]
    later = {"u0": ["home", "shop"], "nobody": [], "u5": ["gym"]}
    whole, logs = by_laplace.predict_proba(users), by_laplace.log_predictive(later)
    own, *others = (
        scorers.predictive_information_gain(by_laplace.predictive(["u0"], target=[who]))[0]
        for who in ("u0", "u1", "u5")
    )
    assert own > 3 * np.abs(others).max()  # what is left of others is the chance agreement of few draws
    assert abs(scorers.information_gain(by_laplace.predictive(["nobody"]))[0]) < 1e-9  # no memory, nothing of it
    monkeypatch.setattr(belief, "TABLE", 1)
    np.testing.assert_allclose(by_laplace.predict_proba(users), whole, atol=1e-10)
    for one, same in zip(by_laplace.log_predictive(later), logs, strict=True):
        np.testing.assert_allclose(one, same, atol=1e-10)


def test_a_training_that_was_stopped_goes_on_to_the_same_bits(fitted):
    class Stop(Exception):
        pass

    states = []

    def stop(training):
        states.append(training.state())
        if len(training.trace) == 3:
            raise Stop

    with pytest.raises(Stop):
        net().fit(rounds(), callback=stop)
    again = quiet(net(), rounds(), resume=states[-1])
    assert again.predict_proba(["u0"]).tobytes() == fitted.predict_proba(["u0"]).tobytes()
    assert again.n_iter_ == fitted.n_iter_ and again.objective_trace_.tobytes() == fitted.objective_trace_.tobytes()
    with pytest.raises(ValueError, match="resume must be the state of a training on these sequences"):
        net(n_components=5).fit(rounds(), resume=states[-1])


def test_nets_are_trained_anew_where_events_have_doubled_and_then_are_those_of_fit():
    told = events({who: items[:4] for who, items in rounds().items()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = net(items=PLACES, max_iter=2)
        for k, event in enumerate(told[:16]):
            before = model.posterior_ if k else None
            model.partial_fit([event])
            trained = before is None or model.posterior_.outputs is not before.outputs
            assert trained == (k + 1 in (1, 2, 4, 8, 16))
        fresh = net(items=PLACES, max_iter=2).fit(told[:16])
    users = ["u0", "u3", "nobody"]
    assert model.predict_proba(users).tobytes() == fresh.predict_proba(users).tobytes()


def test_short_and_empty_histories_and_users_never_seen():
    model = quiet(net(items=PLACES), {"one": ["home"], "none": [], "two": ["gym", "gym"]})
    np.testing.assert_array_equal(*model.predict_proba(["none", "nobody"]))
    assert model.predict(["none"])[0] in PLACES and len(model.log_predictive({"none": [], "one": []})[0]) == 0
    fresh = net(items=PLACES)
    assert fresh.predictive(["a", "b"]).probabilities.shape == (2, 4)
    assert net().predictive(["a", "b"]).undecided and net().select(["a", "b"], random_state=0)[0] in (0, 1)


ONE = {"u": ["a", "b"]}
REFUSED = [
    (net(), {}, None, "at least one event"),
    (net(), {"u": []}, None, "at least one event"),
    (net(), {"u": [1.5]}, None, "must be whole numbers or text"),
    (net(), {"u": [1.0, float("nan")]}, None, "the sequence of 'u' contains nan at position 1"),
    (net(), {"u": ["a", None]}, None, "the sequence of 'u' has no id at position 1"),
    (net(), {"u": ["a", float("nan")]}, None, "the sequence of 'u' has no id at position 1"),
    (net(), {"u": ["a", 1]}, None, "the sequence of 'u' must be of one kind, numbers or text"),
    (net(), [("u", "a"), (float("nan"), "a")], None, "users has no id at position 1"),
    (net(), [("u", "a", "May"), ("u", "a", float("nan"))], None, "times has no entry at position 1"),
    (net(), [("u", "a", "May"), ("u", "a", 2.0)], None, "times must be of one kind"),
    (net(), {"u": "abc"}, None, "must be a list of sequences, a mapping user -> items"),
    (net(), {"u": ["a"], "v": [1]}, None, "items must be of one kind"),
    (net(), "abc", None, "must be a list of sequences"),
    (net(), [("u", "a"), ("u", "a", 3)], None, "tuples of 2 and 3 entries"),
    (net(), [("u", "a", 1.0), ("u", "a", float("nan"))], None, "times has no entry at position 1"),
    (net(), np.zeros((3, 4)), None, "got 4 columns"),
    (net(), ["u", "v"], ["a"], "y must have one item per user"),
    (net(items=["a"]), ONE, None, "items must be among the 1 that are known, got 'b'"),
    (net(items=["a", "a"]), ONE, None, "items must be different"),
    (net(n_components=10**8), ONE, None, "GB of memory; take fewer components or items"),
    (net(n_components=0), ONE, None, "n_components"),
    (net(cell="lstm"), ONE, None, "cell must be one of"),
    (net(uncertainty="laplace"), ONE, None, 'uncertainty="laplace" needs users\' own matrices'),
    (net(validation_fraction=1.0), ONE, None, "validation_fraction"),
    (net(learning_rate=-1.0), ONE, None, "learning_rate"),
    (net(n_sampled=0), ONE, None, "n_sampled"),
]


@pytest.mark.parametrize(("model", "given", "y", "sentence"), REFUSED, ids=[case[3][:25] for case in REFUSED])
def test_what_is_wrong_is_refused_in_one_sentence(model, given, y, sentence):
    with pytest.raises(ValueError, match=sentence) as problem:
        model.fit(given, y)
    assert "\n" not in str(problem.value) and not hasattr(model, "belief_")


def test_what_is_refused_later_changes_nothing(fitted, monkeypatch):
    before = fitted.predict_proba(["u0"])
    for given, sentence in (
        ({"u0": ["beach"]}, "items must be among the 4 that are known"),
        ({3: ["home"]}, "users must be of one kind"),
        ({"u0": [1]}, "items must be of one kind"),
    ):
        with pytest.raises(ValueError, match=sentence):
            fitted.partial_fit(given)
        with pytest.raises(ValueError, match=sentence.replace("users", "users|items")):
            fitted.log_predictive(given) if sentence.startswith("items") else fitted.predict_proba(list(given))
    np.testing.assert_array_equal(fitted.predict_proba(["u0"]), before)
    monkeypatch.setattr(memory, "memory_there", lambda: 100.0)
    belief = fitted.predictive(["u0"] * 40)
    with pytest.raises(ValueError, match="draws is too large"):
        belief.draws()


def test_auto_is_what_held_out_events_choose_to_the_bit_and_resumes():
    both = [quiet(net(n_members=1, pooled=pooled), rounds(length=30)) for pooled in (False, True)]
    best = min(both, key=lambda model: model.objective_trace_.min())
    states = []
    auto = quiet(
        net(n_members=1), rounds(length=30), callback=lambda training: states.append(copy.deepcopy(training.state()))
    )
    assert auto.posterior_.pooled == best.posterior_.pooled
    assert auto.predict_proba(["u0", "u5"]).tobytes() == best.predict_proba(["u0", "u5"]).tobytes()
    for state in (states[1], states[-2]):  # of one memory for each user, and of one for all
        again = quiet(net(n_members=1), rounds(length=30), resume=state)
        assert again.predict_proba(["u0"]).tobytes() == auto.predict_proba(["u0"]).tobytes()
    short = quiet(net(n_members=1), {who: items[:5] for who, items in rounds().items()})
    assert short.posterior_.pooled  # nothing is held out
    with pytest.raises(ValueError, match="^pooled must be"):
        net(pooled="perhaps").fit(rounds())


def test_where_counting_tells_as_much_it_is_said():
    rng = np.random.default_rng(0)
    noise = {f"u{u}": rng.choice(PLACES, 30).tolist() for u in range(6)}
    with pytest.warns(UserWarning, match="counting which item follows which"):
        net(n_members=1, learning_rate=0.3, max_iter=1).fit(noise)
