"""Fail if a test was skipped for want of something that CI should have prepared.

Usage: check_skips.py TESTS.XML (pytest's junit report). A skip is allowed

- for want of a data set (reason "no data: ..."), where the machine has no data folder;
- where scikit-learn's own checks skip what this project does not offer (listed below).
"""

from __future__ import annotations

import os
import re
import sys
import xml.etree.ElementTree as tree

ALLOWED = [
    r"SCIPY_ARRAY_API",  # scikit-learn: array API input is not offered here
    r"numpydoc is required",  # scikit-learn: style of docstrings, checked by ruff here
]
if "ADAPTIVE_DATA" not in os.environ:
    ALLOWED.append(r"^no data: ")


def unprepared(report: str) -> list[str]:
    """Return one line per skip that is not allowed."""
    lines = []
    for case in tree.parse(report).iter("testcase"):
        for skip in case.iter("skipped"):
            reason = skip.get("message", "")
            if skip.get("type") == "pytest.skip" and not any(re.search(pattern, reason) for pattern in ALLOWED):
                lines.append(f"{case.get('classname')}::{case.get('name')}: {reason}")
    return lines


if __name__ == "__main__":
    problems = unprepared(sys.argv[1])
    if problems:
        print("skipped for want of something that CI should have prepared:", *problems, sep="\n  ", file=sys.stderr)
        sys.exit(1)
