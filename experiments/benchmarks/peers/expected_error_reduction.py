"""Runs inside scikit-activeml's environment: CPU seconds per candidate of its expected error reduction.

Arguments: an .npz with X, y and the labelled positions. Prints one JSON object per strategy: seconds per candidate and
the utilities of all candidates.
"""

import json
import sys
import time
import warnings

import numpy as np
from skactiveml.classifier import SklearnClassifier
from skactiveml.pool import MonteCarloEER, ValueOfInformationEER
from sklearn.linear_model import LogisticRegression

warnings.filterwarnings("ignore")


def main() -> None:
    data = np.load(sys.argv[1])
    X, y, labelled = data["X"], data["y"], data["labelled"]
    known = np.full(len(y), np.nan)
    known[labelled] = y[labelled]
    candidates = np.flatnonzero(np.isnan(known))
    classifier = SklearnClassifier(LogisticRegression(), classes=np.unique(y))
    strategies = {
        "MonteCarloEER": (MonteCarloEER(random_state=0), {"X_eval": X}),
        "ValueOfInformationEER": (ValueOfInformationEER(random_state=0), {}),
    }
    found = {}
    for name, (strategy, options) in strategies.items():
        start = time.process_time()
        _, utilities = strategy.query(
            X=X, y=known, clf=classifier, candidates=candidates, return_utilities=True, **options
        )
        seconds = (time.process_time() - start) / len(candidates)
        found[name] = {"seconds": seconds, "utilities": np.ravel(utilities)[candidates].tolist()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
