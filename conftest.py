"""For all tests and examples: one BLAS thread, nothing stale among what is compiled, nothing drawn by chance; data sets
may be absent.
"""

from __future__ import annotations

import doctest
import os
import random

import pytest

from tests.compiled_folder import compiled_folder

# Before NumPy and Numba are imported: tests run in a process per core, where threads would only wait on each other.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("NUMBA_CACHE_DIR", str(compiled_folder()))


def draw_as(name):
    """Let what has no seed draw the same numbers in every run, whatever ran before: what fails, fails again.

    ADAPTIVE_DRAWS=1, 2, ... in the environment draws others.
    """
    import numpy as np  # not before the environment is set

    drawn = random.Random(os.environ.get("ADAPTIVE_DRAWS", "") + name)
    np.random.bit_generator.randbits = drawn.getrandbits  # where a SeedSequence of nothing gets its entropy
    np.random.seed(drawn.getrandbits(32))
    random.seed(drawn.getrandbits(32))


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef, request):
    """Fixtures draw by their own names: which test of several sets one up differs from run to run."""
    draw_as(f"{fixturedef.baseid} {fixturedef.argname} {request.param_index}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Run a test; an example that ends for want of a data set says "no data"."""
    draw_as(item.nodeid)
    try:
        return (yield)
    except doctest.UnexpectedException as failure:
        from adaptive.datasets import DataNotFoundError  # not before the environment is set

        absent = failure.exc_info[1]
        if isinstance(absent, DataNotFoundError):
            pytest.skip(f"no data: {absent}")
        raise
