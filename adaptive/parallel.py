"""The same work by one process or several, through joblib: the same results, in order, bit for bit.

Whoever calls may say where it is to run, and nothing here has to know::

    with joblib.parallel_config(backend="dask"):        # after distributed.Client(...)
        estimator.fit(blocks, samples)

Workers run with as many BLAS threads as this process, since other numbers of threads add up in another order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

__all__ = ["in_parallel", "one_blas_thread", "streamed", "workers"]

Result = TypeVar("Result")
SMALL = 500  # side of a matrix up to which threads cost more than they bring


def in_parallel(
    function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None = None
) -> list[Result]:
    """Return ``[function(*task) for task in tasks]``.

    Parameters
    ----------
    function : callable
        Of a module, so that it can be sent.
    tasks : iterable of tuples
        Arguments; made one after the other, as workers ask for them.
    n_jobs : int, optional
        Number of workers; None: what ``joblib.parallel_config`` says, else 1.

    Notes
    -----
    The arguments of a task travel in one tuple. Dask would otherwise put large arrays on one worker before the task
    that needs them is sent there, and when that worker dies nobody has them any more; as it is, the task is run again
    elsewhere.

    Examples
    --------
    >>> in_parallel(pow, [(2, 3), (3, 2)])
    [8, 9]
    """
    return list(streamed(function, tasks, n_jobs))


def streamed(
    function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None = None
) -> Iterator[Result]:
    """Yield the results of `in_parallel` in order, as they come: neither tasks nor results are ever held together.

    Examples
    --------
    >>> next(streamed(pow, [(2, 3), (3, 2)]))
    8
    """
    from joblib import Parallel, delayed

    if workers(n_jobs) == 1:
        yield from (function(*task) for task in tasks)
        return
    from threadpoolctl import threadpool_info

    n_threads = max((info["num_threads"] for info in threadpool_info()), default=1)
    work = (delayed(_with_threads)((n_threads, function, task)) for task in tasks)
    yield from Parallel(n_jobs=n_jobs, return_as="generator")(work)


def workers(n_jobs: int | None = None) -> int:
    """Return how many workers there will be.

    Examples
    --------
    >>> workers(3)
    3
    """
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def one_blas_thread(*sides: int) -> AbstractContextManager[Any]:
    """Return a context in which BLAS keeps to one thread, where all matrices are small: threads that wake cost more.

    Parameters
    ----------
    *sides : int
        Rows and columns of the matrices to come; with a side beyond 500 nothing is changed.

    Examples
    --------
    >>> import numpy as np
    >>> with one_blas_thread(3, 3):
    ...     float(np.linalg.det(2.0 * np.eye(3)).round(6))
    8.0
    """
    if max(sides, default=0) > SMALL:
        return nullcontext()
    return _blas().limit(limits=1, user_api="blas")


@functools.cache
def _blas() -> Any:
    """The libraries that are loaded, found once: that takes milliseconds, a limit microseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _with_threads(work: tuple[int, Callable[..., Result], tuple[Any, ...]]) -> Result:
    from threadpoolctl import threadpool_limits

    n_threads, function, task = work
    with threadpool_limits(n_threads):
        return function(*task)
