"""Four factorisations of counts: Last.fm, the synthetic tables of both specifications, prior variances, time.

Last.fm: plays as floor(sqrt(plays) + 1/2), 8,000 entries at random, a quarter of them held out, 1,500 others to choose
the item variance, ten splits as in the source, five components; the point also without biases. Synthetic: 200 x 200 of
five components, and 300 x 200 of three fitted with five. The mean negative log predictive probability of held-out
counts.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from adaptive import PoissonFactorization, datasets
from adaptive.plots.style import style
from experiments.drawing import BARS, with_interval
from experiments.script import Script, command, panels

KINDS = ("map", "em", "mean_field", "full")
VARIANCES = (0.02, 0.2, 1.0)
SOURCE = {"map": 5.94, "em": 4.65, "mean_field": 3.89, "full": 3.81}
ERRORS = {"map": 0.24, "em": 0.18, "mean_field": 0.08, "full": 0.07}
N_COMPONENTS, ROUNDS = 5, 100


def fitted(kind: str, variance: float, pairs: np.ndarray, y: np.ndarray, **options: Any) -> PoissonFactorization:
    """A fit to 1e-5 of the bound, and at most so many rounds."""
    settings = {"item_variance": variance, "dispersion": 1.0, "max_iter": ROUNDS, "tol": 1e-5, "random_state": 0}
    settings |= options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PoissonFactorization(N_COMPONENTS, inference=kind, **settings).fit(pairs, y)


def on_lastfm(split: int, kind: str, variance: float, n: int, fit_bias: bool = True) -> dict[str, Any]:
    """Held-out and validation loss of one fit, CPU seconds, rounds."""
    pairs, plays = datasets.lastfm()
    order = np.random.default_rng(split).permutation(len(plays))
    y = np.floor(np.sqrt(plays) + 0.5)
    train, test, chosen_by = np.split(order[: n + 1500], [int(0.75 * n), n])
    start = time.process_time()
    model = fitted(kind, variance, pairs[train], y[train], fit_bias=fit_bias)
    seconds = time.process_time() - start
    losses = [-model.log_predictive(pairs[part], y[part]).mean() for part in (test, chosen_by)]
    return {"test": losses[0], "validation": losses[1], "seconds": seconds, "rounds": model.n_iter_}


def synthetic(
    users: int, items: int, components: int, deviations: tuple[float, float], seed: int, n: int
) -> tuple[Any, ...]:
    """So many entries, zeros among them, of which the last quarter is to be held out."""
    rng = np.random.default_rng(seed)
    Z, W = (sd * rng.standard_normal((n, components)) for sd, n in zip(deviations, (users, items), strict=True))
    keys = rng.choice(users * items, n, replace=False)
    pairs = np.column_stack(np.divmod(keys, items))
    return pairs, rng.poisson(np.exp(np.sum(Z[pairs[:, 0]] * W[pairs[:, 1]], axis=1))).astype(float)


def on_synthetic(which: str, seed: int, kind: str, variance: float, n: int) -> dict[str, Any]:
    """Held-out loss of one fit."""
    sizes: Any = (200, 200, 5, (0.5**0.5, 0.5**0.5)) if which == "ko" else (200, 300, 3, (1.0, 0.7))
    pairs, y = synthetic(*sizes, seed, n)
    first = 3 * n // 4
    model = fitted(kind, variance, pairs[:first], y[:first], fit_bias=False)
    return {"test": -model.log_predictive(pairs[first:], y[first:]).mean()}


def run(script: Script) -> None:
    """Everything."""
    _lastfm(script)
    _synthetic(script)
    pairs, plays = datasets.lastfm()
    size = [len(np.unique(pairs[:, 1])), len(np.unique(pairs[:, 0])), len(plays)]
    for id in ("ko-tab-3.2", "kokhan-tab-2"):
        script.judge(
            id, size == [17_632, 1_892, 92_834], claim="Last.fm is 17,632 x 1,892 with 92,834 entries.",
            target=[17_632, 1_892, 92_834], value=size, reason="The other three sets are not at hand.",
        )  # fmt: skip


def _lastfm(script: Script) -> None:
    splits, n = (1, 400) if script.quick else (10, 8000)
    variances = VARIANCES[1:2] if script.quick else VARIANCES
    found = {
        (kind, variance): [script.kept("factorization", on_lastfm, split, kind, variance, n) for split in range(splits)]
        for kind in KINDS
        for variance in variances
    }
    columns = {name: np.array([[one[name] for one in runs] for runs in found.values()]).reshape(
        len(KINDS), len(variances), splits) for name in ("test", "validation", "seconds", "rounds")}  # fmt: skip
    best = columns["validation"].argmin(axis=1)
    test = np.take_along_axis(columns["test"], best[:, None], axis=1)[:, 0]
    mean, error = test.mean(axis=1), test.std(axis=1, ddof=min(1, splits - 1)) / np.sqrt(splits)
    script.table(
        {"method": [k for k in KINDS for _ in variances], "item variance": list(variances) * len(KINDS),
         "negative log predictive": np.round(columns["test"].mean(axis=2).ravel(), 4).tolist(),
         "CPU seconds": np.round(columns["seconds"].mean(axis=2).ravel(), 2).tolist(),
         "rounds": np.round(columns["rounds"].mean(axis=2).ravel(), 1).tolist()},
        "counts-lastfm", f"Last.fm, {splits} splits: held-out loss by method and prior variance of items.",
    )  # fmt: skip
    values = {kind: f"{mean[k]:.2f} ({error[k]:.2f})" for k, kind in enumerate(KINDS)}
    ordered = bool(mean[0] > mean[1] > mean[2] >= mean[3] - error[3])
    near = [bool(abs(mean[k] - SOURCE[kind]) < 3 * np.hypot(error[k], ERRORS[kind])) for k, kind in enumerate(KINDS)]
    for id in ("ko-tab-3.3", "kokhan-tab-3"):
        script.judge(
            id, ordered and all(near[2:]), claim="Last.fm: MAP 5.94, EM 4.65, mean field 3.89, full covariances 3.81.",
            target="in that order, mean field and full within three standard errors", value=values,
            reason="Each method's item variance is chosen by validation, since the source does not give it; the other "
            "three sets are not at hand. Within three standard errors: "
            + ", ".join(k for k, one in zip(KINDS, near, strict=True) if one) + ".",
        )  # fmt: skip
    curves = columns["test"].mean(axis=2)
    spread = np.ptp(curves, axis=1)
    plain = [np.mean([script.kept("factorization", on_lastfm, split, "map", variance, n, False)["test"]
                      for split in range(splits)]) for variance in variances]  # fmt: skip
    for id in ("ko-fig-3.1", "kokhan-fig-1"):
        script.judge(
            id, bool(spread[0] > 3 * spread[2] and spread[0] > 3 * spread[3] and curves[0].argmin() <= 1),
            claim="MAP overfits unless strongly regularised; the Bayesian methods are flat in the prior variance.",
            target="MAP spreads three times as far as mean field and full, and is best at the small end",
            value={kind: [round(float(v), 3) for v in curve]
                   for kind, curve in zip((*KINDS, "map without biases"), (*curves, plain), strict=True)},
            reason=f"At item variances {', '.join(map(str, variances))}, {splits} splits. Three of the splits were "
            "also run at 5 and 25, which the source's axis may reach (it is not known). There MAP overfits (6.28 at "
            "0.2, then 6.72 and 7.61; mean field 4.00, 4.25, 4.43) and spreads three times as far. Three causes were "
            "ruled out: biases regularised as strongly as the entries (7.22, 6.51, 6.32, 6.69 at 0.02, 0.2, 1, 5; "
            "those of items alone 6.02, 6.00, 6.32, 7.44, but mean field 3.65, 3.79, 4.10, 4.50), 20 components "
            "(6.51, 6.23 at 0.02, 0.2), or a MAP climbed to 1e-8 of its objective (6.34, 6.00, 5.82 at 0.02, 0.2, 1; "
            "two splits). Without biases (mean field 8.31, 7.73, 8.51) MAP is best at the small end, but that model "
            "knows no mean count.",
        )  # fmt: skip
    seconds = np.array([columns["seconds"][k, b].mean() for k, b in enumerate(_common(columns["validation"]))])
    for id in ("ko-fig-3.2", "kokhan-fig-2"):
        script.judge(
            id, bool(seconds[2] < 0.5 * seconds[3] and mean[2] - mean[3] < 0.1),
            claim="Mean field comes close to full covariances at a cost near MAP's.",
            target="within 0.1 nats of full, in less than half its time",
            value={kind: {"loss": round(float(mean[k]), 3), "CPU seconds": round(float(seconds[k]), 2)}
                   for k, kind in enumerate(KINDS)},
            reason="On Last.fm, each method to 1e-5 of its bound at its best prior variance. The source's own gap is "
            "0.08 nats. Seconds were measured beside other work on two cores.",
        )  # fmt: skip
    says = {"map": "MAP", "em": "EM", "mean_field": "mean field", "full": "full covariances"}
    figure, ((left, right),) = panels(1, 2)
    for k, kind in enumerate(KINDS):
        look, place = style(kind, k), columns["seconds"][k].mean(axis=1)
        with_interval(left, np.array(variances) * 1.03**k, columns["test"][k], bars=True, label=says[kind], **look)
        with_interval(right, place, columns["test"][k], bars=True, **look | {"linestyle": ""})
    left.set(xlabel="prior variance of items", ylabel="held-out loss (nats)", xscale="log")
    right.set(xlabel="CPU seconds", ylabel="held-out loss (nats)", xscale="log")
    right.set_xticks([0.2, 0.5, 1.0, 2.0], ["0.2", "0.5", "1", "2"])
    right.set_xticks([], minor=True)
    left.set_ylim(top=7.6)
    left.legend(fontsize=8, frameon=False, ncols=2, loc="upper right")
    script.figure(
        figure, "counts-lastfm", f"Last.fm: held-out loss by prior variance and by time. {BARS} over {splits} splits."
    )


def _common(validation: np.ndarray) -> np.ndarray:
    """The variance that most splits choose, by method."""
    return validation.mean(axis=2).argmin(axis=1)


def _synthetic(script: Script) -> None:
    seeds = (0,) if script.quick else (0, 1, 2)
    n = 800 if script.quick else 8000
    grids = {"ko": (0.1, 0.25, 1.0, 4.0), "kokhan": (0.05, 0.2, 0.5, 2.0)}
    targets = {
        "ko": "mean field at least 0.2 below MAP at every variance, and spreads less than 0.1",
        "kokhan": "mean field at least 0.2 below the best MAP, and spreads less",
    }
    for which, grid in grids.items():
        grid = grid[1:2] if script.quick else grid
        loss = {
            kind: np.array([[script.kept("factorization", on_synthetic, which, seed, kind, variance, n)["test"]
                             for variance in grid] for seed in seeds])
            for kind in ("map", "mean_field")
        }  # fmt: skip
        mean = {kind: table.mean(axis=0) for kind, table in loss.items()}
        spread = {kind: float(np.ptp(one)) for kind, one in mean.items()}
        gain = mean["map"] - mean["mean_field"]
        if which == "ko":
            holds = bool(gain.min() >= 0.2 and spread["mean_field"] < 0.1)
        else:
            holds = bool(mean["map"].min() - mean["mean_field"].max() >= 0.2 and spread["mean_field"] < spread["map"])
        script.judge(
            f"ours-counts-synthetic-{which}", holds,
            claim="Synthetic counts: mean field loses less than MAP, at any prior variance, and hardly depends on it.",
            target=targets[which],
            value={kind: [round(float(v), 3) for v in one] for kind, one in mean.items()},
            reason=f"Item variances {', '.join(map(str, grid))}, {len(seeds)} seeds.",
        )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
