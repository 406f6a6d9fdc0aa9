"""Splits by family, and bands of totals from them."""

import numpy as np
import pytest

from adaptive import Questionnaire
from adaptive.estimators.questionnaires.families import copies, family_folds, without_relatives
from tests.estimators.questionnaires.test_factors import drawn


def relatives(seed=0):
    """Answers of families of up to four; some are copies of somebody of another family."""
    table = drawn(600, 60, seed=seed)[:200].astype(int)
    families = np.random.default_rng(seed).integers(0, 60, 200)
    table[50:70] = table[:20]
    table[50:70, 3] = 1 - table[50:70, 3]
    return table, families.tolist()


def test_neither_relatives_nor_copies_straddle_a_split():
    table, families = relatives()
    judged = []
    for teach, judge in family_folds(table, families):
        assert not {families[u] for u in teach} & {families[u] for u in judge}
        different = (table[teach][:, None] != table[judge]).sum(axis=2)
        assert different.min() > 1 and len(teach) > 100
        judged += judge.tolist()
    assert sorted(judged) == list(range(200))


def test_copies_are_told_by_what_both_were_asked():
    table = drawn(40, 60).astype(int)
    few = np.where(np.random.default_rng(0).random(table.shape) < 0.6, table, -1)
    assert copies(few, table).all() and not copies(1 - table, table).any()
    barely = np.where(np.arange(60) < 10, table, -1)
    assert not copies(barely, table).any()  # ten answers are alike by chance
    assert len(without_relatives(np.concatenate([table, table]), list(range(80)), np.arange(3))) == 74


def test_a_band_of_other_families_covers():
    """By those who calibrated, and few of them for so many items: the model's own band is too narrow."""
    table, families = relatives()
    items = Questionnaire("two_parameter", n_traits=4).fit(table.astype(float))
    band = items.total_band(table.astype(float), 6, target="total", families=families)
    assert band.off.shape == (200, 6)
    new = drawn(600, 60)[200:]
    found = items.simulate(new, 6, target="total")
    assert np.mean(np.abs(found.mean[:, -1] - new.sum(axis=1)) <= 1.645 * found.std[:, -1]) < 0.9
    inside = []
    for row, answers in zip(found.items, new, strict=True):
        person = items.respondent().fit(row.tolist(), answers[row.astype(int)])
        low, high = person.predict_total(level=0.9, band=band).interval
        inside.append(low <= answers.sum() <= high)
    assert 0.85 <= np.mean(inside) <= 0.96


def test_families_that_are_too_few_are_refused():
    table, families = relatives()
    with pytest.raises(ValueError, match="families must have one entry for each of the 200 people, got 3"):
        without_relatives(table, [1, 2, 3], np.arange(2))
    with pytest.raises(ValueError, match="at least 5 families"):
        list(family_folds(table, [0] * 100 + [1] * 100))
