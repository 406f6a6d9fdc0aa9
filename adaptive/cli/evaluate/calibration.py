"""Items learnt from earlier systems, and how far off the score of others is that were asked in the same way.

Some systems teach the items. The others, of other families and copies of none that taught, are then asked as a new one
will be: how far their predicted scores are off is what a band is made of.

    band after k items  =  mean_k +- q_k std_k,    q_k the .9 quantile over them of |T_u - mean_uk| / std_uk
    error               =  std_k sqrt(sum_u (T_u - mean_uk)^2 / sum_u std_uk^2)
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive.cli.errors import CommandError
from adaptive.cli.evaluate.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adaptive.estimators import Questionnaire
    from adaptive.estimators.questionnaires.base import Newcomer
    from adaptive.estimators.questionnaires.respondent import Respondent
    from adaptive.estimators.questionnaires.total_band import TotalBand
    from adaptive.tables import Responses

__all__ = ["LEVEL", "Calibration", "Standing", "Way", "calibrated", "held_out", "questionnaire_of", "split"]

LEVEL = 0.9  # of every band
JUDGES, ONE_BY_ONE = 200, 100  # systems that are asked to make the band; where each is asked by itself
SHARE = 0.25  # of the systems, at most
FEW = 40  # systems of which none is held out
_SMALL = 1e-9


class Standing(NamedTuple):
    """Score of a system, its band and its error, in points."""

    score: float
    low: float
    high: float
    error: float


@dataclass(frozen=True, eq=False)
class Calibration:
    """Items, and what the systems that were held out have shown.

    Attributes
    ----------
    learnt : Questionnaire
    scale : Scale
    teachers, judges : Responses
        Who taught the items, who was held out.
    asked : (judges, n) array of int
        Positions of the items that judges were asked, one after the other.
    mean, std : (judges, n) arrays
        Of their predicted totals after each.
    """

    learnt: Questionnaire
    scale: Scale
    teachers: Responses
    judges: Responses
    asked: np.ndarray
    mean: np.ndarray
    std: np.ndarray

    @property
    def same(self) -> bool:
        """True where judges taught as well, as systems are few."""
        return not set(self.judges.systems).isdisjoint(self.teachers.systems)

    @property
    def items(self) -> tuple[str, ...]:
        """Names of the items."""
        return self.teachers.items

    def points(self, total: Any, n_items: int | None = None) -> Any:
        """Return totals in points of 100."""
        return self.scale.points(total, len(self.items) if n_items is None else n_items)

    def respondent(self) -> Respondent:
        """A system of which nothing is known; questions are to teach about its score on all items."""
        return self.learnt.respondent(target="total", prior=prior_of(self.learnt))

    def told(self, row: np.ndarray) -> Respondent:
        """A system that has given the answers of a row of scores."""
        seen = np.flatnonzero(~np.isnan(row))
        codes = self.scale.codes(row[seen]).tolist()
        return self.respondent().partial_fit([self.items[j] for j in seen], codes)

    def after(self, row: np.ndarray, items: np.ndarray) -> Respondent:
        """A system of a row of scores that was asked these items only."""
        few = np.full(len(row), np.nan)
        few[items] = row[items]
        return self.told(few)

    @cached_property
    def truth(self) -> tuple[np.ndarray, np.ndarray]:
        """Totals of the judges over all items, and what is left open of those who lack some."""
        return _totals(self, None)

    def off(self, mean: np.ndarray, std: np.ndarray, truth: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Distances from what was predicted, in its deviations."""
        total, doubt = (one.reshape(-1, *[1] * (mean.ndim - 1)) for one in truth)
        distance = np.hypot(total - mean, doubt)
        return np.where(distance > _SMALL, distance / np.maximum(std, _SMALL), 0.0)

    @cached_property
    def band(self) -> TotalBand:
        """The band of the score."""
        from adaptive.estimators.questionnaires.total_band import TotalBand

        return TotalBand(self.off(self.mean, self.std, self.truth), np.arange(len(self.items)))

    @property
    def banded(self) -> bool:
        """True where judges are enough for a band; else it is the model's own."""
        return (len(self.judges) + 1) * LEVEL <= len(self.judges)

    def error(self, std: float, n: int) -> float:
        """Return the error of a score after so many items, in points."""
        k = self._stage(n) - 1
        return float(self.points(std * _ratio(self.mean[:, k], self.std[:, k], self.truth)))

    def standing(self, person: Respondent) -> Standing:
        """Return where a system stands after its answers."""
        total, n = person.predict_total(level=LEVEL), len(person.items)
        ends = total.interval
        if self.banded and n:
            ends = self.band.interval(total.mean, total.std, total.values, self._stage(n), LEVEL)
        low, high = (float(self.points(end)) for end in ends)
        return Standing(float(self.points(total.mean)), low, high, self.error(total.std, n))

    def _stage(self, n: int) -> int:
        """The number of answers of judges that is nearest to this one."""
        return min(max(n, 1), self.band.off.shape[1])

    def part(self, person: Respondent, items: list[str]) -> Standing:
        """Return where a system stands on some of the items, by judges after as many answers."""
        from adaptive.estimators.questionnaires.total_band import TotalBand

        places = np.flatnonzero(np.isin(np.array(self.items, dtype=object), items))
        n = self._stage(len(person.items))
        said = [
            self.after(row, asked[:n][asked[:n] >= 0]).predict_total(items)[:2]
            for row, asked in zip(self.judges.scores, self.asked, strict=True)
        ]
        mean, std = np.array(said).T
        truth = _totals(self, places)
        off = self.off(mean[:, None], std[:, None], truth)
        total = person.predict_total(items, level=LEVEL)
        ends = total.interval
        if self.banded:
            ends = TotalBand(off, places).interval(total.mean, total.std, total.values, 1, LEVEL)
        told = (total.mean, *ends, total.std * _ratio(mean, std, truth))
        return Standing(*(float(self.points(one, len(items))) for one in told))

    def errors_on_judges(self, n: int, seed: int) -> tuple[float, float]:
        """Return the root mean square error in points after so many items, chosen and drawn at random."""
        truth = self.truth[0]
        k = min(n, self.mean.shape[1])
        chosen = np.sqrt(np.mean((self.mean[:, k - 1] - truth) ** 2))
        means = []
        for number, row in enumerate(self.judges.scores):
            there = np.flatnonzero(~np.isnan(row))
            drawn = np.random.default_rng([seed, number]).permutation(there)[:n]
            means.append(self.after(row, drawn).predict_total().mean)
        random = np.sqrt(np.mean((np.array(means) - truth) ** 2))
        return float(self.points(chosen)), float(self.points(random))


def _ratio(mean: np.ndarray, std: np.ndarray, truth: tuple[np.ndarray, np.ndarray]) -> float:
    """The factor by which errors of judges exceed their deviations: of sums, as one deviation may be far too small."""
    total, doubt = truth
    stated = float(np.sum(std**2))
    return float(np.sqrt(np.sum((total - mean) ** 2 + doubt**2) / stated)) if stated > _SMALL else 1.0


def _totals(known: Calibration, places: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Totals of the judges over some items; of those who lack an answer predicted by all they gave, and how surely."""
    items = None if places is None else [known.items[k] for k in places]
    table = known.judges.scores if places is None else known.judges.scores[:, places]
    total, doubt = known.scale.codes(table).sum(axis=1), np.zeros(len(table))
    for u in np.flatnonzero(np.isnan(total)):
        total[u], doubt[u] = known.told(known.judges.scores[u]).predict_total(items)[:2]
    return total, doubt


@dataclass(frozen=True)
class Way:
    """A way of asking systems: at most so many items, so many at a time, a share of them the same for all and first."""

    most: int
    batch: int = 1
    common: float = 0.0

    @property
    def usual(self) -> bool:
        """True where items are asked one at a time, each chosen."""
        return self.batch == 1 and not round(self.common * self.most)

    def first(self, person: Respondent, items: Sequence[str], seed: int) -> list[int]:
        """Return positions of the items that are the same for all."""
        n = round(self.common * self.most)
        return person.select(list(items), n, random_state=seed).tolist() if n else []


def held_out(responses: Responses, seed: int, judges: int = JUDGES) -> tuple[np.ndarray, np.ndarray]:
    """Return positions of those who teach and of those who judge: of no family, and near copies of none, in both.

    At most a quarter of the systems, and ``judges``, judge. Of fewer than 40 systems, of one family, and where only
    judges answered an item, all do both.
    """
    from adaptive.estimators.questionnaires.families import without_relatives

    everybody, units = np.arange(len(responses)), responses.units()
    most = min(judges, int(SHARE * len(responses)))
    found: list[int] = []
    if len(responses) >= FEW:
        distinct, answered = set(responses.distinct().tolist()), (~np.isnan(responses.scores)).mean(axis=1)
        for unit in np.random.default_rng(seed).permutation(np.unique(units)):
            members = np.flatnonzero(units == unit)
            of_use = [int(k) for k in members if k in distinct and answered[k] >= 0.5]
            if of_use and len(found) + len(members) <= most:
                found += of_use
    if len(found) < 10:
        return everybody, everybody[: 2 * judges]
    chosen = np.array(sorted(found))
    table = np.where(np.isnan(responses.scores), -1, np.round(100 * responses.scores)).astype(int)
    teachers = without_relatives(table, units.tolist(), chosen)
    if np.isnan(responses.scores[teachers]).all(axis=0).any():  # an item that only judges have answered
        return everybody, everybody[: 2 * judges]
    return teachers, chosen


def split(responses: Responses, way: Way, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return who teaches and who judges where systems are asked in this way: fewer judge where that takes long."""
    return held_out(responses, seed, JUDGES if way.usual else ONE_BY_ONE)


def calibrated(responses: Responses, model: str | None, way: Way, seed: int) -> Calibration:
    """Learn the items, and ask those held out in the way in which new systems will be."""
    scale = Scale.of(responses.scores, rounded=model is not None)
    teach, judge = split(responses, way, seed)
    teachers, judges = responses.rows(teach), responses.rows(judge)
    codes = scale.codes(teachers.scores)
    try:
        learnt = questionnaire_of(model, scale)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of several traits, of what did not converge: the report says so
            learnt.fit(_frame(codes, teachers.items))
    except ValueError as problem:
        raise CommandError(str(problem)) from None
    rows = scale.codes(judges.scores)
    if way.usual:
        whole = learnt.simulate(
            _frame(rows, judges.items), way.most, target="total", prior=prior_of(learnt), random_state=seed
        )
        place = {item: k for k, item in enumerate(responses.items)} | {None: -1}
        asked = np.array([[place[item] for item in row] for row in whole.items])
        return Calibration(learnt, scale, teachers, judges, asked, whole.mean, whole.std)
    return Calibration(learnt, scale, teachers, judges, *one_by_one(learnt, rows, responses.items, way, seed))


def one_by_one(
    learnt: Questionnaire, rows: np.ndarray, items: tuple[str, ...], way: Way, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Items asked of those whose answers ``rows`` hold, and means and deviations of their totals after each.

    Queries have the seeds of the loop; of an item that is the same for all and was not answered there is none.
    """
    from adaptive.loop import MaxSteps, SequentialDesign

    asked = np.full((len(rows), way.most), -1)
    mean, std = np.zeros(asked.shape), np.zeros(asked.shape)
    stranger = learnt.respondent(target="total", prior=prior_of(learnt))
    same = way.first(stranger, items, seed)
    for u, row in enumerate(rows):
        known = np.flatnonzero(~np.isnan(row))
        place = {int(j): k for k, j in enumerate(known)}
        design = SequentialDesign(
            stranger.stranger(), [items[j] for j in known], initial=[place[j] for j in same if j in place] or None,
            stop=MaxSteps(way.most), random_state=seed,
        )  # fmt: skip
        k = 0
        while k < min(way.most, len(known)):
            query = design.ask(min(way.batch, way.most - k, len(known) - k))
            for one in range(len(query)):
                design.tell(query.part(np.array([one], dtype=np.intp)), [row[known[query.positions[one]]]])
                person = design.estimator_
                asked[u, k] = known[query.positions[one]]
                mean[u, k], std[u, k] = person.predict_total()[:2]
                k += 1
        mean[u, k:], std[u, k:] = mean[u, k - 1], std[u, k - 1]
    return asked, mean, std


def questionnaire_of(model: str | None, scale: Scale) -> Questionnaire:
    """A model that is named has one ability; else there are as many as predict hidden answers of others best."""
    from adaptive.estimators import Questionnaire

    if model is not None:
        return Questionnaire(model, categories=scale.categories)
    usual = "continuous" if scale.between else "two_parameter" if scale.levels == 2 else "partial_credit"
    return Questionnaire(usual, n_traits="held_out", categories=scale.categories)


def prior_of(learnt: Questionnaire) -> Newcomer | None:
    """Newcomers may be better than all that calibrated; of one ability the usual prior has long tails anyway."""
    return "newcomer" if learnt.n_traits == "held_out" else None


def _frame(codes: np.ndarray, items: tuple[str, ...]) -> Any:
    import pandas as pd

    return pd.DataFrame(codes, columns=list(items))
