"""Rivals of the information gain: an oracle that knows the truth, and variances without the logarithm; what each costs.

At 64 x 64, lines are added one by one to 8 central ones, on the slice itself:

    information gain    the line with the largest  sum over its samples of ln(1 + v / (2 noise)),   v = E |F u|^2
    diagonal variance   the line with the largest  sum of v
    oracle              the line whose addition leaves the smallest error of MAP: it measures them all to know

beside the designs that look at nothing. Also: how often 90% intervals of pixels hold the truth, for each design.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from adaptive.estimators.imaging.image_reconstructor import ImageReconstructor
from adaptive.images import SimulatedScan, head_scan, l2_error, padded, paired_interval, simulate_scan
from adaptive.operators import FourierLines
from adaptive.plots import PALETTE
from designs.kspace import central, half_plane_variable_density, lines, low_pass, one_sided_low_pass
from experiments.runs import kept
from experiments.script import Script, command, panels
from experiments.statistics import standard_error

SEED, SNR = 0, 200.0
SIDE, N_CENTRAL, COUNTS = 64, 8, (12, 16)
QUICK = 32  # side of the images of the quick mode
SLICES = (12, 4, 8, 14, 18)  # the first one is what scales and the exponent are tuned on
SCALES = ((0.8, 0.4), (0.4, 0.2), (0.2, 0.1), (0.1, 0.05))
EXPONENTS = (2.0, 3.0, 4.0, 6.0, 8.0)
N_DRAWS = 3
LEVEL, QUANTILE = 0.9, 1.6449
SEQUENTIAL = ("information gain", "diagonal variance", "oracle")
FIXED = ("half-plane variable density", "one-sided low-pass", "low-pass")
TOL = 3e-3


def cell(run: Callable[..., dict[str, np.ndarray]], *arguments: Any) -> dict[str, np.ndarray]:
    """Return ``run(*arguments)``, from its file where it ran before."""
    return kept(f"rivals-{run.__name__}", run, *arguments)


def scan(k: int, side: int) -> SimulatedScan:
    """Return the acquisition of a slice of nibabel's head scan, averaged down to ``side`` x ``side``."""
    width = 128 // side
    small = padded(head_scan()[k].image, 128).reshape(side, width, side, width).mean(axis=(1, 3))
    return simulate_scan(small, snr=SNR, random_state=SEED + k)


def counts(side: int) -> tuple[int, ...]:
    """Numbers of lines, the central ones alone before them."""
    return (5, 6) if side == QUICK else COUNTS


def model(side: int, scales: Any, **settings: Any) -> ImageReconstructor:
    """Return the estimator."""
    given = {"wavelet": float(scales[0]), "tv": float(scales[1])}
    tol = 0.1 if side == QUICK else TOL
    settings = {"design_dtype": None, **settings}  # the real model, with which these runs were judged
    return ImageReconstructor((side, side), prior_scales=given, random_state=SEED, tol=tol, **settings)


def measured(acquired: SimulatedScan, design: Any) -> tuple[Any, list[np.ndarray]]:
    """Return the lines as blocks, and their samples."""
    pool = lines(acquired.image.shape)
    blocks = pool.take(pool.positions(design))
    return blocks, acquired.measure(blocks)


def error(acquired: SimulatedScan, design: Any, scales: Any) -> float:
    """Return the error of MAP."""
    found = model(len(acquired.image), scales).reconstruct(*measured(acquired, design))
    return l2_error(acquired.image, found)


# ------------------------------------------------------------------------------------------- tuning, on the first slice
def tune(side: int) -> dict[str, np.ndarray]:
    """Return the best scales, over three designs, and the best exponent at the middle number of lines."""
    acquired, n = scan(SLICES[0], side), counts(side)[1]
    centre = N_CENTRAL * side // 64
    rows = [f(side, n, centre) for f in (low_pass, one_sided_low_pass)]
    rows.append(half_plane_variable_density(side, n, centre, random_state=SEED))
    scales = min(
        SCALES[: 1 if side == QUICK else None], key=lambda pair: sum(error(acquired, row, pair) for row in rows)
    )

    def of_exponent(exponent: float) -> float:
        rng = np.random.default_rng(SEED)
        draws = [
            half_plane_variable_density(side, n, centre, exponent=exponent, random_state=rng) for _ in range(N_DRAWS)
        ]
        return sum(error(acquired, draw, scales) for draw in draws)

    return {
        "scales": np.array(scales),
        "exponent": np.array(min(EXPONENTS[: 2 if side == QUICK else None], key=of_exponent)),
    }


# ------------------------------------------------------------------------------------------------------ the sequential
def next_line(kind: str, acquired: SimulatedScan, fitted: ImageReconstructor, chosen: list[int], scales: Any) -> int:
    """Return the line that a rule adds."""
    pool = lines(acquired.image.shape)
    rest = np.setdiff1d(pool.lines, chosen)[:: 8 if len(pool) == QUICK else 1]
    if kind == "information gain":
        return int(pool.lines[fitted.select(pool, mask=~np.isin(pool.lines, chosen))[0]])
    if kind == "oracle":
        return int(min(rest, key=lambda line: error(acquired, [*chosen, int(line)], scales)))
    samples, phase = fitted.design_posterior_.samples, fitted.phase_
    spectra = FourierLines(samples.shape[1:], pool.lines).forward(samples * np.exp(1j * phase))
    variance = np.sum(np.mean(np.abs(spectra) ** 2, axis=0), axis=1)
    return int(rest[np.argmax(variance[rest])])


def sequence(kind: str, k: int, side: int) -> dict[str, np.ndarray]:
    """Return the lines in the order chosen, and the CPU seconds of each decision (choice, and refit)."""
    acquired, scales = scan(k, side), cell(tune, side)["scales"]
    chosen = central(side, N_CENTRAL * side // 64).tolist()
    fitted = model(side, scales).fit(*measured(acquired, chosen))
    seconds = []
    while len(chosen) < counts(side)[-1]:
        began = time.process_time()
        chosen.append(next_line(kind, acquired, fitted, chosen, scales))
        if kind != "oracle":
            fitted.partial_fit(*measured(acquired, chosen[-1:]))
        seconds.append(time.process_time() - began)
    return {"lines": np.array(chosen), "seconds": np.array(seconds)}


def designs(k: int, side: int, n: int) -> dict[str, list[np.ndarray]]:
    """Return every design of a slice with ``n`` lines."""
    centre, rng = N_CENTRAL * side // 64, np.random.default_rng(SEED + k)
    exponent = float(cell(tune, side)["exponent"])
    return {
        **{kind: [cell(sequence, kind, k, side)["lines"][:n]] for kind in SEQUENTIAL},
        FIXED[0]: [
            half_plane_variable_density(side, n, centre, exponent=exponent, random_state=rng) for _ in range(N_DRAWS)
        ],
        FIXED[1]: [one_sided_low_pass(side, n, centre)],
        FIXED[2]: [low_pass(side, n, centre)],
    }


def evaluate(k: int, side: int) -> dict[str, np.ndarray]:
    """Return the errors on a slice by design, (counts,), means over draws."""
    acquired, scales = scan(k, side), cell(tune, side)["scales"]
    every = [designs(k, side, n) for n in counts(side)]
    return {
        name: np.array([np.mean([error(acquired, one, scales) for one in found[name]]) for found in every])
        for name in (*SEQUENTIAL, *FIXED)
    }


def coverage(k: int, side: int, n: int) -> dict[str, np.ndarray]:
    """Return by design the shares of pixels whose 90% interval holds the truth: in the head, and in all; mean width.

    The scales are the evidence's, of these samples; the interval is image_ +- 1.645 image_std_.
    """
    acquired = scan(k, side)
    head = acquired.image > 0.05
    results = {}
    for name, found in list(designs(k, side, n).items())[: 1 if side == QUICK else None]:
        fitted = ImageReconstructor((side, side), random_state=SEED, tol=TOL).fit(*measured(acquired, found[0]))
        holds = np.abs(fitted.image_ - acquired.image) <= QUANTILE * fitted.image_std_
        results[name] = np.array([holds[head].mean(), holds.mean(), 2 * QUANTILE * fitted.image_std_[head].mean()])
    return results


# ------------------------------------------------------------------------------------------------------------ the page
def judge(script: Script, side: int, slices: tuple[int, ...]) -> None:
    """Judge, tabulate and draw."""
    errors = {k: cell(evaluate, k, side) for k in slices}
    covered = {k: cell(coverage, k, side, counts(side)[1]) for k in slices}
    seconds = {kind: np.concatenate([cell(sequence, kind, k, side)["seconds"] for k in slices]) for kind in SEQUENTIAL}
    unseen = slices[1:]
    names = (*SEQUENTIAL, *FIXED)

    def ratio(one: str, other: str, at: int) -> list[float]:
        pair = [[errors[k][name][at] for k in unseen] for name in (one, other)]
        return [round(float(x), 4) for x in paired_interval(*pair)[:3]]

    about = f"{len(unseen)} slices at {side} x {side}, {N_CENTRAL * side // 64} central lines, SNR {SNR:g}."
    to_oracle = {
        str(n): {other: ratio("information gain", other, at) for other in names if other != "information gain"}
        for at, n in enumerate(counts(side))
    }
    middle = to_oracle[str(counts(side)[1])]
    script.judge(
        "ours-kspace-oracle",
        all(by["oracle"][0] <= 1.1 for by in to_oracle.values()),
        claim=f"Lines chosen by information gain on the slice itself come within 10% of a one-step oracle. {about}",
        target="mean ratio of MAP errors, information gain / oracle, at most 1.1 at each number of lines",
        value=to_oracle,
        reason="Ratios of the error to every rival, with paired 95% intervals. The oracle is greedy and so no lower "
        "bound. The first column is what is left to gain by looking one line ahead.",
        seed=SEED,
    )
    script.judge(
        "ours-kspace-diagonal-variance",
        middle["diagonal variance"][2] < 1,
        claim=f"The information gain beats choosing by variances without the logarithm. {about}",
        target=f"paired 95% interval of the ratio of MAP errors below 1 with {counts(side)[1]} lines",
        value={n: by["diagonal variance"] for n, by in to_oracle.items()},
        reason=""
        if middle["diagonal variance"][2] < 1
        else "It does not at this size, where both choose nearly the same lines.",
        seed=SEED,
    )
    medians = {kind: float(np.median(one)) for kind, one in seconds.items()}
    cheap = medians["information gain"] <= medians["oracle"] / 10
    script.judge(
        "ours-kspace-seconds-per-decision",
        cheap,
        claim=f"A decision by information gain, refit included, costs a tenth of what the oracle's costs. {about}",
        target="ratio of the median CPU seconds at most 0.1",
        value={
            "median CPU seconds by rule": {kind: round(one, 4) for kind, one in medians.items()},
            "ratio": round(medians["information gain"] / medians["oracle"], 4),
        },
        reason="" if cheap else "Images this small are reconstructed in milliseconds.",
        seed=SEED,
    )
    share = {name: np.mean([covered[k][name] for k in unseen], axis=0) for name in covered[unseen[0]]}
    inside = [float(one[0]) for one in share.values()]
    script.judge(
        "ours-kspace-coverage",
        all(0.8 <= one <= 0.97 for one in inside),
        claim=f"90% intervals of pixels (image_ and image_std_, scales by evidence) hold the truth in 80 to 97% of the "
        f"pixels of the head, whatever the design. {about} {counts(side)[1]} lines.",
        target="share of the head's pixels between 0.8 and 0.97 for every design",
        value={
            name: {
                "head": round(float(one[0]), 3),
                "all pixels": round(float(one[1]), 3),
                "width": round(float(one[2]), 3),
            }
            for name, one in share.items()
        },
        reason=""
        if all(0.8 <= one <= 0.97 for one in inside)
        else "The double loop's variances are conditional on the "
        "widths it found, and samples that no line measured are believed to be small: bands are too narrow there.",
        seed=SEED,
    )
    rows = [
        (
            f"slice {k}",
            name,
            n,
            float(errors[k][name][at]),
            *(covered[k][name][:2] if at == 1 and name in covered[k] else ("", "")),
        )
        for k in slices
        for name in names
        for at, n in enumerate(counts(side))
    ]
    columns = ("image", "design", "lines", "error", "coverage_head", "coverage_all")
    script.table(
        dict(zip(columns, zip(*rows, strict=True), strict=True)),
        "kspace-rivals",
        f"Errors of MAP and coverage of 90% intervals at {side} x {side}; slice {slices[0]} is what was tuned on.",
    )
    draw(script, side, errors, unseen)


def draw(script: Script, side: int, errors: dict[int, dict[str, np.ndarray]], unseen: tuple[int, ...]) -> None:
    """Draw the errors over the oracle's, against the number of lines."""
    figure, ((ax,),) = panels(1, 1, 6.4, 4.0)
    styles = ("o-", "D:", "*-", "s--", "^-.", "v--")
    for name, style, colour in zip((*SEQUENTIAL, *FIXED), styles, (*PALETTE[:2], "black", *PALETTE[2:]), strict=False):
        shares = np.array([errors[k][name] / errors[k]["oracle"] for k in unseen])
        half = standard_error(shares)
        ax.plot(counts(side), shares.mean(axis=0), style, color=colour, label=name, markersize=5)
        ax.fill_between(
            counts(side), shares.mean(axis=0) - half, shares.mean(axis=0) + half, color=colour, alpha=0.12, linewidth=0
        )
    ax.set(xlabel=f"lines of {side}", ylabel="error / the oracle's", xticks=counts(side))
    ax.legend(frameon=False, fontsize=8)
    script.figure(
        figure,
        "kspace-rivals",
        f"MAP error over that of a one-step oracle, means and standard errors over {len(unseen)} slices of nibabel's "
        f"head scan at {side} x {side}, {N_CENTRAL * side // 64} central lines. Simulated: smooth random phase, "
        f"complex noise at SNR {SNR:g}, one coil.",
    )


def run(script: Script) -> None:
    """Compute what is not there; judge."""
    if script.quick:
        judge(script, QUICK, SLICES[:3])
    else:
        judge(script, SIDE, SLICES)


if __name__ == "__main__":
    command(run, __doc__, __file__)
