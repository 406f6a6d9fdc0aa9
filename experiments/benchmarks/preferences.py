"""Costs of comparisons: scoring all of 1,000 items, one answer of one person, and 5,000 of them beside choix.

All comparisons of a person against the time of a product of two 1,000 x 1,000 matrices in the same run; the peer runs
in an environment of its own. One thread, CPU seconds, medians.

    python experiments/benchmarks/preferences.py [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import itertools
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy.special import ndtr

sys.path.insert(0, str(Path(__file__).parents[2]))

from adaptive import CollaborativePreference, scorers
from adaptive.estimators.preferences.inference.people import FINE, settle
from adaptive.estimators.preferences.inference.site_rules import RULES
from adaptive.estimators.preferences.inference.spaces import space_of
from adaptive.estimators.preferences.inference.utility_prior import UtilityPrior
from experiments.benchmarks.cpu_seconds import median_seconds
from experiments.benchmarks.peers.environments import python_of, versions_of
from experiments.script import Script, command

PEER = Path(__file__).parent / "peers" / "preferences.py"


def compared(n_items: int, n_users: int, each: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Comparisons of people whose utilities have three components."""
    rng = np.random.default_rng(seed)
    utilities = rng.standard_normal((n_users, 3)) @ rng.standard_normal((3, n_items))
    user, first = np.repeat(np.arange(n_users), each), rng.integers(0, n_items, n_users * each)
    second = (first + rng.integers(1, n_items, len(first))) % n_items
    apart = utilities[user, first] - utilities[user, second] + rng.standard_normal(len(user))
    return np.column_stack([user, first, second]), np.where(apart > 0, 1, -1)


def model_of(n_items: int, n_users: int, each: int) -> CollaborativePreference:
    """A few iterations: enough for what is timed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CollaborativePreference(3, max_iter=3, random_state=0).fit(*compared(n_items, n_users, each))


def all_pairs(script: Script) -> None:
    """Moments and gains of every comparison of one person."""
    n = 100 if script.quick else 1000
    person = model_of(n, 60, 30).user(0)
    pairs = np.column_stack(np.triu_indices(n, 1))
    matrix = np.random.default_rng(0).standard_normal((n, n))
    product = median_seconds(lambda: matrix @ matrix, 5)
    scored = median_seconds(lambda: scorers.information_gain(person.predictive(pairs), 0), 3)
    chosen = median_seconds(lambda: person.select(pairs), 3)
    script.judge(
        "ours-preferences-bench-all-pairs", scored <= 10 * product, kind="must hold",
        claim=f"The gains of all {len(pairs):,} comparisons of {n:,} items of one person cost at most ten products of "
        f"two {n:,} x {n:,} matrices.",
        target="at most 10 products",
        value={"products": round(scored / product, 2), "seconds": round(scored, 4),
               "with the choice (`select`), products": round(chosen / product, 2)},
        reason="One thread. Half of the time goes into entropies, by quadrature.",
    )  # fmt: skip


def one_answer(script: Script) -> None:
    """``partial_fit`` of a person who has given 20 answers about 30 items."""
    person = model_of(30, 100, 20).user("new")
    pairs = list(itertools.combinations(range(30), 2))
    rng = np.random.default_rng(0)
    order = rng.permutation(len(pairs))
    for k in order[:20]:
        person.partial_fit([pairs[k]], [1 if rng.random() < 0.7 else -1])
    state, taken = person.state(), []
    for k in order[20 : 25 if script.quick else 220]:
        person.restore(state)
        answer = [1 if rng.random() < 0.7 else -1]
        taken.append(median_seconds(lambda k=k, answer=answer: person.partial_fit([pairs[k]], answer), 1))
    value = 1e3 * float(np.median(taken))
    script.judge(
        "ours-preferences-bench-answer", value <= 1.0, kind="must hold",
        claim="One more answer of a person with 20 answers about 30 items is learnt in a millisecond.",
        target="at most 1 ms", value={"ms": round(value, 3)},
        reason="Median of 200 answers, one thread, starting from the sites as they were. All sites settle to 1e-8 of "
        "a marginal in about eight sweeps, each of which is some fifteen small calls of NumPy.",
    )  # fmt: skip


def beside_choix(script: Script) -> None:
    """5,000 comparisons of 100 items by one person, the same prior."""
    n, m = (20, 300) if script.quick else (100, 5000)
    rows, y = compared(n, 1, m + 2000)
    rows = np.where((y > 0)[:, None], rows[:, 1:], rows[:, :0:-1])  # winners first
    learn, test = rows[:m], rows[m:]
    prior = UtilityPrior(np.zeros(n), np.zeros((n, 0)), 4.0)
    first, second, won = learn[None, :, 0], learn[None, :, 1], np.ones((1, m))

    def ours() -> tuple[np.ndarray, np.ndarray]:
        space = space_of(prior, first, second)
        settle(space, won, RULES["expectation_propagation"], np.zeros((1, m)), np.zeros((1, m)), FINE)
        items, within, slope = (part[0] for part in space.statistics())
        cross = prior.block(np.arange(n), items)
        return cross @ slope, prior.dense() - cross @ within @ cross.T

    taken, found = median_seconds(ours, 3), ours()
    if script.quick:  # the peer needs an environment
        return
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, winners=learn[:, 0], losers=learn[:, 1], n_items=n, precision=0.25)
        subprocess.run([str(python_of("choix")), str(PEER), str(source), str(target)], check=True)
        with np.load(target) as stored:
            theirs, peer = (stored["mean"], stored["covariance"]), float(stored["seconds"])

    def bits(belief: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        mean, covariance = belief
        a, b = test.T
        spread = covariance[a, a] + covariance[b, b] - 2.0 * covariance[a, b]
        return -np.log2(ndtr((mean[a] - mean[b]) / np.sqrt(1.0 + spread)))

    apart = float(abs(bits(found) - bits(theirs)).max())
    script.judge(
        "ours-preferences-bench-choix", taken <= 0.2 * peer and apart <= 1e-3, kind="must hold",
        claim="Expectation propagation on 5,000 comparisons of 100 items agrees with choix's to 1e-3 bits, in a fifth "
        "of its time.",
        target="at most a fifth of the peer's CPU seconds; every predictive within 1e-3 bits",
        value={"ours": round(taken, 3), "peer": round(peer, 3), "largest difference, bits": float(f"{apart:.1e}")},
        reason=f"choix {versions_of('choix', 'choix')['choix']}, probit, prior variance 4; one thread. Its loop takes "
        "one comparison after the other; ours takes all at once in the space of items, to 1e-10 where it stops at "
        "1e-4.",
    )  # fmt: skip


def run(script: Script) -> None:
    """All three."""
    all_pairs(script)
    one_answer(script)
    beside_choix(script)


if __name__ == "__main__":
    command(run, __doc__, __file__)
