"""An adaptive test of everybody by catsim, on answers that are given; runs in the peer's own environment.

Maximum information; the trait by catsim's numerical search for the most likely one, from 0, or (third argument "eap") by
its expectation under a standard normal prior on a grid, which catsim lacks and users of other packages have. Prints the
estimates after each item and the CPU seconds; the selector is catsim's, the loop over people is its simulator's, written
out so that answers are those given.
"""

import json
import sys
import time

import numpy as np
from catsim.estimation import NumericalSearchEstimator
from catsim.item_bank import ItemBank
from catsim.selection import MaxInfoSelector


class ExpectedAPosteriori:
    """The mean of the trait given the answers, under a standard normal prior."""

    def estimate(self, item_bank, administered_items, response_vector, est_theta):
        grid = np.linspace(-5, 5, 201)
        a, b = item_bank.items[administered_items, 0], item_bank.items[administered_items, 1]
        signs = np.where(response_vector, 1.0, -1.0)
        weights = -np.logaddexp(0, -signs * a * (grid[:, None] - b)).sum(axis=1) - grid**2 / 2
        weights = np.exp(weights - weights.max())
        return weights @ grid / weights.sum()


def main(path, n_questions, how="ml"):
    problem = np.load(path)
    a, b, answers = problem["a"], problem["b"], problem["answers"]
    items = np.column_stack([a, b, np.zeros_like(a), np.ones_like(a)])
    bank = ItemBank(items)
    selector, estimator = MaxInfoSelector(), NumericalSearchEstimator() if how == "ml" else ExpectedAPosteriori()
    estimates, items_asked = np.zeros((len(answers), n_questions)), []
    start = time.process_time()
    for u, row in enumerate(answers):
        asked, given, theta = [], [], 0.0
        for k in range(n_questions):
            chosen = int(selector.select(item_bank=bank, administered_items=asked, est_theta=theta))
            asked.append(chosen)
            given.append(bool(row[chosen]))
            theta = float(
                estimator.estimate(
                    item_bank=bank, administered_items=asked, response_vector=given, est_theta=theta
                )
            )
            estimates[u, k] = theta
        items_asked.append(asked)
    seconds = time.process_time() - start
    print(json.dumps({"estimates": estimates.tolist(), "items": items_asked, "seconds": seconds}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
