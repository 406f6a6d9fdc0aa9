"""All of scikit-learn's checks of an estimator as one test, with the names of those that fail in its message."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import check_estimator


def check_conforms(estimator: Any) -> None:
    """Run every check, and fail with what each of the failing ones said first."""
    failed: list[str] = []
    passed: list[str] = []

    def note(*, check_name: str, exception: Exception | None, status: str, **_: Any) -> None:
        if status == "failed":
            failed.append(f"{check_name}: {type(exception).__name__}: {str(exception).strip().splitlines()[:1]}")
        elif status == "passed":
            passed.append(check_name)

    check_estimator(estimator, on_skip=None, on_fail=None, callback=note)
    assert not failed, f"{estimator!r} fails {len(failed)} checks:\n" + "\n".join(failed)
    assert len(passed) > 40  # of about 60: a suite that ran nothing shows nothing


def in_one_line(estimator: Any) -> str:
    """Name of a test's parameter."""
    return " ".join(repr(estimator).split())
