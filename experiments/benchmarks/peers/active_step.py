"""Runs inside a peer's environment: seconds of CPU for each query-and-learn step on the pool in ``argv[2]``.

Arguments: peer name (skactiveml | modal | sklearn-refit), an .npz with X, y and the labelled positions, number of steps.
Prints one JSON list of seconds.
"""

import json
import sys
import time
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

warnings.filterwarnings("ignore")


def main() -> None:
    peer, path, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    data = np.load(path)
    X, y, labelled = data["X"], data["y"], data["labelled"]
    seconds = []
    if peer == "skactiveml":
        from skactiveml.classifier import SklearnClassifier
        from skactiveml.pool import UncertaintySampling

        known = np.full(len(y), np.nan)
        known[labelled] = y[labelled]
        strategy = UncertaintySampling(method="entropy", random_state=0)
        classifier = SklearnClassifier(LogisticRegression(), classes=[0, 1])
        for _ in range(steps):  # the query fits the classifier itself
            start = time.process_time()
            chosen = strategy.query(X=X, y=known, clf=classifier, batch_size=1)
            known[chosen] = y[chosen]
            seconds.append(time.process_time() - start)
    elif peer == "modal":
        from modAL.models import ActiveLearner

        learner = ActiveLearner(estimator=LogisticRegression(), X_training=X[labelled], y_training=y[labelled])
        for _ in range(steps):
            start = time.process_time()
            chosen, _ = learner.query(X)
            learner.teach(X[chosen], y[chosen])
            seconds.append(time.process_time() - start)
    else:
        sys.exit(f"unknown peer {peer!r}")
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
