"""Queries, steps and batches of scikit-activeml or modAL, or scikit-learn's fit, inside the peer's own environment.

    python asks.py skactiveml|modal IN.npz STEPS

IN holds X, y and the labelled positions. Prints one JSON object of CPU seconds: of ``fit``, LogisticRegression's on the
labelled rows; of ``query``, the next row; of ``step``, that and its answer (of the peers whose query refits, the query
itself); of ``batch``, twenty rows at once. Each is the mean of STEPS but the batch, which is one; with STEPS 0 there is
the fit alone.
"""

import json
import sys
import time
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

warnings.filterwarnings("ignore")
BATCH = 20


def timed(act):
    start = time.process_time()
    act()
    return time.process_time() - start


def of_skactiveml(X, y, labelled, steps):
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import Badge, UncertaintySampling

    known = np.full(len(y), np.nan)
    known[labelled] = y[labelled]
    classifier = SklearnClassifier(LogisticRegression(), classes=np.unique(y))
    strategy = UncertaintySampling(method="entropy", random_state=0)

    def step():
        chosen = strategy.query(X=X, y=known, clf=classifier, batch_size=1)
        known[chosen] = y[chosen]

    step()
    taken = float(np.mean([timed(step) for _ in range(steps)]))
    batch = timed(lambda: Badge(random_state=0).query(X=X, y=known, clf=classifier, batch_size=BATCH))
    return {"query": taken, "step": taken, "batch": batch}


def of_modal(X, y, labelled, steps):
    from modAL.models import ActiveLearner
    from modAL.uncertainty import entropy_sampling

    learner = ActiveLearner(LogisticRegression(), entropy_sampling, X[labelled], y[labelled])
    learner.query(X)
    query = float(np.mean([timed(lambda: learner.query(X)) for _ in range(steps)]))

    def step():
        chosen, _ = learner.query(X)
        learner.teach(X[chosen], y[chosen])

    taken = float(np.mean([timed(step) for _ in range(steps)]))
    return {"query": query, "step": taken, "batch": timed(lambda: learner.query(X, n_instances=BATCH))}


def main():
    peer, path, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    data = np.load(path)
    X, y, labelled = data["X"], data["y"], data["labelled"]
    found = {"skactiveml": of_skactiveml, "modal": of_modal}[peer](X, y, labelled, steps) if steps else {}
    model = LogisticRegression()
    model.fit(X[labelled], y[labelled])
    found["fit"] = float(np.median([timed(lambda: model.fit(X[labelled], y[labelled])) for _ in range(3)]))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
