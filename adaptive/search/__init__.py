"""Exact search in huge pools: the best n candidates of very many, most of which are never scored.

Candidates lie in blocks; a bound says how good the best one of a block can be; blocks are looked at in the order of
their bounds, until the next one cannot hold any better candidate than those found:

    best_pairs   pairs (user, item) by  mean + deviations * sd  of the product u . v of two uncertain vectors, or by
                 a score that grows with both, such as what a count teaches
    best_rows    rows by a scorer that falls with |mean| and grows with the variance of the projection

The answer is what scoring everything would give, ties included.  Where bounds exclude nothing (many dimensions, equal
norms) everything is scored, and a warning says so.
"""

from adaptive.search.balls import Balls
from adaptive.search.bounded import Found
from adaptive.search.pairs import best_pairs
from adaptive.search.rows import best_rows

__all__ = ["Balls", "Found", "best_pairs", "best_rows"]
