"""Table 3.2 of Nickisch (2010): products with the operators, and storage, of each algorithm; counted, not estimated.

One image (nibabel's head scan, reduced), a third of its Fourier lines simulated, Laplace potentials on wavelets and
differences. A product is one multiplication with the system matrix X'X / noise + B' diag(pi) B. Counted are

    MAP                      N_Newton systems of N_CG products each
    gradient in the widths   one linear system per potential: q N_CG (a sweep over coordinates costs the same)
    double loop              per outer step N_Newton N_CG, and for the variances k (Lanczos) or N_samples N_CG (sampled)

and the line search of Newton's method: B d and X d are kept, so that step sizes cost no product. Storage is the peak of
what NumPy holds during a call. Also here: that the mean by conjugate gradients is the dense one, and that the wavelet
transform takes linear time in two and three dimensions.
"""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.inference import GLM, map_estimate, variational_bounds
from adaptive.inference.matrix_free import solvers
from adaptive.inference.penalties import FromPotential
from adaptive.linalg import circulant_preconditioner, conjugate_gradients, variances
from adaptive.operators import FiniteDifference, FourierLines, Identity, Operator, Wavelet
from adaptive.potentials import Laplace
from designs.kspace import variable_density
from experiments.inference.lanczos_figures import reduced_head
from experiments.script import Script, command

SEED = 0
NOISE_VARIANCE, SCALE = 1e-4, 0.05
OUTER, STEPS, SAMPLES = 5, 100, 16


class Counted(Operator):
    """An operator that counts how often it is applied, forward and backward."""

    def __init__(self, operator: Operator):
        self.operator, self.n_forward, self.n_adjoint = operator, 0, 0
        super().__init__(operator.input_shape, operator.output_shape, operator.dtype)

    def _forward(self, u: np.ndarray) -> np.ndarray:
        self.n_forward += len(u)
        return self.operator._forward(u)

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        self.n_adjoint += len(v)
        return self.operator._adjoint(v)


def problem(side: int, counted: bool = False) -> GLM:
    """Return the model of a head of side x side pixels; ``counted``: its operators count."""
    image, shape = reduced_head(side), (side, side)
    X: Any = FourierLines(shape, variable_density(side, side // 3, side // 8, random_state=SEED))
    rng = np.random.default_rng(SEED)
    y = X.forward(image)
    y = y + np.sqrt(NOISE_VARIANCE) * (rng.standard_normal(y.shape) + 1j * rng.standard_normal(y.shape))
    B: list[Any] = [Wavelet(shape, "db2"), FiniteDifference(shape)]
    if counted:
        X, B = Counted(X), [Counted(b) for b in B]
    return GLM(X, y.ravel(), NOISE_VARIANCE, B=B, potentials=[Laplace(SCALE)] * 2)


def peak(call: Callable[[], Any]) -> tuple[Any, int]:
    """Return the result of a call and the most numbers (of 8 bytes) that it held beyond what was there."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = call()
        return result, (tracemalloc.get_traced_memory()[1] - before) // 8
    finally:
        tracemalloc.stop()


# ------------------------------------------------------------------------------------------------------------ products
def count(side: int) -> list[dict[str, Any]]:
    """Return one row per algorithm: what was counted, and what the formula of the table gives."""
    model = problem(side)
    n, q = model.n, model.projection_rows
    rows: list[dict[str, Any]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a fixed number of outer steps
        found = {
            kind: peak(
                lambda kind=kind: variational_bounds(  # type: ignore[misc]
                    model, variances=kind, max_iter=OUTER, tol=0.0, n_steps=STEPS, n_samples=SAMPLES, random_state=SEED
                )
            )
            for kind in ("lanczos", "sampled")
        }
    mode, storage = peak(lambda: map_estimate(model, smoothing=1e-4, tol=1e-4))
    rows.append({"algorithm": "MAP (truncated Newton)", "formula": "N_Newton N_CG", "products": mode.n_products,
                 "parts": f"{mode.n_iter} Newton steps", "storage": storage, "order": "n + q"})  # fmt: skip
    posterior = found["sampled"][0]
    rows.append(gradient_row(posterior.system, q))
    for kind, (one, numbers) in found.items():
        per_step = STEPS if kind == "lanczos" else 0
        inner = one.n_products - OUTER * per_step
        rows.append(
            {"algorithm": f"double loop, {kind} variances",
             "formula": f"per outer step N_Newton N_CG + {'k' if kind == 'lanczos' else 'N_samples N_CG'}",
             "products": one.n_products,
             "parts": f"{OUTER} outer steps; "
             + (f"{inner} inner, {OUTER} x {STEPS} Lanczos" if per_step else f"{SAMPLES} samples, inner and samples"),
             "storage": numbers, "order": "k n + q" if per_step else "N_samples (n + q)"}
        )  # fmt: skip
    for row in rows:
        row |= {"n": n, "q": q, "storage_per_unknown": row["storage"] / n}
    return rows


def gradient_row(system: Any, q: int) -> dict[str, Any]:
    """Count a gradient in the widths: a solve for every potential."""
    before = system.n_products
    M = circulant_preconditioner(system).inverse()
    z = np.empty(q)

    def solve() -> None:
        step = 64
        for group, rows in zip(system.groups, system.slices, strict=True):
            for start in range(0, group.shape[0], step):
                unit = np.zeros((min(step, group.shape[0] - start), group.shape[0]))
                unit[np.arange(len(unit)), start + np.arange(len(unit))] = 1
                right = group.adjoint(unit.reshape(-1, *group.output_shape))
                x = conjugate_gradients(system.apply, right, preconditioner=M, tol=1e-3).x
                z[rows][start : start + len(unit)] = np.sum(unit * group.forward(x).reshape(len(unit), -1), axis=1)

    _, storage = peak(solve)
    products = system.n_products - before
    error = float(np.linalg.norm(z - variances.exact(system).estimate) / np.linalg.norm(z))
    return {"algorithm": "gradient, or a sweep over coordinates", "formula": "q N_CG", "products": products,
            "parts": f"{q} systems of {products / q:.1f} products, 64 at a time; relative error {error:.0e}",
            "storage": storage, "order": "n + q"}  # fmt: skip


def lanczos_storage(side: int) -> tuple[float, float]:
    """Return the numbers per unknown that a Lanczos step adds, with and without reorthogonalisation."""
    system = variational_bounds(problem(side), variances="sampled", max_iter=0, random_state=SEED).system
    slopes = []
    for kind in ("full", "none"):
        few, many = (
            peak(lambda k=k, kind=kind: variances.lanczos(system, k, reorthogonalise=kind, random_state=SEED))[1]  # type: ignore[misc]
            for k in (40, 80)
        )
        slopes.append((many - few) / 40 / system.n)
    return slopes[0], slopes[1]


# --------------------------------------------------------------------------------------------------------- line search
def line_search(side: int) -> dict[str, int]:
    """Count what one Newton step and its line search apply, from a point where many step sizes are tried."""
    model = problem(side, counted=True)
    operators = [model.X, *(b for b, _ in model.groups)]
    objective = solvers.Objective(model, FromPotential(model.potential), smoothing=1e-4)
    tried = 0
    penalty = objective.penalty

    class Tried:
        kinked = penalty.kinked

        def __call__(self, s: np.ndarray, *smoothing: float) -> Any:
            nonlocal tried
            tried += 1
            return penalty(s, *smoothing)

    objective.penalty = Tried()  # type: ignore[assignment]
    at = objective.point(np.zeros(model.n))
    counts = {"step sizes tried": 0, "forward products of line searches": 0, "adjoint products of line searches": 0,
              "line searches": 0}  # fmt: skip
    for _ in range(5):
        gradient, _ = objective.gradient(at)
        direction = solvers._newton_direction(objective, at, gradient, 0.1)
        value = objective.value(at)
        before = [(o.n_forward, o.n_adjoint) for o in operators]
        tried = 0
        moved = solvers._line_search(objective, at, value, direction, float(gradient @ direction))
        assert moved is not None
        at = moved[0]
        forward, adjoint = (
            max(now - then[i] for now, then in zip((c[i] for c in counters(operators)), before, strict=True))
            for i in (0, 1)
        )
        counts["step sizes tried"] += tried - 1
        counts["forward products of line searches"] += forward
        counts["adjoint products of line searches"] += adjoint
        counts["line searches"] += 1
    return counts


def counters(operators: list[Any]) -> list[tuple[int, int]]:
    """Applications so far, forward and backward, of each operator."""
    return [(o.n_forward, o.n_adjoint) for o in operators]


def mean_by_conjugate_gradients(side: int) -> dict[str, float]:
    """Solve for the Gaussian mean, with and without preconditioner, and compare with the dense solution."""
    system = variational_bounds(problem(side), variances="sampled", max_iter=3, tol=1e9, random_state=SEED).system
    model = problem(side)
    right = (model.back_measure(model.y) / model.noise_variance).reshape(1, *system.input_shape)
    exact = np.linalg.solve(system.to_dense(), right.ravel())
    result: dict[str, float] = {}
    for name, M in (("none", None), ("circulant", circulant_preconditioner(system).inverse())):
        before = system.n_products
        x = conjugate_gradients(system.apply, right, preconditioner=M, tol=1e-8).x.ravel()
        result[f"products, preconditioner {name}"] = system.n_products - before
        result[f"relative error, preconditioner {name}"] = float(np.linalg.norm(x - exact) / np.linalg.norm(exact))
    return result


# ------------------------------------------------------------------------------------------------------------- wavelets
def wavelet_times(shapes: list[tuple[int, ...]]) -> tuple[list[float], float]:
    """Return nanoseconds per pixel, forward and back, and the largest error of the inverse."""
    times, worst = [], 0.0
    for shape in shapes:
        W = Wavelet(shape, "db4")
        u = np.random.default_rng(SEED).standard_normal((1, *shape))
        worst = max(worst, float(np.abs(W.adjoint(W.forward(u)) - u).max()))
        repeats, n = [], max(2**21 // u.size, 1)  # the processor's clock may tick in hundredths of a second
        for _ in range(5):
            start = time.process_time()
            for _ in range(n):
                W.adjoint(W.forward(u))
            repeats.append((time.process_time() - start) / n)
        times.append(1e9 * float(np.median(repeats)) / u.size)
    return times, worst


# -------------------------------------------------------------------------------------------------------------- the run
def run(script: Script) -> None:
    """Count, write the table, judge."""
    side = 16 if script.quick else 32
    rows = count(side)
    columns = ("algorithm", "formula", "n", "q", "products", "parts", "order", "storage", "storage_per_unknown")
    script.table(
        {name: [row[name] for row in rows] for name in columns},
        "nickisch-tab-3.2",
        f"Products with the system matrix and peak storage (numbers of 8 bytes), counted, on a {side} x {side} head "
        f"(nibabel's scan, reduced; simulated noise of variance {NOISE_VARIANCE:g}, which the model was told). "
        f"Double loops: {OUTER} outer steps.",
    )
    by_name = {row["algorithm"]: row for row in rows}
    gradient, lanczos = by_name["gradient, or a sweep over coordinates"], by_name["double loop, lanczos variances"]
    slope, slope_none = lanczos_storage(side)
    one_step = lanczos["products"] / OUTER
    script.judge(
        "nickisch-tab-3.2",
        gradient["products"] > 10 * one_step and abs(slope - 1) < 0.1 and slope_none < 0.1,
        claim="Gradient or coordinate steps cost q N_CG products, the double loop N_Newton N_CG and k per outer step; "
        "storage n + q, with Lanczos k n + q.",
        target="one gradient costs more than ten outer steps of the double loop; each reorthogonalised Lanczos step "
        "stores one further vector (n numbers), without reorthogonalisation none",
        value={"products": {row["algorithm"]: row["products"] for row in rows}, "parts": {
            row["algorithm"]: row["parts"] for row in rows}, "n": rows[0]["n"], "q": rows[0]["q"],
            "numbers stored per unknown and Lanczos step": {"full": round(slope, 3), "none": round(slope_none, 3)}},
        reason="Tests: tests/linalg/test_linear_system.py::test_products_are_counted_across_site_updates, "
        "tests/inference/test_map_estimate.py::test_products_are_counted.",
        seed=SEED,
    )  # fmt: skip
    searched = line_search(side)
    free = (
        searched["adjoint products of line searches"] == 0
        and searched["forward products of line searches"] == searched["line searches"]
        and searched["step sizes tried"] > searched["line searches"]
    )
    script.judge(
        "nickisch-sys-irls",
        free,
        claim="Newton systems by conjugate gradients; B d and X d are kept, so that step sizes cost no further "
        "products.",
        target="one forward application of X and B per line search, whatever the number of step sizes; no adjoint",
        value=searched,
        reason="Test: tests/experiments/test_matrix_free.py::test_line_searches_cost_no_products. The double loop's "
        "own inner loop majorises and needs no line search.",
        seed=SEED,
    )
    solved = mean_by_conjugate_gradients(side)
    script.judge(
        "nickisch-sys-lcg",
        max(value for name, value in solved.items() if "error" in name) < 1e-6,
        claim="The posterior mean is one linear system, solved by conjugate gradients; its cost is counted in "
        "products.",
        target="relative error of the mean below 1e-6 against the dense solution",
        value=solved,
        reason="Tests: tests/linalg/test_conjugate_gradients.py::test_solves_random_systems, "
        "::test_circulant_preconditioner_saves_products.",
        seed=SEED,
    )
    judge_operators(script)


def judge_operators(script: Script) -> None:
    """Judge the operators' adjoints here once more, and the wavelets' inverse and time."""
    from adaptive.operators import Convolution, FourierMask, Product, Scaled, Stacked, adjoint_error

    shape = (16, 24)
    rng = np.random.default_rng(SEED)
    operators = [
        FiniteDifference(shape), Convolution(shape, rng.standard_normal((3, 5))), Wavelet(shape, "db2"),
        FourierMask(shape, rng.random(shape) < 0.3), FourierLines(shape, [3, 8, 9]), Identity(shape),
        Stacked([FiniteDifference(shape), Wavelet(shape, "haar")]), Scaled(2.5, FiniteDifference(shape)),
        Product(FourierLines(shape, [8, 9]), Convolution(shape, rng.standard_normal((3, 3)))),
    ]  # fmt: skip
    errors = {type(one).__name__: float(adjoint_error(one)) for one in operators}
    script.judge(
        "nickisch-sys-glm-ie-operators",
        max(errors.values()) < 1e-12,
        claim="Finite differences, convolution, wavelet and Fourier matrices as products, with adjoints, sums, stacks.",
        target="relative error of <A u, v> = <u, A' v> below 1e-12",
        value=errors,
        reason="Tests: tests/operators/test_operators.py::test_the_adjoint_is_exact (every operator and precision), "
        "::test_forward_adjoint_and_normal_are_those_of_the_matrix.",
        kind="must hold",
        seed=SEED,
    )
    shapes: list[tuple[int, ...]] = [(32, 32), (64, 64), (16, 16, 16)] if script.quick else [
        (128, 128), (256, 256), (512, 512), (1024, 1024), (32, 32, 32), (64, 64, 64), (128, 128, 128)]  # fmt: skip
    times, worst = wavelet_times(shapes)
    planes = [t for t, s in zip(times, shapes, strict=True) if len(s) == 2]
    volumes = [t for t, s in zip(times, shapes, strict=True) if len(s) == 3]
    growth = max(planes[-1] / planes[0], volumes[-1] / volumes[0])
    script.judge(
        "nickisch-sys-fwtn",
        worst < 1e-12 and growth < 2,
        claim="Orthonormal wavelet transform of D-dimensional arrays, any quadrature-mirror filter, linear time, "
        "inverse included.",
        target="inverse exact to 1e-12; time per pixel grows by less than 2 over 64 times the pixels (linear time)",
        value={"error of the inverse": worst, "ns per pixel, forward and back": {
            " x ".join(map(str, s)): round(t, 1) for s, t in zip(shapes, times, strict=True)}},
        reason=("" if growth < 2 else "Large arrays leave the cache. ")
        + "Tests: tests/operators/test_wavelet.py::test_coefficients_are_those_of_pywavelets, "
        "::test_the_transform_is_orthonormal, ::test_every_orthonormal_wavelet_of_pywavelets_is_accepted.",
        seed=SEED,
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
