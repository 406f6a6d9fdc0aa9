"""The same first job in three packages: 30 labels by margin for a random forest, as short as each allows.

Runs inside an environment of the package; argv: name, mistake ("" or one of MISTAKES). Prints JSON: CPU seconds,
accuracy on the rest, lines of code, and the error of the mistake.
"""

import inspect
import json
import sys
import time
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

warnings.filterwarnings("ignore")
MISTAKES = ("a value is missing", "one answer too few", "a misspelt label", "a pool of text")
N_LABELS, N_FIRST = 30, 10


def adaptive(X, forest, answer):
    from adaptive import SequentialDesign

    design = SequentialDesign(forest, X, lambda query: answer(query.positions), scorer="margin", initial=N_FIRST, random_state=0)
    return design.run(N_LABELS - N_FIRST + 1).estimator_


def skactiveml(X, forest, answer):
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling

    y, first = np.full(len(X), np.nan), np.random.default_rng(0).choice(len(X), N_FIRST, replace=False)
    y[first] = answer(first)
    strategy, model = UncertaintySampling(method="margin_sampling", random_state=0), SklearnClassifier(forest, classes=[0, 1])
    for _ in range(N_LABELS - N_FIRST):
        chosen = strategy.query(X=X, y=y, clf=model)
        y[chosen] = answer(chosen)
    return model.fit(X, y)


def modal(X, forest, answer):
    from modAL.models import ActiveLearner
    from modAL.uncertainty import margin_sampling

    first = np.random.default_rng(0).choice(len(X), N_FIRST, replace=False)
    learner = ActiveLearner(forest, margin_sampling, X_training=X[first], y_training=answer(first))
    left = np.delete(np.arange(len(X)), first)
    for _ in range(N_LABELS - N_FIRST):
        chosen, _ = learner.query(X[left])
        learner.teach(X[left[chosen]], answer(left[chosen]))
        left = np.delete(left, chosen)
    return learner


def main():
    name, mistake = sys.argv[1], sys.argv[2]
    job = globals()[name]
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(X))
    pool, held_out = order[:400], order[400:]
    candidates, asked = X[pool].copy(), []
    if mistake == MISTAKES[0]:
        candidates[7, 3] = np.nan
    if mistake == MISTAKES[3]:
        candidates = candidates.astype(str)
        candidates[0, 0] = "17,99"

    def answer(positions):
        asked.append(len(positions))
        labels = y[pool][positions]
        if len(asked) == 3 and mistake == MISTAKES[1]:
            return labels[:-1]
        return np.where(labels == 1, "1", "O") if len(asked) == 3 and mistake == MISTAKES[2] else labels

    begun, error, accuracy = time.process_time(), "", None
    try:
        model = job(candidates, RandomForestClassifier(30, random_state=0), answer)
        accuracy = float(np.mean(model.predict(X[held_out]) == y[held_out]))
    except Exception as problem:
        error = f"{type(problem).__name__}: {' '.join(str(problem).split())}"
    lines = [line for line in inspect.getsource(job).splitlines()[1:] if line.strip() and "import" not in line]
    seconds = time.process_time() - begun
    print(json.dumps({"seconds": seconds, "accuracy": accuracy, "lines": len(lines), "error": error[:300]}))


if __name__ == "__main__":
    main()
