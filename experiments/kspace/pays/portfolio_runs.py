"""Tuned lines and simple rules on fresh scans of a slice: what `tuned_portfolio` judges.

Every scan has a noise and a phase of its own; heads differ in theirs. A rule that after four of the judged scans is
more than a quarter behind the best of its kind is not tried on the others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from designs.kspace import tuned_lines
from designs.kspace.from_images.given import checked_images
from designs.kspace.from_images.halving import errors_of
from designs.kspace.from_images.portfolio import lines_to_try
from designs.kspace.from_images.simulated import TrialScan
from designs.kspace.from_images.tuned import trial_scans
from experiments import runs
from experiments.kspace.pays.shared import TRAINING, image

JUDGED = (  # slices of six heads; ch2 and mni without skull, dwi_b0 of another contrast, as FLAIR
    "nibabel 12", "ppnp 1", "FLAIR axial 75", "ch2 axial 90", "mni_icbm152_t1_2009a coronal 110", "dwi_b0 axial 38",
)  # fmt: skip
TEACHERS = ("chris_t1 sagittal 94", "admm 1", "norm axial 120")
TUNING, JUDGING, DRAWS = 11, 12, 10  # seeds of scans, and how many there are of the latter
TRIED, HOPELESS = 4, 1.25  # after so many scans so far behind the best of its kind


def seed_of(name: str, seed: int) -> int:
    """Return a seed of the slice's own: one that all slices shared would give them the same phases."""
    return seed + 100 * sum(map(ord, name))


@cache
def scans(name: str, side: int, snr: float, seed: int, draws: int) -> tuple[TrialScan, ...]:
    """Return the scans of a slice, each with a noise and phase of its own."""
    return tuple(trial_scans(checked_images("image", image(name, side)), 0, snr, draws, seed_of(name, seed)))


def masked(side: int, n_lines: int, centres: Collection[int]) -> dict[str, np.ndarray]:
    """Return every rule with these numbers of central lines as masks."""
    fitting = [one for one in centres if one <= n_lines]
    return {
        name: np.isin(np.arange(side), one.design)
        for centre in fitting
        for name, one in lines_to_try(side, n_lines, centre, False, 0).items()
    }


def mean_of(errors: np.ndarray | Sequence[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(errors))))


def judged_errors(
    trials: Sequence[TrialScan], masks: Mapping[str, np.ndarray], groups: Sequence[Collection[str]]
) -> dict[str, np.ndarray]:
    """Return the errors of designs, equal ones tried once, but for those that are hopeless in every group of theirs."""
    first = {mask.tobytes(): name for name, mask in reversed(list(masks.items()))}
    same = {name: first[mask.tobytes()] for name, mask in masks.items()}
    found = errors_of(trials[:TRIED], {name: masks[name] for name in set(same.values())})
    means = {name: mean_of(found[same[name]]) for name in masks}
    left = {
        name for group in groups for name in group if means[name] <= HOPELESS * min(means[other] for other in group)
    }
    if len(trials) > TRIED:
        later = errors_of(trials[TRIED:], {name: masks[name] for name in {same[name] for name in left}})
        found = {name: np.concatenate([found[name], one]) for name, one in later.items()}
    return {name: found[same[name]] for name in masks if name in left}


def own_centres(side: int, snr: float, n_lines: int, training: str, centres: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Return, by rule, the setting with the least error on two scans of each training slice."""
    masks = masked(side, n_lines, centres)
    by_slice = [errors_of(scans(name, side, snr, TUNING, 2), masks) for name in training.split(";")]
    found = {rule: mean_of(np.concatenate([one[rule] for one in by_slice])) for rule in masks}
    best: dict[str, str] = {}
    for name in sorted(found, key=found.__getitem__):
        best.setdefault(name.split(",")[0], name)
    return {"names": np.array(sorted(best.values()))}


def tuned(side: int, snr: float, n_lines: int, taught_by: str, n_scans: int) -> dict[str, np.ndarray]:
    """Return the lines that some slices teach together."""
    names = taught_by.split(";")
    found = tuned_lines(
        [image(one, side) for one in names], n_lines, snr=snr, n_scans=n_scans, random_state=seed_of(names[0], TUNING)
    )
    return {"lines": found.lines, "rule": np.array(found.rule), "errors": found.errors[found.rule]}


def judged(name: str, side: int, snr: float, n_lines: int, quick: bool) -> dict[str, np.ndarray]:
    """Return the errors of lines tuned on the slice and on other heads, and those of both best rules."""
    n_scans = 2 if quick else 4
    own = _known(quick, tuned, side, snr, n_lines, name, n_scans)
    other = _known(quick, tuned, side, snr, n_lines, "small 8" if quick else ";".join(TEACHERS), n_scans)
    usual = min(side // 8, 3 * n_lines // 4)
    centres, training = (
        ((4, 8), "small 8") if quick else (tuple(sorted({8, 12, 16, 24, side // 8})), ";".join(TRAINING))
    )
    settings = _known(quick, own_centres, side, snr, n_lines, training, centres)["names"].tolist()
    at_usual, every = masked(side, n_lines, (usual,)), masked(side, n_lines, centres)
    designs = {kind: np.isin(np.arange(side), one["lines"]) for kind, one in (("tuned", own), ("transfer", other))}
    rules = at_usual | {rule: every[rule] for rule in settings}
    fresh = scans(name, side, snr, JUDGING, 2 if quick else DRAWS)
    groups = {"usual": list(at_usual), "own": settings}
    by_rule = judged_errors(fresh, rules | designs, [*groups.values(), ["tuned"], ["transfer"]])
    mean = {rule: mean_of(one) for rule, one in by_rule.items()}
    best = {base: min((one for one in names if one in mean), key=mean.__getitem__) for base, names in groups.items()}
    return {
        "rule": own["rule"], "transfer rule": other["rule"],
        "usual rule": np.array(best["usual"]), "own rule": np.array(best["own"]),
        "tuned": np.array(mean["tuned"]), "transfer": np.array(mean["transfer"]),
        "usual": np.array(mean[best["usual"]]), "own": np.array(mean[best["own"]]),
        "scans": own["errors"], "fresh": by_rule["tuned"],
    }  # fmt: skip


def _known(quick: bool, run: Any, *arguments: Any) -> dict[str, np.ndarray]:
    return _once(run, *arguments) if quick else runs.kept(f"kspace-portfolio-{run.__name__}", run, *arguments)


@cache
def _once(run: Any, *arguments: Any) -> dict[str, np.ndarray]:
    return run(*arguments)
