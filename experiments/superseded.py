"""Verdicts that later ones stand for: their reasons say so, whenever they are recorded.

Before the smooth phase models took the angle of the central lines for exact, and lines came from both sides of k-space.
Before prior scales and kernels were integrated the best ones were taken, and information gain asked by default.
Before nets of many users chose how many to learn from side by side this was tried apart.
Before families had one folder each, runs were compared with logs that were kept.
"""

from __future__ import annotations

__all__ = ["with_successor"]

SUPERSEDED = {
    "ours-budget-information_gain": "ours-hyper-better-on-average",
    "ours-budget-query_by_committee": "ours-hyper-better-on-average",
    "ours-calibration-breast-cancer": "ours-hyper-reliability",
    "ours-calibration-digits": "ours-hyper-reliability",
    "ours-coverage-ep-scale-learnt": "ours-hyper-coverage",
    "ours-gp-designed-box-classification": "ours-hyper-boxes-classification",
    "ours-gp-designed-pools-information_gain": "ours-hyper-pools-classification",
    "ours-gp-designed-pools-predictive_information_gain": "ours-hyper-pools-classification",
    "ours-hyper-mode-repeats": "ours-house-repeats",
    "ours-kspace-beats-half-plane-at-64": "ours-kspace-pays-everywhere",
    "ours-kspace-coverage": "ours-kspace-pays-bands",
    "ours-kspace-curves-mirror-free-snr-200": "ours-kspace-pays-half-unseen-heads",
    "ours-kspace-curves-mirror-free-snr-50": "ours-kspace-pays-half-unseen-heads",
    "ours-kspace-round": "ours-kspace-decision-products",
    "ours-kspace-same-slice-mirror-free-default-snr-200": "ours-kspace-pays-first-command",
    "ours-kspace-same-slice-mirror-free-default-snr-50": "ours-kspace-pays-everywhere",
    "ours-kspace-same-slice-mirror-free-whole-head-snr-200": "ours-kspace-pays-everywhere-256",
    "ours-kspace-unseen-mirror-free-default-snr-200": "ours-kspace-pays-half-unseen-heads",
    "ours-kspace-unseen-mirror-free-default-snr-50": "ours-kspace-pays-half-unseen-heads",
    "ours-sequences-side-by-side": "ko-tab-3.11",
}


def with_successor(id: str, reason: str) -> str:
    """Return a reason that names what stands for the claim now.

    Examples
    --------
    >>> with_successor("ours-kspace-coverage", "Too narrow.")
    'Too narrow. Superseded by ours-kspace-pays-bands.'
    >>> with_successor("another", "")
    ''
    """
    said = f"Superseded by {SUPERSEDED[id]}." if id in SUPERSEDED else ""
    return reason if said in reason else f"{reason} {said}".strip()
