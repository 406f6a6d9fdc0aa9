import bluesky.plan_stubs as bps
import bluesky.preprocessors as bpp
import matplotlib.pyplot as plt
import numpy as np
from bluesky import RunEngine
from ophyd.sim import SynSignal, motor
from scipy import stats

from adaptive import ParticleEstimator, SequentialDesign
from adaptive.loop import MaxSteps, TargetDeviation


def photons(parameters, X):  # mean counts in a second, at motor positions X
    centre, height, width, background = parameters.T[:, :, None]
    return background + height * np.exp(-0.5 * ((X[:, 0] - centre) / width) ** 2)


rng, truth = np.random.default_rng(0), np.array([[1.3, 600.0, 0.5, 15.0]])  # what a beamline would not tell
detector = SynSignal(name="det", func=lambda: float(rng.poisson(photons(truth, np.array([[motor.position]]))[0, 0])))
prior = {
    "centre": stats.uniform(-5, 10),
    "height": stats.uniform(100, 900),
    "width": stats.uniform(0.3, 1.2),
    "background": stats.uniform(2, 38),
}
positions = np.linspace(-5, 5, 201)[:, None]
model = ParticleEstimator(model=photons, prior=prior, noise="poisson", random_state=0)
stop = TargetDeviation(0.02) | MaxSteps(60)
design = SequentialDesign(model, positions, target="centre", stop=stop, repeat=True, random_state=0)


@bpp.stage_decorator([detector])
@bpp.run_decorator(md={"plan_name": "by_information"})
def by_information():
    while not design.finished:
        query = design.ask()  # instead of the next of linspace
        yield from bps.mv(motor, query.candidates[0, 0])
        reading = yield from bps.trigger_and_read([detector, motor])
        design.tell(query, [reading["det"]["value"]])


events = []
engine = RunEngine({})
engine(by_information(), lambda name, document: events.append(document["data"]) if name == "event" else None)

known = design.estimator_.parameters_
print(f"{len(events)} events: centre {known.mean[0]:.3f} +- {known.std[0]:.3f}, simulated at {truth[0, 0]}")
even = ParticleEstimator(model=photons, prior=prior, noise="poisson", random_state=0)
places = np.linspace(-5, 5, len(events))[:, None]
even.fit(places, rng.poisson(photons(truth, places)[0]))
print(f"as many equispaced: +- {even.parameters_.std[0]:.3f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
asked, counts = np.array([(event["motor"], event["det"]) for event in events]).T
left.plot(positions[:, 0], photons(truth, positions)[0], color="black", linewidth=1)
dots = left.scatter(asked, counts, c=np.arange(len(asked)), s=20)
left.set(xlabel="motor", ylabel="photons in a second")
figure.colorbar(dots, ax=left, label="event", ticks=range(len(asked)))
for fitted, name in ((design.estimator_, "by information"), (even, "as many equispaced")):
    cloud = fitted.parameters_
    right.hist(cloud.values[:, 0], bins=np.linspace(0.8, 2.4, 81), weights=cloud.weights, alpha=0.6, label=name)
right.axvline(truth[0, 0], color="black", linewidth=1)
right.set(xlabel="centre", ylabel="probability", yticks=[])
right.legend(fontsize=8)
figure.savefig("picture.png", dpi=100)
