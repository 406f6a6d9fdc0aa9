"""The loop around the real estimator: resumed runs are bit-identical to uninterrupted ones."""

import numpy as np
import pytest

from adaptive.estimators import BayesianLogisticRegression
from adaptive.loop import EventLog, SequentialDesign

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
LABELS = np.where(X @ [2.0, -1.0, 0.5, 0.0] + RNG.logistic(size=60) > 0, "yes", "no")


def measure(query):
    return LABELS[query.positions]


@pytest.mark.parametrize("snapshot_every", [4, 1000])
@pytest.mark.parametrize(
    "prior, inference", [("gaussian", "expectation_propagation"), ("laplace", "variational_bounds")]
)
def test_resume_is_bit_identical(tmp_path, prior, inference, snapshot_every):
    def estimator():
        return BayesianLogisticRegression(prior, inference=inference, classes=["no", "yes"])

    options = {"initial": 4, "random_state": 2}
    whole = SequentialDesign(estimator(), X, measure, **options).run(14)
    for stopped in (1, 9):
        log = EventLog(tmp_path / f"log{stopped}", snapshot_every=snapshot_every)
        with SequentialDesign(estimator(), X, measure, log=log, **options) as design:
            design.run(stopped)
            design.ask(another=True)
        with SequentialDesign.load(log.path, estimator(), X, measure) as again:
            again.run(14 - stopped)
            for name in ("step", "position", "label", "outcome", "score"):
                assert repr(again.history_[name]) == repr(whole.history_[name])
            assert np.array_equal(again.estimator_.coef_, whole.estimator_.coef_)
            assert np.array_equal(again.estimator_.predict_proba(X), whole.estimator_.predict_proba(X))
            assert again.estimator_.log_evidence_ == whole.estimator_.log_evidence_


def test_pending_batches_and_refusals():
    design = SequentialDesign(BayesianLogisticRegression(classes=["no", "yes"]), X, batch_size=3, random_state=0)
    first, second = design.ask(), design.ask(another=True)
    assert not set(first.positions) & set(second.positions)
    with pytest.raises(ValueError, match="perhaps"):
        design.tell(first, ["yes", "no", "perhaps"])
    design.tell(second, measure(second)).tell(first, measure(first))
    assert design.iteration == 2 and np.isfinite(design.estimator_.predict_proba(X)).all()
