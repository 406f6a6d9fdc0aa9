"""What a linear classifier believes: one kind of belief per link and number of classes, behind one interface.

A belief is made from a :class:`Training` set and never changes; learning more makes another one.

    Belief.learnt(settings, training, earlier=None)     fit, warm where ``earlier`` is a belief of the same kind
    Belief.unfitted_predictive(settings, rows, labels, target=..., random_state=...)
    belief.predictive(rows, labels, target=..., random_state=...)
    belief.probabilities(rows) -> (m, c)                belief.coefficients() -> (k, n_features), (k,)
    belief.prior_scale, .posterior, .log_evidence, .evidence_kind, .objective_trace, .n_iter, .converged
    belief.state() -> plain data                        Belief.restored(settings, training, state)
"""

from adaptive.estimators.linear.binary_belief import BinaryBelief
from adaptive.estimators.linear.labels import codes_of, known_classes
from adaptive.estimators.linear.one_vs_rest_belief import OneVsRestBelief
from adaptive.estimators.linear.settings import Settings
from adaptive.estimators.linear.softmax_belief import SoftmaxBelief
from adaptive.estimators.linear.training import Training

__all__ = ["BinaryBelief", "OneVsRestBelief", "Settings", "SoftmaxBelief", "Training", "codes_of", "known_classes"]
