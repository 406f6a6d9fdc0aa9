"""One locked virtual environment per peer, made on first use: ``python_of("modal")`` is its interpreter.

The locks (``NAME.txt`` beside this file) are ``pip freeze`` outputs.  Environments live in ``ADAPTIVE_PEERS``
(default ``~/.cache/adaptive-peers``), never in the project.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

LOCKS = Path(__file__).parent


def python_of(name: str) -> Path:
    """Return the interpreter of the peer's environment, made from its lock if it is not there yet."""
    lock = LOCKS / f"{name}.txt"
    if not lock.exists():
        raise ValueError(f"name must be one of {sorted(path.stem for path in LOCKS.glob('*.txt'))}, got {name!r}.")
    stamp = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    home = Path(os.environ.get("ADAPTIVE_PEERS", Path.home() / ".cache" / "adaptive-peers")) / f"{name}-{stamp}"
    python = home / "bin" / "python"
    if not (home / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", "-r", str(lock)], check=True)
        (home / "complete").touch()
    return python


def versions_of(name: str, *packages: str) -> dict[str, str]:
    """Return the locked versions of some packages of a peer's environment."""
    lines = (LOCKS / f"{name}.txt").read_text().split()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    return {package: pinned[package] for package in packages}
