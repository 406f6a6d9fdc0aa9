"""Every default of a public constructor has its evidence, or its reason."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from adaptive import (
    BayesianLogisticRegression,
    CollaborativePreference,
    CollaborativeRNN,
    CoxProcess,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    MetadataTopicModel,
    PoissonRegression,
    Questionnaire,
    SequentialDesign,
    SparseLinearRegression,
    estimators,
)
from experiments import claims
from experiments.defaults import table
from experiments.defaults.shared import small_games
from experiments.script import Script, located
from tests.experiments.scripts import module_of

SCRIPTS = {
    "classifier_scorers": {"ours-default-classifiers", "ours-default-exploration"},
    "process_kernels": {"ours-default-processes"},
    "game_trees": {"ours-default-game-trees"},
    "preference_components": {"ours-default-preferences"},
    "simulator_densities": {"ours-default-simulators"},
    "stops": {"ours-default-stops"},
    "sequence_memories": {"ours-default-sequences"},
    "questionnaire_models": {"ours-default-questionnaires"},
    "photon_scales": {"ours-default-photons"},
    "other_settings": {"ours-default-settings-counts"},
    "further_settings": {"ours-default-settings-instruments"},
    "respondent_priors": {"ours-default-respondent-priors"},
    "families": {"ours-default-families"},
    "cox_overdispersion": {"ours-default-cox-overdispersion"},
    "pair_counts": {"ours-default-pair-counts"},
    "net_training": {"ours-default-nets"},
    "beside_rivals": {"ours-default-said"},
    "texts": {"ours-default-texts"},
}


def test_every_parameter_stands_in_one_place():
    places = {f"{owner}.{name}": table.place_of(owner, name) for owner, name in table.parameters()}
    assert {name: found for name, found in places.items() if len(found) != 1} == {}


def test_nothing_stands_there_that_is_no_parameter():
    known = {f"{owner}.{name}" for owner, name in table.parameters()}
    assert {*table.JUDGED, *table.NEUTRAL_OF} <= known
    assert set(table.NEUTRAL) <= {name.split(".")[1] for name in known}


def test_the_evidence_is_a_claim_that_was_tried():
    tried = {one["id"] for one in claims.load()}
    assert {name: of for name, of in table.JUDGED.items() if not tried.issuperset(of)} == {}


def test_docstrings_name_the_evidence():
    """That of a parameter, or of one that is named with it."""
    classes = {name: getattr(estimators, name) for name in estimators.__all__} | {"SequentialDesign": SequentialDesign}
    told = {name: inspect.getdoc(classes[name.split(".")[0]]) or "" for name in table.JUDGED}
    assert [name for name, ids in table.JUDGED.items() if not any(one in told[name] for one in ids)] == []


RNG = np.random.default_rng(0)
X, NEW = RNG.standard_normal((60, 4)), RNG.standard_normal((200, 4))
TWO = (RNG.random(60) < 1 / (1 + np.exp(-X @ [1.5, -1.0, 0.0, 0.5]))).astype(int)
THREE = np.argmax(X[:, :3] + 0.7 * RNG.standard_normal((60, 3)), axis=1)
NUMBERS, COUNTS = np.sin(X[:, 0]) + 0.3 * RNG.standard_normal(60), RNG.poisson(np.exp(0.4 * X[:, 0]))
CONVERGES = {  # class, outcomes, its name for the most iterations, by how much what it says may differ
    "two classes": (BayesianLogisticRegression, TWO, "max_iter", 1e-3),
    "three classes": (BayesianLogisticRegression, THREE, "max_iter", 5e-3),
    "process of labels": (GaussianProcessClassifier, TWO, "max_iter_predict", 1e-5),
    "process of numbers": (GaussianProcessRegressor, NUMBERS, "max_iter", 1e-5),
    "counts": (PoissonRegression, COUNTS, "max_iter", 1e-5),
    "process of counts": (CoxProcess, COUNTS, "max_iter", 1e-5),
    "sparse weights": (SparseLinearRegression, NUMBERS, "max_iter", 1e-3),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CONVERGES)
def test_a_hundredth_of_the_tolerance_and_ten_times_the_iterations_change_next_to_nothing(name):
    """The reason why ``tol`` and ``max_iter`` stand in NEUTRAL_OF."""
    kind, y, most, apart = CONVERGES[name]
    rows, new = (X[:, :1], NEW[:, :1]) if kind is CoxProcess else (X, NEW)
    usual = kind().get_params()
    more = {"tol": usual["tol"] / 100, most: 10 * usual[most]}
    said = [model.fit(rows, y) for model in (kind(), kind(**more))]
    tables = [one.predict_proba(new) if hasattr(one, "predict_proba") else one.predict(new) for one in said]
    np.testing.assert_allclose(*tables, atol=apart)
    assert {table.place_of(kind.__name__, one)[0] for one in more} == {"NEUTRAL_OF"}


@pytest.mark.parametrize("model", ["ordinal", "graded", "rasch"])
def test_questionnaires_are_converged_by_default(model):
    answers = np.digitize(X[:, :1] + np.linspace(-1, 1, 6) + RNG.logistic(size=(60, 6)), [0.0] if model == "rasch" else
                          [-1.0, 1.0]) + 0.0  # fmt: skip
    more = {"tol": 2e-4, "max_iter": 300} if model == "ordinal" else {"tol": 1e-6, "max_iter": 2000}
    shown = np.where(np.arange(6) % 2 == 0, answers, np.nan)
    said = [Questionnaire(model, **own).fit(answers).predict_proba(shown) for own in ({}, more)]
    np.testing.assert_allclose(*said, atol=1e-3)


ONLY_WITH = {  # class, rows and outcomes, settings that belong to another choice than the default
    "priors": (BayesianLogisticRegression, (X, TWO), {"df": 7.0}),
    "priors of counts": (PoissonRegression, (X, COUNTS), {"df": 7.0}),
    "noise": (GaussianProcessRegressor, (X, NUMBERS), {"df": 8.0, "likelihood_scale": 0.3, "low_rank": "nystroem"}),
    "rank": (GaussianProcessClassifier, (X, TWO), {"low_rank": "nystroem", "multi_class": "one_vs_one"}),
    "rank of rates": (CoxProcess, (X[:, :1], COUNTS), {"low_rank": "nystroem"}),
    "comparisons": (CollaborativePreference, (np.array([[u, u % 3, 3] for u in range(20)]), TWO[:20] * 2 - 1),
                    {"alpha": 0.7}),
    "topics": (lambda **own: MetadataTopicModel(2, random_state=0, **own), (COUNTS.reshape(12, 5), TWO[:12, None]),
               {"decay_every": 7}),
    "nets": (lambda **own: CollaborativeRNN(2, max_iter=2, random_state=0, **own), (THREE.reshape(4, 15).tolist(),),
             {"n_draws": 5}),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", ONLY_WITH)
def test_settings_of_another_choice_change_nothing(name):
    """The reason why they stand in NEUTRAL_OF."""
    kind, given, other = ONLY_WITH[name]
    one, same = (kind(**own).fit(*given) for own in ({}, other))
    for asked in ("predict_proba", "predict", "transform"):
        if hasattr(one, asked):
            rows = [0, 1] if name == "nets" else given[0]
            np.testing.assert_array_equal(getattr(one, asked)(rows), getattr(same, asked)(rows))
            break


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs_in_quick_mode(name, tmp_path):
    module_of(name).run(Script(located(name), tmp_path, quick=True))
    assert {entry["id"] for entry in claims.load(tmp_path)} == SCRIPTS[name]


def test_hex_is_won_by_a_chain_and_domineering_lost_by_who_cannot_move():
    down, across = small_games.Hex([0, 1, 4, 2, 8, 3]), small_games.Hex([4, 0, 8, 1, 12, 2, 13, 3])
    assert down.result(down.play(down.start, 12)) == 1.0 and across.result(across.start) == -1.0
    narrow = small_games.Domineering(rows=2, columns=1)
    assert narrow.moves(narrow.start) == [0] and narrow.result(narrow.play(narrow.start, 0)) == 1.0


def test_values_are_those_of_optimal_play_and_rivals_find_a_win_in_one():
    game = small_games.Hex([5, 1, 9, 2, 13, 3])  # +1 to move: cell 1 is taken, but 0 and 2 lie by the side
    values = small_games.solved(game)
    assert set(values) <= {-1.0, 1.0} and len(values) == len(game.moves(game.start))
    place = small_games.uct(game, (300,), 0, 0.7)[0]
    assert values[place] == values.max() and values[small_games.flat(game, (600,), 0)[0]] == values.max()
    assert np.array_equal(small_games.uct(game, (300,), 0, 0.7), [place])
