"""Banks of mirt, catR, jsCAT and catsim have the probabilities of their published formulas to 1e-12, both ways."""

from __future__ import annotations

import csv
import io
import warnings

import numpy as np
import pytest

from adaptive import Questionnaire
from adaptive.estimators.questionnaires.bank import Bank
from adaptive.estimators.questionnaires.curves import CURVES

X = np.array([-2.0, -0.3, 0.0, 1.1, 2.5])
Z = np.array([0.4, -1.5, 0.9, 2.0, -0.6])  # of a second trait
NA = None


def logistic(s):
    return 1.0 / (1.0 + np.exp(-np.asarray(s, dtype=float)))


def two(p):
    return np.stack([1 - p, p], axis=-1)


def cumulative(upper):
    """p of P(y >= k), k = 1 ..."""
    ends = np.concatenate([np.ones((len(X), 1)), np.stack(upper, axis=1), np.zeros((len(X), 1))], axis=1)
    return ends[:, :-1] - ends[:, 1:]


def softmax(energies):
    e = np.exp(np.stack([0 * X, *energies], axis=1))
    return e / e.sum(axis=1, keepdims=True)


def summed(steps):
    return softmax(np.cumsum(np.stack(steps), axis=0))


# text of the file, and of each item p(answer | X) by the published formula
FILES = {
    "mirt 4PL": (
        '"",a1,d,g,u\n"Item.1",1.3,0.4,0.15,0.9\n"Item.2",0.8,-0.6,0,1\n',
        [two(0.15 + 0.75 * logistic(1.3 * X + 0.4)), two(logistic(0.8 * X - 0.6))],
    ),
    "mirt 3PL": (
        "a1,d,g,u\n1.3,0.4,0.15,1\n0.8,-0.6,0,1\n",
        [two(0.15 + 0.85 * logistic(1.3 * X + 0.4)), two(logistic(0.8 * X - 0.6))],
    ),
    "mirt IRTpars": (
        "a,b,g,u\n1.3,-0.4,0.2,1\n0.7,0.9,0,0.85\n",
        [two(0.2 + 0.8 * logistic(1.3 * (X + 0.4))), two(0.85 * logistic(0.7 * (X - 0.9)))],
    ),
    "mirt graded": (
        "a1,d1,d2,d3\n1.5,2,0.5,-1\n0.9,1,-0.2,NA\n",
        [
            cumulative([logistic(1.5 * X + d) for d in (2, 0.5, -1)]),
            cumulative([logistic(0.9 * X + d) for d in (1, -0.2)]),
        ],
    ),
    "mirt graded IRTpars": (
        "a,b1,b2,itemtype\n1.5,-1,0.5,graded\n0.9,0.2,NA,graded\n",
        [cumulative([logistic(1.5 * (X - b)) for b in (-1, 0.5)]), two(logistic(0.9 * (X - 0.2)))],
    ),
    "mirt gpcm": (
        "a1,ak0,ak1,ak2,d0,d1,d2\n1.2,0,1,2,0,0.7,-0.3\n0.6,0,1,NA,0,0.5,NA\n",
        [softmax([1.2 * X + 0.7, 2 * 1.2 * X - 0.3]), softmax([0.6 * X + 0.5])],
    ),
    "mirt gpcm IRTpars": (
        "a,b1,b2,itemtype\n1.2,-0.5,0.8,gpcm\n0.7,0.9,-0.4,gpcm\n",
        [summed([1.2 * (X - b) for b in (-0.5, 0.8)]), summed([0.7 * (X - b) for b in (0.9, -0.4)])],
    ),
    "mirt mixed": (
        "a1,d,g,u,d1,d2\n1.1,0.3,0,1,NA,NA\n1.5,NA,NA,NA,0.5,-1\n",
        [two(logistic(1.1 * X + 0.3)), cumulative([logistic(1.5 * X + d) for d in (0.5, -1)])],
    ),
    "catR": (
        "a,b,c,d\n1.3,0.4,0.2,0.95\n0.8,-1,0,1\n",
        [two(0.2 + 0.75 * logistic(1.3 * (X - 0.4))), two(logistic(0.8 * (X + 1)))],
    ),
    "catsim": ("a,b,c,d\n1.3,0.4,0.2,1\n", [two(0.2 + 0.8 * logistic(1.3 * (X - 0.4)))]),
    "irt with D": ("a,b,c,d,D\n1.3,0.4,0,1,1.702\n", [two(logistic(1.702 * 1.3 * (X - 0.4)))]),
    "catR GRM": (
        "alphaj,betaj1,betaj2\n1.2,-0.4,0.9\n0.7,0.1,NA\n",
        [cumulative([logistic(1.2 * (X - b)) for b in (-0.4, 0.9)]), two(logistic(0.7 * (X - 0.1)))],
    ),
    "catR MGRM": (
        "alphaj,bj,c1,c2\n1.2,0.3,0.8,-0.5\n",
        [cumulative([logistic(1.2 * (X - (0.3 - c))) for c in (0.8, -0.5)])],
    ),
    "catR GPCM": (
        "alphaj,deltaj1,deltaj2\n1.2,0.4,-0.9\n0.7,0.1,NA\n",
        [summed([1.2 * (X - d) for d in (0.4, -0.9)]), summed([0.7 * (X - 0.1)])],
    ),
    "catR PCM": ("deltaj1,deltaj2\n0.4,-0.9\n", [summed([X - 0.4, X + 0.9])]),
    "catR RSM": ("lambdaj,delta1,delta2\n0.4,-0.9,0.2\n", [summed([X - (0.4 - 0.9), X - (0.4 + 0.2)])]),
    "mirt 2PL": ("a1,d\n1.3,0.4\n-0.8,-0.6\n", [two(logistic(1.3 * X + 0.4)), two(logistic(-0.8 * X - 0.6))]),
    "mirt Rasch": (
        '"","a1","d","g","u"\n"q1",1,0.4,0,1\n"q2",1,-0.6,0,1\n',
        [two(logistic(X + 0.4)), two(logistic(X - 0.6))],
    ),
    "mirt upper asymptotes only": (
        "a1,d,g,u\n1.3,0.4,0,0.9\n0.8,-0.6,0,0.97\n",
        [two(0.9 * logistic(1.3 * X + 0.4)), two(0.97 * logistic(0.8 * X - 0.6))],
    ),
    "mirt IRTpars 2PL": ("a,b\n1.3,-0.4\n0.7,0.9\n", [two(logistic(1.3 * (X + 0.4))), two(logistic(0.7 * (X - 0.9)))]),
    "mirt two traits": (
        "a1,a2,d,g,u\n1.3,0,0.4,0,1\n0.6,0.9,-0.2,0.1,1\n",
        [two(logistic(1.3 * X + 0.4)), two(0.1 + 0.9 * logistic(0.6 * X + 0.9 * Z - 0.2))],
    ),
    "mirt graded of two traits": (
        "a1,a2,d1,d2\n1.3,0,0.4,-1\n0.6,-0.9,0.7,-0.2\n",
        [
            cumulative([logistic(1.3 * X + d) for d in (0.4, -1)]),
            cumulative([logistic(0.6 * X - 0.9 * Z + d) for d in (0.7, -0.2)]),
        ],
    ),
    "mirt gpcm of two traits": (
        "a1,a2,ak0,ak1,ak2,d0,d1,d2\n0.6,0.9,0,1,2,0,0.5,-0.4\n",
        [softmax([0.6 * X + 0.9 * Z + 0.5, 2 * (0.6 * X + 0.9 * Z) - 0.4])],
    ),
    "mirt graded of seven answers": (
        "a1,d1,d2,d3,d4,d5,d6\n1.7,4,2.5,1,-0.5,-2,-3.5\n",
        [cumulative([logistic(1.7 * X + d) for d in (4, 2.5, 1, -0.5, -2, -3.5)])],
    ),
    "mirt gpcm without scores": ("a1,d0,d1,d2\n1.2,0,0.7,-0.3\n", [softmax([1.2 * X + 0.7, 2.4 * X - 0.3])]),
    "mirt pcm": ("a1,ak0,ak1,ak2,d0,d1,d2\n1,0,1,2,0,0.7,-0.3\n", [softmax([X + 0.7, 2 * X - 0.3])]),
    "mirt nominal": (
        "a1,ak0,ak1,ak2,ak3,d0,d1,d2,d3\n0.8,0,1.4,0.2,3,0,0.5,-0.4,1.1\n1.1,0,-0.3,2,NA,0,0.5,0.2,NA\n",
        [
            softmax([0.8 * 1.4 * X + 0.5, 0.8 * 0.2 * X - 0.4, 0.8 * 3 * X + 1.1]),
            softmax([-1.1 * 0.3 * X + 0.5, 2.2 * X + 0.2]),
        ],
    ),
    "mirt nominal of two traits": (
        "a1,a2,ak0,ak1,ak2,d0,d1,d2\n0.8,-0.5,0,1.4,2,0,0.5,-0.4\n",
        [softmax([1.4 * (0.8 * X - 0.5 * Z) + 0.5, 2 * (0.8 * X - 0.5 * Z) - 0.4])],
    ),
    "mirt nominal, its first answer's score not 0": (
        "a1,ak0,ak1,ak2,d0,d1,d2\n0.8,0.5,1.4,2,0.3,0.5,-0.4\n",
        [softmax([0.8 * 0.9 * X + 0.2, 0.8 * 1.5 * X - 0.7])],
    ),
    "mirt nominal IRTpars": (
        "a1,a2,a3,c1,c2,c3\n-0.9,0.1,0.8,0.3,-0.5,0.2\n-0.4,0.4,NA,0.1,-0.1,NA\n",
        [softmax([1.0 * X - 0.8, 1.7 * X - 0.1]), softmax([0.8 * X - 0.2])],
    ),
    "mirt nominal among two answers": (
        "a1,d,g,u,ak0,ak1,ak2,d0,d1,d2\n1.3,0.4,0,1,NA,NA,NA,NA,NA,NA\n0.8,NA,NA,NA,0,1.5,2,0,0.4,-0.3\n",
        [two(logistic(1.3 * X + 0.4)), softmax([1.2 * X + 0.4, 1.6 * X - 0.3])],
    ),
    "mirt nominal among gpcm, as itemtype says": (
        "a1,ak0,ak1,ak2,d0,d1,d2,itemtype\n0.8,0,1.5,2,0,0.4,-0.3,nominal\n0.6,0,1,2,0,0.1,0.2,gpcm\n",
        [softmax([1.2 * X + 0.4, 1.6 * X - 0.3]), softmax([0.6 * X + 0.1, 1.2 * X + 0.2])],
    ),
    "catR 1PL": ("a,b,c,d\n1,0.4,0,1\n1,-1,0,1\n", [two(logistic(X - 0.4)), two(logistic(X + 1))]),
    "catR with D": ("a,b,c,d,D\n1.3,0.4,0.2,0.95,1.702\n", [two(0.2 + 0.75 * logistic(1.702 * 1.3 * (X - 0.4)))]),
    "catR GPCM with D": (
        "alphaj,deltaj1,deltaj2,D\n1.2,0.4,-0.9,1.7\n",
        [summed([1.7 * 1.2 * (X - d) for d in (0.4, -0.9)])],
    ),
    "catR GRM of unequal numbers of answers": (
        "alphaj,betaj1,betaj2,betaj3,betaj4\n1.2,-0.4,0.9,1.4,2\n0.7,0.1,0.6,NA,NA\n",
        [
            cumulative([logistic(1.2 * (X - b)) for b in (-0.4, 0.9, 1.4, 2)]),
            cumulative([logistic(0.7 * (X - b)) for b in (0.1, 0.6)]),
        ],
    ),
    "catR NRM": (
        "alpha1,c1,alpha2,c2,alpha3,c3\n1.1,0.3,-0.4,0.2,0.9,-0.6\n0.8,-0.2,1.3,0.5,NA,NA\n",
        [softmax([1.1 * X + 0.3, -0.4 * X + 0.2, 0.9 * X - 0.6]), softmax([0.8 * X - 0.2, 1.3 * X + 0.5])],
    ),
    "catR NRM, as its manual names it": (
        "alphaj1,cj1,alphaj2,cj2\n1.1,0.3,0,0.2\n",
        [softmax([1.1 * X + 0.3, 0 * X + 0.2])],
    ),
    "jsCAT": (
        "item,a,b,c,d\n1,1.532,-3,0.15,1\n2,1.003,-2.878,0,1\n",
        [two(0.15 + 0.85 * logistic(1.532 * (X + 3))), two(logistic(1.003 * (X + 2.878)))],
    ),
    "jsCAT in words": (
        "item,discrimination,difficulty,guessing,slipping\nq,1.4,0.3,0.1,0.95\n",
        [two(0.1 + 0.85 * logistic(1.4 * (X - 0.3)))],
    ),
    "jsCAT of several cats": (
        "item,word.a,word.b,word.c,word.d,sum.a,sum.b,sum.c,sum.d\nq,1.4,0.3,0.1,1,NA,NA,NA,NA\nr,,,,,0.8,-1,0,1\n",
        [two(0.1 + 0.9 * logistic(1.4 * (X - 0.3))), two(logistic(0.8 * (Z + 1)))],
    ),
    "jsCAT of several cats, defaults left out": (
        "item,word.difficulty,word.discrimination,sum.discrimination,sum.slipping\nq,0.3,1.4,NA,NA\nr,NA,NA,0.8,0.9\n",
        [two(logistic(1.4 * (X - 0.3))), two(0.9 * logistic(0.8 * Z))],
    ),
    "catsim 2PL": (
        "a,b,c,d\n1.3,0.4,0,1\n0.6,-1.4,0,1\n",
        [two(logistic(1.3 * (X - 0.4))), two(logistic(0.6 * (X + 1.4)))],
    ),
    "catsim 4PL": ("a,b,c,d\n1.3,0.4,0.2,0.9\n", [two(0.2 + 0.7 * logistic(1.3 * (X - 0.4)))]),
    "semicolons and decimal commas": ("a;b;c;d\n1,3;0,4;0,2;0,9\n", [two(0.2 + 0.7 * logistic(1.3 * (X - 0.4)))]),
}


DIALECTS = ("mirt", "catR", "jscat", "catsim")


def read(folder, text):
    (folder / "bank.csv").write_text(text)
    return Questionnaire.from_bank(folder / "bank.csv")


def curves(model):
    """p(answer | X, Z) of each item, of the answers that it has."""
    bank = model.bank_
    x = np.column_stack([X, Z])[:, : len(bank.traits)]
    found = [bank.expected(item, x) for item in range(len(bank))]
    return [one[:, one.any(axis=0)] for one in found]


def assert_same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12, rtol=0)


def refusal(dialect, model):
    """What a form cannot hold of a bank, as a pattern; None where it holds all curves."""
    two_answers = all(one.shape[1] == 2 for one in curves(model))
    traits = model.bank_.loadings.mask
    if dialect in ("jscat", "catsim") and not two_answers:
        return rf"the form of {dialect} has items of two answers, but .* has \d: take"
    if dialect in ("catR", "catsim") and traits.shape[1] > 1:
        return rf"the form of {dialect} has items of one trait, but the bank has 2 \("
    if dialect == "jscat" and (traits.sum(axis=1) > 1).any():
        return r"the form of jscat has items of one trait each, but .* measures 2"
    return None


def test_there_are_forty_files():
    assert len(FILES) >= 40


@pytest.mark.parametrize("name", FILES)
def test_items_have_the_probabilities_of_the_published_formula(name, tmp_path):
    assert_same(curves(read(tmp_path, FILES[name][0])), FILES[name][1])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", FILES)
def test_each_form_holds_the_curves_or_says_what_it_cannot(name, tmp_path):
    known = read(tmp_path, FILES[name][0])
    known.to_bank(tmp_path / "ours.csv")
    assert Questionnaire.from_bank(tmp_path / "ours.csv").bank_.fingerprint() == known.bank_.fingerprint()
    for dialect in DIALECTS:
        why = refusal(dialect, known)
        if why is not None:
            with pytest.raises(ValueError, match=why):
                known.to_bank(tmp_path / "theirs.csv", dialect=dialect)
            continue
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            known.to_bank(tmp_path / "theirs.csv", dialect=dialect)
        again = Questionnaire.from_bank(tmp_path / "theirs.csv")
        assert_same(curves(again), FILES[name][1])
        assert again.items_ == known.items_ and again.bank_.covariances.sum() == 0
        names = (again.categories_, again.bank_.traits) == (known.categories_, known.bank_.traits)
        assert names == (not said), (dialect, [str(one.message) for one in said])


@pytest.mark.parametrize(
    "name",
    [
        "mirt 4PL",
        "mirt graded",
        "mirt gpcm",
        "mirt nominal",
        "catR",
        "catR GRM",
        "catR GPCM",
        "catR NRM",
        "jsCAT of several cats",
        "mirt two traits",
        "mirt mixed",
    ],
)
def test_a_file_written_in_its_own_form_has_the_same_columns_and_numbers(name, tmp_path):
    text = FILES[name][0]
    known = read(tmp_path, text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known.to_bank(
            tmp_path / "again.csv", dialect={"mirt": "mirt", "catR": "catR", "jsCAT": "jscat"}[name.split()[0]]
        )
    rows, again = (list(csv.DictReader(io.StringIO(one))) for one in (text, (tmp_path / "again.csv").read_text()))
    assert len(rows) == len(again)
    for one, other in zip(rows, again, strict=True):
        for column, cell in one.items():
            if column in ("", "item"):
                continue
            same = column in other and other[column] not in ("", "NA")
            assert same == (cell not in ("", "NA")), (column, cell, other)
            if same:
                assert float(other[column]) == pytest.approx(float(cell), abs=1e-12), column


@pytest.mark.parametrize("model", [*CURVES])
@pytest.mark.parametrize("reverse", [(), ("b",)])
def test_calibrated_items_turned_round_or_not_have_the_same_curves_elsewhere(model, reverse, tmp_path):
    """What is lost is said: uncertainty, names of traits and answers."""
    rng = np.random.default_rng(5)
    n = 2 if CURVES[model].dichotomous else 4
    answers = np.clip(np.round(n / 2 + rng.standard_normal((80, 1)) + rng.standard_normal((80, 4))), 1, n)
    known = Questionnaire(model, categories=range(1, n + 1), reverse=reverse, max_iter=6, item_traits=["x"] * 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known.fit([(person, "abcd"[item], answers[person, item]) for person in range(80) for item in range(4)])
    exact = Bank(
        model, known.items_, known.categories_, known.bank_.loadings, known.bank_.coordinates,
        0 * known.bank_.covariances, reverse=known.bank_.reverse,
    )  # fmt: skip
    for dialect in DIALECTS if n == 2 else ("mirt", "catR"):
        with pytest.warns(UserWarning, match="cannot hold how uncertain the items are, what traits are called"):
            known.to_bank(tmp_path / "theirs.csv", dialect=dialect)
        again = Questionnaire.from_bank(tmp_path / "theirs.csv").bank_
        for item in range(4):
            np.testing.assert_allclose(
                again.expected(item, X[:, None]), exact.expected(item, X[:, None]), atol=1e-12, rtol=0
            )


@pytest.mark.parametrize(
    "name",
    [
        "mirt 2PL",
        "mirt 3PL",
        "catR",
        "catR GRM",
        "catR GPCM",
        "catR NRM",
        "mirt nominal",
        "mirt two traits",
        "jsCAT of several cats",
    ],
)
def test_an_adaptive_test_runs_on_every_model_that_is_read(name, tmp_path):
    """Choices of a person asked one by one are those of people replayed, and answers move what is believed."""
    model = read(tmp_path, FILES[name][0])
    items, categories = list(model.items_), np.asarray(model.categories_, dtype=float)
    p = curves(model)
    answers = np.array([[categories[one.shape[1] - 1] for one in p], [categories[0] for _ in p]])
    replayed = model.simulate(answers, len(items))
    for row, given in enumerate(answers):
        person, asked = model.respondent(), []
        while len(asked) < len(items):
            left = [item for item in items if item not in asked]
            asked.append(left[int(person.select(left)[0])])
            person.partial_fit([asked[-1]], [given[items.index(asked[-1])]])
        assert asked == list(replayed.items[row])
        np.testing.assert_allclose(person.std, replayed.std[row, -1], atol=1e-10)
    assert abs(replayed.mean[0, -1] - replayed.mean[1, -1]).max() > 0.2
    told = model.predict_proba(answers)
    np.testing.assert_allclose(told.sum(axis=2), 1.0, atol=1e-12)


def test_an_upper_asymptote_counts_in_information_and_in_simulated_answers(tmp_path):
    (tmp_path / "bank.csv").write_text("a,b,c,d\n2,0,0.2,0.9\n")
    model = Questionnaire.from_bank(tmp_path / "bank.csv")
    x = np.array([[0.7]])
    p, slope = 0.2 + 0.7 * logistic(1.4), 0.7 * 2 * logistic(1.4) * logistic(-1.4)
    np.testing.assert_allclose(model.bank_.information(0, x), slope**2 / (p * (1 - p)), rtol=1e-6)
    again = Questionnaire.from_parameters([2.0], [0.0], guessing=[0.2], upper=[0.9])
    np.testing.assert_allclose(again.bank_.expected(0, x), model.bank_.expected(0, x), atol=1e-14)
    np.testing.assert_allclose(again.item_parameters_, [[2.0, 0.0, 0.2, 0.9]], atol=1e-12)


def test_traits_that_an_item_does_not_measure_may_be_na(tmp_path):
    (tmp_path / "bank.csv").write_text("a1,a2,d\n1,NA,0.5\n0.7,1.2,0\n")
    bank = Questionnaire.from_bank(tmp_path / "bank.csv").bank_
    assert bank.loadings.mask.tolist() == [[True, False], [True, True]]
    np.testing.assert_allclose(bank.expected(1, np.array([[1.0, -1.0]]))[0, 1], logistic(0.7 - 1.2), atol=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b1,b2\n1,0,1\n", r"columns b1 and b2, which mirt writes for graded items and for gpcm alike: add a column"),
        ("a1,ak0,ak1,d0,d1,d2\n1,0,1.5,0,1,2\n", r"must have a score \(ak\) for each intercept"),
        ("a1,ak0,ak1,ak2,d0,d1,d2,g\n1,0,1.5,2,0,1,2,0.2\n", r"item 0 of .* has an asymptote in a bank of nominal"),
        ("alpha1,c1,alpha2\n1,0,1\n", r"must have an intercept for each slope of a nominal item"),
        ("alpha1,c1,alpha2,c2\n0,0,0,1\n", r"item 0 of .* measures nothing: its slopes are all alike"),
        ("alpha1,c1,alpha2,c2\nNA,NA,1,1\n", r"item 0 of .* must have parameters of two answers or more"),
        ("a1,d1,d2,itemtype\n1,1,0,graded\n1,1,0,nominal\n", r"graded and nominal items; split it by itemtype"),
        ("x.a,x.b,y.a,y.b\n1,0,1,0\n", r"item 0 of .* must have parameters of one trait, got x and y"),
        ("a,discrimination,b,difficulty\n1,1,0,0\n", r"has both columns a and discrimination, for one parameter"),
        ("logS,a1,d\n1,1,0\n", r"five-parameter model \(column logS\)"),
        ("a1,b1,b2,c\n1,0,1,0.5\n", r"rating-scale items"),
        ("a1,d,itemtype\n1,0,ideal\n", r"line 2: no model here has items of itemtype 'ideal'"),
        ("a,b,c,d\n1,0,0.3,0.2\n", r"item 0 of .* asymptotes 0 <= lower < upper <= 1, got 0.3 and 0.2"),
        ("a,b,c,g\n1,0,0.3,0.2\n", r"has both columns c and g"),
        (
            "a1,d,g,u,d1,d2\n1.1,0.3,0.2,1,NA,NA\n1.5,NA,NA,NA,0.5,-1\n",
            r"item 0 of .* has an asymptote \(g or u\) in a",
        ),
        ("a1,d1,d2,d3\n1,2,NA,1\n", r"item 0 of .* lacks a threshold before others"),
        ("alphaj,betaj1\n1,NA\n", r"line 2: the intercept or difficulty is missing"),
        ("a1,d\n0,1\n", r"item 0 of .* measures nothing"),
        ("a,b\n1,inf\n", r"line 2: b must be a number, got 'inf'"),
        ("alphaj\n1\n", r"has slopes, but no thresholds"),
        ("a1,d0,d1,d2\n1,0,1,2\n1,NA,1,-1\n", r"gpcm items \(d0\) and graded ones \(item 1\)"),
        ("", r"holds no items"),
        ("a,b\n", r"holds no items"),
        ("coordinate_1,coordinate_2,model,categories\n1,0,two_parameter,0 1\n", r"names no traits; expected a column"),
        ("coordinate_1,model,categories,measures:x\n1,two_parameter,0 1,1\n", r"must have 2 coordinates for 1 traits"),
        (
            "coordinate_1,coordinate_2,model,categories,measures:x\n1,0,two_parameter,a b,1\n",
            r"rising whole numbers, got",
        ),
        (
            "coordinate_1,coordinate_2,model,categories,measures:x\n1,,two_parameter,0 1,1\n",
            r"line 2: coordinate is miss",
        ),
        (
            "coordinate_1,coordinate_2,model,categories,measures:x,covariance_1_1\n1,0,two_parameter,0 1,1,-1\n",
            r"line 2: covariance has a negative variance",
        ),
        ("trait_noise,item\n1,2\n", r"names no traits"),
    ],
)
def test_what_no_model_here_has_is_refused_by_name(text, message, tmp_path):
    (tmp_path / "bank.csv").write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        Questionnaire.from_bank(tmp_path / "bank.csv")
    assert "\n" not in str(caught.value)


def test_what_a_form_cannot_hold_is_refused_by_name(tmp_path):
    ordinal = Questionnaire("ordinal", max_iter=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ordinal.fit(np.random.default_rng(0).integers(1, 4, (30, 4)).astype(float))
    with pytest.raises(ValueError, match="the form of mirt has no items of the ordinal model"):
        ordinal.to_bank(tmp_path / "bank.csv", dialect="mirt")
    with pytest.raises(ValueError, match="dialect must be one of"):
        read(tmp_path, FILES["mirt 2PL"][0]).to_bank(tmp_path / "x.csv", dialect="winsteps")
    apart = Questionnaire("nominal", n_traits=2, categories=(0, 1, 2)).fit(
        np.random.default_rng(0).integers(0, 3, (40, 4)).astype(float)
    )
    with pytest.raises(ValueError, match=r"slopes along one line, but those of 1 do not"):
        apart.to_bank(tmp_path / "bank.csv", dialect="mirt")


def test_nominal_items_that_are_known_from_arrays(tmp_path):
    a = np.array([[0.5, 1.2, 2.0], [1.0, -0.5, 1.5], [0.2, 1.0, np.nan]])
    c = np.array([[0.2, 0.1, -1.0], [0.0, 0.5, -0.3], [0.4, -0.2, np.nan]])
    blocks = np.stack([np.diag([0.04, 0.09, 0.01, 0.02, 0.03, 0.05])] * 3)
    made = Questionnaire.from_parameters(a, intercepts=c, items=["a", "b", "c"])
    x = np.linspace(-2, 2, 5)[:, None]
    for k in range(3):
        own = ~np.isnan(a[k])
        energy = np.concatenate([np.zeros((5, 1)), a[k, own] * x + c[k, own]], axis=1)
        exact = np.exp(energy) / np.exp(energy).sum(axis=1, keepdims=True)
        coordinates = made.bank_.coordinates[k]
        found = made.bank_.probabilities(k, coordinates[~np.isnan(coordinates)], x)
        np.testing.assert_allclose(found[:, : own.sum() + 1], exact, rtol=1e-12)
    np.testing.assert_allclose(made.item_parameters_, np.stack([a, c], axis=-1).reshape(3, 6))
    for dialect in ("mirt", "catR"):
        made.to_bank(tmp_path / dialect, dialect=dialect)
        read = Questionnaire.from_bank(tmp_path / dialect).item_parameters_
        np.testing.assert_allclose(read, made.item_parameters_, atol=1e-12)
    unsure = Questionnaire.from_parameters(a, intercepts=c, covariance=blocks)
    slope = unsure.bank_.covariances[0][0, 0]  # a third of the last answer's slope
    assert slope == pytest.approx(0.03 / 9, rel=1e-6) and unsure.response_model == "nominal"
    for wrong, sentence in (
        ({"discrimination": a}, "nominal items have discrimination and intercepts"),
        ({"discrimination": a, "intercepts": c, "difficulty": [0.0] * 3}, "and no other parameters"),
        ({"discrimination": a[:, :2], "intercepts": c}, r"two arrays \(items, R - 1\)"),
        ({"discrimination": np.zeros((3, 3)), "intercepts": np.zeros((3, 3))}, "number 1 is 0 for every answer"),
        (
            {"discrimination": np.where(a == 1.0, np.nan, a), "intercepts": c},
            "number 2 must be numbers, with NaN only after",
        ),
    ):
        with pytest.raises(ValueError, match=sentence):
            Questionnaire.from_parameters(**wrong, response_model="nominal")
