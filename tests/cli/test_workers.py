"""Workers of a command: Ctrl-C is not for them, from before they are Python on."""

from __future__ import annotations

import os
import signal

import pytest
from joblib.externals.loky import get_reusable_executor

from adaptive.cli.workers import spread


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="does not apply: Windows has no signal masks")
def test_ctrl_c_never_reaches_a_worker_and_reaches_the_command_again():
    def held_back(k):
        return k, os.getpid(), signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])

    get_reusable_executor().shutdown()  # of an earlier test, whose workers began without being held back
    found = spread(held_back, [{"k": k} for k in range(4)], jobs=2, title="looking")
    assert [k for k, *_ in found] == [0, 1, 2, 3]
    assert all(held for _, process, held in found) and os.getpid() not in {process for _, process, _ in found}
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
