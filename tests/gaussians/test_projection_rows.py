"""Rows of B: as the operators' matrices say, short ones and long ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from adaptive.gaussians.projection_rows import ProjectionRows
from adaptive.operators import Convolution, Dense, FiniteDifference, Identity, Sparse, Wavelet

GROUPS = {
    "image": lambda: [FiniteDifference((16, 16)), Wavelet((16, 16), "db2"), Identity((16, 16))],
    "matrices": lambda: [
        Dense(np.random.default_rng(0).normal(size=(3, 40))),
        Sparse(scipy.sparse.random_array((5, 40), density=0.1, rng=0)),
    ],
    "blur": lambda: [Convolution((8, 8), np.ones((3, 3)) / 9)],
}


@pytest.mark.parametrize("name", GROUPS)
def test_rows_are_those_of_the_operators(name):
    groups = GROUPS[name]()
    rows, B = ProjectionRows(groups), np.vstack([b.to_dense() for b in groups])
    rng = np.random.default_rng(1)
    u, U, v = rng.normal(size=B.shape[1]), rng.normal(size=(B.shape[1], 3)), rng.normal(size=len(B))
    assert rows.shape == B.shape
    np.testing.assert_allclose(rows.forward(u), B @ u, atol=1e-12)
    np.testing.assert_allclose(rows.forward(U), B @ U, atol=1e-12)
    np.testing.assert_allclose(rows.adjoint(v), B.T @ v, atol=1e-12)
    for i in range(len(B)):
        if rows.is_long(i):
            row = rows.long_row(i)
        else:
            indices, values = rows.row(i)
            assert np.all(np.diff(indices) > 0)
            row = np.zeros(B.shape[1])
            row[indices] = values
        np.testing.assert_allclose(row, B[i], atol=1e-12)
    weights = rng.random(len(B))
    lower = rows.add_gram(np.asfortranarray(np.eye(B.shape[1])), weights)
    np.testing.assert_allclose(np.tril(lower), np.tril(np.eye(B.shape[1]) + (B.T * weights) @ B), atol=1e-12)
    assert len(rows.long) + len(rows.short) == len(B)


def test_which_rows_are_short():
    rows = ProjectionRows([FiniteDifference((32, 32)), Wavelet((32, 32), "db2")])
    assert len(rows.short) == 2 * 31 * 32 + 32 * 32 * 3 // 4  # differences, and wavelets of the finest level


def test_orthonormal_bases_are_recognised():
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(9, 9)))[0]
    for group in (Identity(9), Wavelet(16), Dense(Q), Sparse(scipy.sparse.eye_array(9))):
        assert ProjectionRows([group]).orthonormal
    for groups in ([Identity(9), Identity(9)], [Dense(2 * Q)], [FiniteDifference(9)], [Dense(Q[:8])]):
        assert not ProjectionRows(groups).orthonormal


def test_same_operators_are_recognised():
    rows = ProjectionRows([FiniteDifference((8, 8)), Wavelet((8, 8), "db2")])
    assert rows.same_as([FiniteDifference((8, 8)), Wavelet((8, 8), "db2")])
    assert not rows.same_as([FiniteDifference((8, 8)), Wavelet((8, 8), "haar")])
    assert not rows.same_as([FiniteDifference((8, 8))])
    assert rows.group_of(Wavelet((8, 8), "db2")) == slice(112, 176)
    assert rows.group_of(Identity((8, 8))) is None
