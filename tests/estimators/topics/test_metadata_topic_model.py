"""Topics that know the metadata: what is exact, what permutes, what is refused, and a corpus drawn from the model."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from adaptive import MetadataTopicModel
from adaptive.estimators.topics.completion import VARIANCES
from adaptive.loop.log.snapshots import pack, unpack

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def corpus(D, n_words=10, V=60, K=4, n_authors=12, spread=2.0, tau=0.5, seed=0):
    """Documents drawn from the model: (counts, authors, proportions, words of topics)."""
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(V, 0.05), K)
    weights, authors = rng.normal(0, spread, (n_authors, K)), rng.integers(0, n_authors, D)
    scores = weights[authors] + tau * rng.normal(size=(D, K))
    proportions = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    counts = np.stack([rng.multinomial(n_words, p @ words) for p in proportions])
    return sp.csr_array(counts), np.array([f"a{a:02d}" for a in authors]), proportions, words


COUNTS, AUTHORS, _, _ = corpus(120)
ONE_HOT = (AUTHORS[:, None] == np.unique(AUTHORS)).astype(float)


def model(**options):
    return MetadataTopicModel(4, **{"max_iter": 5, "random_state": 0, **options})


STEPS = ["newton", "laplace_bridge", "moment_bridge"]


@pytest.mark.parametrize("step", STEPS)
def test_two_halves_are_one_pass_to_the_bit(step):
    options = {"learning": "single_pass", "document_step": step, "word_decay": 0.9, "decay_every": 20}
    frame = pd.DataFrame({"author": AUTHORS, "year": np.linspace(0, 1, 120)})
    whole = model(**options).fit(COUNTS, frame)
    parts = model(**options)
    for cut in (slice(0, 50), slice(50, 51), slice(51, 120)):
        parts.partial_fit(COUNTS[cut], frame.iloc[cut])
    np.testing.assert_array_equal(whole.components_, parts.components_)
    np.testing.assert_array_equal(whole.posterior_.mean, parts.posterior_.mean)
    np.testing.assert_array_equal(whole.document_variance_, parts.document_variance_)
    assert whole.columns_ == parts.columns_
    assert whole.belief_.n_tokens == parts.belief_.n_tokens == COUNTS.sum()
    again = clone(whole).fit(COUNTS, frame)
    np.testing.assert_array_equal(whole.components_, again.components_)


def test_words_are_counted_whole():
    """Not by shares that add up to a little less; what is expected of the next document is their mean."""
    parts = model(learning="single_pass")
    for row in range(60):
        parts.partial_fit(COUNTS[[row]], ONE_HOT[[row]])
    assert parts.belief_.n_tokens == COUNTS[:60].sum()
    assert model(max_iter=3).fit(COUNTS, ONE_HOT).belief_.n_tokens == COUNTS.sum()


@pytest.mark.parametrize("learning", ["batch", "single_pass"])
def test_a_word_prior_is_learnt_where_none_is_given(learning):
    counts, authors, _, _ = corpus(1500, V=200, seed=3)  # its words have a prior of .05, the others' of 1
    flat = sp.csr_array(np.random.default_rng(0).poisson(0.05, (1500, 200)).astype(float))
    options = {"word_prior": None, "learning": learning, "decay_every": 100, "max_iter": 60}
    sparse, even = (model(**options).fit(one, authors).word_prior_ for one in (counts, flat))
    assert 0.04 < sparse < 0.25 and even > 1.0  # of expected counts: above the words' own
    if learning == "single_pass":
        parts = model(**options)
        for cut in (slice(0, 130), slice(130, 131), slice(131, 1500)):
            parts.partial_fit(counts[cut], authors[cut])
        assert parts.word_prior_ == sparse


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("learning", ["batch", "single_pass"])
def test_permuted_words_and_columns_permute_the_result(step, learning):
    rng = np.random.default_rng(1)
    words, columns = rng.permutation(60), rng.permutation(12)
    options = {"document_step": step, "learning": learning, "max_iter": 3}
    one = model(**options).fit(COUNTS, ONE_HOT)
    other = model(**options).fit(COUNTS[:, words], ONE_HOT[:, columns])
    np.testing.assert_allclose(other.components_, one.components_[:, words], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(other.posterior_.mean[1:], one.posterior_.mean[1:][columns], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("learning", ["batch", "single_pass"])
def test_dense_is_factorised_for_one_feature(learning):
    constant = np.zeros((120, 0))
    one, other = (model(learning=learning, regression=r).fit(COUNTS, constant) for r in ("factorized", "dense"))
    np.testing.assert_allclose(one.components_, other.components_, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(one.posterior_.mean, other.posterior_.mean, rtol=1e-6, atol=1e-8)


def test_an_empty_document_changes_nothing_and_zeros_are_no_metadata():
    fitted = model().fit(COUNTS, ONE_HOT)
    before = copy.deepcopy(fitted.state())
    fitted.partial_fit(np.zeros((3, 60)), ONE_HOT[:3])
    assert pack(fitted.state()) is not None and repr(fitted.state()) == repr(before)
    zeros = model(weight_variance=1.0).fit(COUNTS, np.zeros((120, 3)))
    none = model(weight_variance=1.0).fit(COUNTS, np.zeros((120, 0)))
    np.testing.assert_array_equal(zeros.components_, none.components_)
    plain = model().fit(COUNTS)
    assert plain.columns_ == [] and plain.transform(COUNTS).shape == (120, 4)


def test_nothing_is_counted_twice():
    for step in STEPS:
        for metadata in (None, AUTHORS):
            fitted = model(document_step=step).fit(COUNTS, metadata)
            np.testing.assert_allclose(fitted.belief_.tables.words.sum(axis=1), COUNTS.sum(axis=0), rtol=1e-5)
    plain = model().fit(COUNTS)
    np.testing.assert_allclose(plain.topic_concentration(COUNTS[:4]).sum(axis=1) - 4 * 0.1, 10.0, rtol=1e-9)


def test_with_metadata_completion_is_better_on_a_corpus_of_the_model():
    """Corpus A of the specification: 100 authors, ten words a document, each model with its own learnt variance."""
    counts, authors, proportions, words = corpus(5000, V=500, K=10, n_authors=100)
    train, test = slice(0, 4000), slice(4000, 5000)
    make = MetadataTopicModel(10, random_state=0, max_iter=60, n_init=6)
    with_authors = make.fit(counts[train], authors[train]).score(counts[test], authors[test])
    nobody, constant = np.zeros((5000, 0)), np.ones((5000, 1))
    without = make.fit(counts[train], nobody[train]).score(counts[test], nobody[test])
    same = make.fit(counts[train], constant[train]).score(counts[test], constant[test])
    from adaptive.estimators.topics.documents import halves

    second = halves(counts[test], 0)[1].tocoo()
    truth = np.log(np.einsum("ik,ki->i", proportions[test][second.coords[0]], words[:, second.coords[1]]))
    truth = float(second.data @ truth / second.data.sum())
    assert with_authors > without + 0.2
    assert with_authors > truth - 0.12
    assert abs(same - without) < 0.02


def test_a_document_variance_by_completion_is_that_which_completes_best():
    counts, authors, *_ = corpus(300)
    fitted = model(document_variance="completion").fit(counts, authors)
    (chosen,) = set(fitted.document_variance_)
    order = np.random.default_rng(0).permutation(300)  # by hand
    held, kept = np.sort(order[:30]), np.sort(order[30:])
    scores = {
        v: model(document_variance=v).fit(counts[kept], authors[kept]).score(counts[held], authors[held])
        for v in VARIANCES
    }
    assert chosen == max(scores, key=scores.get)
    assert set(fitted.partial_fit(counts[:3], authors[:3]).document_variance_) == {chosen}
    with pytest.raises(ValueError, match="needs 20 documents"):
        fitted.fit(counts[:10], authors[:10])
    with pytest.raises(ValueError, match="chosen by fit, in batch"):
        model(document_variance="completion").partial_fit(counts, authors)


def test_what_is_learnt_can_be_read_off():
    frame = pd.DataFrame({"author": AUTHORS})
    counts = pd.DataFrame(COUNTS.toarray(), columns=[f"w{j}" for j in range(60)])
    fitted = model(max_iter=30).fit(counts, frame)
    assert fitted.columns_[0] == "constant" and fitted.columns_[1] == f"author={AUTHORS[0]}"
    assert fitted.components_.shape == (4, 60) and fitted.n_iter_ == len(fitted.objective_trace_)
    assert fitted.get_feature_names_out()[0] == "metadatatopicmodel0"
    found = fitted.transform(counts, frame)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    for score in ("source", "probability"):
        top = fitted.top_words(5, score=score)
        assert len(top) == 4 and all(len(one) == 5 and one[0].startswith("w") for one in top)
    mean, std = fitted.predict_topics(frame[:3], return_std=True)
    np.testing.assert_allclose(mean.sum(axis=1), 1.0)
    assert (std > 0).all()
    profile = fitted.profile(("author", AUTHORS[0]))
    np.testing.assert_allclose(profile.proportions, mean[0])
    np.testing.assert_array_equal(profile.weights, fitted.profile(0).weights)
    new, known = (fitted.predict_topics(pd.DataFrame({"author": [name]}), True)[1] for name in ("nobody", AUTHORS[0]))
    assert new.sum() > known.sum()  # a category never seen: the prior's answer
    assert fitted.perplexity(counts, frame) == pytest.approx(np.exp(-fitted.score(counts, frame)))
    assert fitted.transform(counts).shape == found.shape  # of documents whose metadata nobody knows


@pytest.mark.parametrize("step", STEPS)
def test_state_comes_back_to_the_bit(step):
    fitted = model(document_step=step, regression="dense").fit(COUNTS, AUTHORS)
    again = model(document_step=step, regression="dense").restore(unpack(pack(fitted.state())))
    assert repr(again.state()) == repr(fitted.state())
    for one in (fitted, again):
        one.partial_fit(COUNTS[:5], AUTHORS[:5])
    np.testing.assert_array_equal(again.components_, fitted.components_)


BAD = [
    ({"X": COUNTS.toarray() - 1.0}, "negative"),
    ({"X": COUNTS * 0.5}, "fractions"),
    ({"X": np.full((120, 60), np.nan)}, "NaN"),
    ({"X": COUNTS[:, :40]}, "60 columns"),
    ({"X": COUNTS[:7]}, "one row for each document, 7, got 120"),
    ({"metadata": np.full((120, 12), np.nan)}, "contains nan"),
    ({"metadata": ONE_HOT[:, :5]}, "12 columns as before, got 5"),
    ({"metadata": None}, "metadata is missing"),
    ({"metadata": AUTHORS}, "12 columns as before, got columns with names"),
]


@pytest.mark.parametrize(("wrong", "words"), BAD, ids=[words for _, words in BAD])
def test_what_is_refused_changes_nothing(wrong, words):
    fitted = model().fit(COUNTS, ONE_HOT)
    before = repr(fitted.state())
    with pytest.raises(ValueError, match=words) as problem:
        fitted.partial_fit(**{"X": COUNTS, "metadata": ONE_HOT, **wrong})
    assert "\n" not in str(problem.value) and repr(fitted.state()) == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_topics": 1}, "n_topics must be at least 2"),
        ({"n_topics": 61}, "at most the number of words, 60"),
        ({"word_prior": -1.0}, "word_prior must be > 0"),
        ({"document_variance": "completion", "learning": "single_pass"}, "is chosen in batch"),
        ({"document_step": "mean_field"}, "document_step"),
        ({"word_decay": 1.5}, "word_decay must be in"),
    ],
)
def test_wrong_parameters_are_refused(options, words):
    wrong = model().set_params(**options)
    with pytest.raises(ValueError, match=words):
        wrong.fit(COUNTS, ONE_HOT)
    assert not hasattr(wrong, "belief_")


def test_the_rest_of_bad_input():
    with pytest.raises(ValueError, match="no words at all"):
        model().fit(np.zeros((3, 60)), ONE_HOT[:3])
    with pytest.raises(NotFittedError):
        model().transform(COUNTS)
    frame = pd.DataFrame({"author": AUTHORS})
    fitted = model().fit(COUNTS, frame)
    with pytest.raises(ValueError, match=r"must have the columns \['author'\] as before, got \['party'\]"):
        fitted.partial_fit(COUNTS, frame.rename(columns={"author": "party"}))
    with pytest.raises(ValueError, match="author contains .* in row 1"):
        fitted.partial_fit(COUNTS[:2], pd.DataFrame({"author": ["a", None]}))
    plain = model().fit(COUNTS)
    with pytest.raises(ValueError, match="fitted without it"):
        plain.partial_fit(COUNTS, frame)
    for ask in (lambda: plain.predict_topics(frame), lambda: plain.profile(0), lambda: plain.predictive(frame)):
        with pytest.raises(ValueError, match="fitted without"):
            ask()


def test_intervals_after_a_single_pass_say_what_they_are_worth():
    once = model().partial_fit(COUNTS, AUTHORS)
    kept = model().restore(unpack(pack(once.state())))
    for fitted in (once, kept):
        for ask in (lambda one: one.profile(1), lambda one: one.predict_topics(AUTHORS[:2], return_std=True)):
            with pytest.warns(UserWarning, match="in a single pass.*fit"):
                ask(fitted)
    batch = model().fit(COUNTS[:100], AUTHORS[:100]).partial_fit(COUNTS[100:], AUTHORS[100:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batch.profile(1)
        once.predict_topics(AUTHORS[:2])


def test_topics_that_one_start_merges_come_apart_in_others():
    found = {1: [], 5: []}
    for seed in range(8):
        counts, authors, _, words = corpus(600, n_words=15, V=100, K=6, n_authors=20, seed=seed)
        for n_init, matches in found.items():
            topics = MetadataTopicModel(6, n_init=n_init, random_state=seed).fit(counts, authors).components_
            topics = topics / topics.sum(axis=1, keepdims=True)
            matches.append((np.sqrt(words) @ np.sqrt(topics).T).max(axis=1).min())
    assert min(found[5]) > 0.9 > min(found[1])


def test_two_starts_are_compared_before_one_goes_on():
    ends: dict[int, list[float]] = {1: [], 2: []}
    for seed in range(6):
        counts, authors, *_ = corpus(200, n_words=15, V=60, K=5, n_authors=10, seed=seed)
        for n_init, found in ends.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = MetadataTopicModel(5, n_init=n_init, max_iter=25, random_state=seed).fit(counts, authors)
            found.append(fitted.objective_trace_[-1])
    assert np.mean(ends[2]) > np.mean(ends[1]) and ends[2] != ends[1]


def test_a_batch_that_was_not_finished_warns():
    with warnings.catch_warnings(), pytest.warns(Warning, match="still change after max_iter = 2"):
        model(max_iter=2).fit(COUNTS, AUTHORS)


def test_a_fitted_model_selects_documents_as_its_reader_does():
    fitted = model().fit(COUNTS, AUTHORS)
    pool = np.unique(AUTHORS)
    np.testing.assert_array_equal(fitted.select(pool, 3), fitted.reader().select(pool, 3))
