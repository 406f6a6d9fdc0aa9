"""Choosing what to measure: predictive, scorer, cost, mask, argmax - and joint batches, once for all estimators.

    one           argmax_i  score(i) / cost(i)
    a batch       the next one given the earlier ones, whose outcomes are not known yet:
                  argmax_i  sum_s P(s) score(i | s) / cost(i)      over the scenarios s of ``given``

Informations chosen this way add up: I(y_1; u) + I(y_2; u | y_1) + ... is what the batch teaches jointly.  What is
pending is conditioned on in the same way.  Large pools are scored in chunks, which never change a result, and batches
are chosen from the short list of the best single candidates.
"""

from adaptive.selection.choosing import select
from adaptive.selection.scoring import expected_score

__all__ = ["expected_score", "select"]
