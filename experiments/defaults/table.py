"""Evidence of every default: which claim judged it, or why it cannot matter.

    JUDGED["Class.parameter"]   ids in ``results/claims.json``
    NEUTRAL                     names that say what the data, the problem or the computer are, with the reason
    NEUTRAL_OF                  the same, of one class

``tests/experiments/test_defaults.py`` holds every parameter of a public constructor to exactly one of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from adaptive import estimators
from adaptive.loop import SequentialDesign

__all__ = ["JUDGED", "NEUTRAL", "NEUTRAL_OF", "parameters", "place_of"]

JUDGED: dict[str, tuple[str, ...]] = {
    "BayesianLogisticRegression.hyperparameters": ("ours-hyper-better-on-average", "ours-hyper-coverage"),
    "BayesianLogisticRegression.calibration": (
        "ours-hyper-reliability",
        "ours-hyper-text-factor",
        "ours-hyper-factor-classes",
    ),
    "BayesianLogisticRegression.prior_covariance": ("ours-hyper-text-pool", "ours-default-texts", "ours-default-mixed"),
    "BayesianLogisticRegression.prior_scale": ("ours-multiclass-log-loss",),
    "BayesianLogisticRegression.inference": ("ours-ep-is-closest",),
    "BayesianLogisticRegression.multi_class": ("ours-multiclass-log-loss", "ours-hyper-classes"),
    "BayesianLogisticRegression.update": ("ours-selective-ep-update",),
    "CollaborativePreference.n_components": ("ours-default-preferences",),
    "CollaborativePreference.prior_people": ("ours-default-preferences",),
    "CoxProcess.kernel": ("ours-default-cox",),
    "PoissonFactorization.dispersion": ("ours-default-pair-counts",),
    "CoxProcess.overdispersion": ("ours-default-cox-overdispersion",),
    "ParticleEstimator.screening": ("ours-bridge-screening",),
    "GaussianProcessClassifier.inference": ("ours-ep-is-closest",),
    "GaussianProcessClassifier.calibration": ("ours-hyper-factor-processes",),
    "GaussianProcessClassifier.hyperparameters": ("ours-default-processes", "ours-hyper-boxes-classification"),
    "GaussianProcessClassifier.kernel": ("ours-default-processes",),
    "GaussianProcessRegressor.hyperparameters": ("ours-default-processes", "ours-hyper-boxes-regression"),
    "GaussianProcessRegressor.kernel": ("ours-default-processes",),
    "GaussianProcessRegressor.alpha": ("ours-default-processes",),
    "GaussianProcessRegressor.normalize_y": ("ours-default-processes",),
    "GameTreeSearch.policy": ("ours-default-game-trees",),
    "GameTreeSearch.rollouts": ("ours-default-game-trees",),
    "ImageReconstructor.noise_variance": ("ours-image-noise",),
    "ImageReconstructor.prior_scales": ("ours-image-scales", "ours-default-photons"),
    "ImageReconstructor.design_noise_variance": ("ours-kspace-pays-design-noise",),
    "ImageReconstructor.design_dtype": ("ours-kspace-unseen-default-snr-50",),
    "ImageReconstructor.design_prior_scales": ("ours-kspace-unseen-whole-head-snr-50",),
    **{
        f"PairedSymbols.{name}": ("ours-default-pairs",)
        for name in (
            "n_components",
            "censored_ratio",
            "selection",
            "user_precision",
            "item_precision",
            "bias_precision",
        )
    },
    **{
        f"{owner}.{name}": (f"ours-default-settings-{family}",)
        for owner, family, names in (
            ("BayesianLogisticRegression", "labels", ("prior", "link", "fit_intercept")),
            ("GaussianProcessClassifier", "labels-by-processes", ("link", "mean", "optimizer", "n_restarts_optimizer")),
            (
                "SparseLinearRegression",
                "numbers",
                ("hyperparameters", "prior", "df", "inference", "noise_variance", "prior_scale", "fit_intercept"),
            ),
            (
                "GaussianProcessRegressor",
                "numbers-by-processes",
                ("likelihood", "inference", "mean", "optimizer", "n_restarts_optimizer"),
            ),
            ("PoissonRegression", "counts", ("rate", "prior", "prior_scale", "inference", "fit_intercept")),
            ("CoxProcess", "rates", ("rate", "mean", "inference", "optimizer")),
            (
                "PoissonFactorization",
                "pairs-of-counts",
                ("n_components", "inference", "user_variance", "item_variance", "fit_bias", "n_init"),
            ),
            ("CollaborativePreference", "comparisons", ("covariance", "inference", "max_pairs")),
            ("PairedSymbols", "pairs", ("fit_bias", "n_init")),
            (
                "MetadataTopicModel",
                "documents",
                (
                    "word_prior",
                    "topic_prior",
                    "document_variance",
                    "weight_variance",
                    "document_step",
                    "regression",
                    "learning",
                    "n_init",
                ),
            ),
            (
                "CollaborativeRNN",
                "sequences",
                (
                    "n_components",
                    "cell",
                    "n_members",
                    "batch_size",
                    "learning_rate",
                    "n_sampled",
                    "clip",
                    "patience",
                    "max_iter",
                    "tol",
                ),
            ),
            ("GameTreeSearch", "games", ("coupling", "deviations", "root_mean", "score_variance", "drift")),
            ("ImageReconstructor", "lines", ("imaginary_prior",)),
            ("ImageReconstructor", "photographs", ("inference", "refine")),
            ("ParticleEstimator", "instruments", ("n_particles", "resample", "move")),
            ("SimulatorEstimator", "simulators", ("n_simulations", "resample")),
            ("SimulatorEstimator", "next-settings", ("n_nested",)),
            ("Questionnaire", "answers", ("response", "trait_noise", "threshold_noise", "trait_scale")),
        )
        for name in names
    },
    **{
        f"{owner}.{name}": ("ours-default-stops",)
        for owner in ("MetadataTopicModel", "PairedSymbols", "PoissonFactorization")
        for name in ("max_iter", "tol")
    },
    "CollaborativePreference.max_iter": ("ours-default-preferences",),
    "CollaborativePreference.tol": ("ours-default-preferences",),
    **{
        f"ImageReconstructor.{name}": ("ours-default-settings-lines", "ours-default-settings-photographs")
        for name in ("prior", "wavelet", "level", "reconstruction", "n_samples", "max_iter", "tol")
    },
    "MetadataTopicModel.n_init": ("ours-default-topic-starts", "ours-default-settings-documents"),
    "CollaborativeRNN.pooled": ("ours-default-sequences",),
    **{
        f"CollaborativeRNN.{name}": ("ours-default-nets", "ours-default-settings-sequences")
        for name in ("validation_fraction", "window")
    },
    "CollaborativeRNN.uncertainty": ("ours-sequences-asked-random", "ours-sequences-calibration-laplace"),
    "Questionnaire.n_traits": ("ours-questionnaire-dimension",),
    "Questionnaire.styles": ("hennig-tab-4.1",),
    "Questionnaire.noise_per_item": ("hennig-tab-4.1",),
    "SequentialDesign.joint": ("ours-batches-information",),
    "SequentialDesign.price": ("ours-skills-price", "ours-skills-prices"),
    "Questionnaire.response_model": ("ours-default-questionnaires", "hennig-tab-4.1"),
    "SimulatorEstimator.density": ("ours-default-simulators",),
    "SimulatorEstimator.move": ("ours-default-simulators",),
    "SimulatorEstimator.n_particles": ("ours-default-simulators",),
    "SequentialDesign.scorer": ("ours-default-classifiers", "ours-hyper-never-worse-than-random"),
    "SequentialDesign.exploration": ("ours-default-exploration",),
}

NEUTRAL: dict[str, str] = {
    "random_state": "the seed",
    "n_jobs": "results are the same for any number",
    "classes": "says what labels there are",
    "copy_X_train": "of scikit-learn: keeps a copy",
    "exposure": "says which column holds exposures",
    "categories": "says what answers there are",
    "outcomes": "says what values an outcome may take",
    "items": "says what items there are",
    "game": "the problem",
    "branching": "the problem",
    "depth": "the problem",
    "results": "the problem: what a game ends with",
    "players": "the problem",
    "simulate": "the problem",
    "summary": "the problem",
    "model": "the problem",
    "log_likelihood": "the problem",
    "reverse": "says which items are worded the other way round",
    "item_features": "the problem",
    "annotators": "says whether labels come from people who may be wrong",
    "pool": "makes steps cheaper, with the same results",
    "n_targets": "of scikit-learn: the number of outputs before any fit",
    "phase": "says how the image's phase is known",
    "coils": "says what the receiver was",
    "coil_covariance": "says what the receiver was",
    "largest": "says in what units the image is",
    "check": "refuses what is no k-space; changes no result",
    "reference": "an image that is known",
    "block_size": "how many rows are taken in at once; the fixed point is the same",
}

NEUTRAL_OF: dict[str, str] = {
    "ParticleEstimator.prior": "the problem",
    "SimulatorEstimator.prior": "the problem",
    "ParticleEstimator.noise": "the problem",
    "ParticleEstimator.trials": "the problem",
    "ParticleEstimator.overdispersion": "the problem",
    "Pipeline.memory": "of scikit-learn",
    "Pipeline.transform_input": "of scikit-learn",
    "Pipeline.verbose": "of scikit-learn",
    "GaussianProcessClassifier.warm_start": "of scikit-learn",
    "CollaborativePreference.init": "a starting point that is known",
    **{
        f"{owner}.{name}": "converged: a hundredth of it, or ten times as many, changes next to nothing (tests)"
        for owner, names in (
            ("BayesianLogisticRegression", ("tol", "max_iter")),
            ("GaussianProcessClassifier", ("tol", "max_iter_predict")),
            ("GaussianProcessRegressor", ("tol", "max_iter")),
            ("PoissonRegression", ("tol", "max_iter")),
            ("CoxProcess", ("tol", "max_iter")),
            ("SparseLinearRegression", ("tol", "max_iter")),
            ("Questionnaire", ("tol", "max_iter")),
            ("BradleyTerry", ("tol", "max_iter")),
        )
        for name in names
    },
    **{
        f"{owner}.rank": "an approximation on request; by default there is none"
        for owner in ("GaussianProcessClassifier", "GaussianProcessRegressor", "CoxProcess")
    },
    **{
        f"{owner}.{name}": f"of {what}, which are asked for; without them it changes nothing (tests)"
        for owner, name, what in (
            ("BayesianLogisticRegression", "df", "Student's priors"),
            ("PoissonRegression", "df", "Student's priors"),
            ("GaussianProcessRegressor", "df", "Student's noise"),
            ("GaussianProcessRegressor", "likelihood_scale", "kinds of noise that are not Gaussian"),
            ("GaussianProcessClassifier", "low_rank", "approximations of a rank"),
            ("GaussianProcessRegressor", "low_rank", "approximations of a rank"),
            ("CoxProcess", "low_rank", "approximations of a rank"),
            ("BradleyTerry", "alpha", "kernels of features"),
            ("CollaborativePreference", "alpha", "kernels of features"),
            ("CollaborativeRNN", "n_draws", "draws of own matrices"),
            ("MetadataTopicModel", "decay_every", "counts that decay"),
        )
    },
    "GaussianProcessClassifier.multi_class": "the other, one against one, has no probabilities to be judged by",
    "CoxProcess.n_restarts_optimizer": "beside three starts, and refused of a kernel that nobody gave",
    "BradleyTerry.kernel": "says how alike items are known to be",
    "BradleyTerry.ties": "says what may come out; where nobody ties it costs next to nothing",
    "BradleyTerry.position_bias": "learnt unless it is known to be none",
    "BradleyTerry.judges": "says whether comparisons name a judge",
    "BradleyTerry.scale": "integrated unless it is known",
    "CollaborativePreference.kernel": "says how alike items are known to be",
    "MetadataTopicModel.word_decay": "says that a stream changes; by default nothing is forgotten",
    "MetadataTopicModel.weight_forgetting": "says that a stream changes; by default nothing is forgotten",
    "PoissonFactorization.zeros": "says what pairs that are not listed were",
    "Questionnaire.item_traits": "the problem",
    "ImageReconstructor.likelihood": "says what was measured",
    "ImageReconstructor.dtype": "says what kind of image it is",
    "SequentialDesign.measure": "the problem",
    "SequentialDesign.target": "says what is to be known",
    "SequentialDesign.initial": "says what is measured first",
    "SequentialDesign.stop": "says when it is enough",
    "SequentialDesign.cost": "the problem",
    "SequentialDesign.mask": "the problem",
    "SequentialDesign.repeat": "the problem",
    "SequentialDesign.callbacks": "look on",
    "SequentialDesign.log": "keeps what was answered",
    "SequentialDesign.chunk_size": "results are the same for any size",
    "SequentialDesign.batch_size": "says how many are asked at once",
}


def parameters() -> Iterator[tuple[str, str]]:
    """Yield class and name of every parameter with a default of the public estimators and of the loop."""
    found = [getattr(estimators, name) for name in sorted(estimators.__all__)]
    shared = {"Belief", "BeliefEstimator", "Data", "DesignMixin", "Inferred", "Rows", "Settings"}
    for one in (*(c for c in found if inspect.isclass(c) and c.__name__ not in shared), SequentialDesign):
        for parameter in inspect.signature(one).parameters.values():
            if parameter.default is not parameter.empty and not parameter.name.startswith("_"):
                yield one.__name__, parameter.name


def place_of(owner: str, name: str) -> list[str]:
    """Names of the lists above that hold a parameter."""
    full = f"{owner}.{name}"
    held = {"JUDGED": full in JUDGED, "NEUTRAL": name in NEUTRAL, "NEUTRAL_OF": full in NEUTRAL_OF}
    return [place for place, is_in in held.items() if is_in]
