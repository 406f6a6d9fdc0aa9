"""The model beside the classifier that one would have taken instead."""

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.dummy import DummyClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.neighbors import KNeighborsClassifier

from adaptive import (
    BayesianLogisticRegression,
    CollaborativePreference,
    CoxProcess,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    ParticleEstimator,
    PoissonFactorization,
    PoissonRegression,
    Questionnaire,
    SequentialDesign,
    SparseLinearRegression,
)
from adaptive.cli import run
from adaptive.diagnostics import beside, beside_rival, rival_in_words
from adaptive.diagnostics.beside import paired
from adaptive.diagnostics.beside_rival import in_order
from adaptive.diagnostics.rivals import SmoothedRate

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 2))
LINES = X.sum(axis=1) > 0
RING = np.hypot(*X.T) > 1.2  # which no line tells apart


def designed(y, n=60, pool=X, **options):
    model = BayesianLogisticRegression(classes=[False, True], hyperparameters="mode")
    return SequentialDesign(model, pool, lambda query: y[query.positions], random_state=0, **options).run(n)


def test_who_is_ahead_is_said_only_where_it_is_certain():
    behind = beside_rival(designed(RING), rival=KNeighborsClassifier(9))
    assert behind["difference"] > 2 * behind["standard_error"] and "Take it for predictions" in rival_in_words(behind)
    ahead = beside_rival(designed(LINES), rival=DummyClassifier())
    assert ahead["difference"] < -2 * ahead["standard_error"]
    assert "Certainly better here: the model" in rival_in_words(ahead)
    equal = beside_rival(
        designed(LINES), rival=BayesianLogisticRegression(classes=[False, True], hyperparameters="mode")
    )
    assert equal["difference"] == 0 and equal["log_loss"] == equal["rival_log_loss"]
    assert "Neither is certainly better" in rival_in_words(equal)


def test_the_design_is_not_changed_and_the_parts_are_the_same_each_time():
    design = designed(LINES, 30)
    before = design.estimator_.predict_proba(X).tobytes()
    assert beside_rival(design) == beside_rival(design)
    assert design.estimator_.predict_proba(X).tobytes() == before


def test_labels_from_before_count_and_sparse_rows_are_rows():
    found = beside_rival(designed(LINES, 15), (X[:10], LINES[:10]))
    assert found["n"] == 25
    assert beside_rival(designed(LINES, 30, sparse.csr_matrix(X)))["n"] == 30


def test_too_few_labels_tell_nothing_and_other_pools_are_refused():
    with pytest.raises(ValueError, match="known must hold"):
        beside_rival(BayesianLogisticRegression())
    with pytest.raises(ValueError, match="adaptive calibrate --short-form"):
        beside_rival(Questionnaire(), (X, LINES))
    assert beside_rival(designed(LINES, 12)) is None
    assert beside_rival(designed(np.zeros(120, dtype=bool), 30)) is None
    rows = [(float(a), float(b)) for a, b in X]

    def pool(estimator):
        return np.array(rows)

    model = BayesianLogisticRegression(classes=[False, True], hyperparameters="mode")
    with pytest.raises(ValueError, match="fixed pool of rows"):
        beside_rival(SequentialDesign(model, pool))


ROWS, WAVE = RNG.standard_normal((60, 4)), np.linspace(-3, 3, 60)[:, None]
LINE = ROWS @ [1.0, 1.0, 0.0, 0.0] + 0.5 * RNG.standard_normal(60)
COUNTS = RNG.poisson(np.exp(1 + ROWS @ [0.8, -0.5, 0.0, 0.0])).astype(float)
PLACES = np.linspace(0, 10, 80)[:, None]
BLOCKS = [(f"u{a}", f"i{b}") for a in range(20) for b in range(8)]


def block_counts(alike):
    users, items = np.divmod(np.arange(160), 8)
    return RNG.poisson(2.0 if alike else np.where((users < 10) == (items < 4), 4.0, 0.4), 160).astype(float)


def comparisons(alike):
    """Of four items, by people of two opposite tastes, or of one."""
    value, rows, won = np.array([-1.5, -0.5, 0.5, 1.5]), [], []
    for user in range(30):
        for _ in range(12):
            a, b = RNG.choice(4, 2, replace=False)
            gap = (value[a] - value[b]) * (1 if alike or user % 2 else -1)
            rows.append((f"p{user}", f"i{a}", f"i{b}"))
            won.append(1 if RNG.random() < 1 / (1 + np.exp(-2 * gap)) else -1)
    return rows, np.array(won)


SHORT = 4.0 * RBF(0.02, "fixed")  # knows nothing of any other place
AHEAD = {  # of each family: drawn so that its model is what is needed, and so that it is not
    "numbers": (GaussianProcessRegressor(), (WAVE, np.sin(2 * WAVE[:, 0]) + 0.1 * RNG.standard_normal(60))),
    "places": (CoxProcess(), (PLACES, RNG.poisson(20 * (1 + np.sin(2.5 * PLACES[:, 0]))).astype(float))),
    "pairs": (PoissonFactorization(1, random_state=0), (BLOCKS, block_counts(False))),
    "comparisons": (CollaborativePreference(1, random_state=0), comparisons(False)),
    "labels": (GaussianProcessClassifier(4.0 * RBF(1.0), optimizer=None), (X, RING)),
}
BEHIND = {
    "numbers": (GaussianProcessRegressor(RBF(0.05, "fixed"), hyperparameters="mode"), (ROWS, LINE)),
    "sparse numbers": (SparseLinearRegression(noise_variance=1e-3, prior_scale=1e-3), (ROWS, LINE)),
    "counts": (PoissonRegression(prior_scale=1e-3), (ROWS, COUNTS)),
    "places": (CoxProcess(SHORT, optimizer=None, mean=9.0), (PLACES, RNG.poisson(2.0, 80).astype(float))),
    "pairs": (PoissonFactorization(1, fit_bias=False, user_variance=1e-3), (BLOCKS, 4.0 + block_counts(True))),
    "comparisons": (CollaborativePreference(0, max_iter=1, alpha=100.0), comparisons(True)),
    "labels": (GaussianProcessClassifier(SHORT, optimizer=None), (X, LINES)),
}


@pytest.mark.parametrize("family", sorted(AHEAD))
def test_a_family_that_is_needed_is_certainly_ahead(family):
    model, known = AHEAD[family]
    found = beside_rival(model, known, n_tried=3)
    assert found["difference"] < -found["margin"] and "Certainly better here: the model" in rival_in_words(found)


@pytest.mark.parametrize("family", sorted(BEHIND))
def test_a_family_that_is_certainly_behind_says_so(family):
    model, known = BEHIND[family]
    found = beside_rival(model, known, n_tried=3)
    said = rival_in_words(found)
    assert found["difference"] > found["margin"] and f"{found['rival']}" in said and "Take it for predictions" in said


def test_a_model_of_ones_own_stands_beside_a_ridge_regression():
    line = ParticleEstimator(
        model=lambda p, rows: np.exp(p[:, :1] * rows[:, 0]),
        prior=[stats.norm(0, 1)],
        noise=0.1,
        n_particles=200,
        random_state=0,
    )
    rows = np.linspace(0, 3, 30)[:, None]
    found = beside_rival(line, (rows, np.exp(rows[:, 0]) + 0.1 * RNG.standard_normal(30)), n_tried=2)
    assert found["rival"] == "scikit-learn's RidgeCV" and found["difference"] < -found["margin"]


def test_outcomes_of_one_group_count_once():
    d = RNG.standard_normal(20)
    mean, error, margin = paired(d)
    assert (mean, error) == pytest.approx((d.mean(), d.std(ddof=1) / np.sqrt(20)))
    assert margin / error == pytest.approx(stats.t.ppf(0.975, 19))
    assert paired(np.repeat(d, 5), np.repeat(np.arange(20), 5)) == pytest.approx((mean, error, margin))
    assert paired(np.repeat(d, 5))[1] < 0.5 * error  # as if each said something new
    assert beside({"log_loss": ([1.0], [2.0])}, "it") is None


def test_the_second_judge_is_named_only_where_the_rival_is_certainly_ahead_by_it():
    loss, right = RNG.random(50), np.zeros(50)
    behind = beside({"log_loss": (loss, loss), "accuracy": (right, RNG.random(50) < 0.5)}, "coins", of="labels")
    assert "By accuracy certainly ahead: coins" in rival_in_words(behind)
    equal = beside({"log_loss": (loss, loss), "accuracy": (right, right)}, "coins", of="labels")
    assert "certainly ahead" not in rival_in_words(equal)


def test_a_smoother_of_counts_without_structure_is_a_constant_rate():
    y = np.tile([1.0, 3.0], 40)  # neighbours differ: any width but the widest is misled
    flat = SmoothedRate().fit(PLACES, y)
    assert np.ptp(flat.predict(PLACES)) < 1e-9 and flat.predict(PLACES)[0] == pytest.approx(2.0)
    exposed = SmoothedRate(exposure=1).fit(np.column_stack([PLACES, np.full(80, 2.0)]), y)
    np.testing.assert_allclose(exposed.predict(np.array([[5.0, 1.0], [5.0, 4.0]])), [1.0, 4.0], rtol=1e-9)


def test_the_report_of_label_says_it(tmp_path, capsys):
    lines = [
        "a,b,label",
        *(f"{a:.3f},{b:.3f},{'yes' if one else 'no'}" for (a, b), one in zip(X[:60], LINES, strict=False)),
    ]
    lines += [f"{a:.3f},{b:.3f}," for a, b in X[60:]]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    out, asked = ["--out", str(tmp_path / "run")], str(tmp_path / "next.csv")
    assert run(["label", str(tmp_path / "rows.csv"), "--classes", "no,yes", "--ask", asked, "--batch", "4", *out]) == 0
    header, *rest = (tmp_path / "next.csv").read_text().splitlines()
    place = header.split(",").index("answer")
    filled = []
    for k, line in enumerate(rest):
        cells = line.split(",")
        cells[place] = ("no", "yes")[k % 2]
        filled.append(",".join(cells))
    (tmp_path / "next.csv").write_text("\n".join([header, *filled]) + "\n")
    assert run(["label", "--tell", asked, *out]) == 0
    capsys.readouterr()
    assert run(["label", "--report", *out]) == 0
    assert "On 64 labels, each predicted while it was left out" in capsys.readouterr().out


def test_counts_of_pairs_are_judged_by_their_order_too():
    """By all pairs of a user's held-out counts; a model that is ahead by nats and behind by rank says the second."""
    users, y = ["a"] * 4 + ["b"] * 3 + ["c"], np.array([1.0, 2.0, 2.0, 5.0, 3.0, 3.0, 3.0, 1.0])
    said = np.array([1.5, 1.0, 3.0, 3.0, 1.0, 2.0, 3.0, 9.0])
    found = in_order(users, y, said)
    np.testing.assert_allclose(found, [2 / 3, 1 / 2, 3 / 4, 5 / 6, 0.5, 0.5, 0.5, 0.5])
    model, known = AHEAD["pairs"]
    of_pairs = beside_rival(model, known, n_tried=2)
    assert of_pairs["share_in_order"] > of_pairs["rival_share_in_order"]
    nats, right = np.full(40, 1.0) + 0.01 * RNG.standard_normal(40), np.full(40, 0.5)
    both = beside({"log_loss": (nats, nats + 0.1), "share_in_order": (right - 0.2, right + 0.2)}, "means")
    assert "By share in order certainly ahead: means, 0.700 for 0.300" in rival_in_words(both)


def test_a_sparse_regression_stands_beside_lasso():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 12))
    y = 2.0 * rows[:, 0] + 0.5 * rng.standard_normal(60)
    found = beside_rival(SparseLinearRegression(), (rows, y), n_tried=2)
    assert found["rival"] == "scikit-learn's LassoCV"
    assert found["rival_log_loss"] == pytest.approx(0.5 * np.log(2 * np.pi * np.e * 0.25), abs=0.25)
