"""Fail if a test was skipped for want of something that CI should have prepared.

Usage: check_skips.py TESTS.XML (pytest's junit report). A skip is allowed

- where the case does not apply, and nothing that could be installed would change that: reasons "does not apply: ...",
  or that a predictive does not have what a scorer needs;
- for want of a data set (reason "no data: ..."), where the machine has no data folder;
- for want of a browser (reason "no Chromium: ..."), where `.ci/run` could not install one (ADAPTIVE_NO_BROWSER);
- for want of a PostgreSQL server (reason "no PostgreSQL: ..."), where `.ci/run` could not install one
  (ADAPTIVE_NO_POSTGRES);
- where scikit-learn's own checks skip what this project does not offer.
"""

from __future__ import annotations

import os
import re
import sys
import xml.etree.ElementTree as tree

ALLOWED = [
    r"^does not apply: ",
    r" needs .*, which .* does not provide",
    r" has one of the two routes only",
    r"SCIPY_ARRAY_API",  # scikit-learn: array API input is not offered here
]
if "ADAPTIVE_DATA" not in os.environ:
    ALLOWED.append(r"^no data: ")
if "ADAPTIVE_NO_BROWSER" in os.environ:
    ALLOWED.append(r"^no Chromium: ")
if "ADAPTIVE_NO_POSTGRES" in os.environ:
    ALLOWED.append(r"^no PostgreSQL: ")


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
