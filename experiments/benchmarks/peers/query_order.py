"""Runs inside a peer's environment: the order in which a strategy asks for the labels of whole pools.

Arguments: peer (skactiveml | modal), strategy, an .npz with X{k}, y{k}, first{k} (positions labelled at the start) and
sizes (of the queries, the initial one first), the first k, number of pools. Prints one JSON list of positions per pool. The learner
is scikit-learn's logistic regression, for committees five of them on bootstrap samples; pool k is seeded by k.
"""

import json
import sys
import warnings

import numpy as np
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression

warnings.filterwarnings("ignore")
MEMBERS = 5


def skactiveml_order(method, X, y, first, sizes, seed):
    from skactiveml import pool
    from skactiveml.classifier import ParzenWindowClassifier, SklearnClassifier

    def wrapped(model):
        return SklearnClassifier(model, classes=[0, 1], random_state=seed)

    learner = wrapped(LogisticRegression())
    committee = wrapped(BaggingClassifier(LogisticRegression(), n_estimators=MEMBERS, random_state=seed))
    strategy, needs = {
        "margin": (pool.UncertaintySampling(method="margin_sampling", random_state=seed), {"clf": learner}),
        "query_by_committee": (pool.QueryByCommittee(random_state=seed), {"ensemble": committee}),
        "core_set": (pool.CoreSet(random_state=seed), {}),
        "discriminative": (pool.DiscriminativeAL(random_state=seed), {"discriminator": learner}),
        "badge": (pool.Badge(random_state=seed), {"clf": learner}),
        "probabilistic": (
            pool.ProbabilisticAL(random_state=seed),
            {"clf": ParzenWindowClassifier(classes=[0, 1], metric_dict={"gamma": "mean"})},
        ),
    }[method]
    known = np.full(len(y), np.nan)
    known[first] = y[first]
    order = first.tolist()
    for size in sizes[1:]:
        chosen = strategy.query(X=X, y=known, batch_size=int(size), **needs)
        known[chosen] = y[chosen]
        order.extend(int(k) for k in chosen)
    return order


def modal_order(method, X, y, first, sizes, seed):
    from modAL.models import ActiveLearner, Committee
    from modAL.uncertainty import margin_sampling

    np.random.seed(seed)
    order, left = first.tolist(), np.setdiff1d(np.arange(len(y)), first)
    if method == "margin":
        learner = ActiveLearner(LogisticRegression(), margin_sampling, X[first], y[first])
    else:  # the committee's default strategy: vote entropy
        members = []
        while len(members) < MEMBERS:
            drawn = np.random.choice(first, len(first))
            if len(np.unique(y[drawn])) == 2:
                members.append(ActiveLearner(LogisticRegression(), X_training=X[drawn], y_training=y[drawn]))
        learner = Committee(members)
    for size in sizes[1:]:
        chosen = left[np.ravel(learner.query(X[left], n_instances=int(size))[0])]
        learner.teach(X[chosen], y[chosen])
        order.extend(int(k) for k in chosen)
        left = np.setdiff1d(left, chosen)
    return order


def main():
    peer, method, path, start, n_pools = sys.argv[1:]
    data = np.load(path)
    make = {"skactiveml": skactiveml_order, "modal": modal_order}[peer]
    orders = [
        make(method, data[f"X{k}"], data[f"y{k}"], data[f"first{k}"], data["sizes"], k)
        for k in range(int(start), int(start) + int(n_pools))
    ]
    print(json.dumps(orders))


if __name__ == "__main__":
    main()
