"""Which claims and pictures the summary shows first; under which verdict they stand there follows from the claims."""

from __future__ import annotations

__all__ = ["HIGHLIGHTS", "PICTURES"]

PICTURES = {
    "kspace-pays-where": "**Where choosing scanner lines pays**: with half of the lines and little noise; with few "
    "lines or much noise good fixed rules come close.",
    "active-budget": "**Which scorer learns labels fastest**: those that ask near the boundary beat random rows on "
    "average, by little; the information about parameters does not.",
    "nickisch-fig-5.4": "**Filters for photographs**: those that expectation propagation designs need the fewest "
    "measurements, and serve other photographs, too.",
    "approximation-errors": "**What approximations cost**: expectation propagation stays close to the exact posterior; "
    "bounds and Laplace's method are too narrow or off where factors are far from Gaussian.",
    "questionnaire-adaptive-tests": "**Adaptive tests**: questions by information reach the precision of random ones "
    "with about half as many.",
}

HIGHLIGHTS: dict[str, tuple[str, ...]] = {
    "nickisch": (
        "nickisch-fig-3.7", "nickisch-fig-4.4", "nickisch-fig-5.2",
        "nickisch-fig-5.4", "nickisch-fig-6.8", "nickisch-tab-4.10",
    ),
    "ko": ("ko-fig-2.7", "ko-tab-2.3", "ko-tab-2.6", "ko-tab-2.7", "ko-tab-3.3", "ko-fig-3.1"),
    "kokhan": ("kokhan-fig-1", "kokhan-fig-2", "kokhan-tab-3"),
    "paquet": ("paquet-fig-2", "paquet-fig-3"),
    "hennig": (
        "hennig-tab-4.1", "hennig-fig-3.6", "hennig-fig-3.10", "hennig-fig-5.6", "hennig-fig-5.12",
    ),
    "active": (
        "ours-hyper-better-on-average", "ours-hyper-coverage", "ours-hyper-never-worse-than-random",
        "ours-budget-query_by_committee", "ours-budget-beside-peers",
    ),
    "gaussian_processes": ("ours-gp-designed-box-regression", "ours-gp-splits"),
    "images": ("ours-images-64", "ours-pixel-bands", "ours-sign-patterns"),
    "kspace": (
        "ours-kspace-pays-half", "ours-kspace-pays-half-unseen-heads", "ours-kspace-pays-everywhere",
        "ours-kspace-pays-bands",
    ),
    "counts": ("ours-counts-designed-rows", "ours-counts-designed-places"),
    "pairs": ("ours-pairs-lastfm-popularity", "ours-pairs-shown-regret"),
    "preferences": ("ours-preferences-best-sushi", "ours-preferences-synthetic"),
    "scanner": ("ours-scanner-newcomer", "ours-scanner-replay-3"),
    "sequences": ("ours-sequences-order-two", "ours-sequences-short-histories", "ours-sequences-asked-random"),
    "serve": ("serve-kills", "serve-replayed-people", "serve-page-time"),
    "questionnaires": (
        "ours-adaptive-test-big-five", "ours-adaptive-test-wrong-prior",
    ),
    "topics": ("ours-topics-reading", "ours-topics-labels"),
    "any_model": (
        "ours-any-model-instruments", "ours-any-model-second-peak-spread",
    ),
    "certificates": ("ours-certificate-gaps",),
    "game_trees": (
        "ours-trees-coverage", "ours-trees-connect-four-coverage",
    ),
    "inference": ("ours-approximation-errors", "ours-multiclass-log-loss"),
    "benchmarks": (
        "ours-exact-search", "ours-kspace-decision-products",
    ),
    "house": ("ours-site-questions",),
}  # fmt: skip
