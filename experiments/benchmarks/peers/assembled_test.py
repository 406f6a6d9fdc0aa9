"""An adaptive test of everybody by adaptivetesting, on answers that are given; runs in the peer's own environment.

Maximum information, and the trait by its expectation under a standard normal prior. Prints the estimates and the items
after each question, and the CPU seconds.
"""

import json
import sys
import time

import numpy as np
from adaptivetesting.implementations import TestAssembler
from adaptivetesting.math.estimators import ExpectedAPosteriori, NormalPrior
from adaptivetesting.models import ItemPool


def main(path, n_questions):
    problem = np.load(path)
    a, b, answers = problem["a"].tolist(), problem["b"].tolist(), problem["answers"].astype(int)
    zeros, ones, ids = [0.0] * len(a), [1.0] * len(a), list(range(len(a)))
    estimates, items = [], []
    start = time.process_time()
    for u, row in enumerate(answers):
        pool = ItemPool.load_from_list(a=a, b=b, c=zeros, d=ones, simulated_responses=row.tolist(), ids=ids)
        test = TestAssembler(
            pool, "", str(u), ExpectedAPosteriori,
            {"prior": NormalPrior(0, 1), "optimization_interval": (-6, 6)},
        )  # fmt: skip
        for _ in range(n_questions):
            test.run_test_once()
        estimates.append([one.ability_estimation for one in test.test_results])
        items.append([one.id for one in test.answered_items])
    seconds = time.process_time() - start
    print(json.dumps({"estimates": estimates, "items": items, "seconds": seconds}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
