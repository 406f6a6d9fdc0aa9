"""For all tests: one BLAS thread, nothing stale among what is compiled, one line on skips for want of a data set."""

from __future__ import annotations

import os

import pytest

from tests.compiled_folder import compiled_folder

# Before NumPy is imported: tests run in a process per core, where threads would only wait on each other.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("NUMBA_CACHE_DIR", str(compiled_folder()))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests of a module stay with one worker, which sets up once what they share, until another has nothing left."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def pytest_terminal_summary(terminalreporter):
    reports = terminalreporter.stats.get("skipped", [])
    count = sum("no data: " in str(report.longrepr) for report in reports)
    if count:
        terminalreporter.write_line(f"{count} tests skipped for want of data sets; README.md says where these may lie.")
