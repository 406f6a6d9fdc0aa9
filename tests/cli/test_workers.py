"""Workers of a command: Ctrl-C is not for them, from before they are Python on."""

from __future__ import annotations

import os
import signal

import pytest

from adaptive.cli.workers import spread


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="does not apply: Windows has no signal masks")
def test_ctrl_c_never_reaches_a_worker_and_reaches_the_command_again():
    def held_back(k):
        return k, os.getpid(), signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])

    found = spread(held_back, [{"k": k} for k in range(4)], jobs=2, title="looking")
    assert [k for k, *_ in found] == [0, 1, 2, 3]
    assert all(held for _, process, held in found) and os.getpid() not in {process for _, process, _ in found}
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
