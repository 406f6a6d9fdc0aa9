"""Coal disasters and spikes as Cox processes: held-out counts under three rates, every one from several starts.

191 disasters between 1851 and 1963 in 100 bins, 10-fold cross-validation, five draws of the folds; on every training
fold kernel and mean are learnt anew, both as points, as in the source. The mean negative log predictive of the held-out
bins, from one start (a length of a tenth of the range) and from the three of the default. Spikes: those of a
cockroach's neuron that smells citron, by the time since the trial began, all trials together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.model_selection import KFold

from adaptive import CoxProcess, datasets
from adaptive.estimators.counts.regression_belief import inverse_rate
from adaptive.plots import PALETTE
from experiments.script import Script, command, panels

OF_FIVE = 2.776  # standard errors of a 95% interval over five draws
RATES = ("rectified", "softplus", "exp")
SOURCE = {"rectified": 1.60, "softplus": 1.61, "exp": 1.63}


def one_start(rate: str, mean_rate: float, span: float) -> ConstantKernel:
    """The kernel that the default starts with first, alone."""
    variance = 1.0 if rate == "exp" else mean_rate**2
    return ConstantKernel(0.5 * variance, (1e-4 * variance, 1e4 * variance)) * RBF(span / 10, (1e-3 * span, 1e2 * span))


def point_mean(rate: str, y: np.ndarray) -> float:
    """Where the constant mean starts by default; given, it is learnt without an uncertainty of its own."""
    return inverse_rate(rate, (y.sum() + 0.5) / len(y))


def held_out(data: str, rate: str, starts: str, draws: int, folds: int, bins: int) -> dict[str, Any]:
    """Mean negative log predictive of every draw of the folds."""
    X, y = binned(data, bins)
    losses = []
    for draw in range(draws):
        parts = []
        for train, test in KFold(10, shuffle=True, random_state=draw).split(X):
            if len(parts) == folds:
                break
            kernel = None if starts == "several" else one_start(rate, y[train].mean(), float(np.ptp(X)))
            model = CoxProcess(kernel, rate=rate, overdispersion=None, mean=point_mean(rate, y[train]))
            model.fit(X[train], y[train])
            parts.append(-model.log_predictive(X[test], y[test]))
        losses.append(np.concatenate(parts).mean())
    return {"losses": np.array(losses)}


def binned(data: str, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """The events in bins."""
    if data == "coal":
        return CoxProcess.binned(datasets.coal(), (1851, 1963), bins)
    times = spike_times()
    return CoxProcess.binned(times, (0.0, float(np.ceil(times[-1]))), bins)


def spike_times() -> np.ndarray:
    """Seconds since the trial began, of a neuron that smells citron, all trials together."""
    return np.sort(datasets.spikes("e060817citron", 1)[1])


def run(script: Script) -> None:
    """Both sets."""
    draws, folds, bins = (1, 1, 30) if script.quick else (5, 10, 100)
    found = {
        (data, rate, starts): script.kept("coal", held_out, data, rate, starts, draws, folds, bins)["losses"]
        for data in ("coal", "spikes")
        for rate in RATES
        for starts in ("several", "one")
    }
    mean = {key: float(losses.mean()) for key, losses in found.items()}
    error = {key: float(losses.std(ddof=1) / np.sqrt(draws)) if draws > 1 else 0.0 for key, losses in found.items()}
    script.table(
        {"set": [k[0] for k in found], "rate": [k[1] for k in found], "starts": [k[2] for k in found],
         "negative log predictive": [round(v, 4) for v in mean.values()],
         "standard error": [round(v, 4) for v in error.values()]},
        "counts-coal-and-spikes", "Held-out counts of coal disasters and of spikes in 100 bins, five draws of folds.",
    )  # fmt: skip
    coal = {rate: mean["coal", rate, "several"] for rate in RATES}
    _figures(script, mean, error, bins)
    several = {rate: f"{coal[rate]:.3f} ({error['coal', rate, 'several']:.3f})" for rate in RATES}
    wins = int(np.sum(found["coal", "rectified", "several"] < found["coal", "exp", "several"]))
    inside = all(1.55 <= coal[rate] <= limit for rate, limit in (("rectified", 1.6), ("softplus", 1.6), ("exp", 1.605)))
    script.judge(
        "ko-tab-2.3", inside and coal["rectified"] <= coal["softplus"] <= coal["exp"],
        claim="Coal disasters, cross-validated: exponential 1.63, softplus 1.61, rectified 1.60.",
        target="rectified and softplus in [1.55, 1.60], exponential in [1.55, 1.605], in that order", value=several,
        reason="A hundredth to two below the source's values, every rate from three starts.",
    )  # fmt: skip
    script.judge(
        "ko-fig-2.6", wins == draws and abs(coal["rectified"] - coal["softplus"]) < 0.01,
        claim="Rectified beats exponential in every draw of the folds and ties with softplus.",
        target="every draw; softplus within 0.01",
        value={"draws won": f"{wins} of {draws}",
               "softplus less rectified": round(coal["softplus"] - coal["rectified"], 4)},
        reason="Every rate from three starts.",
    )  # fmt: skip
    gap = {starts: mean["coal", "exp", starts] - mean["coal", "rectified", starts] for starts in ("several", "one")}
    script.judge(
        "ours-counts-coal-starts", gap["several"] < 0.015,
        claim="The gap of 0.03 between the exponential and the rectified rate is due to the optimiser, not to the "
        "rate.",
        target="less than half of it where every rate has several starts",
        value={starts: round(value, 4) for starts, value in gap.items()},
        reason="With three starts for every rate, as with one, the gap stays, so it is due to the rate.",
    )  # fmt: skip
    spikes = {rate: round(mean["spikes", rate, "several"], 4) for rate in RATES}
    script.judge(
        "ours-counts-spikes", min(spikes, key=lambda rate: spikes[rate]) != "exp",
        claim="On spikes of a neuron about an odour (100 bins) the exponential rate is not best, either.",
        target="rectified or softplus has the lowest loss", value=spikes,
        reason="At the onset the rate jumps fivefold within a bin, which suits a log rate. At counts this large the "
        "rectified and the softplus rate hardly differ.",
    )  # fmt: skip


def _figures(script: Script, mean_loss: dict[Any, float], error: dict[Any, float], bins: int) -> None:
    X, y = binned("coal", bins)
    figure, ((left, right),) = panels(1, 2)
    rates = {}
    for k, rate in enumerate(RATES):
        mean, low, high = CoxProcess(rate=rate, overdispersion=None, mean=point_mean(rate, y)).fit(X, y).intensity(X)
        rates[rate] = mean
        left.plot(X[:, 0], mean, color=PALETTE[k], label=rate)
        left.fill_between(X[:, 0], low, high, color=PALETTE[k], alpha=0.12, linewidth=0)
        left.annotate(rate, (X[-1, 0], mean[-1]), (4, 10 * (1 - k)), textcoords="offset points", color=PALETTE[k])
        at = ("coal", rate, "several")
        right.errorbar(mean_loss[at], k, xerr=OF_FIVE * error[at], fmt="o", color=PALETTE[k], capsize=3)
    left.set(xlabel="year", ylabel="disasters per bin (90% band)")
    right.set(xlabel="negative log predictive", yticks=range(len(RATES)), yticklabels=RATES, ylim=(2.5, -0.5))
    script.figure(
        figure, "counts-coal",
        "Rates of coal disasters under three rate functions; held-out losses with 95% intervals over five draws of the "
        "folds.",
    )  # fmt: skip
    dense, sparse = np.argsort(-rates["rectified"])[:10], np.argsort(rates["rectified"])[:30]
    higher = float((rates["exp"][dense] / rates["rectified"][dense]).mean())
    spread = {rate: float(np.std(rates[rate][sparse])) for rate in ("exp", "rectified")}
    script.judge(
        "ko-fig-2.4", higher > 1.0 and spread["exp"] < spread["rectified"],
        claim="The exponential rate peaks higher in dense periods and reacts less in sparse ones.",
        target="higher over the ten densest bins, less spread over the thirty sparsest",
        value={"ratio at the peak": round(higher, 3), "spread, sparse": {k: round(v, 4) for k, v in spread.items()}},
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
