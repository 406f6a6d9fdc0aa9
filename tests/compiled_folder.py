"""Where Numba keeps what it compiled: a folder of its own for the content of all compiled sources together.

Numba recompiles a function when its own file has changed, and does not look at those that it calls in other files: a
caller goes on with the callee that it was compiled with. Under a name that follows from all of them nothing stale is
found, and a fresh clone of the same sources finds all of it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMPILED = re.compile(r"\bn?jit\b|\bLANES\b")
UNUSED = 7 * 86400  # seconds after which a folder is taken away


def compiled_folder() -> Path:
    """Return the folder for the sources as they are, made if need be; old ones go."""
    content = hashlib.sha256(str(ROOT).encode())  # Numba files by path: other clones would only grow this folder
    for path in sorted(path for room in ("adaptive", "designs", "experiments") for path in (ROOT / room).rglob("*.py")):
        text = path.read_bytes()
        if COMPILED.search(text.decode("utf-8", "replace")):
            content.update(str(path.relative_to(ROOT)).encode() + b"\0" + text + b"\0")
    above = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "adaptive-designs" / "compiled"
    folder = above / content.hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    for other in above.iterdir():
        with suppress(FileNotFoundError):  # another process took it away
            if other.stat().st_mtime < time.time() - UNUSED:
                shutil.rmtree(other, ignore_errors=True)
    return folder


if __name__ == "__main__":
    print(compiled_folder())
