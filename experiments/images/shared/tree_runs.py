"""One photograph denoised or inpainted with four priors, by the double loop and at the mode; kept by its arguments."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.imaging.trees import TreeMixture, exact_denoising, tree_bounds, tree_mode
from adaptive.operators import Identity, Operator, Reshaped, Wavelet
from experiments.images.shared.photographs import photograph

__all__ = ["METHODS", "PRIORS", "TASKS", "psnr", "restored", "task_of"]

PRIORS = {  # components, factorial
    "Lap-fact": ("laplace", True),
    "T-fact": ("student_t", True),
    "Lap-tree": ("laplace", False),
    "T-tree": ("student_t", False),
}
METHODS = ("VB initial", "VB learnt", "MAP initial", "MAP learnt")
TASKS = {"denoising": 0.01, "inpainting": 1e-5}  # noise variances
SEEN = 0.25  # share of the pixels that inpainting sees: the same ones of every photograph
LEVEL = 5
SCALE = 0.05  # of the prior that initial parameters are fitted from
TOL = {"denoising": 1e-4, "inpainting": 1e-3}
SHORT = 15  # outer steps after which the source stops
SEED = 0


def psnr(image: np.ndarray, truth: np.ndarray) -> float:
    """-10 log10 of the mean squared error: grey values in [0, 1]."""
    return float(-10 * np.log10(np.mean((image - truth) ** 2)))


def task_of(task: str, truth: np.ndarray, seed: int) -> tuple[Operator, np.ndarray, np.ndarray]:
    """Measurement operator, data, and the data as a picture (unseen pixels at the mean of the others)."""
    shape, noise = truth.shape, np.random.default_rng([SEED, seed])
    if task == "denoising":
        data = truth + np.sqrt(TASKS[task]) * noise.standard_normal(shape)
        return Identity(shape), data, data
    seen = np.sort(np.random.default_rng(SEED).permutation(truth.size)[: int(SEEN * truth.size)])
    rows = sp.csr_array((np.ones(len(seen)), (np.arange(len(seen)), seen)), shape=(len(seen), truth.size))
    data = truth.ravel()[seen] + np.sqrt(TASKS[task]) * noise.standard_normal(len(seen))
    picture = np.full(truth.size, data.mean())
    picture[seen] = data
    return Reshaped(rows, shape), data, picture.reshape(shape)


def restored(task: str, name: str, side: int, max_iter: int, pictures: int) -> dict[str, np.ndarray]:
    """Signal-to-noise ratios of one photograph.

    Parameters
    ----------
    task : {"denoising", "inpainting"}
    name : str
        Of `experiments.images.shared.photographs`, a colon in the place of the slash.
    side : int
    max_iter : int
        Outer steps.
    pictures : int
        1: also return the reconstructions.

    Returns
    -------
    dict
        ``psnr`` and ``seconds`` (4 priors, 4 methods), ``data_psnr``, ``exact_psnr`` (4 priors: the exact posterior
        mean with the parameters learnt, of denoising), ``short_psnr`` (of denoising: VB learnt after 15 outer steps),
        ``steps`` and, where asked for, ``truth``, ``data`` and
        ``images`` (4, 4, side, side).
    """
    truth = photograph(name.replace(":", "/"), side)
    X, y, data = task_of(task, truth, seed=sum(map(ord, name)))
    wavelet = Wavelet(truth.shape, "db2", min(LEVEL, int(np.log2(side)) - 3))
    images = np.empty((len(PRIORS), len(METHODS), side, side))
    seconds, steps = np.empty(images.shape[:2]), np.empty(images.shape[:2], int)
    exact, short = np.full((2, len(PRIORS)), np.nan)
    for p, (components, factorial) in enumerate(PRIORS.values()):
        prior = TreeMixture.generic(wavelet, SCALE, components, factorial)
        for m, method in enumerate(METHODS):
            engine: Any = tree_bounds if method.startswith("VB") else tree_mode
            more = {"random_state": SEED, "variances": "sampled"} if engine is tree_bounds else {}
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the source stops after so many steps, too
                posterior = engine(
                    X, y, TASKS[task], prior, learn=method.endswith("learnt"), max_iter=max_iter, tol=TOL[task],
                    dtype=np.float32, **more,
                )  # fmt: skip
            seconds[p, m], steps[p, m] = time.process_time() - start, posterior.n_iter
            images[p, m] = posterior.mean.reshape(truth.shape)
            if task == "denoising" and method == "VB learnt":
                stopped = len(posterior.objective_trace) <= SHORT
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    early = posterior if stopped else tree_bounds(X, y, TASKS[task], prior, max_iter=SHORT)
                short[p] = psnr(early.mean.reshape(truth.shape), truth)
                exact[p] = psnr(exact_denoising(y, TASKS[task], posterior.prior).mean, truth)
    result = {
        "psnr": np.array([[psnr(image, truth) for image in row] for row in images]),
        "seconds": seconds,
        "steps": steps,
        "data_psnr": np.array(psnr(data, truth)),
        "exact_psnr": exact,
        "short_psnr": short,
    }
    if pictures:
        result |= {"truth": truth, "data": data, "images": images.astype(np.float32)}
    return result
