"""Runs inside the peer's environment: CPU seconds of a transform and its adjoint, by mri-nufft, SigPy and finufft.

Arguments: an .npz with samples (radians per pixel) and images, accuracy, number of rounds. Everybody transforms in turn
in this process, on one thread; finufft's own plan is the yardstick that the other process has as well. Prints JSON:
name -> [seconds of forward, of adjoint, relative error of forward against finufft at 1e-12].
"""

import json
import os
import sys
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
warnings.filterwarnings("ignore")

import finufft
import numpy as np


def by_finufft(samples, images, accuracy):
    kind, shape, n = images.dtype, images.shape[1:], len(images)
    points = np.ascontiguousarray(samples.T, images.real.dtype)
    plans = [finufft.Plan(k, shape, n, accuracy, sign, str(kind), nthreads=1) for k, sign in ((2, -1), (1, 1))]
    for plan in plans:
        plan.setpts(*points)
    return lambda u: plans[0].execute(u), lambda v: plans[1].execute(v)


def by_mri_nufft(samples, images, accuracy):
    from mrinufft import get_operator

    operator = get_operator("finufft")(
        (samples / (2 * np.pi)).astype(images.real.dtype), images.shape[1:], n_batchs=len(images), squeeze_dims=True,
        eps=accuracy, nthreads=1,
    )  # fmt: skip
    return operator.op, operator.adj_op


def by_sigpy(samples, images, accuracy):
    import sigpy

    shape = images.shape[1:]
    points = samples * np.array(shape) / (2 * np.pi)
    size = (len(images), *shape)
    return lambda u: sigpy.nufft(u, points), lambda v: sigpy.nufft_adjoint(v, points, size)


def seconds(functions, rounds):
    table = np.empty((rounds, len(functions)))
    for k in range(-2, rounds):
        for i, function in enumerate(functions):
            start = time.process_time()
            function()
            if k >= 0:
                table[k, i] = time.process_time() - start
    return np.median(table, axis=0)


def main():
    data, accuracy, rounds = np.load(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    samples, images = data["samples"], data["images"]
    exact = by_finufft(samples, images.astype(complex), 1e-12)[0](images.astype(complex))
    result, functions, names = {}, [], []
    for name, make in (("finufft", by_finufft), ("mri-nufft", by_mri_nufft), ("sigpy", by_sigpy)):
        try:
            forward, adjoint = make(samples, images, accuracy)
            v = np.ascontiguousarray(forward(images))
            adjoint(v)
        except Exception as reason:  # a peer that does not run is named, not hidden
            print(f"{name}: {reason}", file=sys.stderr)
            continue
        flat, right = v.reshape(exact.shape).astype(complex), exact
        factor = np.vdot(flat, right) / np.vdot(flat, flat)  # everybody normalises differently
        result[name] = [0.0, 0.0, float(np.linalg.norm(factor * flat - right) / np.linalg.norm(right))]
        functions += [lambda f=forward: f(images), lambda f=adjoint, v=v: f(v)]
        names.append(name)
    for name, pair in zip(names, seconds(functions, rounds).reshape(-1, 2).tolist(), strict=True):
        result[name][:2] = pair
    print(json.dumps(result))


if __name__ == "__main__":
    main()
