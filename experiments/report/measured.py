"""The guide's page *what is promised, what is measured*: of every estimator numbers out of ``claims.json``, by paths.

A cell says what was measured and where the number stands in the value of its claim, as in ``experiments/judging.py``;
the number, its interval and the verdict are read when the page is made (``python -m experiments.index``), so that none
can differ from what a script wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from experiments import claims
from experiments.judging import numbers, standing_at
from experiments.report.groups import groups

__all__ = ["COLUMNS", "PAGE", "ROWS", "Cell", "measured"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "measured.md"


class Cell(NamedTuple):
    """What was measured: a text with a place for the number, its claim, and the path into that claim's value.

    Of several leaves the least and the largest number are given. ``take`` is the place of the number in a text.
    """

    says: str
    id: str
    at: Sequence[Any] = ()
    take: int | None = None


COLUMNS = ("accuracy or error", "log loss or density", "what 90% intervals cover", "time")
EVERY = ("*",)
CV = "LogisticRegressionCV, margin"
ROWS: dict[str, tuple[list[Cell], list[Cell], list[Cell], list[Cell]]] = {
    "BayesianLogisticRegression": (
        [
            Cell(
                "less LogisticRegressionCV's by margin: {}",
                "ours-hyper-beside-rivals",
                [CV, "accuracy, from set to set"],
            ),
            Cell("less random rows': {}", "ours-hyper-better-on-average", ["accuracy"]),
        ],
        [
            Cell(
                "less LogisticRegressionCV's by margin: {} nats",
                "ours-hyper-beside-rivals",
                [CV, "log loss, from set to set"],
            ),
            Cell("less random rows': {} nats", "ours-hyper-better-on-average", ["log loss"]),
        ],
        [Cell("labels and latents: {}", "ours-bands-logistic", EVERY)],
        [
            Cell("a step over scikit-activeml's: {}", "ours-bench-step", EVERY),
            Cell("over modAL's: {}", "ours-active-step-modal", take=0),
        ],
    ),
    "GaussianProcessClassifier": (
        [Cell("accuracy less random rows': {}", "ours-hyper-pools-classification", ["accuracy", "mean over sets"])],
        [
            Cell("less random rows': {} nats", "ours-hyper-pools-classification", ["log loss", "mean over sets"]),
            Cell(
                "information above scikit-learn's on sonar: {} bits",
                "ours-gp-splits-peer",
                ["sonar, EP - scikit-learn (bits)"],
            ),
        ],
        [Cell("labels and latents: {}", "ours-bands-gp-classifier", EVERY)],
        [Cell("kernel learnt, over scikit-learn's: {}", "ours-hyper-search-time", EVERY)],
    ),
    "GaussianProcessRegressor": (
        [],
        [
            Cell(
                "negative log density in a box less random inputs': {} nats",
                "ours-hyper-boxes-regression",
                ["integrated, information_gain"],
            ),
        ],
        [
            Cell("parameters integrated: {}", "ours-bands-gp-regressor-integrated", EVERY),
            Cell("at their mode: {}", "ours-bands-gp-regressor", EVERY),
        ],
        [],
    ),
    "SparseLinearRegression": (
        [
            Cell(
                "error of weights less ARDRegression's: {}",
                "ours-sparse-regression-weights",
                ["default less", "*", "ARDRegression"],
            ),
            Cell("less LassoCV's: {}", "ours-sparse-regression-weights", ["default less", "*", "LassoCV"]),
        ],
        [
            Cell(
                "less LassoCV's, easy: {} nats", "ours-hyper-sparse", ["easy", "student_t", "density minus LassoCV's"]
            ),
            Cell("dense: {} nats", "ours-hyper-sparse", ["dense", "student_t", "density minus LassoCV's"]),
        ],
        [Cell("outcomes: {}", "ours-bands-sparse", EVERY)],
        [Cell("a fit of 200 x 400: {} s", "ours-hyper-other-times", ["sparse regression, student_t"])],
    ),
    "PoissonRegression": (
        [],
        [Cell("gained by designed rows over random ones: {} nats a count", "ours-counts-designed-rows", ["gain"])],
        [Cell("counts: {}", "ours-bands-poisson-regression", EVERY)],
        [],
    ),
    "CoxProcess": (
        [],
        [
            Cell(
                "gained over a constant rate, coal: {} nats a count",
                "ours-default-cox",
                ["default less rival", "coal, constant rate"],
            ),
            Cell("over a kernel smoother: {}", "ours-default-cox", ["default less rival", "coal, kernel smoother"]),
        ],
        [Cell("counts: {}", "ours-bands-cox", EVERY)],
        [Cell("kernel learnt, over a Gaussian process classifier's: {}", "ours-counts-bench-cox", ["ratio"])],
    ),
    "PoissonFactorization": (
        [
            Cell("NDCG@10 above popularity's: {}", "ours-counts-ranking", ["gain, 95% limits", "popularity"]),
            Cell("above implicit's: {}", "ours-counts-ranking", ["gain, 95% limits", "implicit"]),
        ],
        [
            Cell(
                "gained by designed entries over random ones: {} nats a count", "ours-counts-designed-entries", ["gain"]
            )
        ],
        [Cell("counts: {}", "ours-bands-factorization", EVERY)],
        [
            Cell("90,000 counts: {} s", "ours-counts-bench-hpfrec", ["ours"]),
            Cell("hpfrec {} s", "ours-counts-bench-hpfrec", ["peer"]),
        ],
    ),
    "PairedSymbols": (
        [
            Cell("mean rank on Last.fm {}", "ours-pairs-lastfm-popularity", ["model"]),
            Cell("popularity's {}", "ours-pairs-lastfm-popularity", ["popularity"]),
            Cell("least squares' {}", "ours-pairs-lastfm-popularity", ["als"]),
        ],
        [
            Cell(
                "gained over popularity: {} nats a pair",
                "ours-default-pairs",
                ["defaults less rival", "Last.fm, 1892 users, popularity, nats"],
            ),
        ],
        [Cell("odds: {}", "ours-pairs-shown-coverage", EVERY)],
        [Cell("a sweep over implicit's: {}", "ours-pairs-bench-implicit", ["ratio"])],
    ),
    "BradleyTerry": (
        [
            Cell(
                "comparisons to the order of the best five, GSM8K, saved beside a round robin: {}",
                "ours-rank-gsm8k-round",
                ["saved"],
            ),
        ],
        [],
        [
            Cell("differences of strengths: {}", "ours-bands-strengths", EVERY),
            Cell("right where it stopped at a stated 0.9: {}", "ours-rank-sure", ["interval"]),
        ],
        [],
    ),
    "CollaborativePreference": (
        [
            Cell(
                "share right above one ranking of everybody, sushi, 40 people: {}",
                "ours-default-preferences",
                ["auto less rival", "sushi, 40 people x 10, one ranking: bits, share right"],
                2,
            ),
        ],
        [
            Cell(
                "less that ranking's: {} bits",
                "ours-default-preferences",
                ["auto less rival", "sushi, 40 people x 10, one ranking: bits, share right"],
                0,
            ),
        ],
        [Cell("comparisons and differences: {}", "ours-bands-preferences", EVERY)],
        [Cell("an answer: {} ms", "ours-preferences-bench-answer", ["ms"])],
    ),
    "CollaborativeRNN": (
        [],
        [
            Cell("gained over pairs of words: {} nats a word", "ko-tab-3.11", ["words", "2-gram less C-GRU, 95%"]),
            Cell("of spikes: {}", "ko-tab-3.11", ["spikes", "2-gram less C-GRU, 95%"]),
        ],
        [Cell("next items: {}", "ours-bands-sequences", EVERY)],
        [
            Cell(
                "an event in training: {} microseconds", "ours-sequences-bench-epoch", ["gru", "microseconds per event"]
            )
        ],
    ),
    "MetadataTopicModel": (
        [],
        [
            Cell(
                "completion above plain topics', drawn corpus: {} nats a word",
                "ours-topic-completion",
                ["corpus A", "plain"],
            ),
            Cell("above tomotopy's DMR: {}", "ours-topic-completion", ["corpus A", "tomotopy dmr"]),
        ],
        [Cell("weights: {}", "ours-bands-topics", EVERY)],
        [
            Cell("20 Newsgroups: {} s", "ours-topics-against-dmr", ["seconds"]),
            Cell("DMR {} s", "ours-topics-against-dmr", ["DMR's seconds"]),
        ],
    ),
    "ImageReconstructor": (
        [
            Cell("half of the lines, SNR 200, over the best simple rule's: {}", "ours-kspace-pays-half", ["SNR 200"]),
            Cell("SNR 50: {}", "ours-kspace-pays-half", ["SNR 50"]),
        ],
        [],
        [
            Cell("pixels of heads: {}", "ours-bands-kspace-heads", EVERY),
            Cell("of photographs: {}", "ours-bands-photographs", EVERY),
        ],
        [
            Cell(
                "a reconstruction of 128 x 128, eight coils: {} s",
                "ours-plan-reconstructions",
                ["CPU seconds", "a reconstruction"],
            )
        ],
    ),
    "SeveralImages": (
        [
            Cell(
                "lines for several heads over those for one, unseen heads: {}",
                "ours-joint-design-unseen",
                ["95% interval"],
            )
        ],
        [],
        [],
        [],
    ),
    "Questionnaire": (
        [
            Cell(
                "squared error after 10 items less catsim's: {}",
                "ours-adaptive-test-catsim",
                ["by likelihood, ours by default", "10", "difference of squared errors"],
            ),
            Cell(
                "by the same prior: {}",
                "ours-adaptive-test-catsim",
                ["by expectation, both under N(0, 1)", "10", "difference of squared errors"],
            ),
            Cell(
                "questions for the deviation of random ones, ICAR: {} of them",
                "ours-adaptive-test-icar",
                ["questions over random's"],
            ),
        ],
        [],
        [
            Cell("traits: {}", "ours-bands-traits", EVERY),
            Cell("totals: {}", "ours-bands-totals", EVERY),
        ],
        [Cell("the next question: {} ms", "ours-questionnaire-next-question", take=0)],
    ),
    "ParticleEstimator": (
        [
            Cell(
                "random measurements for the same deviation: {} times as many",
                "ours-any-model-instruments",
                ["measurements over those by information", "find_peak"],
            ),
        ],
        [],
        [Cell("parameters: {}", "ours-bands-particles", EVERY)],
        [
            Cell("a decision: {} ms", "ours-any-model-bench-decision", ["ours, ms"]),
            Cell("optbayesexpt by default {} ms", "ours-any-model-bench-decision", ["variance_30, ms"]),
            Cell("by its full utility {} ms", "ours-any-model-bench-decision", ["full_kld_all, ms"]),
        ],
    ),
    "SimulatorEstimator": (
        [
            Cell(
                "error of means {} deviations",
                "ours-any-model-bench-simulator-peer",
                ["ours", "error of means, deviations"],
            ),
            Cell("ELFI's {}", "ours-any-model-bench-simulator-peer", ["ELFI", "error of means, deviations"]),
        ],
        [],
        [Cell("parameters: {}", "ours-bands-simulators", EVERY)],
        [
            Cell(
                "a decision over its simulations alone: {}",
                "ours-any-model-bench-simulations",
                ["*", "decision", "over the simulations"],
            )
        ],
    ),
    "GameTreeSearch": (
        [Cell("regret in Connect Four below flat Monte Carlo's: {}", "ours-trees-connect-four-moves", ["difference"])],
        [],
        [
            Cell("values on trees of the model: {}", "ours-trees-coverage", ["this search", "*"]),
            Cell("of games: {}", "ours-bands-trees", ["covered", "*"]),
        ],
        [Cell("a descent over compiled UCT's: {}", "ours-trees-speed", ["descents"], 0)],
    ),
}
WRAPPED = {"ClassifierView": "as its classifier", "PipelineView": "as its last step"}
INTRODUCTION = """# What is promised, what is measured

[What each estimator promises](promises.md) says what a number means; this page says what came out, beside the simplest
rival. Every number is read out of the claim that it links to, when the page is made. Brackets are 95% intervals over
people, sets, heads or runs, as the claim says; "a to b" is the least and the largest of several lines; a number alone
has no interval. After each stands how its claim was judged, against a target that is stated there: "could not be told"
where the interval reaches beyond it, or there is one run. An empty cell was not measured.
"""


def measured(results: Path = claims.RESULTS) -> str:
    """Return the text of the page."""
    entries = {entry["id"]: entry for entry in claims.load(results)}
    pages = {row.id: f"{group.folder}/{group.key}" for group in groups(results) for row in group.rows}
    lines = ["| estimator | " + " | ".join(COLUMNS) + " |", "|---" * (1 + len(COLUMNS)) + "|"]
    for name, columns in ROWS.items():
        cells = ["; ".join(_said(cell, entries, pages) for cell in column) for column in columns]
        lines.append("| " + " | ".join([_linked(name), *cells]) + " |")
    for name, words in WRAPPED.items():
        lines.append("| " + " | ".join([_linked(name), *[words] * len(COLUMNS)]) + " |")
    return INTRODUCTION + "\n" + "\n".join(lines) + "\n"


def _linked(name: str) -> str:
    return f"[`{name}`](../api/names/adaptive.{name}.rst)"


def _said(cell: Cell, entries: dict[str, dict[str, Any]], pages: dict[str, str]) -> str:
    entry = entries[cell.id]
    found = list(standing_at(entry["value"], cell.at))
    number = _number(found[0], cell.take) if len(found) == 1 else _range([numbers(leaf)[0] for leaf in found])
    page = f"../../results/{pages[cell.id]}.md#{cell.id.replace('.', '')}"
    return f"[{cell.says.format(number)}]({page}) ({entry['verdict']})"


def _number(leaf: Any, take: int | None) -> str:
    """A number with its interval, where there is one."""
    found = numbers(leaf)
    if isinstance(leaf, str) and ("+-" in leaf or "±" in leaf):
        mean, half = found[(take or 0) : (take or 0) + 2]
        return f"{_short(mean)} [{_short(mean - half)}, {_short(mean + half)}]"
    if take is not None or len(found) == 1:
        return _short(found[take or 0])
    if len(found) == 2:
        return f"[{_short(found[0])}, {_short(found[1])}]"
    return f"{_short(found[0])} [{_short(found[1])}, {_short(found[2])}]"


def _range(found: list[float]) -> str:
    return f"{_short(min(found))} to {_short(max(found))}"


def _short(number: float) -> str:
    """Three digits, at most three of them behind the point."""
    return f"{number:.3f}" if abs(number) < 1 else f"{number:.3g}"
