"""The search: exact once all is seen, the same after a kill, in the loop, and bad input refused in one sentence."""

import copy
import tracemalloc

import numpy as np
import pytest

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.estimators import GameTreeSearch
from adaptive.loop import BestMoveKnown, MaxSteps, PoolExhausted
from adaptive.loop.log.snapshots import pack, unpack
from designs.games import ConnectFour, EndsTree, TicTacToe, p_game, random_tree


@pytest.mark.parametrize("policy", ["optimistic", "tesauro", "thompson", "uniform", "uct"])
@pytest.mark.parametrize("results", ["sign", "value"])
@pytest.mark.parametrize("players", ["alternate", "max"])
def test_once_all_is_seen_the_root_is_exact(policy, results, players):
    for seed in range(4):
        game = random_tree(3, 3, players=players, signs=results == "sign", random_state=seed)
        model = GameTreeSearch(game, policy=policy, results=results, players=players, random_state=seed).search(1000)
        assert model.n_rollouts_ <= 27 + 9 + 3 + 1 and model.boundary() == []
        with pytest.raises(PoolExhausted):
            model.descend()
        value = game.optimal_values()
        root = model.predict([()])[0]
        assert root == value[0][0] if results == "value" else np.sign(root) == np.sign(value[0][0])
        move, sign = model.best_move(), 1 if results == "value" else np.sign(value[0][0])
        assert value[1][move] == value[0][0] if results == "value" else np.sign(value[1][move]) == sign
        assert model.best_move_proba().sum() == pytest.approx(1.0)
        assert model.refresh().boundary() == [] and np.sign(model.predict([()])[0]) == np.sign(value[0][0])


def test_a_search_is_the_same_in_parts_in_python_and_after_a_kill():
    game = random_tree(4, 4, random_state=0)
    for policy in ("optimistic", "thompson"):
        whole = GameTreeSearch(game, policy=policy, random_state=3).search(60)
        half = GameTreeSearch(game, policy=policy, random_state=3).search(25)
        state = unpack(pack(half.state()))
        again = GameTreeSearch(game, policy=policy, random_state=3).restore(state).search(35)
        for name in whole.belief_.tree.nodes.dtype.names:
            np.testing.assert_array_equal(again.belief_.tree.nodes[name], whole.belief_.tree.nodes[name])
    told = GameTreeSearch(branching=4, depth=4, random_state=3)  # the same roll-outs, one by one
    for rollout in whole.belief_.tree.rollouts:
        path = whole.belief_.tree.path_of(int(rollout["node"]))
        told.partial_fit([path], [(rollout["result"], int(rollout["length"]))])
    np.testing.assert_allclose(told.predict([(), (0,), (1,)]), whole.predict([(), (0,), (1,)]), atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"results": "value"}, {"rollouts": "keep_path"}])
def test_a_belief_stays_what_it_was_when_others_follow_from_it(options):
    rng = np.random.default_rng(0)
    model = GameTreeSearch(branching=2, depth=5, random_state=0, **options).fit([()], [(1.0, (0, 1, 1, 0, 1))])
    beliefs, states = [], []
    for _ in range(12):
        beliefs.append(model.belief_)
        states.append(pack(model.belief_.state()))
        node = model.descend()
        route = tuple(int(k) for k in rng.integers(2, size=5 - len(node)))
        model.partial_fit([node], [(1.0 if rng.random() < 0.5 else -1.0, route)])
        with pytest.raises(ValueError, match="illegal"):
            model.partial_fit([(0,), (1, 1), (2,)], [1.0, -1.0, 1.0])  # the first two are taken in, and given back
    whole = pack(model.belief_.state())
    for k in (3, 0, 11, 7):  # looked at in any order
        assert pack(beliefs[k].state()) == states[k]
    other = copy.copy(model)
    other.belief_ = beliefs[5]
    other.partial_fit([(0,)], [-1.0])  # two follow from one
    assert pack(beliefs[5].state()) == states[5] and pack(model.belief_.state()) == whole


def test_a_rollout_costs_its_path_and_not_the_tree():
    model = GameTreeSearch(random_tree(5, 7, random_state=0), random_state=0).search(3000)
    told = GameTreeSearch(branching=5, depth=7).restore(model.state()).partial_fit([(0,)], [1.0])
    path = told.descend()
    told.partial_fit([path], [1.0])  # room for more is made
    tracemalloc.start()
    try:
        told.partial_fit([told.descend()], [-1.0])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.05 * told.belief_.tree.nodes.nbytes


def test_keeping_paths_uses_more_of_the_same_rollouts():
    game = random_tree(3, 5, random_state=1)
    kept = GameTreeSearch(game, rollouts="keep_path", random_state=0).search(40)
    given_up = GameTreeSearch(game, random_state=0).search(40)
    counted = [int(model.belief_.tree.rollouts["counts"].sum()) for model in (kept, given_up)]
    assert counted[0] > counted[1]
    assert len(kept.belief_.tree.routes) == counted[0]


def test_connect_four_finds_the_winning_column():
    game = ConnectFour([3, 2, 3, 2, 3, 6], columns=7, rows=6)
    assert GameTreeSearch(game, results="value", random_state=0).search(150).best_move() == 3


def test_policies_go_where_they_say():
    game = p_game(2, 6, random_state=0)
    for policy in ("optimistic", "uct", "information"):
        model = GameTreeSearch(game, policy=policy, random_state=0).search(30)
        node = model.descend()
        assert node in model.boundary(10_000)
        if policy == "information":
            gains = model.select(model.boundary(), return_scores=True)
            assert model.boundary()[int(gains[0][0])] == node


def test_boundary_holds_unvisited_children_of_visited_nodes():
    model = GameTreeSearch(branching=2, depth=3, random_state=0)
    assert model.boundary() == [()]
    model.partial_fit([()], [1])
    assert model.boundary() == [(0,), (1,)]
    model.partial_fit([(1,)], [-1])
    assert set(model.boundary()) == {(0,), (1, 0), (1, 1)} and len(model.boundary(1)) == 1


def in_the_loop(game, **options):
    tree = GameTreeSearch(branching=3, depth=4, score_variance=1e-8, random_state=0)
    scores = game.scores

    def measure(query):
        outcomes = []
        for node in query.candidates:
            place = sum(move * 3 ** (len(node) - 1 - k) for k, move in enumerate(node))
            outcomes.append((1.0 if scores[len(node)][place] > 0 else -1.0, 4 - len(node)))
        return outcomes

    return SequentialDesign(tree, lambda tree: tree.boundary(), measure, random_state=0, **options)


def test_the_loop_asks_the_boundary_and_stops_when_the_best_move_is_known(tmp_path):
    game = random_tree(3, 4, random_state=5)
    design = in_the_loop(game, stop=BestMoveKnown(0.8) | MaxSteps(60), log=tmp_path / "log.jsonl")
    design.run(100)
    tree = design.estimator_
    assert tree.best_move_proba().max() >= 0.8 or design.iteration == 60
    assert min(np.min(score) for score in design.history_["score"]) >= 0
    design.close()
    with SequentialDesign.load(
        tmp_path / "log.jsonl", GameTreeSearch(branching=3, depth=4, score_variance=1e-8, random_state=0),
        lambda tree: tree.boundary(), stop=BestMoveKnown(0.8) | MaxSteps(60),
    ) as again:  # fmt: skip
        np.testing.assert_array_equal(again.estimator_.predict([(), (0,)]), tree.predict([(), (0,)]))
    about = in_the_loop(game, target="best", batch_size=4, cost=lambda nodes: tree.rollout_cost(nodes))
    about.run(3)
    assert about.estimator_.n_rollouts_ == 1 + 3 + 4  # the boundary is the root at first, then its moves
    with pytest.raises(ValueError, match="best_move_proba"):
        SequentialDesign(BayesianLogisticRegression(classes=[0, 1]), np.eye(3), np.ones, stop=BestMoveKnown()).run(1)
    with pytest.raises(ValueError, match="probability must lie"):
        BestMoveKnown(1.0)


def fresh(**options):
    return GameTreeSearch(branching=2, depth=3, random_state=0, **options)


@pytest.mark.parametrize(
    ("nodes", "outcomes", "message"),
    [
        ([(0,)], [0], "the result at position 0 is 0; with results='sign'"),
        ([(0,)], [np.nan], "expected a finite number"),
        ([(0,), (1,)], [1], "one outcome per node, got 1 for 2"),
        ([(2,)], [1], "illegal: 2 is no move there"),
        ([(0, 0, 0, 0)], [1], "illegal: 0 is no move there|the game ends before 0"),
        ([(0,)], [(1, 3)], "not within depth 3"),
        ([(0,)], [(1, 0.5)], "must be a whole number"),
        ([(0,)], [(1, 2, 3)], r"a result or \(result, length\)"),
        ([0], [1], "a node is a tuple of moves"),
        (["01"], ["won"], "a node is a tuple of moves|not a number"),
    ],
)
def test_bad_evidence_is_refused_and_changes_nothing(nodes, outcomes, message):
    model = fresh().fit([(0,)], [1])
    before = pack(model.state())
    for one in (model, fresh()):
        with pytest.raises(ValueError, match=message):
            one.partial_fit(nodes, outcomes)
    assert pack(model.state()) == before


class Endless:
    """A game that goes round in a circle, or on for ever."""

    start, branching, depth = 0, 2, 5

    def __init__(self, period):
        self.period = period

    def moves(self, state):
        return [1] if self.period else []

    def play(self, state, move):
        return (state + move) % self.period

    def result(self, state):
        return None

    def player(self, state):
        return 1


@pytest.mark.parametrize(
    ("period", "message"), [(3, "repeats a state"), (100, "did not end within depth"), (0, "neither legal moves")]
)
def test_games_without_an_end_are_refused(period, message):
    model = GameTreeSearch(Endless(period), players="max", random_state=0)
    with pytest.raises(ValueError, match=message):
        model.search(3)
    assert not hasattr(model, "belief_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"game": object()}, "lacks moves, play, result, player"),
        ({"branching": None}, "branching must be given"),
        ({"depth": 0}, "depth must be"),
        ({"policy": "optimist"}, "policy"),
        ({"drift": [1, 2, 3]}, "drift must be"),
        ({"score_variance": 0.0}, "score_variance must be > 0"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        GameTreeSearch(**{"branching": 2, "depth": 3, **options}).partial_fit([(0,)], [1])


def test_numbers_of_a_table():
    model = GameTreeSearch(branching=5, depth=6).fit([()], [1])
    assert model.increments_.shape == (7, 2)
    np.testing.assert_allclose(model.increments_[6], [0.2625, 0.7194], atol=1e-4)
    frame = model.partial_fit([(1,)], [-1]).to_frame()
    assert frame["node"].tolist() == [(), (1,)] and frame["visits"].tolist() == [2, 1]
    interval = model.interval([(1,)], level=0.5)
    mean, std = model.predict([(1,)], return_std=True)
    np.testing.assert_allclose(interval[0] - mean[0], [-0.67449 * std[0], 0.67449 * std[0]], rtol=1e-4)
    p = np.exp(model.log_predictive([(0,), (0,)], [1, -1]))
    assert p.sum() == pytest.approx(1.0)
    copied = copy.deepcopy(model)
    np.testing.assert_array_equal(copied.predict([(3, 2, 1)]), model.predict([(3, 2, 1)]))


def test_hand_made_ends():
    game = EndsTree([1.0, -2.0, 0.5, 3.0], branching=2, depth=2)
    assert game.result((0, 1)) == -1.0 and game.optimal_values()[0][0] == 0.5
    model = GameTreeSearch(game, random_state=0).search(20)
    assert model.best_move() == 1 and model.predict([()])[0] > 0


def test_results_that_are_all_the_same_leave_a_step_of_some_width():
    """Nothing is known of the variance of a step then; every end is seen all the same."""
    for value in (1.0, 0.0, -250.0):
        game = EndsTree(np.full(27, value), branching=3, depth=3, signs=False)
        model = GameTreeSearch(game, results="value", random_state=0).search(100)
        assert model.boundary() == [] and model.predict([()])[0] == value and model.step_variance_ > 0


@pytest.mark.parametrize(("moves", "seed", "policy"), [([8, 0], 26, "tesauro"), ([8, 1], 76, "optimistic")])
def test_values_stay_numbers_where_nearly_all_is_known(moves, seed, policy):
    """Beside ends that are all but certain the variance of a maximum was infinity times zero: NaN for every move."""
    model = GameTreeSearch(TicTacToe(moves), results="value", policy=policy, random_state=seed).search(400)
    mean, std = model.predict([(move,) for move in model.root_moves()], return_std=True)
    assert np.isfinite(mean).all() and np.isfinite(std).all()
    assert model.best_move_proba().sum() == pytest.approx(1.0)
