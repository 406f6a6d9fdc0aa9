"""For examples in docstrings: one that reads a set of data which is not on this machine is skipped, saying so."""

from __future__ import annotations

import doctest

import pytest

from adaptive.datasets import DataNotFoundError


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Run a test; an example that ends for want of a data set says "no data"."""
    try:
        return (yield)
    except doctest.UnexpectedException as failure:
        absent = failure.exc_info[1]
        if isinstance(absent, DataNotFoundError):
            pytest.skip(f"no data: {absent}")
        raise
