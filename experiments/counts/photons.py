"""Photon images: Poisson against Gaussian noise with their scales by evidence and at their best; designed exposures.

Six photographs at 32 x 32 pixels and maximum intensities 10, 20 and 30; a 3 x 3 Gaussian blur of .3 pixels, differences
with a Laplace prior, expectation propagation for both likelihoods. The scale is the one of the highest evidence on a
grid, normalised by the number of unknowns, or the best of the grid by its error; the Gaussian noise has the variance of
the mean count. One of them at 64 x 64 and 10, by `ImageReconstructor`, the scales being those of 32 x 32. The error is
|u - truth|_1 / |truth|_1. Exposures at 16 x 16: single pixels chosen one by one, jointly, at random, or all alike.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from adaptive import ImageReconstructor, inference
from adaptive.estimators.imaging.prior import ImagePrior
from adaptive.inference import GLM
from adaptive.operators import Convolution
from adaptive.plots import PALETTE
from adaptive.potentials import Poisson
from experiments.images.shared.photographs import SHIPPED, TEST, photograph
from experiments.script import Script, command, panels

SCALES = (0.02, 0.04, 0.08, 0.16, 0.32)  # of the maximum intensity
MAXIMA = (10, 20, 30)
DEBLURRED, LARGER = 32, 64
OFFSETS = np.exp(-0.5 * (np.arange(-1, 2) / 0.3) ** 2)
BLUR = np.outer(OFFSETS, OFFSETS) / OFFSETS.sum() ** 2
SIDE, N_STEPS, N_CHOSEN, EXPOSURE = 16, 8, 32, 20.0
FEWER = 4  # times fewer pixels, and longer, where they are chosen jointly


def deblurred(name: str, side: int, largest: int, likelihood: str) -> dict[str, Any]:
    """Errors and evidences along the grid of scales, and the image at the best of both."""
    truth = largest * photograph(name, side)
    blur = Convolution((side, side), BLUR)
    A = blur.to_dense()
    y = np.random.default_rng(0).poisson(np.maximum(A @ truth.ravel(), 0.0)).astype(float)
    prior = ImagePrior((side, side), "tv", "db2", None, "real", "transform", float(largest))
    errors, evidences, images, failures = [], [], [], 0
    for share in SCALES:
        (operator, potential), scale = prior.groups({"tv": share * largest})[0], share * largest
        B, options = operator.to_dense(), {"prior_covariance": (100.0 * largest) ** 2}
        if likelihood == "gaussian":
            model = GLM(A, y, float(y.mean()), B=B, potentials=potential, **options)
        else:
            model = GLM(B=[B, A], potentials=[potential, Poisson(y, likelihood)], **options)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                posterior = inference.expectation_propagation(model, tol=1e-3, max_iter=60)
            failures += not posterior.converged
            missing = 1.0 - (side * side) / len(B)
            evidences.append(posterior.log_evidence + missing * len(B) * np.log(2 * scale))
            intensity = (
                Poisson(rate=likelihood).mean_rate(posterior.mean) if likelihood != "gaussian" else posterior.mean
            )
            images.append(np.maximum(intensity, 0.0))
            errors.append(abs(images[-1] - truth.ravel()).sum() / truth.sum())
        except (ValueError, np.linalg.LinAlgError, FloatingPointError):
            failures += 1
            evidences.append(-np.inf)
            errors.append(np.inf)
            images.append(np.full(side * side, np.nan))
    chosen = int(np.argmax(evidences))
    return {"errors": np.array(errors), "chosen": chosen, "image": images[chosen], "failures": failures,
            "by evidence": errors[chosen], "best": min(errors)}  # fmt: skip


def larger(name: str, side: int, largest: int, likelihood: str, share: float) -> dict[str, Any]:
    """Error of the public estimator at one scale."""
    truth = largest * photograph(name, side)
    blur = Convolution((side, side), BLUR)
    y = np.random.default_rng(0).poisson(np.maximum(blur.forward(truth), 0.0)).astype(float).ravel()
    noise: dict[str, Any] = {"likelihood": "poisson"}
    if likelihood == "gaussian":
        noise = {"noise_variance": float(y.mean()), "design_noise_variance": float(y.mean()),
                 "inference": "expectation_propagation"}  # fmt: skip
    options: dict[str, Any] = {"prior": "tv", "prior_scales": share * largest, "largest": float(largest)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ImageReconstructor((side, side), check=False, **options, **noise).fit(blur, y)
    return {"error": abs(np.maximum(model.image_, 0.0) - truth).sum() / truth.sum()}


def exposed(seed: int, design: str) -> dict[str, Any]:
    """Error and coverage after as much time on designed pixels as on all pixels equally; jointly: fewer, for longer."""
    name = TEST[seed % len(TEST)] if seed >= 0 else SHIPPED[0]
    truth = photograph(name, SIDE).ravel()
    rng = np.random.default_rng(seed)
    pixels = np.eye(SIDE * SIDE)
    model = ImageReconstructor((SIDE, SIDE), likelihood="poisson", prior="tv", prior_scales=0.1)
    model.fit(2.0 * pixels, rng.poisson(2.0 * truth))
    errors = []
    longer = FEWER if design == "jointly" else 1
    candidates = longer * EXPOSURE * pixels
    for step in range(N_STEPS):
        if design in ("designed", "jointly"):
            n = N_CHOSEN // longer
            chosen = model.select(candidates, n, joint=design == "jointly", random_state=step)
        elif design == "random":
            chosen = rng.choice(len(pixels), N_CHOSEN, replace=False)
        else:  # equal: every pixel once, in turn
            chosen = np.arange(step * N_CHOSEN, (step + 1) * N_CHOSEN) * 7 % len(pixels)
        model.partial_fit(candidates[chosen], rng.poisson(longer * EXPOSURE * truth[chosen]))
        errors.append(abs(model.image_.ravel() - truth).sum() / truth.sum())
    inside = abs(model.image_.ravel() - truth) < 1.645 * model.image_std_.ravel()
    return {"errors": np.array(errors), "coverage": float(inside.mean())}


def run(script: Script) -> None:
    """Deblurring, other rates, exposures."""
    names = SHIPPED[:1] if script.quick else TEST[:6]
    side, maxima = (8, MAXIMA[:1]) if script.quick else (DEBLURRED, MAXIMA)
    found = {
        (name, largest, kind): script.kept("photons", deblurred, name, side, largest, kind)
        for name in names for largest in maxima for kind in ("gaussian", "rectified")
    }  # fmt: skip
    ratios = {
        how: np.array([[found[n, m, "rectified"][how] / found[n, m, "gaussian"][how] for n in names] for m in maxima])
        for how in ("by evidence", "best")
    }
    keys = list(found)
    script.table(
        {"photograph": [k[0] for k in keys], "maximum": [k[1] for k in keys], "likelihood": [k[2] for k in keys],
         "error, scale by evidence": [round(float(found[k]["by evidence"]), 4) for k in keys],
         "error, best scale": [round(float(found[k]["best"]), 4) for k in keys]},
        "counts-photons", f"Deblurring at {side} x {side}: relative absolute errors.",
    )  # fmt: skip
    mean = {how: [round(float(v), 3) for v in ratio.mean(axis=1)] for how, ratio in ratios.items()}
    lower = bool(ratios["by evidence"].mean(axis=1).max() < 1 and ratios["best"].mean(axis=1).max() < 1)
    shrinks = bool(ratios["best"].mean(axis=1)[-1] >= ratios["best"].mean(axis=1)[0])
    size = f"{len(names)} photographs of {side} x {side} pixels, maxima {', '.join(map(str, maxima))}."
    script.judge(
        "ko-tab-2.4", lower and shrinks,
        claim="Deblurring: the Poisson likelihood errs less than the Gaussian one, most at low counts.",
        target="mean ratio of errors below 1 at every maximum, and rising with it",
        value=mean,
        reason=f"Poisson over Gaussian, {size} At the best scale counts err less at every maximum, by 1 to 2% (at 16 x "
        "16 by 2 to 5%); the source's ratio of .65 is not met. Its Gaussian competitor's noise is not given: here it "
        "has the variance of the mean count.",
    )  # fmt: skip
    _pictures(script, found, names, side, maxima[0])
    wins = [int(np.sum(row < 1)) for row in ratios["by evidence"]]
    for id, claim in (
        ("ko-fig-2.7", "At low counts the Gaussian likelihood oversmooths and the Poisson one keeps edges."),
        ("ko-fig-2.8", "The Poisson reconstruction restores contrast and features."),
        (
            "ko-fig-2.9",
            "Across the picture the Poisson profile follows edges and contrast, the Gaussian is flat.",
        ),
    ):
        contrast = _contrast(found, names, side, maxima[0])
        script.judge(
            id, abs(contrast["rectified"] - 1) < abs(contrast["gaussian"] - 1) and wins[0] > len(names) / 2,
            claim=claim,
            target="sum of absolute differences of neighbours closer to the truth's with counts, and smaller errors",
            value={"share of the truth's differences": contrast, "photographs won": f"{wins[0]} of {len(names)}"},
            reason=f"At maximum {maxima[0]}, scales by evidence, {size} Counts keep more of the contrast, as claimed, "
            "but err less in few: their noise is kept with it. The source's 128 x 128 were not run.",
        )  # fmt: skip
    _other_rates(script)
    _larger(script, found, names[0])
    _exposures(script)


def _larger(script: Script, found: dict[Any, Any], name: str) -> None:
    """Poisson beside Gaussian at twice the side, at the best scales of the smaller picture."""
    side = 16 if script.quick else LARGER
    error = {
        kind: float(script.kept("photons", larger, name, side, MAXIMA[0], kind, SCALES[
            int(np.argmin(found[name, MAXIMA[0], kind]["errors"]))])["error"])
        for kind in ("gaussian", "rectified")
    }  # fmt: skip
    script.judge(
        "ours-counts-photons-larger", error["rectified"] < error["gaussian"],
        claim="At 64 x 64, too, the Poisson likelihood errs less than the Gaussian one at low counts.",
        target="a smaller relative absolute error",
        value={kind: round(one, 4) for kind, one in error.items()},
        reason=f"One photograph of {side} x {side}, maximum {MAXIMA[0]}, by ImageReconstructor, each at the scale (of "
        "the maximum) that was best at half the side.",
    )  # fmt: skip


def _contrast(found: dict[Any, Any], names: Any, side: int, largest: int) -> dict[str, float]:
    """Differences of neighbours in the images, as a share of those in the truth."""
    shares = {}
    for kind in ("gaussian", "rectified"):
        share = []
        for name in names:
            truth = largest * photograph(name, side)
            image = found[name, largest, kind]["image"].reshape(side, side)
            share.append(sum(abs(np.diff(image, axis=a)).sum() / abs(np.diff(truth, axis=a)).sum() for a in (0, 1)) / 2)
        shares[kind] = round(float(np.mean(share)), 3)
    return shares


def _pictures(script: Script, found: dict[Any, Any], names: Any, side: int, largest: int) -> None:
    figure, axes = panels(2, 4, 9.0, 4.6)
    for row, name in zip(axes, (names[0], names[-1]), strict=True):
        truth = photograph(name, side)
        images = [truth, *(found[name, largest, kind]["image"].reshape(side, side) / largest
                           for kind in ("gaussian", "rectified"))]  # fmt: skip
        for ax, image, title in zip(row, images, ("truth", "Gaussian noise", "Poisson counts"), strict=False):
            ax.imshow(image, cmap="gray", vmin=0, vmax=truth.max())
            ax.set_axis_off()
            ax.set_title(title, fontsize=9)
        for k, image in enumerate(images):
            row[3].plot(
                image[side // 2], color=("0.3", PALETTE[0], PALETTE[1])[k], label=("truth", "Gaussian", "Poisson")[k]
            )
        row[3].set_title("middle row", fontsize=9)
    axes[0, 3].legend(fontsize=7)
    script.figure(figure, "counts-photons", f"Deblurred photographs at a maximum of {largest} photons, simulated.")


def _other_rates(script: Script) -> None:
    side = 8 if script.quick else 16
    name = SHIPPED[0]
    failures = {
        rate: int(script.kept("photons", deblurred, name, side, 10, rate)["failures"])
        for rate in ("rectified", "softplus", "exp")
    }
    best = {rate: round(float(script.kept("photons", deblurred, name, side, 10, rate)["best"]), 3) for rate in failures}
    script.judge(
        "ours-counts-other-rates",
        failures["rectified"] == 0 and min(failures["exp"], failures["softplus"]) > 0,
        claim="In deblurring the other rates fail over wide ranges of scales, and the rectified one does not.",
        target="inference fails at no scale of the rectified rate, and at some of the others",
        value={"failures": failures, "best error": best},
        reason=f"One photograph at {side} x {side}, {len(SCALES)} scales. A blur is of intensities: their logarithms "
        "are not blurred, so the exponential rate is the wrong model; quadrature to 1e-10 does not fail as the "
        "source's did.",
    )  # fmt: skip


def _exposures(script: Script) -> None:
    seeds = range(1) if script.quick else range(8)
    designs = ("designed", "equal", "random", *(() if script.quick else ("jointly",)))
    found = {d: [script.kept("photons", exposed, seed, d) for seed in seeds] for d in designs}
    last = {d: np.array([one["errors"][-1] for one in runs]) for d, runs in found.items()}
    for rival in ("equal", "random"):
        gains = {}
        for design in sorted(last.keys() & {"designed", "jointly"}):
            gain = last[rival] - last[design]
            half = 1.96 * gain.std(ddof=min(1, len(gain) - 1)) / np.sqrt(len(gain))
            gains[design] = [round(float(gain.mean() - half), 4), round(float(gain.mean() + half), 4)]
        script.judge(
            f"ours-counts-exposures-{rival}", any(low > 0 for low, _ in gains.values()),
            claim=f"The same time on designed pixels leaves less error than on {rival} ones.",
            target="paired 95% interval of the gain in relative error above 0, chosen one by one or jointly",
            value={"error": {d: round(float(one.mean()), 4) for d, one in last.items()}, "gain": gains},
            reason=f"{len(seeds)} photographs at {SIDE} x {SIDE}, {N_STEPS} rounds of {N_CHOSEN} pixels for "
            f"{EXPOSURE:g} units each (jointly: {N_CHOSEN // FEWER} for {FEWER * EXPOSURE:g}), after 2 units on all. "
            "Likely cause: a gain counts nats of every pixel, of which the borders, with fewer neighbours, have most; "
            "the error counts the bright ones most.",
        )  # fmt: skip
    coverage = {d: round(float(np.mean([one["coverage"] for one in runs])), 3) for d, runs in found.items()}
    script.judge(
        "ours-counts-exposures-coverage", 0.85 <= coverage["designed"] <= 0.97,
        claim="After designed exposures 90% bands of pixels hold about 90% of them.", target=[0.85, 0.97],
        value=coverage, reason="A total-variation prior is stiffer than photographs at its given scale, .1.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
