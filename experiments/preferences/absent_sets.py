"""What would need MovieLens with its genres, or sushi B with its features: recorded as not run.

Where a user has a copy, `datasets.movielens` and `datasets.sushi("b")` read ratings and rankings; the features of kinds
of sushi and the genres of movies come in files of their own, which no loader reads.
"""

from __future__ import annotations

from experiments import claims
from experiments.script import Script, command

ABSENT = {
    "ko-tab-3.7": (
        "Sushi B: item features help a little beside users' factors (GPVU slightly better than VU).",
        "Sushi B and its features are not here, and the numbers are lost in the text at hand. On sushi A with features "
        "by hand the same comparison is ko-tab-3.5 (200 people, 10 kinds).",
    ),
    "ko-fig-3.6": (
        "Leading factors of movies roughly group them by genre.",
        "Neither MovieLens 10M with its genres nor a stand-in with labelled items is here; the largest set that ran "
        "is Jester (300 people, 100 jokes, no labels: ko-tab-3.9).",
    ),
}


def run(script: Script) -> None:
    """Two entries."""
    for id, (claim, reason) in ABSENT.items():
        claims.record(
            id, claim=claim, kind="to judge", target="as the source says", value="no data", verdict="not run",
            reason=reason, script=script.path, results=script.results,
        )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
