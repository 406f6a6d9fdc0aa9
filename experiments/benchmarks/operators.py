"""Wavelets, differences and Fourier operators at image size, beside PyWavelets, NumPy and SciPy.

CPU microseconds per image at the same precision, one thread, median of several calls in turn with the peer's; the last
rows are the product of the double loop, u -> X^H X u / s2 + B^T diag(pi) B u (64 of 256 lines, db4 wavelets and
differences), whose peer is one pair of scipy.fft.rfft2 and irfft2 of the same batch: the issue allows six of them.

    python experiments/benchmarks/operators.py [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pywt
import scipy
import scipy.fft

sys.path.insert(0, str(Path(__file__).parents[2]))

from adaptive.operators import FiniteDifference, FourierLines, Stacked, Wavelet
from experiments.artifacts import save_table

SEED = 0
Row = tuple[str, Callable[[], object], str, Callable[[], object], int]


def comparisons(size: int, dtype: str) -> Iterator[Row]:
    """What is timed, ours, the peer's name, the peer's, and the number of images in a call."""
    rng = np.random.default_rng(SEED)
    shape, level = (size, size), int(np.log2(size)) - 3
    u = rng.standard_normal(shape).astype(dtype)
    W, D = Wavelet(shape, "db4", level), FiniteDifference(shape)
    X = FourierLines(shape, np.sort(rng.permutation(size)[: size // 4]))
    coefficients, packed = pywt.wavedecn(u, "db4", "periodization", level), W.forward(u)
    weights = rng.random(W.shape[0] + D.shape[0]).astype(dtype)
    image_weights = weights[: W.shape[0]].reshape(shape)

    def weighted_by_pywt() -> np.ndarray:
        array, slices = pywt.coeffs_to_array(pywt.wavedecn(u, "db4", "periodization", level))
        return pywt.waverecn(pywt.array_to_coeffs(array * image_weights, slices), "db4", "periodization")

    yield "wavelet", lambda: W.forward(u), "pywt", lambda: pywt.wavedecn(u, "db4", "periodization", level), 1
    yield (
        "inverse wavelet",
        lambda: W.adjoint(packed),
        "pywt",
        lambda: pywt.waverecn(coefficients, "db4", "periodization"),
        1,
    )
    yield "weighted wavelet product", lambda: W.normal(u, image_weights), "pywt", weighted_by_pywt, 1
    yield "differences", lambda: D.forward(u), "numpy", lambda: (np.diff(u, axis=0), np.diff(u, axis=1)), 1

    mask = scipy.fft.ifftshift(X.mask)

    def masked_by_scipy() -> np.ndarray:
        return scipy.fft.ifft2(mask * scipy.fft.fft2(u)).real

    yield "lines, normal product", lambda: X.normal(u), "scipy", masked_by_scipy, 1
    B = Stacked([W, D])
    for batch in (1, 16):
        block = np.repeat(u[None], batch, axis=0)
        product = lambda block=block: X.normal(block) + B.normal(block, weights)  # noqa: E731
        pair = lambda block=block: scipy.fft.irfft2(scipy.fft.rfft2(block))  # noqa: E731
        yield f"double-loop product, batch {batch}", product, "scipy rfft2 pair", pair, batch


def microseconds(functions: list[Callable[[], object]], rounds: int) -> list[float]:
    """Median CPU time of each, measured in turn so that a busy machine slows all of them."""
    seconds = np.empty((rounds, len(functions)))
    for k in range(-1, rounds):  # the first round compiles and warms up
        for i, function in enumerate(functions):
            start = time.process_time()
            function()
            seconds[k, i] = time.process_time() - start
    return [float(value) for value in 1e6 * np.median(seconds, axis=0)]


def main(arguments: list[str] | None = None) -> dict[str, list[object]]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="32 x 32, a few rounds, nothing written")
    quick = parser.parse_args(arguments).quick
    table: dict[str, list[object]] = {
        name: [] for name in ("operation", "dtype", "ours_us", "peer", "peer_us", "ratio")
    }
    for dtype in ("float32", "float64"):
        for operation, ours, peer, theirs, images in comparisons(32 if quick else 256, dtype):
            own, other = (value / images for value in microseconds([ours, theirs], 5 if quick else 101))
            row = (operation, dtype, round(own, 1), peer, round(other, 1), round(own / other, 2))
            for column, value in zip(table.values(), row, strict=True):
                column.append(value)
            print(f"{operation:32s} {dtype:8s} {own:8.1f} us   {peer:17s} {other:8.1f} us   ratio {own / other:.2f}")
    if not quick:
        versions = f"PyWavelets {pywt.__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}"
        save_table(table, "operators", f"CPU microseconds per 256 x 256 image, one thread, db4, 5 levels; {versions}.")
    return table


if __name__ == "__main__":
    main()
