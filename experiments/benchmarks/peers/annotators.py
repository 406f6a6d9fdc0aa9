"""Runs inside the peers' environment: labels of several people spent and read as other packages do.

Arguments: arm (mace | activelab | interval_estimation), an .npz with marks, first (how many labels are drawn at random
first), number, and per pool X{k}, said{k} (rows x people), test{k}, truth{k}. Prints JSON: accuracy and log loss at the
marks, per pool. What the packages leave to their users is a logistic regression, tuned by scikit-learn
(LogisticRegressionCV at its settings), on soft labels where there are such. Pool k is seeded by k.
"""

import json
import sys
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegressionCV

warnings.filterwarnings("ignore")
BATCH = 5


def regression(X, one):
    """predict_proba of a regression on probabilities of class 1."""
    hard = (one > 0.5).astype(int)
    if min(np.bincount(hard, minlength=2)) < 2:
        share = (1.0 + one.sum()) / (2.0 + len(one))
        return lambda rows: np.tile([1 - share, share], (len(rows), 1))
    folds = min(5, int(np.bincount(hard, minlength=2).min()))
    both, labels = np.concatenate([X, X]), np.repeat([1, 0], len(X))
    weights = np.concatenate([one, 1.0 - one])
    kept = weights > 1e-3
    model = LogisticRegressionCV(cv=folds, max_iter=2000).fit(both[kept], labels[kept], sample_weight=weights[kept])
    return model.predict_proba


def votes(Y):
    """Rows that have labels, and the share of their labels that says 1."""
    rows = np.flatnonzero((~np.isnan(Y)).any(axis=1))
    return rows, np.nanmean(Y[rows], axis=1)


def judged(table, truth):
    said = np.clip(table[np.arange(len(truth)), truth], 1e-12, 1.0)
    return [float((table.argmax(axis=1) == truth).mean()), float(-np.log(said).mean())]


def mace(X, said, marks, first, rng):
    """Pairs at random; crowd-kit's MACE says how probable each label is."""
    import pandas as pd
    from crowdkit.aggregation import MACE

    order = rng.permutation(said.size)
    for mark in marks:
        rows, who = np.divmod(order[:mark], said.shape[1])
        answers = pd.DataFrame({"task": rows, "worker": who, "label": said[rows, who]})
        found = MACE(n_restarts=10, n_iter=50, random_state=0).fit_predict_proba(answers)
        one = found[1].reindex(np.unique(rows)).to_numpy() if 1 in found else np.zeros(len(np.unique(rows)))
        yield regression(X[np.unique(rows)], np.clip(one, 0.0, 1.0))


def activelab(X, said, marks, first, rng):
    """cleanlab's scores say which row is labelled next, once more or for the first time, by a random other person."""
    from cleanlab.multiannotator import get_active_learning_scores, get_label_quality_multiannotator

    Y = np.full(said.shape, np.nan)  # its scores ask for some rows with two labels
    for row in rng.permutation(len(X))[: first // 2]:
        people = rng.permutation(said.shape[1])[:2]
        Y[row, people] = said[row, people]
    n = 2 * (first // 2)
    while True:
        rows, share = votes(Y)
        model = regression(X[rows], (share > 0.5).astype(float))
        if len(np.unique(share > 0.5)) == 2:
            proba = np.clip(model(X), 1e-6, 1 - 1e-6)
            others = np.setdiff1d(np.arange(len(X)), rows)
            answers = Y[rows][:, ~np.isnan(Y).all(axis=0)]
            found = get_label_quality_multiannotator(answers, proba[rows], verbose=False)
            consensus = found["label_quality"]["consensus_label"].to_numpy().astype(int)
            if len(np.unique(consensus)) == 2:
                model = regression(X[rows], consensus.astype(float))
                proba = np.clip(model(X), 1e-6, 1 - 1e-6)
            again, new = get_active_learning_scores(answers, proba[rows], proba[others])
            order = np.concatenate([rows, others])[np.argsort(np.concatenate([again, new]), kind="stable")]
        else:
            order = rng.permutation(len(X))
        if n in marks:
            yield model
        if n >= marks[-1]:
            return
        for row in [row for row in order if np.isnan(Y[row]).any()][:BATCH]:
            person = rng.choice(np.flatnonzero(np.isnan(Y[row])))
            Y[row, person] = said[row, person]
            n += 1
            if n in marks and n % BATCH:
                break


def interval_estimation(X, said, marks, first, rng):
    """scikit-activeml chooses rows by uncertainty, and people by bounds of their agreement; its own model of people."""
    from skactiveml.classifier.multiannotator import AnnotatorLogisticRegression
    from skactiveml.pool.multiannotator import IntervalEstimationThreshold

    Y = drawn_first(said, first, rng)
    strategy = IntervalEstimationThreshold(random_state=0)
    learner = AnnotatorLogisticRegression(classes=[0, 1], random_state=0)
    n = first
    while True:
        if n in marks:
            yield learner.fit(X, Y).predict_proba
        if n >= marks[-1]:
            return
        for row, person in strategy.query(X, Y, learner, batch_size=min(BATCH, marks[-1] - n)):
            Y[row, person] = said[row, person]
            n += 1


def drawn_first(said, first, rng):
    Y = np.full(said.shape, np.nan)
    at = np.unravel_index(rng.permutation(said.size)[:first], said.shape)
    Y[at] = said[at]
    return Y


def main(arm, path):
    with np.load(path) as held:
        data = {name: held[name] for name in held.files}
    marks, results = data["marks"].tolist(), []
    for k in range(int(data["number"])):
        run = {"mace": mace, "activelab": activelab, "interval_estimation": interval_estimation}[arm]
        looks = run(data[f"X{k}"], data[f"said{k}"], marks, int(data["first"]), np.random.default_rng(k))
        results.append([judged(look(data[f"test{k}"]), data[f"truth{k}"]) for look in looks])
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
