"""A design of about two seconds, run as a process of its own so that tests can kill it.

    python two_second_design.py LOG [seconds per measurement]

Prints "ready" when it starts to ask; continues LOG if it is there.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from adaptive.loop import EventLog, MaxSteps, SequentialDesign
from conftest import WithState

STEPS = 80
POOL = np.random.default_rng(0).normal(size=(200, 3))
ANSWERS = POOL @ [1.0, -2.0, 0.5] + 0.3 * np.random.default_rng(1).normal(size=len(POOL))


def design(log=None, pause=0.0):
    """Start the design, or continue it where the log is."""

    def measure(query):
        time.sleep(pause)
        return ANSWERS[query.positions]

    options = {"measure": measure, "stop": MaxSteps(STEPS)}
    if log is not None and Path(log).exists():
        return SequentialDesign.load(EventLog(log, snapshot_every=7), WithState(), POOL, **options)
    if log is not None:
        log = EventLog(log, snapshot_every=7)
    return SequentialDesign(WithState(), POOL, initial=4, random_state=5, log=log, **options)


if __name__ == "__main__":
    running = design(sys.argv[1], float(sys.argv[2]))
    print("ready", flush=True)
    running.run()
