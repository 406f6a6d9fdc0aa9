"""Time full runs whose minutes nobody noted, into a folder that is thrown away: no verdict changes.

    python -m experiments.times --limit 60            # every script of a claim that has no time; stop each after 60 s
    python -m experiments.times --limit 600 experiments/inference/gallery.py

What is noted are seconds of the processor, workers included, which a busy machine does not lengthen as it does those of
the clock; kept parts of runs (``runs.py``) are made anew. A script that is stopped, or fails, stays without.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile

from experiments import catalogue, claims

PATIENCE = 30  # seconds of the clock for each of the processor's: others may share the machine

__all__ = ["main", "untimed"]

# they judge the tree itself
NO_RUN = ("experiments/shown_by_tests.py", "experiments/journeys.py", "experiments/house/site.py")


def untimed() -> list[str]:
    """Return the scripts of claims without a time, those first that nobody says take minutes."""
    known = catalogue.times()
    scripts = {one["script"] for one in claims.load(claims.RESULTS)} - set(known) - set(NO_RUN)
    return sorted(scripts, key=lambda script: (catalogue.minutes(script) != catalogue.NOT_TIMED, script))


def seconds_of(script: str, limit: float) -> float | None:
    """Return the processor's seconds of a full run; None where it was stopped or failed."""
    with tempfile.TemporaryDirectory(prefix="adaptive-times-") as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            found = subprocess.run(
                [sys.executable, "-m", catalogue.module(script), "--out", f"{folder}/results"],
                env=os.environ | {"ADAPTIVE_RUNS": f"{folder}/runs"}, timeout=PATIENCE * limit,
                capture_output=True, text=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit))),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if found.returncode:
        print(f"{script}: {(found.stderr.strip().splitlines() or ['stopped'])[-1][:150]}", flush=True)
        return None
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(arguments: list[str]) -> int:
    """Time what is named, or everything without a time."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scripts", nargs="*", help="paths from the root; default: all that have no time")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds until a script is stopped (default 60)")
    options = parser.parse_args(arguments)
    for script in options.scripts or untimed():
        seconds = seconds_of(script, options.limit)
        print(f"{script}: {'-' if seconds is None else f'{seconds:.1f} s'}", flush=True)
        if seconds is not None:
            catalogue.note_time(script, seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
