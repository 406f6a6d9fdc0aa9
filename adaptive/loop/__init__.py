"""The loop: ask, measure, tell; stopping rules; the log that lets a run continue where it stopped."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from adaptive.loop.at_most import AtMost
    from adaptive.loop.compare import compare_with_random
    from adaptive.loop.comparison import Comparison
    from adaptive.loop.log.event_log import EventLog, LogError, read_log
    from adaptive.loop.metrics import METRICS
    from adaptive.loop.optimizer import Optimizer
    from adaptive.loop.order_known import OrderKnown
    from adaptive.loop.predictive_check import PredictiveCheck, UnlikelyAnswerWarning
    from adaptive.loop.query import Query
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.loop.stopping import (
        BestMoveKnown,
        InformationLeft,
        MaxCost,
        MaxSeconds,
        MaxSteps,
        StablePredictions,
        StoppingRule,
        TargetDeviation,
    )
    from adaptive.pool import PoolExhausted

__all__ = [
    "METRICS",
    "AtMost",
    "BestMoveKnown",
    "Comparison",
    "EventLog",
    "InformationLeft",
    "LogError",
    "MaxCost",
    "MaxSeconds",
    "MaxSteps",
    "Optimizer",
    "OrderKnown",
    "PoolExhausted",
    "PredictiveCheck",
    "Query",
    "SequentialDesign",
    "StablePredictions",
    "StoppingRule",
    "TargetDeviation",
    "UnlikelyAnswerWarning",
    "compare_with_random",
    "read_log",
]

__getattr__, __dir__ = _lazily(__name__)
