"""Freed memory is kept from the first operator of a process on; importing allocates nothing of the kind."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np

from adaptive.memory import keep_freed_memory
from adaptive.operators import Identity

ROOT = Path(__file__).resolve().parents[2]


def test_importing_allocates_no_large_block():
    """Imported once more, so that only what is the library's own is traced: its code takes about six megabytes."""
    code = (
        "import sys, tracemalloc, adaptive\n"
        "for name in [name for name in sys.modules if name.partition('.')[0] == 'adaptive']:\n"
        "    del sys.modules[name]\n"
        "tracemalloc.start()\n"
        "import adaptive\n"
        "print(tracemalloc.get_traced_memory()[1])\n"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(found.stdout) < 16 * 2**20


def times_asked() -> int:
    """How often memory was really asked for, since the last time it was forgotten."""
    return keep_freed_memory.cache_info().misses


def test_the_first_operator_of_a_process_asks_for_it_and_no_other_one():
    keep_freed_memory.cache_clear()
    Identity((4, 4)).forward(np.zeros((4, 4)))
    Identity((3,)).adjoint(np.zeros(3))
    assert times_asked() == 1


def test_an_operator_that_was_sent_to_a_worker_asks_for_it_there():
    sent = pickle.dumps(Identity((2,)))
    keep_freed_memory.cache_clear()
    operator = pickle.loads(sent)
    assert times_asked() == 0
    operator.normal(np.ones(2))
    assert times_asked() == 1
