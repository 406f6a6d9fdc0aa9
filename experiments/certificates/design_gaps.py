"""How far designs may be from the best: gaps left on nine kinds of problem, by each published bound and by the least.

Kinds: rows of digits, maps under a Gaussian process, a polynomial regression, heavy-tailed rows, sensors on the pixels
of real digits, lines of a head at 24 (exact), 64 and 128 pixels (by samples of the posterior: estimates), and short
forms of three item banks (discrete: estimates).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from adaptive import SparseLinearRegression, certificate
from adaptive.plots import PALETTE
from experiments.certificates.problems import banks, bounds, gaussian_problems, lines, standardised
from experiments.script import Script, command, panels

BOUNDS = ("greedy guarantee", "eigenvalues", "D-optimal relaxation", "prefixes", "tangent", "folded relaxation")
OURS = ("prefixes", "tangent", "folded relaxation")


def run(script: Script) -> None:
    """Gaps, then what they cost."""
    gaps(script)
    costs(script)


def gaps(script: Script) -> None:
    """A row per problem: percent that the best set may tell more than the design, by each bound."""
    table: dict[str, list[Any]] = {
        name: [] for name in ("problem", "n", "nats", "kind", "random / design", *BOUNDS, "left")
    }
    swapped, left, narrow = {}, {}, set()
    for problem in gaussian_problems(script.quick):
        found = {key: float(value) for key, value in bounds(problem).items()}
        told = found["with exchanges"]
        least = min(found[name] for name in OURS)
        if problem.n * problem.rows.shape[1] < problem.rows.shape[2]:
            narrow.add(f"{problem.name}, {problem.n}")
        swapped[f"{problem.name}, {problem.n}"] = told / found["greedy"] - 1
        left[f"{problem.name}, {problem.n}"] = least / told - 1
        row = [problem.name, problem.n, told, "bound", found["random"] / told]
        row += [_percent(found[name], told) for name in BOUNDS] + [_percent(least, told)]
        for column, value in zip(table.values(), row, strict=True):
            column.append(value)
    estimates = {}
    sides = ((64, 24, 8), (128, 48, 12)) if not script.quick else ((32, 10, 6),)
    for side, n, centre in sides:
        found = lines(side, n, centre)
        estimates[f"lines of {side} pixels"] = found
    estimates |= dict(banks(script.quick))
    for name, one in estimates.items():
        row = [name, one.n, one.information, "estimate", np.nan]
        row += [_percent(one.bounds.get(bound, np.nan), one.information) for bound in BOUNDS]
        row += [_percent(one.bound, one.information)]
        left[f"{name}, {one.n}"] = one.bound / one.information - 1
        for column, value in zip(table.values(), row, strict=True):
            column.append(value)
    shown = {name: [_shown(value) for value in column] for name, column in table.items()}
    script.table(
        shown, "ours-certificate-gaps",
        "Percent that the best set of n may tell more than the design (greedy with exchanges; last column: by the "
        "least of ours). The model is the one that is certified; of lines and items the bounds are estimates.",
    )  # fmt: skip
    _draw(script, table)
    estimated = {name: gap for name, gap in left.items() if name.startswith((*_LARGE, *_BANKS))}
    exact = {name: gap for name, gap in left.items() if name not in estimated}
    script.judge(
        "ours-certificate-gaps", max(exact.values()) <= 0.10,
        claim="Where covariances are exact (rows, maps, regressions, sensors, lines of a small head), the certificate "
        "leaves at most 10% between a design and the best.",
        target="at most 0.10 on every problem",
        value={name: round(gap, 4) for name, gap in exact.items()},
        seed=0,
    )  # fmt: skip
    script.judge(
        "ours-certificate-gaps-estimates", max(estimated.values()) <= 0.10,
        claim="Lines of a head at 64 and 128 pixels, and short forms of item banks, are within 10% of the best, too.",
        target="at most 0.10 on every problem, by the estimates that exist",
        value={name: round(gap, 4) for name, gap in estimated.items()},
        reason="For these problems there are the prefixes, and for lines the tangent, but no relaxation. Mirrors of "
        "lines are counted once, which halves what lines leave open. Similar items also repeat one another, which "
        "sums of single gains do not know.",
        seed=0,
    )  # fmt: skip
    few = {name: gain for name, gain in swapped.items() if name in narrow}
    script.judge(
        "ours-certificate-exchanges", float(np.mean([gain >= 0.02 for gain in few.values()])) > 0.5,
        claim="Exchanges after the greedy gain 2 to 3% of the information where a batch has fewer rows than unknowns.",
        target="2% or more on more than half of such problems",
        value={name: round(gain, 4) for name, gain in swapped.items()},
        reason="They gain 2.4% only where rows share a direction that is not known (digits not centred); otherwise "
        "the greedy choice is within 1% of where exchanges end. Exchanges never lose.",
        seed=0,
    )  # fmt: skip


_LARGE = ("lines of 64", "lines of 128", "lines of 32")
_BANKS = ("sat12", "verbal", "icar")


def _percent(bound: float, told: float) -> float:
    return 100 * (bound / told - 1)


def _shown(value: Any) -> Any:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.3g}" if value < 1e3 else f"{value:.0f}"
    return value


def _draw(script: Script, table: dict[str, list[Any]]) -> None:
    figure, axes = panels(1, 1, 8.0, 4.6)
    ax, y = axes[0, 0], np.arange(len(table["problem"]))
    marks = dict(zip(BOUNDS, ("x", "s", "^", "o", "v", "D"), strict=True))
    for colour, name in zip(PALETTE, BOUNDS, strict=False):
        values = np.array(table[name], dtype=float)
        ax.plot(np.clip(values, 0.05, 200), y, marks[name], color=colour, label=name, markersize=5)
    ax.set_yticks(y, [f"{name}, {n}" for name, n in zip(table["problem"], table["n"], strict=True)], fontsize="small")
    ax.invert_yaxis()
    ax.set(xscale="log", xlabel="percent that the best set may tell more than the design (200: or more)")
    ax.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    script.figure(
        figure, "ours-certificate-gaps",
        "What each bound leaves open on nine kinds of problem; of lines by samples, and of items, estimates.",
    )  # fmt: skip


def costs(script: Script) -> None:
    """CPU seconds of a certificate over those of the choice that it certifies, which ends with exchanges."""
    sizes = {"digits, 1797 x 64, 32": (1797, 64, 32), "normal, 10000 x 100, 64": (10_000, 100, 64)}
    found = {}
    for name, (m, d, n) in sizes.items():
        if script.quick:
            m = 200
        X = standardised(_digits()[:m]) if d == 64 else np.random.default_rng(0).standard_normal((m, d)) / 10
        model = SparseLinearRegression()
        chosen = model.select(X, n, random_state=0)
        greedy = _seconds(lambda model=model, X=X, n=n: model.select(X, n, scorer=_plain, random_state=0))
        choice = _seconds(lambda model=model, X=X, n=n: model.select(X, n, random_state=0))
        both = _seconds(lambda model=model, X=X, chosen=chosen: certificate(model, X, chosen))
        one = certificate(model, X, chosen)
        found[name] = {
            "gap": 1 / one.share - 1, "by": one.by, "seconds": both, "over the greedy": both / greedy,
            "over the choice with exchanges": both / choice,
        }  # fmt: skip
    first, second = found.values()
    script.judge(
        "ours-certificate-cost",
        first["gap"] <= 0.10 and first["over the greedy"] <= 5 and second["over the greedy"] <= 10,
        kind="must hold",
        claim="A certificate for 32 of 1,797 rows is within 10%, at no more than 5 times the CPU seconds of the "
        "greedy choice; one for 64 of 10,000 x 100 takes no more than 10 times.",
        target="gap at most 0.10; at most 5 and 10 times the seconds of the library's own greedy choice without "
        "exchanges, on one BLAS thread",
        value=found,
        seed=0,
    )  # fmt: skip


def _plain(predictive: Any, random_state: Any = None) -> np.ndarray:
    """The information gain under another name: no exchanges follow."""
    from adaptive import scorers

    return scorers.information_gain(predictive, random_state)


def _digits() -> np.ndarray:
    from sklearn.datasets import load_digits

    return load_digits().data


def _seconds(act: Callable[[], Any], times: int = 5) -> float:
    found = []
    for _ in range(times):
        begun = time.process_time()
        act()
        found.append(time.process_time() - begun)
    return float(np.median(found))


if __name__ == "__main__":
    command(run, __doc__, __file__)
