"""For all tests and examples: one BLAS thread, nothing stale among what is compiled; data sets may be absent."""

from __future__ import annotations

import doctest
import os

import pytest

from tests.compiled_folder import compiled_folder

# Before NumPy and Numba are imported: tests run in a process per core, where threads would only wait on each other.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("NUMBA_CACHE_DIR", str(compiled_folder()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Run a test; an example that ends for want of a data set says "no data"."""
    try:
        return (yield)
    except doctest.UnexpectedException as failure:
        from adaptive.datasets import DataNotFoundError  # not before the environment is set

        absent = failure.exc_info[1]
        if isinstance(absent, DataNotFoundError):
            pytest.skip(f"no data: {absent}")
        raise
