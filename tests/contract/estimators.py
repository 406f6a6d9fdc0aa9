"""The estimators that must keep the contract: one entry each, and every test of ``test_contract.py`` applies."""

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adaptive import (
    BayesianLogisticRegression,
    CollaborativePreference,
    CollaborativeRNN,
    CoxProcess,
    GameTreeSearch,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    ImageReconstructor,
    MetadataTopicModel,
    PairedSymbols,
    ParticleEstimator,
    PoissonFactorization,
    PoissonRegression,
    Questionnaire,
    SeveralImages,
    SimulatorEstimator,
    SparseLinearRegression,
    scorers,
)
from adaptive.estimators import wrap
from adaptive.images import simulate_scan
from adaptive.images.coils import simulate_coils
from designs import kspace
from designs.kspace.trajectory import spirals
from tests.contract.anchored_ensemble import AnchoredEnsemble
from tests.contract.graded_response import GradedResponse
from tests.contract.linear_gaussian import LinearGaussian

# Scorers by the fields that they need of a predictive.
ALL = frozenset(scorers.__all__) - {"fisher_information"}  # which is of the one trait of a respondent
DIVERGENCE = {"variational_information_gain"}
DETERMINANT = {"d_optimality"}
SPREAD = {"a_optimality", "e_optimality"}
VARIANCE = {"predictive_variance"}
FEATURES = {"core_set"}
EMBEDDING = {"badge", "core_set"}
GAIN = {"information_gain", "random"}
COMMITTEE = {"thompson"}
UNSURE = {"entropy", "least_confident", "margin", "uncertainty", "random"}
LABELS = UNSURE | GAIN
LABELS |= {"consensus_divergence", "expected_error_reduction", "predictive_information_gain", "query_by_committee"}
MOMENTS = GAIN | DETERMINANT | FEATURES | VARIANCE | DIVERGENCE  # of what is Gaussian
COUNTS = UNSURE | GAIN | DETERMINANT | VARIANCE | {"consensus_divergence"}


@dataclass(frozen=True)
class Case:
    """An estimator with something to choose from.

    ``make`` returns it before any fit; ``learn`` are (candidates, outcomes) that it is then taught.  ``measure``
    answers candidates.  ``scored_by`` are the scorers that its predictive has the fields for, and no others.
    ``given`` says how close a what-if must come to ``partial_fit``: "exact" (1e-8), "direction",
    "blocks" (of numbers, of which the determinant is what is believed), or None where there is no what-if.
    ``unrelated`` are two candidates whose outcomes are independent, if there are
    such. ``moves_on``: a candidate that was measured asks for something else from then on (a user's next item).
    ``own_draws``: every candidate has draws of its own, so that those of several are a sample, not all there are.
    """

    name: str
    make: Callable[[], Any]
    candidates: Any
    learn: tuple[Any, Any]
    measure: Callable[[Any], Any]
    scored_by: frozenset[str] | set[str]
    target: Any = None
    given: str | None = "exact"
    unrelated: Any = None
    moves_on: bool = False
    own_draws: bool = False

    @functools.cached_property
    def _fitted(self) -> Any:
        return self.make().partial_fit(*self.learn)

    def fitted(self) -> Any:
        return copy.deepcopy(self._fitted)

    def about(self, scorer: str) -> Any:
        """What the score is to be about: some scorers need given inputs."""
        return self.target if scorer in ("predictive_information_gain", "expected_error_reduction") else None


RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((23, 2))
ROWS = RNG.standard_normal((23, 3))
ITEMS = np.column_stack([RNG.uniform(0.5, 3, 23), np.sort(RNG.uniform(-2.5, 2.5, (23, 3)), axis=1)])
SILENT = np.array([[0.0, -1.0, 0.0, 1.0], [2.0, -1.0, 0.0, 1.0]])  # an item of slope 0 says nothing about anybody


def label(points):
    return (np.asarray(points)[:, 0] + 0.5 * np.asarray(points)[:, 1] > 0.2).astype(int)


def third(points):
    """Three classes, in sectors of the plane."""
    angle = np.arctan2(np.asarray(points)[:, 1], np.asarray(points)[:, 0])
    return np.array(["east", "north", "west"])[np.searchsorted([-1.0, 1.2], angle)]


def of_three(name, **options):
    learn = np.vstack([POINTS[:6], -POINTS[:6]])
    names = ["east", "north", "west"]

    def make():
        return BayesianLogisticRegression(prior_scale=2.0, classes=names, **options)

    target = RNG.standard_normal((5, 2))
    return Case(name, make, POINTS, (learn, third(learn)), third, LABELS | EMBEDDING, target=target, given="direction")


def classifier(name, make, scored_by=ALL, **options):
    learn = np.vstack([POINTS[:6], -POINTS[:6]])
    target = RNG.standard_normal((5, 2))
    return Case(name, make, POINTS, (learn, label(learn)), label, scored_by, target=target, **options)


def logistic(**options):
    return lambda: BayesianLogisticRegression(prior_scale=2.0, classes=[0, 1], **options)


def integrated(**options):
    return lambda: BayesianLogisticRegression(classes=[0, 1], hyperparameters="integrated", **options)


BLOB = np.add.outer(np.linspace(-1, 1, 16) ** 2, np.linspace(-1, 1, 8) ** 2) < 0.7
SCAN = simulate_scan(BLOB.astype(float), snr=100, largest_phase=0.0, random_state=0)
OTHER = simulate_scan(BLOB[:, ::-1] * 0.5, snr=100, largest_phase=0.0, random_state=1)
LINES = kspace.lines(BLOB.shape)
CENTRE = LINES.take(range(5, 11))


def reconstructor():
    return ImageReconstructor(
        BLOB.shape, prior="tv", prior_scales=0.1, design_noise_variance=1e-4, design_prior_scales=0.05, n_samples=4,
        phase=None, dtype="float64", design_dtype="float64", refine=True,
    )  # fmt: skip


def both(lines):
    """Samples of each line of two images."""
    return [np.stack(pair) for pair in zip(SCAN.measure(lines), OTHER.measure(lines), strict=True)]


DISC = BLOB[::2].astype(float)
SPIRALS = spirals(DISC.shape, np.arange(11) * 0.57, revolutions=2)
COIL_MAPS = simulate_coils(BLOB.shape, 2, random_state=0)
CUBE = np.zeros((4, 6, 6))
CUBE[1:3, 1:5, 2:4] = 1.0
ENCODES = kspace.phase_encodes(CUBE.shape)
CENTRAL_ENCODES = ENCODES.take(np.flatnonzero(np.all(np.abs(ENCODES.encodes - 3) <= 1, axis=1)))


def blocks_of(image, maps=None):
    """Samples of blocks with a little noise."""

    def measure(blocks):
        rng = np.random.default_rng(0)
        clean = [block.forward(image if maps is None else maps * image) for block in blocks]
        return [y + 0.01 * (rng.standard_normal(y.shape) + 1j * rng.standard_normal(y.shape)) for y in clean]

    return measure


def image_case(name, shape, candidates, first, measure, **options):
    def make():
        return ImageReconstructor(
            shape, prior="tv", prior_scales=0.1, noise_variance=1e-4, design_noise_variance=1e-4,
            design_prior_scales=0.05, n_samples=4, phase=None, dtype="float64", design_dtype="float64", refine=True,
            **options,
        )  # fmt: skip

    provided = GAIN | DETERMINANT
    return Case(name, make, candidates, (first, measure(first)), measure, provided, given="blocks")


ROLLED_OUT = [(0, 0, 0), (1, 2), (2, 1, 3), (3, 0)]
UNSEEN = [(i, j) for i in range(4) for j in range(3) if (i, j) not in ((0, 0), (1, 2), (2, 1), (3, 0))]
UNSEEN += [(2, 1, 0), (0, 0, 2), (1, 2, 0), (1, 3, 1)]


class AboutMoves(GameTreeSearch):
    """What is to be learnt are the values of the root's moves, jointly."""

    def predictive(self, candidates, *, target=None, random_state=None):
        target = "moves" if target is None else target
        return super().predictive(candidates, target=target, random_state=random_state)


def outcomes_of_nodes(nodes):
    """Signs, the same for the same node."""
    return np.array([1.0 if (7 * sum(node) + len(node)) % 3 else -1.0 for node in nodes])


def tree_case(kind):
    def make():
        return kind(branching=4, depth=4, score_variance=0.5, random_state=0)

    return Case(
        kind.__name__, make, UNSEEN, (ROLLED_OUT, outcomes_of_nodes(ROLLED_OUT)), outcomes_of_nodes,
        ALL - EMBEDDING - DIVERGENCE, target=[(0, 1, 1), (3, 3)], given="direction",
    )  # fmt: skip


PATTERNS = RNG.standard_normal((23, 64)) / 8
BRIEFLY = np.linspace(0.2, 0.6, 12)  # how long is counted, so that tables are short
TIMED = np.column_stack([np.clip(ROWS[:12], -1.5, 1.5), BRIEFLY])
TIMED_PLACES = np.column_stack([POINTS[:12], BRIEFLY])


def counted(rows):
    """Some counts at rows whose last column is the time."""
    return (np.asarray(rows)[:, 0] > 0.4).astype(float)


def patterns(**options):
    return lambda: ImageReconstructor((8, 8), prior_scales=0.2, noise_variance=0.01, n_samples=4, **options)


def seen(rows):
    return np.asarray(rows) @ BLOB[::2].ravel()


def photons():
    return ImageReconstructor((8, 8), likelihood="poisson", prior="tv", prior_scales=0.2)


def exposed(rows):
    """Patterns that let through what they do not block, so briefly that tables of counts are short."""
    return 0.15 * (np.asarray(rows) > 0)


def photons_of(rows):
    return np.round(np.asarray(rows) @ BLOB[::2].ravel())


KNOWN_ITEMS = Questionnaire.from_parameters(
    RNG.uniform(0.7, 2.0, 25), thresholds=np.sort(RNG.uniform(-2, 2, (25, 2)), axis=1), response_model="graded"
)
ANSWERED = RNG.integers(1, 4, (12, 13)).astype(float)
WHO = [(person, item) for person in range(12) for item in range(6) if (person + item) % 6 == 0]  # not asked so far
WHO += [("new", item) for item in range(6)]


def ordinal():
    return Questionnaire(trait_noise=1.0, categories=(1, 2, 3))


def pairs_case(name, make, answers):
    learn = [(p, i) for p in range(12) for i in range(6) if (p + i) % 6]
    given = np.array([answers[p, i] for p, i in learn])
    return Case(
        name, make, WHO, (learn, given), lambda pairs: np.array([given[len(str(pair)) % 7] for pair in pairs]),
        UNSURE | GAIN, given=None,
    )  # fmt: skip


PLAYED = [(u, i) for u in range(6) for i in range(12) if (u + 2 * i) % 3]
UNPLAYED = [(u, i) for u in range(6) for i in range(12) if (u + 2 * i) % 3 == 0][::2]


def played(pairs):
    """Users of one half play items of one half, the others the others."""
    return np.array([2.0 if (u < 3) == (i < 6) else float((u + i) % 3 == 0) for u, i in pairs])


TWICE = PLAYED * 2


def factorization(**options):
    return lambda: PoissonFactorization(
        2, item_variance=0.1, fit_bias=False, tol=1e-9, max_iter=1000, random_state=0, **options
    )


def one_user():
    return factorization()().fit(TWICE, played(TWICE)).user(3)


MET = [(u, i, j) for u in (1, 2) for i, j in ((0, 1), (2, 3), (3, 0), (1, 2), (0, 2))]  # two people, four items
MEETINGS = [(u, i, j) for u in (1, 2) for i, j in ((0, 3), (1, 3), (2, 1), (0, 2), (3, 2), (0, 1))]


def won(rows):
    """The first person likes later items, the other earlier ones; some surprises."""
    return np.array([1.0 if ((row[-2] > row[-1]) == (row[0] == 1)) != (sum(row) % 5 == 0) else -1.0 for row in rows])


def preference(**options):
    known = {"item_features": np.arange(4.0)[:, None], "random_state": 0}
    return lambda: CollaborativePreference(1, 1.0 * RBF(1.0), max_iter=3, tol=1.0, **known, **options)


def one_person():
    return preference()().fit(MET, won(MET)).user(1)


def paired():
    return PairedSymbols(2, user_precision=4.0, item_precision=4.0, bias_precision=1.0, random_state=0)


def taken(pairs):
    """Whether a pair that was shown is taken: within halves."""
    return np.array([int((u < 3) == (i < 6)) for u, i in pairs])


ROUNDS = [(u, (u + step * (1 if u % 2 else 3)) % 4) for u in range(12) for step in range(u % 3 + 2)]


def nets(**options):
    known = {"items": range(4), "learning_rate": 0.05, "patience": 1, "max_iter": 10, "tol": 1.0, "random_state": 0}
    return lambda: CollaborativeRNN(3, **known, **options)


TEXTS = RNG.dirichlet(np.full(9, 0.2), 5)  # words of five authors' documents
BY_AUTHOR = np.eye(5)[np.arange(12) % 5]


def read_texts(rows):
    rows = np.asarray(rows)
    return list(np.random.default_rng(0).poisson(8.0 * rows @ TEXTS + 0.5).astype(float))


def topic_reader():
    return MetadataTopicModel(3, learning="single_pass", random_state=0).reader(words_expected=10)


DOSES = np.linspace(-2.0, 2.0, 23)[:, None]
CURVE = {"slope": stats.uniform(0.5, 2.0), "middle": stats.norm(0.0, 1.0)}


def curve(parameters, X):
    slope, middle = parameters.T[:, :, None]
    return 1.0 / (1.0 + np.exp(-slope * (X[:, 0] - middle)))


def answered(parameters, X, y):
    return np.log(np.where(np.asarray(y) == 1, curve(parameters, X), 1.0 - curve(parameters, X)))


def near_the_curve(parameters, X, y):
    return stats.norm.logpdf(np.asarray(y), curve(parameters, X), 0.3)


def particles(resample, **options):
    return lambda: ParticleEstimator(
        prior=CURVE, **{"n_particles": 300, "resample": resample, "random_state": 0, **options}
    )


def scattered(parameters, x, generator):
    return curve(parameters, x[None])[:, 0] + 0.3 * generator.standard_normal(len(parameters))


def tossed(parameters, x, generator):
    return (generator.random(len(parameters)) < curve(parameters, x[None])[:, 0]).astype(int)


def simulator(simulate, **options):
    small = {"n_particles": 40, "n_simulations": 10, "n_nested": 16, "resample": 0.0, "random_state": 0}
    return lambda: SimulatorEstimator(simulate, CURVE, **small, **options)


CASES = [
    classifier("AnchoredEnsemble", AnchoredEnsemble, LABELS | COMMITTEE, given="direction"),
    Case(
        "GradedResponse", GradedResponse, ITEMS, (ITEMS[:2], np.array([1, 2])),
        lambda items: np.sum(np.asarray(items)[:, 1:] < 0.7, axis=1), LABELS, target=ITEMS[:4] + 0.1, unrelated=SILENT,
    ),
    Case(
        "GradedResponse by draws", lambda: GradedResponse(draws=True), ITEMS, (ITEMS[:2], np.array([1, 2])),
        lambda items: np.sum(np.asarray(items)[:, 1:] < 0.7, axis=1), LABELS, target=ITEMS[:4] + 0.1, unrelated=SILENT,
    ),
    Case(
        "LinearGaussian", LinearGaussian, ROWS, (np.eye(3)[:2], np.array([0.5, -1.0])),
        lambda rows: np.asarray(rows) @ [1.0, -2.0, 0.5], MOMENTS | SPREAD | {"predictive_information_gain"},
        target=ROWS[:4] + 0.1, unrelated=np.eye(3)[1:],
    ),
    classifier("plain classifier", lambda: wrap(LogisticRegression()), UNSURE | EMBEDDING, given=None),
    classifier(
        "BayesianLogisticRegression at the end of a pipeline",
        lambda: wrap(make_pipeline(StandardScaler(), logistic()())).prepare(POINTS), given="direction",
    ),
    classifier(
        "forest", lambda: wrap(RandomForestClassifier(20, min_samples_leaf=2, random_state=0)),
        LABELS | COMMITTEE | EMBEDDING, given="direction",
    ),
    classifier("BayesianLogisticRegression", logistic(), given="direction"),
    classifier(
        "BayesianLogisticRegression integrated", integrated(), LABELS | COMMITTEE | EMBEDDING | VARIANCE,
        given="direction",
    ),
    classifier("BayesianLogisticRegression probit", logistic(link="probit"), ALL - DIVERGENCE, given="direction"),
    classifier("BayesianLogisticRegression laplace", logistic(prior="laplace"), given="direction"),
    classifier("BayesianLogisticRegression student_t", logistic(prior="student_t"), given="direction"),
    classifier(
        "BayesianLogisticRegression by bounds", logistic(inference="variational_bounds"), given="direction"
    ),
    classifier(
        "BayesianLogisticRegression by inclusion", logistic(inference="variational_bounds", update="inclusion"),
        given="direction",
    ),
    Case(
        "CollaborativePreference", preference(), MEETINGS, (MET, won(MET)), won,
        LABELS | COMMITTEE | DETERMINANT | VARIANCE, target=[(1, 0, 3), (2, 1, 2)], given="direction",
    ),
    Case(
        "CollaborativePreference's person", one_person, [row[1:] for row in MEETINGS], ([(1, 3)], np.array([-1.0])),
        lambda rows: won([(1, *row) for row in rows]), LABELS | COMMITTEE | DETERMINANT | VARIANCE,
        target=[(0, 3), (1, 2)], given="direction",
    ),
    Case(
        "CollaborativeRNN", nets(n_members=3), list(range(14)), tuple(np.array(ROUNDS).T),
        lambda users: np.array([(3 * u + 1) % 4 for u in users]), LABELS, target=[20, 9], given="direction",
        moves_on=True,
    ),
    Case(
        "CollaborativeRNN by Laplace", nets(cell="tanh", uncertainty="laplace", n_draws=8), list(range(14)),
        tuple(np.array(ROUNDS).T), lambda users: np.array([(3 * u + 1) % 4 for u in users]), LABELS, target=[20, 9],
        given="direction", unrelated=[3, 8], moves_on=True, own_draws=True,
    ),
    classifier(
        "GaussianProcessClassifier",
        lambda: GaussianProcessClassifier(4.0 * RBF(1.0), classes=[0, 1], optimizer=None), ALL - SPREAD,
        given="direction",
    ),
    classifier(
        "GaussianProcessClassifier over nodes",
        lambda: GaussianProcessClassifier(4.0 * RBF(1.0), classes=[0, 1], hyperparameters="integrated"),
        LABELS | COMMITTEE | EMBEDDING | VARIANCE, given="direction",
    ),
    classifier(
        "GaussianProcessClassifier by the variational Gaussian",
        lambda: GaussianProcessClassifier(
            4.0 * RBF(1.0), classes=[0, 1], optimizer=None, link="probit", inference="variational_gaussian"
        ),
        ALL - SPREAD - DIVERGENCE, given="direction",
    ),
    tree_case(GameTreeSearch),
    tree_case(AboutMoves),
    Case(
        "CoxProcess", lambda: CoxProcess(0.2 * RBF(1.0), optimizer=None, exposure=2), TIMED_PLACES,
        (TIMED_PLACES[:6], counted(TIMED_PLACES[:6])), counted,
        COUNTS | EMBEDDING | {"predictive_information_gain"}, target=TIMED_PLACES[:4], given="direction",
    ),
    Case(
        "GaussianProcessRegressor", lambda: GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None), POINTS,
        (POINTS[:6], POINTS[:6, 0]), lambda points: np.asarray(points)[:, 0],
        MOMENTS | {"predictive_information_gain"}, target=RNG.standard_normal((5, 2)),
    ),
    Case(  # a Gaussian prior: with the others a what-if is a step, and partial_fit goes all the way
        "SparseLinearRegression",
        lambda: SparseLinearRegression("gaussian", noise_variance=0.1, prior_scale=0.5, fit_intercept=False), ROWS,
        (ROWS[:6], ROWS[:6] @ [1.0, -2.0, 0.5]), lambda rows: np.asarray(rows) @ [1.0, -2.0, 0.5],
        MOMENTS | SPREAD | {"predictive_information_gain"}, target=ROWS[:4] + 0.1,
    ),
    *(
        pairs_case(f"Questionnaire {name}", lambda name=name: Questionnaire(name), ANSWERED // 2 * 1.0)
        for name in ("rasch", "two_parameter", "three_parameter")
    ),
    *(
        pairs_case(
            f"Questionnaire {name}", lambda name=name: Questionnaire(name, categories=(1, 2, 3)), ANSWERED
        )
        for name in ("graded", "partial_credit")
    ),
    Case(
        "SimulatorEstimator", simulator(scattered), DOSES[:12], (DOSES[::9], np.array([0.2, 0.3, 0.9])),
        lambda doses: np.asarray(doses)[:, 0] / 4 + 0.5, GAIN | VARIANCE, target=DOSES[:4],
    ),
    Case(
        "SimulatorEstimator of labels", simulator(tossed, outcomes=[0, 1]), DOSES, (DOSES[::9], np.array([0, 1, 1])),
        lambda doses: (np.asarray(doses)[:, 0] > 0.3).astype(int), LABELS | COMMITTEE, target=DOSES[:4],
    ),
    pairs_case("Questionnaire ordinal", ordinal, ANSWERED),
    Case(
        "Respondent", KNOWN_ITEMS.respondent, list(range(23)), ([23, 24], np.array([2, 3])),
        lambda items: np.array([1 + item % 3 for item in items]), LABELS | EMBEDDING | {"fisher_information"},
        target=[23, 24],
    ),
    Case(
        "Respondent ordinal", lambda: ordinal().fit(ANSWERED).respondent(), list(range(12)), ([12], np.array([2])),
        lambda items: np.array([1 + item % 3 for item in items]), UNSURE | GAIN, given="direction",
    ),
    of_three("BayesianLogisticRegression softmax"),
    of_three("BayesianLogisticRegression one against the rest", multi_class="one_vs_rest"),
    image_case(
        "ImageReconstructor of coils", BLOB.shape, LINES.take([*range(5), *range(11, 16)]), CENTRE,
        blocks_of(BLOB, COIL_MAPS), coils=COIL_MAPS,
    ),
    image_case(
        "ImageReconstructor of spirals", DISC.shape, SPIRALS.take(range(1, 11)), SPIRALS.take([0]), blocks_of(DISC),
    ),
    image_case(
        "ImageReconstructor of a volume", CUBE.shape, ENCODES.take([0, 5, 6, 10, 13, 17, 19, 24, 30, 35]),
        CENTRAL_ENCODES, blocks_of(CUBE),
    ),
    Case(
        "ImageReconstructor", reconstructor, LINES.take([*range(5), *range(11, 16)]), (CENTRE, SCAN.measure(CENTRE)),
        SCAN.measure, GAIN | DETERMINANT, given="blocks",
    ),
    Case(
        "ImageReconstructor of patterns", patterns(refine=True), PATTERNS[:12], (PATTERNS[12:], seen(PATTERNS[12:])),
        seen, GAIN | DETERMINANT, given="blocks",
    ),
    Case(
        "ImageReconstructor of patterns by expectation propagation", patterns(inference="expectation_propagation"),
        PATTERNS[:12], (PATTERNS[12:], seen(PATTERNS[12:])), seen, MOMENTS | SPREAD, given="blocks",
    ),
    Case(
        "ImageReconstructor of photons", photons, exposed(PATTERNS[:12]),
        (exposed(PATTERNS[12:]), photons_of(exposed(PATTERNS[12:]))), photons_of,
        COUNTS | SPREAD | EMBEDDING | {"query_by_committee"}, given="direction",
    ),
    Case(
        "ImageReconstructor of patterns with a tree", patterns(refine=True, prior="tree", wavelet="haar"),
        PATTERNS[:12], (PATTERNS[12:], seen(PATTERNS[12:])), seen, GAIN | DETERMINANT, given="blocks",
    ),
    image_case(
        "ImageReconstructor of a volume by expectation propagation", CUBE.shape,
        ENCODES.take([0, 5, 6, 10, 13, 17, 19, 24, 30, 35]), CENTRAL_ENCODES, blocks_of(CUBE),
        inference="expectation_propagation",
    ),
    *(
        Case(
            f"PoissonFactorization {kind}", factorization(inference=kind), UNPLAYED, (TWICE, played(TWICE)), played,
            COUNTS, given=None if kind == "map" else "direction",  # of a point nothing is uncertain
        )
        for kind in ("mean_field", "full", "em", "map")
    ),
    Case(
        "PairedSymbols", paired, UNPLAYED, (TWICE, taken(TWICE)), taken,
        LABELS | COMMITTEE | DETERMINANT | VARIANCE | DIVERGENCE, target=PLAYED[:4], given="direction",
    ),
    Case(
        "ParticleEstimator", particles(0.0, model=curve, noise=0.3), DOSES, (DOSES[::9], np.array([0.2, 0.3, 0.9])),
        lambda doses: np.asarray(doses)[:, 0] / 4 + 0.5, GAIN | VARIANCE, target=DOSES[:4],
    ),
    Case(
        "ParticleEstimator of an interval",
        particles(0.0, log_likelihood=near_the_curve, outcomes=(-1.0, 2.0), n_particles=60), DOSES[::2],
        (DOSES[::9], np.array([0.2, 0.3, 0.9])), lambda doses: np.asarray(doses)[:, 0] / 4 + 0.5, GAIN | VARIANCE,
        target=DOSES[:4],
    ),
    Case(
        "ParticleEstimator of a list", particles(0.0, log_likelihood=answered, outcomes=[0, 1]), DOSES,
        (DOSES[::9], np.array([0, 1, 1])), lambda doses: (np.asarray(doses)[:, 0] > 0.3).astype(int),
        LABELS | COMMITTEE, target=DOSES[:4],
    ),
    Case(
        "PoissonFactorization's user", one_user, list(range(12)), ([1, 4], np.array([0.0, 2.0])),
        lambda items: played([(3, i) for i in items]), COUNTS, given="direction",
    ),
    Case(
        "PoissonRegression", lambda: PoissonRegression(prior_scale=0.2, fit_intercept=False, exposure=3), TIMED,
        (TIMED[:6], counted(TIMED[:6])), counted, ALL - COMMITTEE - DIVERGENCE, target=TIMED[:4], given="direction",
    ),
    Case(
        "MetadataTopicModel's reader", topic_reader, BY_AUTHOR, (BY_AUTHOR[:3], read_texts(BY_AUTHOR[:3])), read_texts,
        GAIN | DETERMINANT | FEATURES, target=BY_AUTHOR[:2], given="blocks",
    ),
    Case(
        "SeveralImages", lambda: SeveralImages([reconstructor(), reconstructor()]),
        LINES.take([*range(5), *range(11, 16)]), (CENTRE, both(CENTRE)), both, GAIN | DETERMINANT,
        given="blocks",
    ),
]  # fmt: skip

PAIRS = [(case, name) for case in CASES for name in scorers.__all__ if name in case.scored_by]
