"""What ``adaptive topics`` says of drawn corpora: the number of topics, and shares, groups, authors and years.

Three authors, ten years, three topics, 300 texts of 40 words:  scores of a text  y = author + year x trend + N(0, s^2),
shares softmax(y), s^2 = 0.05, 0.5 and 2 in turn. The command is run as anybody would; where it chooses another number
of topics it is run again with three, and its topics are told apart by the shares of texts. The truths of groups,
authors and years are those of the population that the texts are drawn from. Corpora are the units.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax

from adaptive.cli import run as adaptive
from experiments.script import Script, command
from experiments.statistics import half_width

FIRST, N = 500, 12  # seeds, not looked at before
N_TEXTS, N_WORDS, LENGTH, K = 300, 400, 40, 3
VARIANCES = (0.05, 0.5, 2.0)
AUTHORS = ("anna", "ben", "clara")
KINDS = ("documents", "groups", "authors", "years", "authors at equal times", "changes of authors")


def corpus(seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Texts, their shares (n, K), and the population's mean shares (author, year, K)."""
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(N_WORDS, 0.3), K)
    names = np.array(
        ["".join("abcdefghijklmnopqrst"[int(d)] for d in (k // 20, k % 20)) + "word" for k in range(N_WORDS)]
    )
    spread = np.sqrt(VARIANCES[seed % len(VARIANCES)])
    who, year = rng.integers(3, size=N_TEXTS), rng.integers(10, size=N_TEXTS)
    scores = rng.standard_normal((3, 1, K)) + (np.arange(10)[:, None] - 4.5) / 4.5 * rng.standard_normal(K)
    shares = softmax(scores[who, year] + spread * rng.standard_normal((N_TEXTS, K)), axis=1)
    texts = [" ".join(rng.choice(names, LENGTH, p=share @ words)) for share in shares]
    draws = softmax(scores[:, :, None] + spread * rng.standard_normal((4000, K)), axis=3)
    table = pd.DataFrame({"text": texts, "author": np.array(AUTHORS)[who], "year": 1900 + year})
    return table, shares, draws.mean(axis=2)


def judged(seed: int) -> dict[str, Any]:
    """The number of topics that was chosen, and of each kind the share of 90% intervals that hold the truth."""
    with tempfile.TemporaryDirectory() as folder:
        return _judged(seed, Path(folder))


def _judged(seed: int, folder: Path) -> dict[str, Any]:
    table, shares, population = corpus(seed)
    path = folder / "texts.csv"
    table.to_csv(path, index=False)
    asked = ["topics", str(path), "--metadata", "author", "--time", "year"]
    chosen = _run(asked, folder / "chosen")
    out = folder / "chosen"
    if chosen != K:
        out = folder / "three"
        _run([*asked, "--topics", str(K)], out)
    documents = pd.read_csv(out / "documents.csv")
    found = documents[[f"topic {k}" for k in range(1, K + 1)]].to_numpy()
    shares = shares[documents["line"] - 2]
    alike = np.corrcoef(found.T, shares.T)[:K, K:]
    order = linear_sum_assignment(-alike)[1]
    low, high = (documents[[f"{side} {k}" for k in range(1, K + 1)]].to_numpy() for side in ("lower", "upper"))
    truth = population[..., order]
    of_author, of_year = truth.mean(axis=1), truth.mean(axis=0)
    others = (of_author.sum(axis=0) - of_author) / 2
    change = of_year[7:].mean(axis=0) - of_year[:3].mean(axis=0)
    changes = truth[:, 7:].mean(axis=1) - truth[:, :3].mean(axis=1)
    groups, effects = pd.read_csv(out / "groups.csv"), pd.read_csv(out / "effects.csv")
    by_author = effects[effects["column"] == "author"]
    plain, equal = by_author["group"].isin(AUTHORS), by_author["group"].str.endswith(", at equal times")
    return {
        "topics": chosen,
        "documents": float(np.mean((low <= shares[:, order]) & (shares[:, order] <= high))),
        "groups": _held(groups[groups["column"] == "author"], of_author),
        "authors": _held(by_author[plain], of_author - others),
        "authors at equal times": _held(by_author[equal], of_author - others),
        "changes of authors": _held(by_author[~plain & ~equal], changes),
        "years": _held(effects[effects["column"] == "year"], change[None]),
    }


def _run(arguments: list[str], out: Path) -> int:
    with contextlib.redirect_stdout(io.StringIO()):
        if adaptive([*arguments, "--out", str(out)]) != 0:
            raise RuntimeError(f"{arguments} failed.")
    return int(json.loads((out / "summary.json").read_text())["topics"])


def _held(rows: pd.DataFrame, truth: np.ndarray) -> float:
    values = truth.ravel()  # groups in the order of the alphabet, topics in theirs
    return float(np.mean((rows["lower"].to_numpy() <= values) & (values <= rows["upper"].to_numpy())))


def run(script: Script) -> None:
    """Run the command on every corpus, and judge."""
    warnings.simplefilter("ignore")
    seeds = range(FIRST, FIRST + (3 if script.quick else N))
    found = [script.kept("topics-command", judged, seed) for seed in seeds]
    columns = {kind: np.array([one[kind] for one in found]) for kind in KINDS}
    chosen = [int(one["topics"]) for one in found]
    script.table(
        {"seed": list(seeds), "variance": [VARIANCES[seed % 3] for seed in seeds], "topics": chosen,
         **{kind: columns[kind].round(3).tolist() for kind in KINDS}}, "topics-command-bands",
        "Topics that were chosen, where there are three, and shares of truths within nominal 0.90; one row a corpus.",
    )  # fmt: skip
    means = {kind: float(column.mean()) for kind, column in columns.items()}
    missed = [kind for kind, mean in means.items() if not 0.85 <= mean <= 0.95]
    script.judge(
        "ours-topics-command-bands", not missed,
        claim="90% intervals that adaptive topics writes of shares of documents and of groups, of effects of authors, "
        "of changes over the years, and of both at equal times and within authors hold 85 to 95% of the truths.",
        target="between 0.85 and 0.95 of each, on average over corpora",
        value={kind: f"{means[kind]:.3f} +- {half_width(columns[kind]):.3f}" for kind in KINDS},
        reason="" if not missed else f"Outside: {', '.join(missed)}.",
        seed=f"{seeds[0]}..{seeds[-1]}",
    )  # fmt: skip
    right = float(np.mean([number == K for number in chosen]))
    script.judge(
        "ours-topics-command-number", right >= 0.8,
        claim="adaptive topics chooses three topics where three are drawn.",
        target="in at least 0.8 of the corpora",
        value=f"{right:.3f}; the least {min(chosen)}, the most {max(chosen)}",
        reason="" if right >= 0.8 else "Some topics are so mixed that half a text foretells no more by three.",
        seed=f"{seeds[0]}..{seeds[-1]}",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
