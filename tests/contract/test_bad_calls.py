"""Bad input anywhere is one sentence that names the argument, or it is taken and what is believed is finite.

A refusal changes nothing, and no call says a thing twice. One item per estimator; the call at fault is in the message.
"""

import pytest

from tests.contract.bad_calls import calls_of, fault_of
from tests.contract.cases import CASES, toys

OURS = [case for case in CASES if case not in toys.CASES]
SLOW = {"ImageReconstructor of patterns with a tree", "BayesianLogisticRegression student_t"}


@pytest.mark.parametrize("case", OURS, ids=lambda case: case.name)
def test_a_bad_call_is_refused_in_a_sentence_or_right(case):
    estimator, faults, n_calls = case.fitted(), [], 0
    methods = ("partial_fit", "select") if case.name in SLOW else ("partial_fit", "fit", "select", "predict", "tell")
    for call in calls_of(case, methods):
        fault, estimator, _ = fault_of(case, estimator, call)
        n_calls += 1
        if fault:
            faults.append(f"{call.name}: {fault}")
    assert not faults, "\n".join(faults)
    assert n_calls > 80
