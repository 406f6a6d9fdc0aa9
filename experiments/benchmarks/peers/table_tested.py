"""A test from a table of answers, as a user of girth and catsim writes it; each step in the environment that has it.

    python table_tested.py items ANSWERS.csv N        in girth's: prints a and b from the first N people
    python table_tested.py test ANSWERS.csv N K A B   in catsim's: asks the others K questions; A and B are JSON lists

Both know answers 0 and 1 only, so that answers of 0 to 4 are cut at the median of each item. Gaps are left out. Prints
JSON with the estimates and the lines of code.
"""

import csv
import inspect
import json
import sys

import numpy as np


def table(path):
    with open(path, encoding="utf-8") as stream:
        rows = list(csv.reader(stream))[1:]
    answers = np.array([[float(cell or "nan") for cell in row[1:]] for row in rows])
    return np.where(np.isnan(answers), np.nan, answers > np.nanmedian(answers, axis=0) - 0.5)


def items(path, n_first):
    from girth import tag_missing_data, twopl_mml

    answers = np.nan_to_num(table(path)[: int(n_first)], nan=-1).astype(int).T
    found = twopl_mml(tag_missing_data(answers, [0, 1]))
    return {"a": np.asarray(found["Discrimination"]).tolist(), "b": np.asarray(found["Difficulty"]).tolist()}


def test(path, n_first, n_questions, a, b):
    from catsim.estimation import NumericalSearchEstimator
    from catsim.item_bank import ItemBank
    from catsim.selection import MaxInfoSelector

    a, b, estimates = np.array(json.loads(a)), np.array(json.loads(b)), []
    bank = ItemBank(np.column_stack([a, b, np.zeros_like(a), np.ones_like(a)]))
    selector, estimator = MaxInfoSelector(), NumericalSearchEstimator()
    for row in table(path)[int(n_first) :]:
        asked, given, theta, gaps = [], [], 0.0, list(np.flatnonzero(np.isnan(row)))
        for _ in range(int(n_questions)):
            chosen = int(selector.select(item_bank=bank, administered_items=asked + gaps, est_theta=theta))
            asked.append(chosen)
            given.append(bool(row[chosen]))
            theta = float(estimator.estimate(item_bank=bank, administered_items=asked, response_vector=given, est_theta=theta))
        estimates.append(theta)
    return {"estimates": estimates}


def main(name, *arguments):
    job = globals()[name]
    found = job(*arguments)
    parts = (table, job) if name == "items" else (job,)
    lines = [line for part in parts for line in inspect.getsource(part).splitlines() if line.strip()]
    print(json.dumps(found | {"lines": len(lines)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
