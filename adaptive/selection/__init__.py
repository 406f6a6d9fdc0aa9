"""Choosing what to measure: predictive, scorer, cost, mask, argmax - and joint batches, once for all estimators.

    one           argmax_i  score(i) / cost(i)
    a batch       the next one given the earlier ones, whose outcomes are not known yet:
                  argmax_i  sum_f P(f) score(i | f) / cost(i)      over futures f, in which they are known

Informations chosen this way add up: I(y_1; u) + I(y_2; u | y_1) + ... is what the batch teaches jointly.  Up to two
candidates that are pending are conditioned on in the same way; of more, eight joint draws of their answers are the
futures (:mod:`adaptive.selection.worlds`).  Large pools are scored in chunks, which never change a result, and
batches are chosen from the short list of the best single candidates; those of Gaussian outcomes end with exchanges.
A :class:`Certificate` says what a set tells, and what any set could at most (:mod:`adaptive.selection.bounds`).
"""

from adaptive.selection.bounds import Certificate, certificate, most_to_learn
from adaptive.selection.choosing import select
from adaptive.selection.evaluation import evaluate
from adaptive.selection.futures import MOST_CASES, N_FUTURES, Futures

__all__ = [
    "MOST_CASES",
    "N_FUTURES",
    "Certificate",
    "Futures",
    "certificate",
    "evaluate",
    "most_to_learn",
    "select",
]
