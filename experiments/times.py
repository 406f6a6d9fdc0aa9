"""Time full runs whose minutes nobody noted, into a folder that is thrown away: no verdict changes.

    python -m experiments.times --limit 60            # every script of a claim that has no time; stop each after 60 s
    python -m experiments.times --limit 600 experiments/inference/gallery.py

What is noted are seconds of the processor, workers included, which a busy machine does not lengthen as it does those of
the clock; kept parts of runs (``runs.py``) are made anew. A script that is stopped at the limit is noted as "over" it;
one that fails stays as it was.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile

from experiments import catalogue, claims
from experiments.script import processor_seconds

PATIENCE = 30  # seconds of the clock for each of the processor's: others may share the machine

__all__ = ["main", "untimed"]

# they judge the tree itself
NO_RUN = ("experiments/shown_by_tests.py", "experiments/house/journeys.py", "experiments/house/site.py")


def untimed() -> list[str]:
    """Return the scripts of claims without a time that nobody has waited for, nor says takes minutes."""
    scripts = {one["script"] for one in claims.load(claims.RESULTS)} - set(NO_RUN)
    return sorted(script for script in scripts if catalogue.minutes(script) == catalogue.NOT_TIMED)


def seconds_of(script: str, limit: float) -> tuple[float, bool] | None:
    """Return the processor's seconds of a full run, and whether it ended; None where it failed."""
    before = processor_seconds()
    with tempfile.TemporaryDirectory(prefix="adaptive-times-") as folder:
        try:
            found = subprocess.run(
                [sys.executable, "-m", catalogue.module(script), "--out", f"{folder}/results"],
                env=os.environ | {"ADAPTIVE_RUNS": f"{folder}/runs"}, timeout=PATIENCE * limit,
                capture_output=True, text=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5)),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None
    seconds = processor_seconds() - before
    if found.returncode == 0:
        return seconds, True
    if found.returncode == -signal.SIGXCPU:
        return seconds, False
    print(f"{script}: {(found.stderr.strip().splitlines() or [f'exit {found.returncode}'])[-1][:150]}", flush=True)
    return None


def main(arguments: list[str]) -> int:
    """Time what is named, or everything without a time."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scripts", nargs="*", help="paths from the root; default: all that have no time")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds until a script is stopped (default 60)")
    options = parser.parse_args(arguments)
    for script in options.scripts or untimed():
        found = seconds_of(script, options.limit)
        if found is None:
            print(f"{script}: -", flush=True)
            continue
        seconds, ended = found
        print(f"{script}: {'' if ended else 'over '}{seconds:.1f} s", flush=True)
        catalogue.note_time(script, seconds, stopped=not ended)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
