"""Figure 6.12: spiral interleaves at chosen angles against equispaced and random ones.

Angles are chosen one by one on the training slice from 256 candidates over the circle (setting 1)
or half of it (setting 2), then used on it and on slices that were not seen. Errors are L2 norms of differences of
magnitudes. Images, sizes and tuning: `experiments.kspace.shared.spiral_runs`; what was computed is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.images import paired_interval
from adaptive.plots import PALETTE
from experiments.kspace.shared.spiral_runs import (
    ASSUMED,
    DRAWS,
    PERIODS,
    PLANES,
    SEED,
    SHOTS,
    best_design,
    best_scales,
    cell,
    evaluate,
    names,
    simulated,
)
from experiments.script import Script, command, panels

DESIGNS = ("designed", "equispaced", "random")
STYLES = {"designed": (PALETTE[0], "o-"), "equispaced": (PALETTE[1], "s--"), "random": (PALETTE[2], "^:")}
SOURCE = {"circle": "[0, 2 pi)", "half circle": "[0, pi)"}
CLOSE = 0.05  # ratios of errors nearer to 1 are called equal
LATE = {"full": 7, "quick": 3}  # from so many on designed and equispaced angles over half of the circle do alike


def all_errors(mode: str) -> dict[str, dict[str, np.ndarray]]:
    """Return errors by setting and design, (numbers of interleaves, images): means over the draws."""
    found: dict[str, dict[str, np.ndarray]] = {}
    for setting in PERIODS:
        cells = [[cell(evaluate, mode, setting, n, k) for k in range(len(names(mode)))] for n in SHOTS[mode]]
        found[setting] = {name: np.array([[one[name].mean() for one in row] for row in cells]) for name in DESIGNS}
    return found


# ---------------------------------------------------------------------------------------------------------- figure 6.12
def tabulate(script: Script, mode: str, errors: dict[str, dict[str, np.ndarray]]) -> None:
    """Write every error and the angles chosen."""
    rows = [
        (setting, image, "same" if k == 0 else "unseen", PLANES[mode][k], n, design, values[i, k])
        for setting, found in errors.items()
        for design, values in found.items()
        for i, n in enumerate(SHOTS[mode])
        for k, image in enumerate(names(mode))
    ]
    columns = ("angles", "image", "slice", "plane", "interleaves", "design", "error")
    script.table(
        dict(zip(columns, zip(*rows, strict=True), strict=True)),
        "spiral-designs",
        f"MAP from spiral interleaves (random: mean of {DRAWS[mode]} draws). Scales of the reconstruction "
        f"(wavelet, differences, imaginary part: {', '.join(f'{x:g}' for x in best_scales(mode))}) and what the design "
        f"assumes (noise and scale, tried: {ASSUMED}) were tuned on the training slice (slice: same). "
        + simulated(mode),
    )
    chosen = {setting: np.degrees(best_design(mode, setting)).round(3) for setting in PERIODS}
    script.table(
        {"interleaf": range(1, max(SHOTS[mode]) + 1)} | {f"degrees, {name}": list(a) for name, a in chosen.items()},
        "spiral-angles",
        "Offset angles in the order in which they were chosen on the training slice.",
    )


def draw_curves(script: Script, mode: str, errors: dict[str, dict[str, np.ndarray]]) -> None:
    """Draw errors against the number of interleaves: settings in rows, training and test slices in columns."""
    figure, axes = panels(2, 2, 8.4, 5.6)
    for row, (setting, found) in zip(axes, errors.items(), strict=True):
        for column, ax in enumerate(row):
            for name in DESIGNS:
                colour, style = STYLES[name]
                values = found[name][:, 0] if column == 0 else found[name][:, 1:].mean(axis=1)
                ax.plot(SHOTS[mode], values, style, color=colour, markersize=4, label=name)
            title = "training slice" if column == 0 else f"mean of {len(names(mode)) - 1} unseen slices"
            ax.set(title=f"angles in {SOURCE[setting]}: {title}", xlabel="interleaves", ylabel="error of MAP")
            ax.title.set_fontsize(9)
    axes[0, 0].legend(frameon=False)
    script.figure(
        figure,
        "nickisch-fig-6.12",
        "Error against the number of spiral interleaves; offset angles chosen on the training slice, equispaced, or "
        f"random (mean of {DRAWS[mode]} draws). 16 equispaced interleaves are the Nyquist rate. {simulated(mode)}",
    )


def ratios(found: dict[str, np.ndarray], other: str) -> tuple[np.ndarray, np.ndarray]:
    """Return other / designed by number of interleaves: on the training slice, and the mean over unseen ones."""
    share = found[other] / found["designed"]
    return share[:, 0], share[:, 1:].mean(axis=1)


def judge_curves(script: Script, mode: str, errors: dict[str, dict[str, np.ndarray]]) -> None:
    """Judge what the source says of its figure, line by line and as a whole."""
    n = np.array(SHOTS[mode])
    even = n % 2 == 0
    share = {
        (setting, other): dict(zip(("same", "unseen"), ratios(found, other), strict=True))
        for setting, found in errors.items()
        for other in ("equispaced", "random")
    }

    def shown(setting: str, other: str, which: np.ndarray) -> dict[str, Any]:
        return {
            kind: {int(k): round(float(x), 3) for k, x in zip(n[which], values[which], strict=True)}
            for kind, values in share[setting, other].items()
        }

    def smallest(setting: str, other: str, which: np.ndarray) -> float:
        return min(float(values[which].min()) for values in share[setting, other].values())

    def largest(setting: str, other: str, which: np.ndarray) -> float:
        return max(float(values[which].max()) for values in share[setting, other].values())

    late, every = n >= LATE[mode], np.ones(len(n), bool)
    poor_at_even = smallest("circle", "equispaced", even) > 1 + CLOSE
    script.judge(
        "ours-spiral-even-counts",
        poor_at_even,
        claim="Over the circle, even numbers of equispaced interleaves are poor: half are conjugates of others.",
        target="errors equispaced / designed above 1.05 at every even number, on the training slice and unseen ones",
        value=shown("circle", "equispaced", even),
        reason="" if poor_at_even else "At some even number the two are equal.",
        seed=SEED,
    )
    equal_at_odd = largest("circle", "equispaced", ~even) < 1 + CLOSE and smallest(
        "circle", "equispaced", ~even
    ) > 1 - CLOSE  # fmt: skip
    script.judge(
        "ours-spiral-odd-counts",
        equal_at_odd,
        claim="Over the circle, odd numbers of equispaced interleaves do about as well as designed ones.",
        target="errors equispaced / designed between 0.95 and 1.05 at every odd number",
        value=shown("circle", "equispaced", ~even),
        reason="" if equal_at_odd else _which_way(share["circle", "equispaced"], ~even, n),
        seed=SEED,
    )
    equal_late = largest("half circle", "equispaced", late) < 1 + CLOSE and smallest(
        "half circle", "equispaced", late
    ) > 1 - CLOSE  # fmt: skip
    better_early = smallest("half circle", "equispaced", ~late) > 1
    script.judge(
        "ours-spiral-half-circle",
        equal_late and better_early,
        claim="Over half of the circle equispaced and designed interleaves do alike from 7 on, below 7 designed "
        "ones are better.",
        target="errors equispaced / designed between 0.95 and 1.05 from 7 on, above 1 below 7",
        value=shown("half circle", "equispaced", every),
        reason="" if equal_late and better_early else _which_way(share["half circle", "equispaced"], every, n),
        seed=SEED,
    )
    worst = all(smallest(setting, "random", every) > 1 + CLOSE for setting in PERIODS)
    script.judge(
        "ours-spiral-random-angles",
        worst,
        claim="Random angles are much worse than designed ones in both settings.",
        target="errors random / designed above 1.05 at every number of interleaves",
        value={setting: shown(setting, "random", every) for setting in PERIODS},
        reason=""
        if worst
        else f"Random angles are {_worst_from(share, n)}; with fewer interleaves everything aliases, whatever the "
        "angles.",
        seed=SEED,
    )
    judge_transfer(script, mode, errors, n, even)
    same, unseen = share["half circle", "equispaced"]["same"], share["half circle", "equispaced"]["unseen"]
    no_worse = bool((same > 1 - CLOSE).all() and (unseen > 1 - CLOSE).all())
    script.judge(
        "nickisch-fig-6.12",
        no_worse and poor_at_even and worst,
        claim="On [0, pi) designed angles equal or beat equispaced ones, on [0, 2 pi) clearly at even numbers; random "
        "angles are worst.",
        target="errors equispaced / designed above 0.95 on [0, pi), above 1.05 at even numbers on [0, 2 pi); random / "
        "designed above 1.05",
        value={
            "[0, pi), smallest equispaced / designed": round(smallest("half circle", "equispaced", every), 3),
            "[0, 2 pi), smallest at even numbers": round(smallest("circle", "equispaced", even), 3),
            "smallest random / designed": {s: round(smallest(s, "random", every), 3) for s in PERIODS},
        },
        reason="" if no_worse and poor_at_even and worst else _failed(no_worse, poor_at_even, _worst_from(share, n)),
        seed=SEED,
    )


def _which_way(share: dict[str, np.ndarray], which: np.ndarray, n: np.ndarray) -> str:
    """Say where equispaced angles win or lose."""
    said = []
    for kind, values in share.items():
        slices = f"On {'the same' if kind == 'same' else kind} slices"
        worse = n[which & (values > 1 + CLOSE)].tolist()
        better = n[which & (values < 1 - CLOSE)].tolist()
        said.append(f"{slices} equispaced angles are worse at {worse or 'none'}, better at {better or 'none'}.")
    return " ".join(said)


def _worst_from(share: dict[tuple[str, str], dict[str, np.ndarray]], n: np.ndarray) -> str:
    """Say from how many interleaves on random angles are the worse ones, on all slices and in both settings."""
    least = np.min(
        [values for (_, other), one in share.items() if other == "random" for values in one.values()], axis=0
    )
    failed = np.flatnonzero(least <= 1 + CLOSE)
    if not len(failed):
        return "worse at every number of interleaves"
    return (
        f"worse from {n[failed[-1] + 1]} interleaves on, not before"
        if failed[-1] + 1 < len(n)
        else "not worse throughout"
    )


def _failed(no_worse: bool, even: bool, random: str) -> str:
    parts = [
        text
        for holds, text in (
            (no_worse, "on [0, pi) equispaced angles are better somewhere"),
            (even, "at some even number on [0, 2 pi) equispaced angles are as good"),
        )
        if not holds
    ]
    return f"{'; '.join([*parts, f'random angles are {random}']).capitalize()}."


def judge_transfer(
    script: Script, mode: str, errors: dict[str, dict[str, np.ndarray]], n: np.ndarray, even: np.ndarray
) -> None:
    """Judge whether unseen slices behave as the training slice does, and axial ones as the source says."""
    found = errors["circle"]
    at = np.flatnonzero(even)
    intervals = {
        int(n[i]): [round(float(x), 3) for x in
                    paired_interval(found["designed"][i, 1:], found["equispaced"][i, 1:])[:3]]
        for i in at
    }  # fmt: skip
    transfers = all(high < 1 for _, _, high in intervals.values())
    script.judge(
        "ours-spiral-transfer",
        transfers,
        claim="Angles chosen on one slice beat an even number of equispaced ones over the circle on unseen slices.",
        target="paired 95% interval of the errors designed / equispaced below 1 at every even number",
        value={f"{k} interleaves": {"mean": v[0], "95% interval": v[1:]} for k, v in intervals.items()},
        reason="" if transfers else "At some number the interval holds 1.",
        seed=SEED,
    )
    planes, unseen = np.array(PLANES[mode]), np.arange(len(PLANES[mode])) > 0
    means = {}
    for plane in ("sagittal", "axial"):
        if np.any(own := unseen & (planes == plane)):
            share = {setting: (one["equispaced"] / one["designed"])[:, own] for setting, one in errors.items()}
            means[plane] = {
                "all": float(np.mean([one.mean() for one in share.values()])),
                "circle, even numbers": float(share["circle"][even].mean()),
                "circle, odd numbers": float(share["circle"][~even].mean()),
                "half circle": float(share["half circle"].mean()),
            }
    holds = len(means) == 2 and means["axial"]["all"] > means["sagittal"]["all"]
    script.judge(
        "ours-spiral-axial",
        holds,
        claim="Equispaced angles are substantially worse on unseen axial slices than on sagittal ones.",
        target="mean of equispaced / designed over all numbers and both settings larger on axial slices",
        value={plane: {k: round(value, 3) for k, value in one.items()} for plane, one in means.items()},
        reason="Odd and even numbers change places where the phase map leaves an image complex: conjugates are then "
        "not redundant, and odd numbers gain nothing from them.",
        seed=SEED,
    )


def run(script: Script) -> None:
    """Compare, draw, judge."""
    mode = "quick" if script.quick else "full"
    errors = all_errors(mode)
    tabulate(script, mode, errors)
    draw_curves(script, mode, errors)
    judge_curves(script, mode, errors)


if __name__ == "__main__":
    command(run, __doc__, __file__)
