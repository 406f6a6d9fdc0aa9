"""Slices and candidates on a Dask cluster of two processes, one of them killed in mid-run: the same answer.

`joblib.parallel_config(backend="dask")` is all that a user writes.
"""

import logging
import os
import signal
import threading
import time
from contextlib import contextmanager

import distributed
import joblib
import numpy as np
import pytest

from adaptive import BayesianLogisticRegression, ImageReconstructor, SeveralImages, selection
from adaptive.images import head_scan, padded, simulate_scan
from adaptive.parallel import in_parallel
from designs.kspace import central, lines
from designs.pool import stored

SHAPE = (32, 32)
POOL = lines(SHAPE)
FIRST = POOL.take(central(32, 12))


@pytest.fixture(scope="module")
def client():
    quiet = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "memory_limit": 0}
    with (
        distributed.LocalCluster(processes=True, silence_logs=logging.CRITICAL, **quiet) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


def scan(k):
    image = padded(head_scan()[k].image, 128).reshape(32, 4, 32, 4).mean(axis=(1, 3))
    return simulate_scan(image, largest_phase=0, random_state=k)


def several():
    one = ImageReconstructor(
        SHAPE, phase=None, noise_variance=4e-4, prior_scales=0.1, wavelet="db2", design_noise_variance=1e-5
    )
    return SeveralImages([one] * 4)


def run(model, scans):
    """Fit, choose, measure, learn: everything that is done in parallel."""
    model.fit(FIRST, [[one.samples(line) for one in scans] for line in FIRST])
    block = POOL.take(model.select(POOL, mask=~np.isin(POOL.lines, FIRST.lines)))
    model.partial_fit(block, [[one.samples(line) for one in scans] for line in block])
    return model.reconstructors_[0].measured_.lines, model.predict()


@contextmanager
def a_worker_killed(client):
    """Kill a worker as soon as both are at work; that one was is checked at the end."""
    client.wait_for_workers(2, timeout=60)  # the last one killed is there again
    pids, killed, done = client.run(os.getpid), {}, threading.Event()

    def kill_a_busy_worker():
        while not killed and not done.is_set():  # however long it takes
            busy = [worker for worker, tasks in client.processing().items() if tasks]
            if len(busy) == 2:
                os.kill(pids[busy[0]], signal.SIGKILL)
                killed[busy[0]] = True
            time.sleep(0.01)

    assassin = threading.Thread(target=kill_a_busy_worker)
    assassin.start()
    try:
        with joblib.parallel_config(backend="dask"):
            yield
    finally:
        done.set()
        assassin.join()
    assert killed, "no worker was at work: nothing was killed"


def test_the_same_design_with_a_worker_killed_in_mid_run(client):
    scans = [scan(k) for k in (4, 8, 12, 16)]
    lines_serial, images_serial = run(several(), scans)
    with a_worker_killed(client):
        lines_dask, images_dask = run(several(), scans)
    np.testing.assert_array_equal(lines_dask, lines_serial)
    np.testing.assert_array_equal(images_dask, images_serial)


def test_the_same_rows_of_a_file_with_a_worker_killed_in_mid_run(client, tmp_path):
    rows = np.random.default_rng(0).standard_normal((150_000, 20)).astype(np.float32)
    np.save(tmp_path / "pool.npy", rows)
    pool, model = stored(tmp_path / "pool.npy"), BayesianLogisticRegression().fit(rows[:60], rows[:60, 0] > 0.3)
    options = {"scorer": "information_gain", "random_state": 0, "return_scores": True}
    wanted = model.select(rows, 8, **options)
    with a_worker_killed(client):
        found = model.select(pool, 8, chunk_size=1_000, **options)
    np.testing.assert_array_equal(found[0], wanted[0])
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-9)


def test_candidates_on_a_cluster(client):
    first = scan(12)
    model = several().reconstructors[0].fit(FIRST, first.measure(FIRST))
    expected = selection.select(model, POOL, 3, joint=False, return_scores=True)
    with joblib.parallel_config(backend="dask"):
        found = selection.select(model, POOL, 3, joint=False, return_scores=True, chunk_size=5)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)


def test_tasks_come_back_in_order(client):
    with joblib.parallel_config(backend="dask"):
        assert in_parallel(pow, [(k, 2) for k in range(7)]) == [0, 1, 4, 9, 16, 25, 36]
