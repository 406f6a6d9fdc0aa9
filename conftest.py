"""For all tests and examples: one BLAS thread, nothing stale among what is compiled, nothing drawn by chance; data sets
may be absent; the order may be any.
"""

from __future__ import annotations

import doctest
import os
import random
from pathlib import Path

import hypothesis
import pytest

from tests.compiled_folder import compiled_folder

# Before NumPy and Numba are imported: tests run in a process per core, where threads would only wait on each other.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("NUMBA_CACHE_DIR", str(compiled_folder()))

DRAWS, ORDER = (os.environ.get(f"ADAPTIVE_{name}", "") for name in ("DRAWS", "ORDER"))

STATES = {}  # of the generators of test modules, as their first test found them

# Hypothesis draws by the test's name too, at every desk; what is new is sought where other draws are asked for.
hypothesis.settings.register_profile("others", deadline=None)
hypothesis.settings.register_profile("by name", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("others" if DRAWS else "by name")


def draw_as(name):
    """Let what has no seed draw the same numbers in every run, whatever ran before: what fails, fails again.

    ADAPTIVE_DRAWS=1, 2, ... in the environment draws others.
    """
    import numpy as np  # not before the environment is set

    drawn = random.Random(DRAWS + name)
    np.random.bit_generator.randbits = drawn.getrandbits  # where a SeedSequence of nothing gets its entropy
    np.random.seed(drawn.getrandbits(32))
    random.seed(drawn.getrandbits(32))


def pytest_report_header():
    return f"in another order: ADAPTIVE_ORDER={ORDER}" if ORDER else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """With ADAPTIVE_ORDER=reversed the last test comes first; a number shuffles the modules, and the tests of each."""
    if ORDER == "reversed":
        items.reverse()
    elif ORDER:
        drawn, modules = random.Random(int(ORDER)), {}
        for item in items:
            modules.setdefault(item.path, []).append(item)
        items[:] = [
            one for tests in drawn.sample([*modules.values()], len(modules)) for one in drawn.sample(tests, len(tests))
        ]


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef, request):
    """Fixtures draw by their own names: which test of several sets one up differs from run to run."""
    draw_as(f"{fixturedef.baseid} {fixturedef.argname} {request.param_index}")
    if request.scope != "session":
        wind_back(getattr(request, "module", None))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    return (yield from skipping_without_data())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    draw_as(item.nodeid)
    wind_back(getattr(item, "module", None))
    return (yield from skipping_without_data())


def wind_back(module):
    """Let every test find the generators of its module as they were imported, whichever tests drew from them before."""
    import numpy as np

    for name, generator in vars(module).items() if module is not None else ():
        if isinstance(generator, np.random.Generator):
            known = STATES.setdefault((module.__name__, name), generator.bit_generator.state)
            generator.bit_generator.state = known


def skipping_without_data():
    """Run a test, an example or a fixture; one that ends for want of a data set skips and says "no data"."""
    try:
        return (yield)
    except Exception as failure:
        from adaptive.datasets import DataNotFoundError  # not before the environment is set

        absent = failure.exc_info[1] if isinstance(failure, doctest.UnexpectedException) else failure
        if isinstance(absent, DataNotFoundError) or lies_in_absent_data(absent):
            pytest.skip(f"no data: {absent}")
        raise


def lies_in_absent_data(failure):
    """Return whether a script looked for a file of a data set that is not there at all."""
    from adaptive.datasets.data_folder import folder

    path = Path(os.fsdecode(failure.filename)) if isinstance(failure, FileNotFoundError) and failure.filename else None
    if path is None or not path.is_relative_to(folder()):
        return False
    return not (folder() / path.relative_to(folder()).parts[0]).exists()
