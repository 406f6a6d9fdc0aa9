"""Your own picture, measured with the most informative filters one after another, beside the usual ways to measure.

    python -m experiments.images.own_photograph --image FILE --size 32 --measurements 200 --out FOLDER

simulates a single-pixel detector that looks at your picture (reduced to ``size`` by ``size`` pixels) through one filter
at a time, with noise. After every three measurements the posterior says which three filters to show next. Beside it
stand three designs that look at nothing: wavelet coefficients from coarse to fine, reconstructed by least squares and
by expectation propagation, and random filters with total variation. The folder then holds ``photograph.png``,
``errors.csv``, ``filters.npy`` (one row per measurement, in order), ``image.npy`` and ``image_std.npy``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pywt.data
from rich.progress import Progress

from adaptive import ImageReconstructor, SequentialDesign, plots
from adaptive.images import psnr, read_images
from adaptive.inference import GLM
from adaptive.inference.classic import laplace_mode, least_squares
from adaptive.operators import FiniteDifference, Wavelet
from adaptive.potentials import Laplace
from designs import filters
from experiments.images.shared.photographs import reduced

__all__ = ["Settings", "compare", "figure", "picture", "write"]

NOISE_VARIANCE = 0.005  # of every measurement with a filter of norm one; grey values are in [0, 1]
SCALE = 0.943  # of wavelets and differences in L1 + TV: noise sd / .075, the best in the literature
N_RANDOM = 10  # filters before the first designed ones
AT_A_TIME = 3
SIZES = (16, 32, 64)
FOLDER = "adaptive-photograph-run"
SHOWN = 40  # filters in the figure
DESIGNED = "designed filters"
BASELINES = {
    "coarse to fine": "wavelet coefficients, coarse to fine; least squares",
    "coarse to fine, EP": "the same coefficients; expectation propagation",
    "random, L1 + TV": "random filters; sparse wavelets and differences",
}


@dataclass(frozen=True)
class Settings:
    """What is measured how often.

    Attributes
    ----------
    size, measurements : int
    noise_variance : float
    seed : int
        Of the first random filters and of the noise.
    """

    size: int = 32
    measurements: int = 200
    noise_variance: float = NOISE_VARIANCE
    seed: int = 0

    def milestones(self) -> np.ndarray:
        """Numbers of measurements at which all designs are compared."""
        return np.unique(np.linspace(N_RANDOM, self.measurements, 9).round().astype(int))


@dataclass
class Run:
    """One way to measure, and what came of it.

    Attributes
    ----------
    measurements, errors : list
        |image - picture| after so many measurements.
    image, std : array
        The last reconstruction; its pixels' standard deviations where there are any.
    rows : array
        The filters, in order.
    """

    measurements: list[int] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    image: Any = None
    std: Any = None
    rows: Any = None

    def note(self, count: int, image: np.ndarray, truth: np.ndarray) -> None:
        """Keep a reconstruction."""
        self.image = image.reshape(truth.shape)
        self.measurements.append(int(count))
        self.errors.append(float(np.linalg.norm(self.image - truth)))


def picture(path: str | None, size: int) -> np.ndarray:
    """The middle square of a picture (None: a photograph that PyWavelets ships), grey, of so many pixels, in [0, 1]."""
    if path is None:
        return reduced(pywt.data.camera().astype(float), size) / 255.0
    stack = read_images(path)
    whole = np.abs(stack[stack.middle].image)
    if min(whole.shape) < size:
        raise ValueError(f"{Path(path).name} has {whole.shape[0]} x {whole.shape[1]} pixels, fewer than --size {size}.")
    return reduced(whole, size)


def compare(truth: np.ndarray, settings: Settings, report: Callable[[str, float], None]) -> dict[str, Run]:
    """Measure a picture with designed filters and with the others; ``report(design, share done)`` is told how far."""
    noise = np.sqrt(settings.noise_variance) * np.random.default_rng(settings.seed).standard_normal(
        settings.measurements
    )
    runs = {DESIGNED: designed(truth, settings, noise, lambda share: report(DESIGNED, share))}
    order = np.asarray(filters.wavelets(truth.shape, settings.measurements))
    random = filters.uniform(truth.shape, settings.measurements, random_state=settings.seed)
    for name, rows, solver in (
        ("coarse to fine", order, _least_squares),
        ("coarse to fine, EP", order, _propagation(settings)),
        ("random, L1 + TV", random, _total_variation(truth.shape, settings)),
    ):
        runs[name] = run = Run(rows=rows)
        outcomes = rows @ truth.ravel() + noise
        for k, count in enumerate(milestones := settings.milestones()):
            run.note(count, solver(rows[:count], outcomes[:count]), truth)
            report(name, (k + 1) / len(milestones))
    return runs


def designed(truth: np.ndarray, settings: Settings, noise: np.ndarray, report: Callable[[float], None]) -> Run:
    """A few random filters, then three at a time those along which least is known."""
    run, last = Run(), settings.measurements
    first = filters.uniform(truth.shape, min(N_RANDOM, last), random_state=settings.seed)
    model = _model(settings).fit(first, first @ truth.ravel() + noise[: len(first)])
    run.note(len(first), model.image_, truth)

    def measure(query: Any) -> np.ndarray:
        at = slice(run.measurements[-1], run.measurements[-1] + len(query.candidates))
        return np.asarray(query.candidates) @ truth.ravel() + noise[at]

    design = SequentialDesign(model, filters.LeadingDirections(AT_A_TIME), measure, random_state=settings.seed)
    while run.measurements[-1] < last:
        query = design.ask(min(AT_A_TIME, last - run.measurements[-1]))
        design.tell(query, measure(query))
        model = design.estimator_
        run.note(run.measurements[-1] + len(query.candidates), model.image_, truth)
        report(run.measurements[-1] / last)
    run.rows, run.std = model.measurements_[0], model.image_std_
    return run


def _model(settings: Settings) -> ImageReconstructor:
    return ImageReconstructor(
        (settings.size, settings.size), noise_variance=settings.noise_variance, inference="expectation_propagation"
    )


def _least_squares(rows: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
    return least_squares(rows, outcomes).mean


def _propagation(settings: Settings) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    model = _model(settings)

    def solve(rows: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
        known = len(model.measurements_[1])
        return model.partial_fit(rows[known:], outcomes[known:]).image_

    return solve


def _total_variation(shape: tuple[int, ...], settings: Settings) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    B = [Wavelet(shape, "db2"), FiniteDifference(shape)]

    def solve(rows: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
        noise = settings.noise_variance
        return laplace_mode(GLM(rows, outcomes, noise, B=B, potentials=[Laplace(SCALE)] * 2)).mean

    return solve


# ------------------------------------------------------------------------------------------------------------- results
def figure(truth: np.ndarray, runs: dict[str, Run], title: str) -> Any:
    """The picture, what each design makes of it, errors, uncertainty and the filters in order."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(11.0, 9.4), layout="constrained")
    top, middle, bottom = drawing.subfigures(3, 1, height_ratios=[1.05, 1.25, 1.35])
    axes = top.subplots(1, 1 + len(runs))
    top.suptitle(f"{title}, after {runs[DESIGNED].measurements[-1]} measurements", fontsize=10)
    _picture(axes[0], truth, "the picture", vmin=0, vmax=1)
    for axis, (name, run) in zip(axes[1:], runs.items(), strict=True):
        _picture(axis, run.image, f"{name}: {psnr(truth, run.image, 1.0):.1f} dB", vmin=0, vmax=1)

    curve, spread, missed = middle.subplots(1, 3, width_ratios=[1.7, 1, 1])
    for k, (name, run) in enumerate(runs.items()):
        curve.plot(
            run.measurements, run.errors, color=plots.PALETTE[k], label=name, linestyle=["-", "--", "-.", ":"][k]
        )
    curve.set(xlabel="measurements", ylabel="error |image - picture|", ylim=(0, None))
    curve.spines[["top", "right"]].set_visible(False)
    curve.legend(frameon=False, fontsize=8)
    best = runs[DESIGNED]
    wrong = np.abs(best.image - truth)
    limit = float(max(np.quantile(wrong, 0.99), 2 * best.std.max()))
    shown = _picture(spread, 2 * best.std, "two standard deviations", cmap="magma", vmin=0, vmax=limit)
    inside = float(np.mean(wrong < 1.6448536 * best.std))
    _picture(missed, wrong, f"error; {inside:.0%} of pixels inside 90% bands", cmap="magma", vmin=0, vmax=limit)
    middle.colorbar(shown, ax=[spread, missed], shrink=0.7, label="grey values")

    rows = best.rows[:SHOWN].reshape(-1, *truth.shape)
    tiles = bottom.subplots(-(-SHOWN // 10), 10)
    bottom.suptitle(f"the first {len(rows)} filters: {N_RANDOM} random ones, then designed three at a time", fontsize=9)
    for axis in tiles.flat:
        axis.set_axis_off()
    for axis, row in zip(tiles.flat, rows, strict=False):
        extent = np.abs(row).max()
        _picture(axis, row, "", cmap="gray", vmin=-extent, vmax=extent)
    return drawing


def _picture(axis: Any, image: np.ndarray, title: str, cmap: str = "gray", **limits: float) -> Any:
    axis.set_axis_off()
    axis.set_title(title, fontsize=9)
    return axis.imshow(image, cmap=cmap, interpolation="nearest", **limits)


def write(truth: np.ndarray, runs: dict[str, Run], folder: Path, title: str) -> None:
    """Write everything into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    plots.save(figure(truth, runs, title), folder / "photograph.png")
    lines = ["design,measurements,error"]
    for name, run in runs.items():
        label = f'"{name}"' if "," in name else name
        lines += [f"{label},{m},{error:.6g}" for m, error in zip(run.measurements, run.errors, strict=True)]
    (folder / "errors.csv").write_text("\n".join(lines) + "\n")
    for name, array in (("filters", runs[DESIGNED].rows), ("image", runs[DESIGNED].image)):
        np.save(folder / f"{name}.npy", array)
    np.save(folder / "image_std.npy", runs[DESIGNED].std)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().splitlines()[0])
    parser.add_argument("--image", help="a picture (PNG, JPEG, .npy, ...); default a photograph of PyWavelets")
    parser.add_argument("--size", type=int, default=32, choices=SIZES, help="pixels per side (default 32)")
    parser.add_argument("--measurements", type=int, default=200, help="how many (default 200)")
    parser.add_argument("--out", default=FOLDER, help="folder for what is written")
    parser.add_argument("--quick", action="store_true", help="every step at a small size")
    options = parser.parse_args(arguments)
    if not N_RANDOM < options.measurements <= options.size**2:
        parser.error(f"--measurements must be between {N_RANDOM + 1} and the number of pixels, {options.size**2}")
    settings = Settings(options.size, options.measurements)
    if options.quick:
        settings = Settings(16, 25)
        options.out = tempfile.mkdtemp(prefix="adaptive-quick-") if options.out == FOLDER else options.out
    try:
        truth = picture(options.image, settings.size)
    except (OSError, ValueError) as problem:
        print(problem, file=sys.stderr)
        return 2
    with Progress(disable=not sys.stderr.isatty()) as bars:
        tasks = {name: bars.add_task(name, total=1.0) for name in (DESIGNED, *BASELINES)}
        runs = compare(truth, settings, lambda name, share: bars.update(tasks[name], completed=share))
    title = Path(options.image).name if options.image else "camera, of PyWavelets"
    write(truth, runs, Path(options.out), title)
    print(f"{settings.measurements} measurements of {title}, {settings.size} x {settings.size} pixels, simulated noise")
    for name, run in runs.items():
        said = BASELINES.get(name, "expectation propagation, three at a time")
        print(f"  {name:20s} error {run.errors[-1]:6.3f}  {psnr(truth, run.image, 1.0):5.1f} dB   ({said})")
    print(f"written into {options.out}: photograph.png, errors.csv, filters.npy, image.npy, image_std.npy")
    return 0


if __name__ == "__main__":
    sys.exit(main())
