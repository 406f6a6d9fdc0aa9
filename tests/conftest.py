"""For all tests: modules stay with a worker, and one line says what was skipped for want of a data set."""

from __future__ import annotations

import pytest


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
