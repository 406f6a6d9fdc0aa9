"""Mean field on Last.fm's counts beside hpfrec: time to a converged held-out loss, and the peer's time to its own stop.

92,834 counts as floor(sqrt(plays) + 1/2), ten components, 2,000 of them held out. Ours: CPU seconds until the held-out
loss, looked at every ten rounds (looking is not timed), stays within .01 nats of where 100 rounds end. The peer runs in
an environment of its own, one thread.

    python experiments/benchmarks/factorization_peer.py [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from adaptive import datasets
from adaptive.estimators.pairs.inference.masses import log_masses
from adaptive.estimators.pairs.inference.rounds import Entries, Factors, Kind, climb, started
from experiments.benchmarks.peers.environments import python_of, versions_of
from experiments.script import Script, command

K, ITEM_VARIANCE, LOOK_EVERY = 10, 0.2, 10
PEER = Path(__file__).parent / "peers" / "factorization.py"


def held_out(factors: Factors, users: np.ndarray, items: np.ndarray, y: np.ndarray) -> float:
    """Loss by the moments of log rates, the same at every look."""
    own, other = factors.sides
    m, v, mu, s = own.mean[users], own.spread[users], other.mean[items], other.spread[items]
    mean = factors.offset + np.sum(m * mu, axis=1)
    variance = np.sum(v * s + m * m * s + mu * mu * v, axis=1)
    return -float(np.mean([log_masses(y[k], mean[k : k + 1], variance[k : k + 1])[0] for k in range(len(y))]))


def ours(train: tuple, test: tuple, lengths: tuple[int, int], rounds: int) -> dict[str, list[float]]:
    """Seconds and losses along the rounds."""
    entries = Entries((train[0], train[1]), train[2], np.ones(len(train[2])), lengths)
    kind, offset = Kind("mean_field"), float(np.log(train[2].mean()))
    options = {"user_variance": 1.0, "item_variance": ITEM_VARIANCE, "fit_bias": True, "offset": offset}
    start = time.process_time()
    factors = started(entries, K, kind, rng=np.random.default_rng(0), **options)
    begun, found = time.process_time() - start, {"seconds": [], "losses": []}
    for n in range(LOOK_EVERY, rounds + 1, LOOK_EVERY):  # from the start each time: looking would end a stride
        start = time.process_time()
        reached = climb(entries, factors, kind, max_iter=n, tol=0.0, quiet=True)
        found["seconds"].append(begun + time.process_time() - start)
        found["losses"].append(held_out(reached, *test))
    return found


def run(script: Script) -> None:
    """Both on the same counts."""
    pairs, plays = datasets.lastfm()
    users, items = (np.unique(column, return_inverse=True)[1] for column in pairs.T)
    y = np.floor(np.sqrt(plays) + 0.5)
    order = np.random.default_rng(0).permutation(len(y))
    order = order[:3000] if script.quick else order
    test, train = order[: 2000 : 5 if script.quick else 1], order[2000:]
    lengths = int(users.max()) + 1, int(items.max()) + 1
    parts = [(users[part], items[part], y[part]) for part in (train, test)]
    ours(*parts, lengths, LOOK_EVERY)  # compiled
    found = ours(*parts, lengths, 10 if script.quick else 100)
    losses = np.array(found["losses"])
    shown = [round(float(v), 4) for v in losses[[0, len(losses) // 2, -1]]]
    beyond = np.flatnonzero(abs(losses - losses[-1]) > 0.01)
    reached = found["seconds"][0 if not len(beyond) else int(beyond[-1]) + 1]
    if script.quick:  # the peer needs an environment
        return
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, users=parts[0][0], items=parts[0][1], y=np.maximum(parts[0][2], 1.0))
        subprocess.run([str(python_of("hpfrec")), str(PEER), str(source), str(target), str(K)], check=True)
        with np.load(target) as stored:
            theirs, iterations = float(stored["seconds"]), int(stored["iterations"])
    script.judge(
        "ours-counts-bench-hpfrec", reached <= theirs, kind="must hold",
        claim="Mean field of 90,000 counts, 10 components, is within .01 nats of its converged held-out loss in at "
        "most hpfrec's time to its own stop.",
        target="at most the peer's CPU seconds",
        value={"ours": round(reached, 2), "rounds looked at": len(losses) * LOOK_EVERY, "peer": round(theirs, 2),
               "peer's iterations": iterations, "losses": shown},
        reason=f"One thread. hpfrec {versions_of('hpfrec', 'hpfrec')['hpfrec']} fits gamma factors to these counts by "
        "cheap updates; a round of ours is dearer (ours-counts-bench-passes). Converged: 100 rounds, the last of which "
        "still gain; losses are those after 10, 60 and 100.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
