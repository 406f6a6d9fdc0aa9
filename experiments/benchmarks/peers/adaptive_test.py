"""An adaptive test of everybody by catsim, on answers that are given; runs in the peer's own environment.

Maximum information, its numerical search for the most likely trait, from 0. Prints the estimates after each item and
the CPU seconds; the estimator and the selector are catsim's, the loop over people is its simulator's, written out so
that answers are those given.
"""

import json
import sys
import time

import numpy as np
from catsim.estimation import NumericalSearchEstimator
from catsim.item_bank import ItemBank
from catsim.selection import MaxInfoSelector


def main(path, n_questions):
    problem = np.load(path)
    a, b, answers = problem["a"], problem["b"], problem["answers"]
    items = np.column_stack([a, b, np.zeros_like(a), np.ones_like(a)])
    bank = ItemBank(items)
    selector, estimator = MaxInfoSelector(), NumericalSearchEstimator()
    estimates = np.zeros((len(answers), n_questions))
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
    print(json.dumps({"estimates": estimates.tolist(), "seconds": time.process_time() - start}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
