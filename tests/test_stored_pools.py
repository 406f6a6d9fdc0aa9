"""Pools that lie in files: the positions and scores of the array, in every chunk; what is damaged is refused."""

import pickle
import tracemalloc

import dask.array
import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adaptive import BayesianLogisticRegression, SequentialDesign, pool, selection
from adaptive.potentials import BernoulliLogit
from adaptive.predictive import Mixture, StatedPredictive
from adaptive.predictive.envelope import Envelope
from adaptive.scorers import information_gain, query_by_committee
from adaptive.selection import scoring
from adaptive.selection.ranking import Leaders, best_positions
from adaptive.selection.reaching import reaching
from designs.pool import Joined, Npy, Parquet, stored

M, D = 1500, 4


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).standard_normal((M, D)).astype(np.float32)
    X[700:760] = X[100:160]  # ties
    return X


@pytest.fixture(scope="module")
def fitted(rows):
    return BayesianLogisticRegression().fit(rows[:40], rows[:40, 0] + rows[:40, 1] > 0)


def write(path, rows, size=331):
    table = pa.table(
        {**{f"x{j}": rows[:, j] for j in range(rows.shape[1])}, "name": [f"n{k}" for k in range(len(rows))]}
    )
    pq.write_table(table, path, row_group_size=size)
    return path


@pytest.fixture(scope="module")
def pools(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pools")
    np.save(folder / "pool.npy", rows)
    write(folder / "pool.parquet", rows)
    with h5py.File(folder / "pool.h5", "w") as file:
        file["rows"] = rows
    held = h5py.File(folder / "pool.h5")
    yield {
        "npy": Npy(folder / "pool.npy"),
        "memmap": np.load(folder / "pool.npy", mmap_mode="r"),
        "parquet": Parquet(folder / "pool.parquet", [f"x{j}" for j in range(D)]),
        "dask": dask.array.from_array(rows, chunks=(257, D)),
        "h5py": held["rows"],
        "joined": Joined([rows[:400], rows[400:401], rows[401:]]),
    }
    held.close()


KINDS = ["npy", "memmap", "parquet", "dask", "h5py", "joined"]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_read_and_taken_as_of_the_array(kind, pools, rows):
    one = pools[kind]
    assert pool.length(one) == M
    np.testing.assert_array_equal(np.asarray(pool.read(one, 320, 700)), rows[320:700])
    np.testing.assert_array_equal(np.asarray(pool.take(one, [1400, 3, 3, 331])), rows[[1400, 3, 3, 331]])
    assert pool.labels(one, [5, 2]) == [5, 2]


SCORERS = ["information_gain", "predictive_information_gain", "uncertainty", "random"]


@pytest.mark.parametrize(
    ("kind", "scorer"), [*((kind, "query_by_committee") for kind in KINDS), *(("parquet", one) for one in SCORERS)]
)
def test_a_stored_pool_gives_what_its_array_gives_in_any_chunks(kind, scorer, pools, rows, fitted):
    rng = np.random.default_rng(1)
    cost, mask = rng.uniform(0.5, 2.0, M), rng.random(M) < 0.7
    for options in ({}, {"cost": cost}, {"mask": mask, "exclude": [3, 900]}, {"n_select": 7, "joint": False}):
        options = {"scorer": scorer, "random_state": 2, "return_scores": True, **options}
        wanted, scores = fitted.select(rows, **options)
        for chunk_size in (97, 1400):
            found, theirs = fitted.select(pools[kind], chunk_size=chunk_size, **options)
            np.testing.assert_array_equal(found, wanted)
            np.testing.assert_allclose(theirs, scores, rtol=1e-6, atol=1e-9)


def test_batches_and_pending_of_a_stored_pool(pools, rows, fitted):
    for options in ({"n_select": 5}, {"n_select": 3, "pending": rows[[7, 8]]}):
        wanted = fitted.select(rows, random_state=0, scorer="information_gain", chunk_size=500, **options)
        found = fitted.select(pools["parquet"], random_state=0, scorer="information_gain", chunk_size=200, **options)
        np.testing.assert_array_equal(found, wanted)


def test_a_target_that_is_given_is_that_of_the_array(pools, rows, fitted):
    options = {"scorer": "predictive_information_gain", "target": rows[:40], "mask": np.arange(M) % 3 > 0}
    options["random_state"] = 2
    wanted, scores = fitted.select(rows, 3, joint=False, return_scores=True, **options)
    for chunk_size in (97, 1400):
        found, theirs = fitted.select(
            pools["parquet"], 3, joint=False, return_scores=True, chunk_size=chunk_size, **options
        )
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_allclose(theirs, scores, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("scorer", ["query_by_committee", "information_gain"])
def test_candidates_that_bounds_leave_out_are_none_of_the_best(scorer, tmp_path, monkeypatch):
    rng, kept = np.random.default_rng(2), []

    def counted(*arguments):
        found = reaching(*arguments)
        kept.append(None if found is None else len(found))
        return found

    for d, scale in ((3, 1.0), (12, 0.2)):
        X = (scale * rng.standard_normal((6000, d))).astype(np.float32)
        X[4000:4500] = X[500:1000]  # ties across chunks
        X[:, 0] = X[:, 0] > 0
        np.save(tmp_path / "pool.npy", X)
        belief = BayesianLogisticRegression().fit(
            X[:60], X[:60] @ np.linspace(2, -1, d) / scale > rng.logistic(size=60)
        )
        for n in (1, 30):
            options = {"scorer": scorer, "joint": False, "random_state": 0, "return_scores": True}
            monkeypatch.setattr(scoring, "reaching", lambda *_: None)
            wanted, scores = belief.select(stored(tmp_path / "pool.npy"), n, chunk_size=1000, **options)
            monkeypatch.setattr(scoring, "reaching", counted)
            found, theirs = belief.select(stored(tmp_path / "pool.npy"), n, chunk_size=1000, **options)
            np.testing.assert_array_equal(found, wanted)
            np.testing.assert_allclose(theirs, scores, rtol=1e-9)
    assert kept.count(None) == 4  # the first chunk of each
    assert np.mean([count for count in kept if count is not None]) < 300


@pytest.mark.parametrize("scorer", [query_by_committee, information_gain])
def test_no_score_is_above_what_its_cell_allows(scorer):
    rng, m = np.random.default_rng(3), 4000
    weights, low, high = np.array([0.6, 0.3, 0.1]), np.array([1.0, 0.5, 2.0]), np.array([1.0, 0.9, 3.0])
    sizes = (10.0 ** rng.uniform(-4, 4.5, m)).astype(np.float32)
    means = (rng.standard_normal((3, m)) * 10.0 ** rng.uniform(-3, 2, m) + rng.standard_normal(m)).astype(np.float32)
    variances = sizes * (low[:, None] + rng.choice([0.0, 0.3, 1.0], (3, m)) * (high - low)[:, None])
    predictive = Mixture(
        weights,
        [
            StatedPredictive(mean=a.astype(float), variance=v, likelihood=BernoulliLogit())
            for a, v in zip(means, variances, strict=True)
        ],
    )
    predictive._envelope = lambda: Envelope(weights, low, high, np.full(3, 1e-5), means, sizes, {})
    scores = scorer(predictive)
    for floor in (1e-3, 0.1, 0.3, 0.6, 0.69):
        left = reaching(scorer, predictive, floor)
        assert set(np.flatnonzero(scores >= floor)) <= set(left)
        assert len(left) < (m if floor > 0.01 else m + 1)
    assert reaching(scorer, predictive, -np.inf) is None


def test_costs_and_masks_may_be_functions_of_rows(pools, rows, fitted):
    options = {
        "cost": lambda part: 1.0 + np.abs(np.asarray(part)[:, 2]),
        "mask": lambda part: np.asarray(part)[:, 3] > 0,
        "random_state": 0,
    }
    wanted = fitted.select(rows, 4, joint=False, **options)
    np.testing.assert_array_equal(fitted.select(pools["parquet"], 4, joint=False, chunk_size=100, **options), wanted)


def test_workers_read_the_file_themselves(pools, rows, fitted):
    wanted = selection.select(fitted, rows, 3, scorer="information_gain", joint=False, random_state=0)
    found = selection.select(
        fitted, pools["parquet"], 3, scorer="information_gain", joint=False, random_state=0, chunk_size=300, n_jobs=2
    )
    np.testing.assert_array_equal(found, wanted)
    for kind in ("npy", "parquet"):
        sent = pickle.dumps(pools[kind])
        assert len(sent) < 1000
        np.testing.assert_array_equal(pickle.loads(sent).read(0, 9), rows[:9])


@pytest.mark.parametrize("kind", ["npy", "parquet", "dask"])
def test_a_loop_over_a_stored_pool_asks_what_one_over_the_array_asks_and_goes_on_after_a_stop(
    kind, pools, rows, tmp_path
):
    def answers(query):
        return np.asarray(query.candidates)[:, 0] > 0

    options = {"initial": 4, "random_state": 3, "chunk_size": 200}
    whole = SequentialDesign(BayesianLogisticRegression(classes=[False, True]), rows, answers, **options).run(9)
    log = tmp_path / "design.jsonl"
    design = SequentialDesign(
        BayesianLogisticRegression(classes=[False, True]), pools[kind], answers, log=log, **options
    )
    with design:
        design.run(5)
    again = SequentialDesign.load(log, BayesianLogisticRegression(classes=[False, True]), pools[kind], answers).run(4)
    assert again.history_["position"] == whole.history_["position"]


def test_scorers_that_look_at_the_whole_pool_say_that_it_is_read_in_parts(pools, fitted):
    with pytest.raises(
        ValueError, match="badge looks at the whole pool at once, and these 1500 candidates are read in"
    ):
        fitted.select(pools["parquet"], 3, scorer="badge", chunk_size=100)


def test_what_is_wrong_with_a_file_is_said_in_one_sentence(rows, fitted, tmp_path):
    path = write(tmp_path / "pool.parquet", rows)
    with pytest.raises(ValueError, match="must hold numbers in the columns that are features, and 'name' is string"):
        Parquet(path)
    with pytest.raises(ValueError, match="columns name 'z', which pool.parquet does not have"):
        stored(path, ["z"])
    with pytest.raises(ValueError, match="must end in .npy or .parquet, got 'pool.csv'"):
        stored(tmp_path / "pool.csv")
    with pytest.raises(FileNotFoundError, match="missing.npy does not exist"):
        stored(tmp_path / "missing.npy")
    (tmp_path / "broken.npy").write_bytes(b"no array")
    with pytest.raises(ValueError, match="broken.npy is not a .npy file that can be read"):
        stored(tmp_path / "broken.npy")
    np.save(tmp_path / "flat.npy", np.zeros(3))
    with pytest.raises(ValueError, match=r"must hold a table of numbers \(m, d\), got float64 of shape \(3,\)"):
        stored(tmp_path / "flat.npy")
    columns = [f"x{j}" for j in range(D)]
    damaged = bytearray(path.read_bytes())
    middle = pq.ParquetFile(path).metadata.row_group(2).column(0).data_page_offset
    damaged[middle : middle + 400] = bytes(400)
    (tmp_path / "damaged.parquet").write_bytes(damaged)
    with pytest.raises(ValueError, match=r"row group 2 of .*damaged.parquet cannot be read"):
        fitted.select(Parquet(tmp_path / "damaged.parquet", columns), chunk_size=331)
    with_nan = rows.copy()
    with_nan[1234, 2] = np.nan
    one = Parquet(write(tmp_path / "nan.parquet", with_nan), columns)
    with pytest.raises(ValueError, match="candidates 1200 to 1299: .*NaN"):
        fitted.select(one, chunk_size=100)
    narrow = Parquet(path, columns[:3])
    with pytest.raises(ValueError, match="candidates 0 to 99: .*3 features"):
        fitted.select(narrow, chunk_size=100)
    one = Parquet(path, columns)
    first = one.fingerprint()
    write(path, with_nan)
    with pytest.raises(ValueError, match=r"pool.parquet has changed since it was opened"):
        one.read(0, 5)
    assert Parquet(path, columns).fingerprint() != first
    path.unlink()
    with pytest.raises(ValueError, match=r"pool.parquet is gone"):
        one.read(0, 5)


def test_memory_does_not_grow_with_the_pool(tmp_path, fitted):
    rows = np.lib.format.open_memmap(tmp_path / "long.npy", "w+", np.float32, (400_000, D))
    rows[:] = np.random.default_rng(0).standard_normal(rows.shape)
    rows.flush()
    del rows
    one = stored(tmp_path / "long.npy")
    fitted.select(one, chunk_size=2000)
    tracemalloc.start()
    fitted.select(one, 2, joint=False, exclude=range(10), chunk_size=2000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400_000 * 8


@pytest.mark.parametrize("seed", range(4))
def test_leaders_of_parts_are_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    values = rng.choice([0.0, 1.0, 2.0, -np.inf, 1e-3], 500) * rng.choice([1.0, 1.0 + 1e-13, 3.0], 500)
    values[rng.integers(500)] = 10.0
    values = np.where(np.isnan(values), -np.inf, values)
    for n in (1, 7, 300):
        leaders = Leaders(n)
        for start in range(0, 500, 37):
            part = values[start : start + 37]
            leaders.add(part, np.arange(start, start + len(part)), part)
        positions, scores = leaders.best()
        np.testing.assert_array_equal(positions, np.sort(best_positions(values, n)))
        np.testing.assert_array_equal(scores, values[positions])


def test_a_frame_of_a_parquet_file_and_its_pool_have_the_same_rows(tmp_path, rows):
    path = write(tmp_path / "pool.parquet", rows)
    frame = pd.read_parquet(path)[["x2", "x0"]]
    np.testing.assert_array_equal(stored(path, ["x2", "x0"]).read(0, M), frame.to_numpy())
