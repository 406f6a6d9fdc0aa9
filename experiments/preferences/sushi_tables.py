"""Sushi A: four models of preferences compared, and approximations of two of them (Ko 2017, tables 3.4 to 3.6).

200 people with three comparisons each, one more of each to predict, forty draws of people and pairs. The published
features of items are absent: five by hand stand in; of people nothing is known. Components, length scale and, of
GPfull, what people share and the scale are tuned on draws of other people, by the same rule for every model.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from adaptive import CollaborativePreference, datasets
from adaptive.inference import GLM, laplace_approximation
from adaptive.potentials import BernoulliProbit
from experiments.preferences.rankings import STAND_IN, bits, ranked
from experiments.report.cells import spelled
from experiments.script import Script, command

PEOPLE, EACH = 200, 3
LENGTHS, COMPONENTS = (0.5, 1.0, 2.0), (1, 2, 3)
PRINTED = {"GPfull": 0.897, "GPitem": 0.875, "VU": 0.856, "GPVU": 0.798, "GPitem by Laplace": 0.910,
           "GPVU by bounds": 0.854}  # fmt: skip
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "GPitem": [{"length": length} for length in LENGTHS],
    "VU": [{"components": n} for n in COMPONENTS],
    "GPVU": [{"components": n, "length": length} for n in COMPONENTS for length in LENGTHS],
    "GPfull": [{"share": share, "scale": scale, "length": length}
               for share in (0.3, 0.6, 0.9) for scale in (1.0, 4.0) for length in LENGTHS],
}  # fmt: skip
VARIANTS = {"GPitem by Laplace": ("GPitem", "laplace_approximation"), "GPVU by bounds": ("GPVU", "variational_bounds")}


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Comparisons to learn from and one per person to predict; tuning seeds (1000 on) take other people."""
    ranks, _ = datasets.sushi()
    rng = np.random.default_rng(seed)
    half = np.arange(2500) + (2500 if seed >= 1000 else 0)
    people = rng.choice(half, PEOPLE, replace=False)
    rows, y = ranked(ranks, people, EACH + 1, rng)
    test = np.arange(len(rows)) % (EACH + 1) == EACH
    return rows[~test], y[~test], rows[test], y[test]


def error(model: str, options: dict[str, Any], inference: str, seed: int) -> float:
    """Bits per held-out comparison."""
    rows, y, test, won = drawn(seed)
    if model == "GPfull":
        return _full(options, rows, y, test, won)
    given: dict[str, Any] = {"inference": inference, "random_state": seed, "tol": 1e-4, "prior_people": 0.0}
    if model != "VU":
        given |= {"kernel": RBF(options["length"]), "item_features": STAND_IN}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = CollaborativePreference(options.get("components", 0), **given).fit(rows, y)
    return bits(fitted.log_predictive(test, won))


def _full(options: dict[str, Any], rows: np.ndarray, y: np.ndarray, test: np.ndarray, won: np.ndarray) -> float:
    """One Gaussian process over people and items, by Laplace: people have a share in common, nothing else is known."""
    people = np.unique(rows[:, 0])
    items = options["scale"] * (RBF(options["length"])(STAND_IN) + 0.1 * np.eye(len(STAND_IN)))
    alike = options["share"] + (1.0 - options["share"]) * np.eye(len(people))

    def columns(these: np.ndarray) -> tuple[np.ndarray, ...]:
        return np.searchsorted(people, these[:, 0]), these[:, 1], these[:, 2]

    def covariance(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> np.ndarray:
        (u, a, b), (v, c, d) = one, other
        apart = items[np.ix_(a, c)] - items[np.ix_(a, d)] - items[np.ix_(b, c)] + items[np.ix_(b, d)]
        return alike[np.ix_(u, v)] * apart

    known, asked = columns(rows), columns(test)
    prior = covariance(known, known)
    model = GLM(B=np.eye(len(rows)), potentials=BernoulliProbit(y), prior_covariance=prior + 1e-8 * np.eye(len(rows)))
    pi, nu = laplace_approximation(model).sites
    width = 1.0 / np.maximum(pi, 1e-12)
    inner = np.linalg.solve(prior + np.diag(width), np.column_stack([nu * width, covariance(known, asked)]))
    cross = covariance(asked, known)
    mean = cross @ inner[:, 0]
    variance = np.diag(covariance(asked, asked)) - np.sum(cross * inner[:, 1:].T, axis=1)
    return bits(BernoulliProbit(won).tilted_moments(mean, variance)[0])


def table(n_seeds: int, n_tuning: int) -> dict[str, np.ndarray]:
    """Errors (seeds,) of every model at its best options, and these."""
    found: dict[str, np.ndarray] = {}
    best: dict[str, dict[str, Any]] = {}
    for model, every in OPTIONS.items():
        tried = [np.mean([error(model, options, "expectation_propagation", 1000 + k) for k in range(n_tuning)])
                 for options in (every if n_tuning > 1 else every[:1])]  # fmt: skip
        best[model] = every[int(np.argmin(tried))]
        found[model] = np.array([error(model, best[model], "expectation_propagation", k) for k in range(n_seeds)])
        found[f"{model} options"] = np.array(str(best[model]))
    for name, (model, inference) in VARIANTS.items():
        found[name] = np.array([error(model, best[model], inference, k) for k in range(n_seeds)])
    return found


def run(script: Script) -> None:
    """Both tables, in bits and nats."""
    n_seeds, n_tuning = (1, 1) if script.quick else (40, 12)
    found = script.kept("sushi_tables", table, n_seeds, n_tuning)
    errors = {model: np.asarray(found[model], dtype=float) for model in PRINTED}
    mean = {model: float(values.mean()) for model, values in errors.items()}
    script.table(
        {
            "model": list(PRINTED),
            "bits": [round(mean[model], 4) for model in PRINTED],
            "nats": [round(mean[model] * float(np.log(2.0)), 4) for model in PRINTED],
            "standard error, bits": [round(float(e.std() / np.sqrt(len(e))), 4) for e in errors.values()],
            "printed": list(PRINTED.values()),
        },
        "sushi-models",
        f"Sushi A, {PEOPLE} people, {EACH} comparisons each: error of one held-out comparison per person, mean of "
        f"{n_seeds} draws. Features by hand stand in for the published ones. GPfull is solved by Laplace's "
        "approximation, GPVU by bounds has the logistic function.",
    )
    told = {model: {"bits": round(mean[model], 4), "nats": round(mean[model] * float(np.log(2.0)), 4)}
            for model in PRINTED}  # fmt: skip

    def gap(worse: str, better: str) -> list[float]:
        apart = errors[worse] - errors[better]
        half = 2.023 * apart.std(ddof=min(1, len(apart) - 1)) / np.sqrt(len(apart))
        return [round(float(apart.mean() - half), 4), round(float(apart.mean() + half), 4)]

    tuned = {model: found[f"{model} options"] for model in OPTIONS}
    stated = (
        f"{PEOPLE} people, {EACH} comparisons, {n_seeds} draws; five features by hand, so the order is judged, not "
        f"the numbers. Tuned on other people: {'; '.join(f'{m} ({spelled(one)})' for m, one in tuned.items())}. The "
        "printed "
        "values fit bits (chance is 1 bit or 0.693 nats)."
    )
    rivals = ("GPfull", "GPitem", "VU")
    ahead = {model: gap(model, "GPVU") for model in rivals}
    script.judge(
        "ko-tab-3.5", all(low > 0 for low, _ in ahead.values()),
        claim="Users' shared factors beside item features predict better than each alone.",
        target="GPVU below GPfull, GPitem and VU, paired 95% intervals of the differences above 0",
        value={"errors": told, "GPVU ahead by, bits": ahead},
        reason=stated + " One cause that was looked for: loadings at maximum likelihood fit 600 comparisons too "
        "closely (on five tuning draws GPVU loses 0.02 bits from tol 1e-4 to 1e-5). 1,500 people, two draws: GPitem "
        "0.844, VU 0.815, GPVU 0.838.",
    )  # fmt: skip
    by_engine = {"GPitem": gap("GPitem by Laplace", "GPitem"), "GPVU": gap("GPVU by bounds", "GPVU")}
    script.judge(
        "ko-tab-3.6", all(low > 0 for low, _ in by_engine.values()),
        claim="Expectation propagation predicts better than Laplace's approximation of GPitem and than the bound of "
        "Jaakkola and Jordan for GPVU.",
        target="paired 95% intervals of the differences above 0",
        value={"errors": told, "EP ahead by, bits": by_engine},
        reason=stated + " The scale and, of GPVU, loadings are learnt by each engine for itself.",
    )  # fmt: skip
    for id, model, claim in (
        ("ko-sys-gpfull", "GPfull", "GPfull, one process over people and items, is worse than the others."),
        ("ko-sys-gpitem", "GPitem", "GPitem, features only, beats GPfull and is beaten by VU."),
        ("ko-sys-gpitem-lp", "GPitem by Laplace", "GPitem by Laplace's approximation is worse than by EP."),
        ("ko-sys-gpvu-jk", "GPVU by bounds", "GPVU by the bound of Jaakkola and Jordan is worse than by EP."),
    ):
        holds = {
            "GPfull": mean["GPfull"] > max(mean["GPitem"], mean["VU"], mean["GPVU"]),
            "GPitem": mean["GPfull"] > mean["GPitem"] > mean["VU"],
            "GPitem by Laplace": by_engine["GPitem"][0] > 0,
            "GPVU by bounds": by_engine["GPVU"][0] > 0,
        }[model]  # fmt: skip
        apart = {"EP ahead by, bits": by_engine[model.split(" by ")[0]]} if " by " in model else {}
        script.judge(
            id, bool(holds), claim=claim, target=f"order of the printed errors ({PRINTED[model]} here)",
            value={name: told[name]["bits"] for name in PRINTED} | apart, reason=stated,
        )  # fmt: skip
    ranks, names = datasets.sushi()
    sets = {"sushi A": [len(ranks), len(names), len(ranks) * 45], "Jester": list(datasets.jester().shape)}
    script.judge(
        "ko-tab-3.4", sets["sushi A"] == [5000, 10, 225000],
        claim="The sets of the comparison: sushi A has 5,000 complete rankings of 10 kinds.",
        target="5000 people, 10 items", value=sets,
        reason="Sushi B and MovieLens are read from a user's own copy (`datasets.sushi('b')`, `datasets.movielens`); "
        "Jester, 5,000 people and 100 jokes, stands in for MovieLens.",
    )  # fmt: skip
    _draw(script, errors, n_seeds)


def _draw(script: Script, errors: dict[str, np.ndarray], n_seeds: int) -> None:
    from experiments.script import panels

    figure, axes = panels(1, 1, 7.0, 3.2)
    ax = axes[0, 0]
    for k, (model, values) in enumerate(errors.items()):
        ax.plot(values, np.full(len(values), k), "o", color="#0072B2", alpha=0.5, markersize=4)
        ax.plot(values.mean(), k, "|", color="#0072B2", markersize=16, markeredgewidth=2.5)
        ax.plot(PRINTED[model], k, "x", color="#D55E00", markersize=8, markeredgewidth=2)
    ax.axvline(1.0, color="0.5", linewidth=1)
    ax.set(xlabel="bits per held-out comparison")
    ax.set_yticks(range(len(errors)), list(errors))
    script.figure(figure, "sushi-models", f"Sushi A: {n_seeds} draws of 200 people with three comparisons each. "
                  "Crosses: as printed, with the published features; line: a coin.")  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
