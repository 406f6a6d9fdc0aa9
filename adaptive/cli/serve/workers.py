"""Several processes behind one address: each accepts on the same socket, and one that ends is begun anew.

adaptive serve ... --workers 2        the parent: holds the store and the socket, answers nothing
  adaptive serve ... (twice)          the same command, with the socket's number in the environment
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time

from adaptive.cli.errors import CommandError

__all__ = ["inherited", "supervise"]

SOCKET = "ADAPTIVE_SERVE_SOCKET"
SHORT = 3.0  # seconds; a worker that ends before that was never well
MOST_SHORT = 3
PATIENCE = 15.0  # seconds for the last answers


def inherited() -> socket.socket | None:
    """Return the socket of the parent, where this is a worker; it then ends with its parent."""
    number = os.environ.pop(SOCKET, None)
    if number is None:
        return None
    threading.Thread(target=_end_with_parent, daemon=True).start()
    return socket.socket(fileno=int(number))


def _end_with_parent() -> None:
    sys.stdin.read()  # nothing comes but the end, when the parent is gone
    os.kill(os.getpid(), signal.SIGTERM)


def supervise(n: int, listening: socket.socket) -> None:
    """Keep ``n`` workers running until Ctrl-C.

    Raises
    ------
    CommandError
        If workers end again and again as soon as they have begun.
    """
    workers = [_begun(listening) for _ in range(n)]
    begun, short = [time.monotonic()] * n, 0
    try:
        while True:
            time.sleep(0.1)
            for k, worker in enumerate(workers):
                if worker.poll() is None:
                    continue
                assert worker.stdin is not None
                worker.stdin.close()
                killed = worker.returncode in (-signal.SIGKILL, -signal.SIGTERM)  # by somebody, which is no fault here
                short = short + (not killed) if time.monotonic() - begun[k] < SHORT else 0
                if short >= MOST_SHORT:
                    raise CommandError(f"workers end as soon as they begin (exit code {worker.returncode}).")
                workers[k], begun[k] = _begun(listening), time.monotonic()
    finally:
        for worker in workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGTERM)
        for worker in workers:
            try:
                worker.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                worker.kill()


def _begun(listening: socket.socket) -> subprocess.Popen[bytes]:
    number = listening.fileno()
    return subprocess.Popen(
        [sys.executable, "-m", "adaptive.cli", *sys.argv[1:]], stdin=subprocess.PIPE, pass_fds=[number],
        env={**os.environ, SOCKET: str(number)},
    )  # fmt: skip
