import matplotlib.pyplot as plt
import numpy as np
import optuna
from scipy import stats

from adaptive import ParticleEstimator, SequentialDesign
from adaptive.loop import Optimizer


def line(parameters, X):  # a resonance on a background
    centre, width, height, background = parameters.T[:, :, None]
    return background + height / (1.0 + ((X[:, 0] - centre) / width) ** 2)


truth, noise = np.array([[3.12, 0.11, 1.0, 0.2]]), 0.15


def instrument(seed):
    rng = np.random.default_rng(seed)
    return lambda frequency: float(line(truth, np.array([[frequency]]))[0, 0] + noise * rng.standard_normal())


def fresh():
    prior = {
        "centre": stats.uniform(2.2, 1.6),
        "width": stats.uniform(0.05, 0.15),
        "height": stats.uniform(0.5, 1.0),
        "background": stats.norm(0.0, 0.3),
    }
    return ParticleEstimator(model=line, prior=prior, noise=noise, random_state=0)


N, frequencies = 30, np.linspace(2.0, 4.0, 201)[:, None]

optuna.logging.set_verbosity(optuna.logging.WARNING)  # the largest outcome is looked for
study, measured = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0)), instrument(1)
for _ in range(N):
    trial = study.ask()
    frequency = trial.suggest_float("frequency", 2.0, 4.0)
    study.tell(trial, measured(frequency))
there = np.array([[trial.params["frequency"], trial.value] for trial in study.trials])

design = SequentialDesign(fresh(), frequencies, target="centre", repeat=True, random_state=0)
optimizer, measured = Optimizer(design, ["frequency"], "signal"), instrument(1)  # what is not known is looked for
for _ in range(N):
    (point,) = optimizer.suggest(1)
    optimizer.ingest([{"_id": point["_id"], "signal": measured(point["frequency"])}])

same = fresh().fit(there[:, :1], there[:, 1])  # the same model, of what Optuna measured
found = {"Optuna's points": same.parameters_, "by information": design.estimator_.parameters_}
print(f"best trial of {N}: {study.best_params['frequency']:.3f}, simulated at {truth[0, 0]}")
for name, known in found.items():
    print(f"{name}: centre {known.mean[0]:.4f} +- {known.std[0]:.4f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
left.plot(frequencies[:, 0], line(truth, frequencies)[0], color="black", linewidth=1)
left.scatter(*there.T, s=18, marker="x", label="Optuna")
here = frequencies[design.history_["position"], 0]
left.scatter(here, np.array(design.history_["outcome"], dtype=float), s=18, label="by information")
left.set(xlabel="frequency", ylabel="signal")
left.legend(fontsize=8)
for name, known in found.items():
    right.hist(known.values[:, 0], bins=np.linspace(3.02, 3.22, 60), weights=known.weights, alpha=0.6, label=name)
right.axvline(truth[0, 0], color="black", linewidth=1)
right.set(xlabel="centre", ylabel="probability", yticks=[])
right.legend(fontsize=8)
figure.savefig("picture.png", dpi=100)
