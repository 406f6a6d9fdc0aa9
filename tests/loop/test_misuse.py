"""What people do wrong in the first hour, and the sentence that each of it gets: what was given, what is expected."""

import warnings

import numpy as np
import pandas
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from adaptive import BayesianLogisticRegression, GaussianProcessClassifier, SequentialDesign, SparseLinearRegression
from adaptive.loop import MaxSteps

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 2))
Y = (X[:, 0] > 0).astype(int)
GAP = np.where(np.arange(30)[:, None] == 4, np.nan, X)
FRAME = pandas.DataFrame({"size": X[:, 0], "colour": ["red", "green"] * 15})
MIXED = np.array([1, "a", 2], dtype=object)


def model(**options):
    return BayesianLogisticRegression(**{"classes": [0, 1], **options})


def design(*args, **options):
    return SequentialDesign(*(args or (model(), X)), **{"random_state": 0, **options})


def told(*outcomes):
    loop = design()
    query = loop.ask()
    for outcome in outcomes:
        loop.tell(query, outcome)


def with_pending(scorer="margin", **options):
    loop = design(LogisticRegression(), X, scorer=scorer, initial=[0, 1, 2, 3], exploration=0.0, **options)
    loop.tell(loop.ask(4), [0, 1, 0, 1])
    loop.ask(worker="Anna")
    return loop.ask(worker="Bob")


REFUSED = {
    # -- the loop
    "measure returns nothing": (
        lambda: design(model(), X, lambda query: None).run(1),
        "measure must return one outcome for each of the 1 candidates of the query, got None; does it lack a return?",
    ),
    "tell None": (lambda: told(None), "outcomes must hold one entry for each of the 1 candidates asked, got None"),
    "tell twice": (
        lambda: told(1, 1),
        r"query 0 has been answered already; .* ask\(another=True\) or ask\(worker=name\) gives",
    ),
    "NaN in the pool": (lambda: design(model(), GAP), "candidates contains NaN or infinity, first in row 4: .*Imputer"),
    "NaN in a frame": (
        lambda: design(LogisticRegression(), pandas.DataFrame(GAP)),
        "candidates contains NaN or infinity, first in row 4",
    ),
    "log=True": (lambda: design(log=True), "log must be the path of a new file, or None, got bool True"),
    "a scorer of one argument": (
        lambda: design(scorer=lambda predictive: predictive.variance),
        r"scorer must take \(predictive, random_state\), got <lambda>\(predictive\)",
    ),
    "a scorer of one argument in select": (
        lambda: model().select(X, scorer=lambda predictive: predictive.variance),
        r"scorer must take \(predictive, random_",
    ),
    "a worker that is no name": (
        lambda: design().ask(worker=["Anna"]),
        "worker must be a text or an integer, got list",
    ),
    "what is pending, without what-ifs": (with_pending, "needs given, which StatedPredictive .*pass joint=False"),
    "Ridge": (
        lambda: design(Ridge(), X),
        "estimator must have .*got Ridge: SparseLinearRegression and GaussianProcessR",
    ),
    "SVC": (lambda: design(SVC(), X), r"got SVC: it gets probabilities by .*CalibratedClassifierCV\(SVC\(...\)\)"),
    "a pipeline of LinearSVC": (
        lambda: design(make_pipeline(StandardScaler(), LinearSVC()), X),
        r"got Pipeline: it gets .*CalibratedClassifierCV",
    ),
    "swapped arguments": (lambda: design(X, model()), "estimator must have .*got ndarray."),
    "labels of two kinds in a list": (
        lambda: model(classes=None).fit(X[:2], [1, "a"]),
        "y must hold labels of one kind",
    ),
    "chunk_size 0": (lambda: design(chunk_size=0), "chunk_size must be at least 1, got 0"),
    # -- tables
    "1-D X": (
        lambda: model().fit(X[:, 0], Y),
        r"X must have two axes, rows and features, got .* shape \(30,\).*X\[:, None\]",
    ),
    "1-D pool": (lambda: design(model(), X[:, 0]).ask(), r"X must have two axes, rows and features, got .* shape \("),
    "one-hot y": (
        lambda: model().fit(X, np.eye(2)[Y]),
        r"y must hold one outcome for each row.* \(30, 2\).*y.argmax\(axis=1\)",
    ),
    "continuous y": (
        lambda: model(classes=None).fit(X, X[:, 0]),
        "y must hold labels, and numbers such as .*regressor",
    ),
    "labels of two kinds": (
        lambda: model(classes=None).fit(X[:3], MIXED),
        "y must hold labels of one kind, .*got int and str",
    ),
    "labels of two kinds, plain classifier": (
        lambda: design(LogisticRegression(), X, lambda query: [1, "a"], initial=2, batch_size=2).run(1),
        "y must hold labels of one kind, .*got int and str",
    ),
    "text in X": (lambda: model().fit(FRAME, Y), "X must hold numbers, got 'red' in column 'colour': .*OneHotEncoder"),
    "1-D X, GP": (lambda: GaussianProcessClassifier().fit(X[:, 0], Y), "X must have two axes, rows and features"),
    "text in X, GP": (
        lambda: GaussianProcessClassifier().fit(FRAME, Y),
        "X must hold numbers, got 'red' in column 'col",
    ),
    "NaN in X, GP": (lambda: GaussianProcessClassifier().fit(GAP, Y), "X contains NaN, first in row 4; leave out rows"),
    "text in an array": (
        lambda: model().fit(np.array([["1", "x"]] * 4, dtype=object), Y[:4]),
        "X must hold numbers, got 'x' in column 1",
    ),
    "text as a pool": (lambda: design(model(), FRAME).ask(), "X must hold numbers, got 'red' in column 'colour'"),
    "prior_scale as text": (
        lambda: model(prior_scale="1").fit(X, Y),
        "prior_scale must be an array of numbers, got str '1'",
    ),
}

WARNED = {
    "batch_size beyond the pool": (lambda: design(batch_size=31), "batch_size is 31, but there are only 30 candidates"),
    "batch_size beyond the mask": (
        lambda: design(mask=np.arange(30) < 3, batch_size=4),
        "batch_size is 4, but there are only 3 candidates",
    ),
    "one class": (
        lambda: model(classes=None).fit(X, np.ones(30)),
        "y holds one class only, 1.0, .*name the other classes by classes=",
    ),
    "one class, GP": (
        lambda: GaussianProcessClassifier().fit(X, ["a"] * 30),
        "y holds one class only, 'a', .*classes=",
    ),
    "columns of different scale": (
        lambda: model().fit(X * [1, 1e4], Y),
        "columns of X differ in scale .*column 1 against column 0.*StandardScaler",
    ),
    "columns of different scale, GP": (
        lambda: GaussianProcessClassifier(optimizer=None).fit(X * [1, 1e4], Y),
        "columns of X differ in scale",
    ),
    "columns of different scale, numbers": (
        lambda: SparseLinearRegression(prior="gaussian").fit(X * [1, 1e4], X[:, 0]),
        "columns of X differ in scale",
    ),
    "columns of different scale in the pool": (
        lambda: design(model(), pandas.DataFrame(X * [1, 1e4], columns=["a", "b"])),
        "columns of candidates differ in scale .*column 'b' against column 'a'",
    ),
}


def cases(table):
    return pytest.mark.parametrize(("slip", "sentence"), list(table.values()), ids=list(table))


@cases(REFUSED)
def test_refused_in_one_sentence(slip, sentence):
    with pytest.raises(ValueError, match=sentence) as problem:
        slip()
    assert "\n" not in str(problem.value) and len(str(problem.value)) < 400


@cases(WARNED)
def test_said_once(slip, sentence):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        slip()
    assert len(said) == 1 and "\n" not in str(said[0].message)
    with pytest.warns(UserWarning, match=sentence):
        slip()


def test_a_long_run_without_an_end_says_how_long():
    pool = RNG.standard_normal((1200, 1))

    def stop(query):
        raise KeyboardInterrupt

    loop = SequentialDesign(model(), pool, stop, random_state=0)
    said = r"will ask all 1200 candidates that are left; give run\(steps\), or"
    with pytest.warns(UserWarning, match=said), pytest.raises(KeyboardInterrupt):
        loop.run()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyboardInterrupt):
            loop.run(2)
        with pytest.raises(KeyboardInterrupt):
            SequentialDesign(model(), pool, stop, stop=MaxSteps(3)).run()


@pytest.mark.parametrize(
    "table",
    [
        X,
        StandardScaler().fit_transform(X * [1, 1e6]),
        np.column_stack([X, np.arange(30) == 3]),  # a rare event
        np.column_stack([X, np.full(30, 7.0)]),  # a constant
        np.column_stack([X, np.where(np.arange(30) == 3, 60.0, X[:, 0])]),  # an outlier
        (X * [1, 1e6])[:9],  # few rows
        np.minimum(RNG.poisson(0.1, (30, 5)) * [1, 16, 1, 1, 2], 16),  # counts, or grey values
    ],
)
def test_tables_whose_scales_are_fine(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model().fit(table, Y[: len(table)])
        design(model(), table)
        make_pipeline(StandardScaler(), model()).fit(table * 1e5, Y[: len(table)])


def test_where_scales_do_not_matter():
    from scipy import sparse
    from sklearn.gaussian_process.kernels import RBF
    from sklearn.preprocessing import OneHotEncoder

    apart = X * [1, 1e4]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model().fit(sparse.csr_array(np.abs(apart)), Y)  # counts and frequencies: rare is small by right
        GaussianProcessClassifier(RBF([1.0, 1e4]), optimizer=None).fit(apart, Y)  # a length for every column
        design(LogisticRegression(), apart)  # not ours to say
        design(make_pipeline(OneHotEncoder(sparse_output=False), model()), np.round(apart))
        model().partial_fit(apart, Y)  # the loop has looked at the pool already


def test_gaps_that_do_not_matter():
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.impute import SimpleImputer

    known = np.isfinite(GAP).all(axis=1)
    for loop in (
        design(HistGradientBoostingClassifier(), GAP),  # takes them
        design(make_pipeline(SimpleImputer(), LogisticRegression()), GAP),
        design(make_pipeline(SimpleImputer(), model()), GAP),
        design(model(), GAP, mask=known, scorer="margin"),  # is not asked
    ):
        assert len(loop.ask()) == 1
