"""Banks of mirt, catR and catsim give the probabilities of the formulas that those programs publish, to 1e-12."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive import Questionnaire

X = np.array([-2.0, -0.3, 0.0, 1.1, 2.5])
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
}


@pytest.mark.parametrize("name", FILES)
def test_items_have_the_probabilities_of_the_published_formula(name, tmp_path):
    text, expected = FILES[name]
    (tmp_path / "bank.csv").write_text(text)
    bank = Questionnaire.from_bank(tmp_path / "bank.csv").bank_
    for item, p in enumerate(expected):
        found = bank.expected(item, X[:, None])
        lacking = found.shape[1] - p.shape[1]
        np.testing.assert_allclose(found, np.pad(p, ((0, 0), (0, lacking))), atol=1e-12)


@pytest.mark.parametrize("name", FILES)
def test_a_bank_written_again_is_the_same(name, tmp_path):
    (tmp_path / "bank.csv").write_text(FILES[name][0])
    known = Questionnaire.from_bank(tmp_path / "bank.csv")
    known.to_bank(tmp_path / "ours.csv")
    assert Questionnaire.from_bank(tmp_path / "ours.csv").bank_.fingerprint() == known.bank_.fingerprint()


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
        ("a,b1,b2\n1,0,1\n", r"columns b1 and b2, which mirt writes of graded items and of gpcm alike: add a column"),
        ("a1,ak0,ak1,ak2,d0,d1,d2\n1,0,1.5,2,0,1,2\n", r"item 0 of .* is nominal"),
        ("alpha1,c1,alpha2,c2\n1,0,1,0\n", r"items of a nominal model \(column alpha1\)"),
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
