"""Differences along every axis of an image, d_i = u_(i + step) - u_i, their adjoint and weighted normal operator.

An axis of length N with ``inner`` numbers between neighbours is, for each of its ``outer`` blocks, one flat loop over
(N - 1) inner numbers, whatever the axis. Arrays are real, (batch, numbers), contiguous; complex numbers are pairs
(width 2).
"""

from __future__ import annotations

from numba import njit

__all__ = ["adjoint", "forward", "normal"]

_options = {"cache": True, "nogil": True, "fastmath": {"contract", "nsz"}, "error_model": "numpy"}


@njit(**_options)
def forward(u, out, shape, width):
    """out (batch, rows): for each axis, in C order, the differences along it."""
    for image in range(u.shape[0]):
        row, inner = 0, u.shape[1]
        for axis in range(shape.size):
            block, inner = inner, inner // shape[axis]
            length = block - inner
            for start in range(0, u.shape[1], block):
                d = out[image, row : row + length]
                here, there = u[image, start : start + length], u[image, start + inner : start + block]
                for i in range(length):
                    d[i] = there[i] - here[i]
                row += length


@njit(**_options)
def adjoint(v, out, shape, width):
    """out (batch, n): every difference goes to its right neighbour with plus, to its left one with minus."""
    out[:] = 0
    for image in range(v.shape[0]):
        row, inner = 0, out.shape[1]
        for axis in range(shape.size):
            block, inner = inner, inner // shape[axis]
            length = block - inner
            for start in range(0, out.shape[1], block):
                d = v[image, row : row + length]
                here, there = out[image, start : start + length], out[image, start + inner : start + block]
                for i in range(length):
                    here[i] -= d[i]
                for i in range(length):
                    there[i] += d[i]
                row += length


@njit(**_options)
def normal(u, weights, out, shape, width):
    """out (batch, n) = D^T diag(weights) D u without storing D u."""
    out[:] = 0
    for image in range(u.shape[0]):
        row, inner = 0, u.shape[1]
        for axis in range(shape.size):
            block, inner = inner, inner // shape[axis]
            length = block - inner
            for start in range(0, u.shape[1], block):
                w = weights[row // width : (row + length) // width]
                here, there = u[image, start : start + length], u[image, start + inner : start + block]
                left, right = out[image, start : start + length], out[image, start + inner : start + block]
                if width == 1:
                    for i in range(length):
                        left[i] += w[i] * (here[i] - there[i])
                    for i in range(length):
                        right[i] += w[i] * (there[i] - here[i])
                else:
                    for i in range(w.size):
                        left[2 * i] += w[i] * (here[2 * i] - there[2 * i])
                        left[2 * i + 1] += w[i] * (here[2 * i + 1] - there[2 * i + 1])
                    for i in range(w.size):
                        right[2 * i] += w[i] * (there[2 * i] - here[2 * i])
                        right[2 * i + 1] += w[i] * (there[2 * i + 1] - here[2 * i + 1])
                row += length
