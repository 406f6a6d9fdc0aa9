"""Pools of every kind: length, take, concatenate, labels, fingerprint, and what is refused."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from adaptive import pool

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

TABLE = np.arange(12.0).reshape(4, 3)


class Squares:
    """A lazy pool: the squares of 0 to n - 1, none of them held."""

    def __init__(self, numbers):
        self.numbers = np.asarray(numbers)

    def __len__(self):
        return len(self.numbers)

    def take(self, positions):
        return Squares(self.numbers[positions])

    def concatenate(self, pools):
        return Squares(np.concatenate([p.numbers for p in pools]))

    def labels(self, positions):
        return (self.numbers[positions] ** 2).tolist()

    def fingerprint(self):
        return f"squares {self.numbers.tolist()}"


POOLS = {
    "array": TABLE,
    "vector": np.array(["a", "b", "c", "d"]),
    "objects": np.array([(1, "x"), (2, "y"), (3, "z"), None], dtype=object),
    "stack": np.arange(48.0).reshape(4, 3, 4),
    "csr": sparse.csr_matrix(TABLE),
    "csc": sparse.csc_array(TABLE),
    "coo": sparse.coo_matrix(TABLE),
    "pandas": pandas.DataFrame(TABLE, columns=list("abc"), index=["w", "x", "y", "z"]),
    "polars": polars.DataFrame({"a": [1, 2, 3, 4], "b": ["p", "q", "r", "s"]}),
    "list": [("u1", "i1"), ("u1", "i2"), ("u2", "i1"), ("u2", "i2")],
    "tuple": (0.5, 1.5, 2.5, 3.5),
    "range": range(4),
    "lazy": Squares(np.arange(4)),
}


def plain(some):
    """The entries of a pool as nested lists."""
    if sparse.issparse(some):
        return some.toarray().tolist()
    if hasattr(some, "iloc"):
        return some.to_numpy().tolist()
    if hasattr(some, "rows"):
        return some.rows()
    if isinstance(some, Squares):
        return some.numbers.tolist()
    return some.tolist() if isinstance(some, np.ndarray) else list(some)


@pytest.mark.parametrize("kind", POOLS)
def test_taking_and_putting_together_gives_a_pool_of_the_same_kind(kind):
    some = POOLS[kind]
    assert pool.length(some) == 4
    part = pool.take(some, [2, 0, 2])
    assert pool.length(part) == 3
    assert plain(part) == [plain(some)[i] for i in (2, 0, 2)]
    if kind not in ("range", "coo"):
        assert type(part) is type(some)
    together = pool.concatenate([part, pool.take(some, np.array([3]))])
    assert plain(together) == [plain(some)[i] for i in (2, 0, 2, 3)]
    assert pool.length(pool.take(some, [])) == 0


@pytest.mark.parametrize("kind", POOLS)
def test_a_fingerprint_tells_contents_apart_and_nothing_else(kind):
    some = POOLS[kind]
    same = pool.take(some, np.arange(4))
    if kind not in ("range", "coo"):
        assert pool.fingerprint(same) == pool.fingerprint(some)
    assert pool.fingerprint(pool.take(some, [1, 0, 2, 3])) != pool.fingerprint(some)
    assert pool.fingerprint(pool.take(some, [0, 1, 2])) != pool.fingerprint(some)


def test_a_fingerprint_is_about_content_not_memory():
    assert pool.fingerprint(np.asfortranarray(TABLE)) == pool.fingerprint(TABLE)
    assert pool.fingerprint(TABLE.astype(">f8")) == pool.fingerprint(TABLE)
    assert pool.fingerprint(TABLE.astype(np.float32)) != pool.fingerprint(TABLE)
    assert pool.fingerprint(TABLE.reshape(3, 4)) != pool.fingerprint(TABLE)
    assert pool.fingerprint(sparse.csc_matrix(TABLE)) == pool.fingerprint(sparse.csr_matrix(TABLE))
    assert pool.fingerprint([[1], [2]]) != pool.fingerprint([[1, 2], []])
    assert pool.fingerprint([1, 2]) != pool.fingerprint((1, 2))
    frame = POOLS["pandas"]
    assert pool.fingerprint(frame.rename(columns={"a": "d"})) != pool.fingerprint(frame)
    assert pool.fingerprint(np.array(["2020-01-01"], dtype="M8[D]")) != pool.fingerprint(
        np.array(["2020-01-02"], "M8[D]")
    )
    for empty in (np.empty((0, 3)), [], np.array([], dtype=str)):
        assert pool.fingerprint(empty)


def test_a_fingerprint_is_the_same_in_another_session():
    code = "from adaptive import pool; print(pool.fingerprint([('u1', 2.5), ('u2', None)]), end='')"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert other == pool.fingerprint([("u1", 2.5), ("u2", None)])


def test_labels_are_index_labels_plain_entries_or_positions():
    assert pool.labels(POOLS["pandas"], [3, 1]) == ["z", "x"]
    assert pool.labels(POOLS["polars"], [3, 1]) == [3, 1]
    assert pool.labels(POOLS["list"], [1]) == [("u1", "i2")]
    assert pool.labels(POOLS["tuple"], [0]) == [0.5]
    assert pool.labels(POOLS["vector"], [1]) == ["b"]
    assert pool.labels(TABLE, np.array([2])) == [2]
    assert pool.labels(POOLS["csr"], [2]) == [2]
    assert pool.labels([TABLE, TABLE], [1]) == [1]
    assert pool.labels(POOLS["lazy"], [3]) == [9]
    assert all(type(label) is int for label in pool.labels(pandas.DataFrame(TABLE, index=np.arange(4)), [0, 1]))


@pytest.mark.parametrize(
    "bad", ["abc", {"a": 1}, {1, 2}, 5, None, np.array(3.0), object()], ids=lambda bad: type(bad).__name__
)
def test_what_is_not_a_pool_is_refused_in_one_line(bad):
    with pytest.raises(ValueError, match=r"candidates must be a pool .*, got \w+\.$"):
        pool.length(bad)


def test_pools_that_do_not_fit_together_are_named():
    with pytest.raises(
        ValueError, match=r"cannot be put into one .*ndarray of shape \(4, 3\), ndarray of shape \(4, 2\)"
    ):
        pool.concatenate([TABLE, TABLE[:, :2]])
    with pytest.raises(ValueError, match="cannot be put into one"):
        pool.concatenate([TABLE, [1, 2]])
    with pytest.raises(ValueError, match="at least one pool"):
        pool.concatenate([])

    class NoConcatenate:
        def __len__(self):
            return 2

        def take(self, positions):
            return self

    with pytest.raises(ValueError, match=r"no method concatenate\(pools\)"):
        pool.concatenate([NoConcatenate(), NoConcatenate()])
