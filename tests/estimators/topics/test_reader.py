"""The reader: scores against the dense Gaussian, batches that do not read one author ten times, any kind of text."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from adaptive import MetadataTopicModel, SequentialDesign, scorers
from tests.estimators.topics.test_metadata_topic_model import AUTHORS, COUNTS, ONE_HOT, model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_scores_are_those_of_the_dense_gaussian():
    for regression in ("factorized", "dense"):
        fitted = model(regression=regression).fit(COUNTS, ONE_HOT)
        reader = fitted.reader(words_expected=7)
        rows, target = np.hstack([np.ones((12, 1)), np.eye(12)]), np.hstack([np.ones((2, 1)), np.eye(12)[[3, 5]]])
        belief = reader.predictive(np.eye(12))
        noise = np.stack([part.likelihood.parameters["variance"] for part in belief.parts], axis=1)
        assert (noise > fitted.document_variance_).all()
        weights = fitted.posterior_
        expected, about = np.zeros(12), np.zeros(12)
        for k in range(4):
            C = np.diag(weights.variance[:, k]) if weights.covariances is None else weights.covariances[k]
            left = C - C @ target.T @ np.linalg.inv(target @ C @ target.T) @ target @ C
            for i in range(12):
                expected[i] += 0.5 * np.log1p(rows[i] @ C @ rows[i] / noise[i, k])
                whole, rest = (rows[i] @ c @ rows[i] + noise[i, k] for c in (C, left))
                about[i] += 0.5 * np.log(whole / rest)
        np.testing.assert_allclose(scorers.information_gain(belief), expected, atol=1e-8)
        aimed = reader.predictive(np.eye(12), target=np.eye(12)[[3, 5]])
        np.testing.assert_allclose(scorers.information_gain(aimed), about, atol=1e-8)


def test_a_batch_reads_different_authors():
    pool = np.repeat(np.unique(AUTHORS), 10)
    reader = model().fit(COUNTS, AUTHORS).reader()
    assert len(set(pool[reader.select(pool, 6, joint=False)])) == 1
    assert len(set(pool[reader.select(pool, 6)])) > 3  # of authors of whom more is known, one less is learnt
    unknown = MetadataTopicModel(4).reader()  # nothing was read: one of each
    assert len(set(pool[unknown.select(pool, 6)])) == 6


def test_documents_of_any_form_are_one_step():
    counts = pd.DataFrame(COUNTS.toarray(), columns=[f"w{j}" for j in range(60)])
    words = [[f"w{j}" for j in np.repeat(np.arange(60), row.astype(int))] for row in COUNTS.toarray()[:3]]
    found = []
    for documents in (
        COUNTS[:3], list(COUNTS.toarray()[:3]), [sp.csr_array(COUNTS[[i]]) for i in range(3)],
        [[*one, "never", "seen"] for one in words],
    ):  # fmt: skip
        reader = model().fit(counts, AUTHORS).reader().partial_fit(AUTHORS[:3], documents)
        found.append(reader.model.components_)
        np.testing.assert_array_equal(found[0], found[-1])
    assert reader.unknown_words_ == 6
    by_name = model().reader(vocabulary={f"w{j}": j for j in range(60)}).partial_fit(AUTHORS[:3], words)
    assert by_name.model.components_.shape == (4, 60)
    with pytest.raises(ValueError, match="need the vocabulary"):
        model().reader().partial_fit(AUTHORS[:3], words)
    with pytest.raises(ValueError, match="got one text"):
        model().reader().partial_fit(AUTHORS[:1], ["one text"])


def test_log_predictive_is_the_words_log_probability():
    fitted = model().fit(COUNTS, AUTHORS)
    reader = fitted.reader()
    proportions = fitted.predict_topics(AUTHORS[:2])
    words = fitted.components_ / fitted.components_.sum(axis=1, keepdims=True)
    expected = np.sum(COUNTS.toarray()[:2] * np.log(proportions @ words), axis=1)
    np.testing.assert_allclose(reader.log_predictive(AUTHORS[:2], COUNTS[:2]), expected, rtol=0.02)


def test_the_loop_drives_it_and_a_log_brings_it_back(tmp_path):
    pool = np.unique(AUTHORS)
    first = {name: np.flatnonzero(name == AUTHORS)[0] for name in pool}

    def read(query):
        return [COUNTS.toarray()[first[name]] for name in query.candidates]

    def make():
        return model().partial_fit(COUNTS[:20], AUTHORS[:20]).reader(words_expected=10)

    design = SequentialDesign(make(), pool, read, random_state=0, log=tmp_path / "log").run(3)
    assert len(set(design.history_["label"])) == 3
    design.save(tmp_path / "saved")
    with SequentialDesign.load(tmp_path / "saved", make(), pool, read) as again:
        np.testing.assert_array_equal(again.estimator_.model.components_, design.estimator_.model.components_)
