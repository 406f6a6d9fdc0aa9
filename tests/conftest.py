"""For all tests: say in one line what was skipped for want of a data set."""

from __future__ import annotations


def pytest_terminal_summary(terminalreporter):
    reports = terminalreporter.stats.get("skipped", [])
    count = sum("no data: " in str(report.longrepr) for report in reports)
    if count:
        terminalreporter.write_line(f"{count} tests were skipped for want of data sets; README.md says how to point to them.")
