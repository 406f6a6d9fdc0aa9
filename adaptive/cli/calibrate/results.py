"""Tables, a report and a figure that ``adaptive calibrate`` writes of the items and the people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.calibrate.replays import along, unit_of
from adaptive.cli.errors import CommandError

if TYPE_CHECKING:
    from adaptive.cli.job import Job

__all__ = ["cells_of", "in_dialect", "write"]


def write(
    fitted: Any, table: Any, names: list[Any], groups: Any, folder: Job, hidden: dict[str, float]
) -> None:  # fmt: skip
    """Write bank.csv, items.csv, people.csv, groups.csv, report.json and a figure; print how well people are known."""
    from adaptive.estimators.questionnaires.curves import ASYMPTOTES

    fitted.to_bank(folder.result("bank.csv"))
    parameters, fit = fitted.item_parameters_, fitted.item_fit(table)
    names_of = [f"threshold_{k}" for k in range(1, parameters.shape[1] + 1)]
    if fitted.response_model != "ordinal":
        names_of = ["discrimination", *names_of[:-1]]
    if fitted.response_model == "nominal":
        names_of = [
            f"{name}_{k // 2 + 1}" for k, name in enumerate(("slope", "intercept") * (parameters.shape[1] // 2))
        ]
    asymptotes = ASYMPTOTES.get(fitted.response_model, ())  # behind the thresholds
    names_of[len(names_of) - len(asymptotes) :] = asymptotes
    columns: dict[str, Any] = {"item": list(fitted.items_)}
    columns |= {name: cells_of(values) for name, values in zip(names_of, parameters.T, strict=True)}
    columns |= {name: cells_of(fit[name]) for name in ("answers", "outfit", "infit")}
    if fitted.dimension_ is not None and fitted.dimension_.several:
        columns["traits"] = [" ".join(traits) for traits in fitted.dimension_.item_traits.values()]
    folder.write_csv("items.csv", columns)
    folder.write_csv(
        "people.csv",
        {
            "person": names, "estimate": cells_of(fitted.trait_mean_[:, 0]),
            "deviation": cells_of(fitted.trait_std_[:, 0]),
            "fit": cells_of(fitted.person_fit(table)),
        },
    )  # fmt: skip
    if groups is not None:
        found = fitted.differential_functioning(table, groups)
        rows = [(group, item) for group in found["groups"] for item in fitted.items_]
        columns = {"group": [g for g, _ in rows], "item": [i for _, i in rows]}
        columns |= {key: cells_of(found[key].ravel()) for key in ("difference", "z")}
        folder.write_csv("groups.csv", columns)
    mean, std = fitted.trait_mean_[:, 0], fitted.trait_std_[:, 0]
    reliability = float(mean.var() / (mean.var() + np.mean(std**2)))
    folder.write_json(
        "report.json",
        {
            "model": fitted.response_model, "nats of hidden answers": hidden,
            "people": len(table), "items": len(fitted.items_),
            "log evidence": fitted.log_evidence_, "prequential evidence": fitted.prequential_evidence_,
            "rounds": fitted.n_iter_, "converged": fitted.converged_,
            "unit of the trait": unit_of(fitted), "mean deviation of an estimate": float(std.mean()),
            "reliability": reliability, "along the trait": along(mean, std), "dimension": _signs(fitted.dimension_),
        },
    )  # fmt: skip
    dimension = fitted.dimension_
    if dimension is not None and dimension.several:
        print(f"{dimension.sentence()} The split is the column traits of items.csv, for Questionnaire(item_traits=).")
    (_draw_thresholds if fitted.response_model == "ordinal" else _draw)(fitted, folder)
    print(
        f"{len(fitted.items_)} items from {len(table)} people, {fitted.response_model}. All answers of a person leave "
        f"the trait a standard\ndeviation of {std.mean():.2f} on average, in {unit_of(fitted)}: a reliability of "
        f"{reliability:.2f}."
    )


def in_dialect(fitted: Any, dialect: str, folder: Job) -> None:
    """Write the bank in the columns of another program, and say what these do not hold."""
    import warnings

    with warnings.catch_warnings(record=True) as lost:
        warnings.simplefilter("always")
        try:
            fitted.to_bank(folder.result(f"bank-{dialect}.csv"), dialect=dialect)
        except ValueError as problem:
            raise CommandError(f"--dialect {dialect}: {problem}") from None
    for one in lost:
        print(f"bank-{dialect}.csv: {one.message}")


def _draw(fitted: Any, folder: Job) -> None:
    from adaptive import plots
    from adaptive.plots.style import style, tidy

    x = np.linspace(-4, 4, 161)
    information = fitted.information(x)
    drawing, ax = plots.figure()
    ax.plot(x, information.sum(axis=0), color=plots.PALETTE[0], label="all items")
    for k, item in enumerate(np.argsort(-information.max(axis=1))[:4], start=1):
        ax.plot(x, information[item], **style("", k) | {"marker": "", "linewidth": 1}, label=str(fitted.items_[item]))
    ax.set_xlabel("trait (standard deviations of the people calibrated on)")
    ax.set_ylabel("Fisher information")
    ax.legend(frameon=False, fontsize="small")
    tidy(ax)
    folder.draw(drawing, "information")


def _draw_thresholds(fitted: Any, folder: Job) -> None:
    from adaptive import plots

    bank = fitted.bank_
    spread = 1.96 * np.sqrt(np.einsum("ill->il", bank.covariances))
    drawing, ax = plots.figure()
    for k, (mean, width) in enumerate(zip(bank.means.T, spread.T, strict=True)):
        ax.errorbar(
            mean, np.arange(len(bank)), xerr=width, fmt="o", markersize=3, color=plots.PALETTE[k % len(plots.PALETTE)]
        )
    ax.set_yticks(np.arange(len(bank)), [str(item) for item in bank.items], fontsize="small")
    ax.invert_yaxis()
    ax.set_xlabel("thresholds between neighbouring answers, with 95% intervals")
    folder.draw(drawing, "thresholds")


def _signs(found: Any) -> dict[str, Any] | None:
    """Signs of a second trait, for the report."""
    if found is None:
        return None
    return {
        "several traits": found.several, "first to second eigenvalue": found.eigenvalue_ratio,
        "largest residual correlation": found.residual_correlation, "of": [str(item) for item in found.pair],
        "gain of a second trait": found.gain, "its standard error": found.gain_std,
        "gain of the first": found.first_gain,
    }  # fmt: skip


def cells_of(values: Any) -> list[Any]:
    """Return numbers as cells of a table: None where one is not finite."""
    return [float(one) if np.isfinite(one) else None for one in np.asarray(values, dtype=float)]
