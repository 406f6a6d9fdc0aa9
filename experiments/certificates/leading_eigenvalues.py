"""Certificates of designs with more than a thousand rows, where all eigenvalues take too long: what leading ones prove.

Two real pools, abstracts and posts to label for a regression on their words (Cora, newsgroups), and sensors on a grid
of 50 x 50 under a Gaussian process with rough paths. Beside the leading eigenvalues stand the greedy's prefixes, the
tangent where it ends, and the relaxation by all eigenvalues, which the certificate leaves out there.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_matrix

from adaptive import datasets
from adaptive.linalg.relaxations import Budget, frank_wolfe, leading
from adaptive.predictive.joint_gaussian import pivoted_root
from adaptive.selection.bounds.certificates import LEADING, MOST_LEADING
from adaptive.selection.bounds.greedy import Greedy, greedy
from experiments.certificates.problems import standardised
from experiments.script import Script, command

WORDS = 1_500
CHOSEN = 1_050  # of unknowns and rows alike there are more than a thousand


def run(script: Script) -> None:
    """Bounds over what the greedy tells, and seconds of a processor."""
    table: dict[str, list[object]] = {
        name: [] for name in ("problem", "prefixes", "tangent", "leading", "all", "greedy, s", "leading, s", "all, s")
    }
    gaps, smaller, times = {}, {}, {}
    for name in POOLS:
        found = script.kept("leading-eigenvalues", measured, name, script.quick)
        told = float(found["told"])
        over = {name: float(found[name]) / told for name in ("prefixes", "tangent", "leading", "all")}
        seconds = found["seconds"].tolist()
        for column, value in zip(table.values(), [name, *over.values(), *seconds], strict=True):
            column.append(value if isinstance(value, str) else round(float(value), 3))
        simple = min(over["prefixes"], over["tangent"]) - 1
        tightened = min(simple, over["leading"] - 1)
        smaller[name] = round(tightened / max(simple, 1e-9), 3)
        gaps[name] = {"without": round(simple, 4), "with": round(tightened, 4)}
        times[name] = round(seconds[1] / seconds[0], 2)
    script.table(
        table, "ours-certificate-leading",
        f"Bounds over what the greedy's {CHOSEN} rows tell: by its prefixes, the tangent where it ends, {LEADING} "
        "leading eigenvalues ({MOST_LEADING} iterations), and all of them (20).",
    )  # fmt: skip
    script.judge(
        "ours-certificate-leading", max(smaller.values()) <= 0.5 and max(times.values()) <= 5.0,
        claim="Of designs with thousands of rows, 800 leading eigenvalues leave at most half of the gap that prefixes "
        "and tangent leave, in no more than five times the greedy choice's time.",
        target="the gap with them at most 0.5 of the gap without, on each of three pools; time at most 5 times the "
        "greedy choice's",
        value={"gap": gaps, "gap with over without": smaller, "time over the greedy's": times},
        seed=0,
    )  # fmt: skip


def measured(name: str, quick: bool) -> dict[str, np.ndarray]:
    """Bounds, and seconds of the greedy, of leading and of all eigenvalues."""
    rows = POOLS[name](quick)
    n = min(40 if quick else CHOSEN, len(rows) // 2)
    budget = Budget(np.ones(len(rows)), float(n))
    found: Greedy = (first := _timed(lambda: greedy(rows, budget)))[0]
    start = np.bincount(found.chosen, minlength=len(rows)).astype(float)
    some, some_seconds = _timed(lambda: leading(rows, budget, start, r=n, k=LEADING, n_iter=MOST_LEADING).bound)
    every, every_seconds = _timed(lambda: frank_wolfe(rows, budget, start, r=n, n_iter=20).bound)
    return {
        "told": np.array(found.information), "prefixes": np.array(found.prefixes), "tangent": np.array(found.tangent),
        "leading": np.array(some), "all": np.array(every), "seconds": np.array([first[1], some_seconds, every_seconds]),
    }  # fmt: skip


def abstracts(quick: bool) -> np.ndarray:
    """Rows of standardised words, in units of the noise: that of an answer by the prior."""
    return _of_words(datasets.cora()[0], quick)


def posts(quick: bool) -> np.ndarray:
    """Rows of 3,000 posts of all groups, likewise."""
    table = datasets.all_newsgroups()[0]
    return _of_words(table[np.random.default_rng(0).permutation(table.shape[0])[:3_000]], quick)


def sensors(quick: bool) -> np.ndarray:
    """Rows of the places of a grid, under a Gaussian process."""
    side = 9 if quick else 50
    x, y = np.meshgrid(*[np.linspace(0, 1, side)] * 2)
    places = np.stack([x.ravel(), y.ravel()], axis=1)
    return pivoted_root(np.exp(-np.sqrt(np.square(places[:, None] - places).sum(axis=2)) / 0.1))[:, None]


def _of_words(table: csr_matrix, quick: bool) -> np.ndarray:
    common = np.argsort(-np.asarray((table > 0).sum(axis=0)).ravel(), kind="stable")[: 60 if quick else WORDS]
    return standardised(np.log1p(table[:, common].toarray()))[: 120 if quick else None, None]


POOLS = {"abstracts of Cora": abstracts, "posts of twenty newsgroups": posts, "sensors on a grid": sensors}


def _timed(act: Callable[[], object]) -> tuple[object, float]:
    begun = time.process_time()
    found = act()
    return found, time.process_time() - begun


if __name__ == "__main__":
    command(run, __doc__, __file__)
