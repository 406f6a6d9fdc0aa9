"""Diagnostics of a run, from its own questions and answers: is it learning, is it calibrated, is it time to stop?

    learning_curve(design, X, y)      a metric on labelled rows, after every answer
    calibration(design[, X, y])       were outcomes as probable as the model said? on labelled rows, or on the answers
    class_balance(design)             which outcomes have come back so far, and what share of the pool is believed to be
    when_to_stop(design)              information left, how much predictions still move, accuracy expected of one more

    predictive_check(design)          how surprising each answer was, before it was learnt
    simulation_based_calibration(design, n), uniformity(table)
                                      ranks of the truth after n designed runs: is the whole loop honest?

    beside_rival(design)              left-out outcomes predicted by the model, and by the simplest rival of its field
    beside(judges, rival)             the same of predictions that are there already; rival_in_words(found) says it
    mean_rank(estimator, pairs)       where held-out pairs stand in the ranking of what their users have not seen
    information_score(p, y, y_train)  bits per label that predictions tell beyond the class frequencies
    variance_factor(log_score)        how far off left-out outcomes are, beside how far off they were said to be

All but the last seven take a design and return columns (a dict of lists, one entry per row), which `adaptive.plots`
draws and a data frame takes. They replay the design's answers on a copy of the estimator that it started from; the
design is not changed.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from adaptive.diagnostics.beside import beside, rival_in_words
    from adaptive.diagnostics.beside_rival import beside_rival
    from adaptive.diagnostics.calibration import calibration
    from adaptive.diagnostics.class_balance import class_balance
    from adaptive.diagnostics.information_score import information_score
    from adaptive.diagnostics.learning_curve import learning_curve
    from adaptive.diagnostics.mean_rank import mean_rank
    from adaptive.diagnostics.predictive_check import predictive_check
    from adaptive.diagnostics.simulation_based_calibration import simulation_based_calibration, uniformity
    from adaptive.diagnostics.stopping_report import in_words, when_to_stop
    from adaptive.estimators.variance_factor import variance_factor

__all__ = [
    "beside",
    "beside_rival",
    "calibration",
    "class_balance",
    "in_words",
    "information_score",
    "learning_curve",
    "mean_rank",
    "predictive_check",
    "rival_in_words",
    "simulation_based_calibration",
    "uniformity",
    "variance_factor",
    "when_to_stop",
]

__getattr__, __dir__ = _lazily(__name__)
