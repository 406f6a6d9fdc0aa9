import matplotlib.pyplot as plt
import numpy as np
from qcodes.dataset import Measurement, initialise_or_create_database_at, load_or_create_experiment
from qcodes.parameters import ManualParameter, Parameter
from scipy import stats

from adaptive import ParticleEstimator, SequentialDesign
from adaptive.loop import MaxSteps, TargetDeviation


def excited(parameters, X):  # the chance after a free evolution of X microseconds
    detuning, decay, contrast = parameters.T[:, :, None]
    return 0.5 + 0.5 * contrast * np.exp(-X[:, 0] / decay) * np.cos(2 * np.pi * detuning * X[:, 0])


SHOTS = 200
rng, truth = np.random.default_rng(0), np.array([[1.37, 2.4, 0.85]])  # the qubit, simulated
prior = {"detuning": stats.uniform(0.2, 2.3), "decay": stats.uniform(0.5, 4.5), "contrast": stats.uniform(0.6, 0.4)}
waits = np.linspace(0.02, 6.0, 150)
settings = np.column_stack([waits, np.full(150, SHOTS)])

initialise_or_create_database_at("measured.db")
load_or_create_experiment("ramsey", sample_name="simulated")
wait = ManualParameter("wait", initial_value=0.0, unit="us")
ones = Parameter("ones", get_cmd=lambda: int(rng.binomial(SHOTS, excited(truth, np.array([[wait()]]))[0, 0])))
context = Measurement()
context.register_parameter(wait)
context.register_parameter(ones, setpoints=(wait,))

model = ParticleEstimator(model=excited, prior=prior, noise="binomial", trials=1, random_state=0)
stop = TargetDeviation(0.005) | MaxSteps(60)
with (
    SequentialDesign.open("ramsey.log", model, settings, target="detuning", stop=stop, repeat=True) as design,
    context.run() as saver,
):
    while not design.finished:
        query = design.ask()  # instead of the next of linspace
        wait(query.candidates[0, 0])
        found = ones()
        design.tell(query, [found])
        saver.add_result((wait, wait()), (ones, found))

known, rows = design.estimator_.parameters_, saver.dataset.to_pandas_dataframe()
print(f"{len(rows)} waits: detuning {known.mean[0]:.4f} +- {known.std[0]:.4f} MHz, simulated at {truth[0, 0]}")
even = ParticleEstimator(model=excited, prior=prior, noise="binomial", trials=1, random_state=0)
sweep = np.column_stack([np.linspace(0.02, 6.0, len(rows)), np.full(len(rows), SHOTS)])
even.fit(sweep, rng.binomial(SHOTS, excited(truth, sweep)[0]))
print(f"a sweep of as many: +- {even.parameters_.std[0]:.4f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
low, high = design.estimator_.interval(settings)
left.fill_between(waits, low / SHOTS, high / SHOTS, alpha=0.3, label="90% of what would be counted")
left.plot(waits, excited(truth, settings)[0], color="black", linewidth=1, label="simulated")
asked = settings[design.history_["position"], 0]
dots = left.scatter(asked, np.array(design.history_["outcome"], dtype=float) / SHOTS, c=np.arange(len(asked)), s=20)
left.set(xlabel="wait (us)", ylabel="share excited")
left.legend(fontsize=8)
figure.colorbar(dots, ax=left, label="step")
for fitted, name in ((design.estimator_, "by information"), (even, "a sweep of as many")):
    cloud = fitted.parameters_
    right.hist(cloud.values[:, 0], bins=np.linspace(0.2, 2.5, 93), weights=cloud.weights, alpha=0.6, label=name)
right.axvline(truth[0, 0], color="black", linewidth=1)
right.set(xlabel="detuning (MHz)", ylabel="probability of a bin of 25 kHz")
right.legend(fontsize=8)
figure.savefig("picture.png", dpi=100)
