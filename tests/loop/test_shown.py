"""What people see of a design: its text and HTML, its queries' rows, what Python's logging hears; and its copies."""

import copy
import io
import logging
import pickle
from html.parser import HTMLParser

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from adaptive.inference import GLM, laplace_approximation
from adaptive.inference.mixture_posterior import MixturePosterior
from adaptive.loop import InformationLeft, MaxSteps, SequentialDesign, StablePredictions, compare_with_random
from adaptive.loop.log.event_log import EventLog
from adaptive.loop.query import Query
from adaptive.potentials import Gaussian
from adaptive.predictive import GaussianProjections
from adaptive.scanner import Scan
from adaptive.showing import sparkline


class Balanced(HTMLParser):
    """Refuses tags that are not closed in order; keeps the texts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        if tag != "polyline":
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag != "polyline":
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_a_design_says_how_far_it_is(model, pool, measure, tmp_path):
    design = SequentialDesign(model(), pool, measure, stop=MaxSteps(9), cost=np.full(25, 2.0), log=tmp_path / "log")
    assert repr(design).splitlines()[0] == "SequentialDesign: LinearGaussian, 25 candidates"
    design.run(4)
    design.skip(design.ask(2))
    waiting = design.ask(worker="<Anna>")
    text = repr(design)
    scores = design.history_["score"]
    for fact in [
        "scorer information_gain", "asked 7", "answered 4",
        f"waiting 1; query 5 for <Anna>: {waiting.positions.tolist()}",
        "set aside 2", f"best score {max(scores):.6g}, the last {scores[-1]:.6g}", "spent 8",
        "stops MaxSteps(9)", "/log",
    ]:  # fmt: skip
        assert fact in text
    assert max(map(len, text.splitlines())) < 140
    html = design._repr_html_()
    assert "<svg" in html and "<Anna>" not in html
    assert any("<Anna>" in text for text in Balanced(html).texts)
    changing = SequentialDesign(model(), lambda estimator: np.eye(3))
    assert repr(changing).startswith("SequentialDesign: LinearGaussian, a callable pool")
    assert "SequentialDesign: LogisticRegression, 25" in repr(SequentialDesign(LogisticRegression(), pool))


@pytest.mark.parametrize(
    ("candidates", "shown"),
    [
        (np.array([[1.0, 1 / 3], [2.0, 1e9]]), ["position", "0.333333", "1e+09"]),
        (np.arange(40.0).reshape(2, 20), ["...", "12 more columns"]),
        (sparse.csr_array([[0.0, 1.5], [2.5, 0.0]]), ["1.5", "2.5"]),
        (pandas.DataFrame({"size": [1.0, 2.0], "name": ["<b>", "y" * 90]}, index=["i", "j"]),
         ["label", "size", "i", "<b>", "y" * 30]),
        (["a cat", "a\ndog"], ["a cat", "a dog"]),
        ([("user", 3), ("other", 4)], ["('user', 3)"]),
        ([np.zeros((3, 4)), np.zeros((3, 4))], ["ndarray (3, 4)"]),
        (np.arange(30), ["... 20 more"]),
    ],
)  # fmt: skip
def test_a_query_shows_the_rows_to_label(candidates, shown):
    n = candidates.shape[0] if hasattr(candidates, "shape") else len(candidates)
    query = SequentialDesign(LogisticRegression(), candidates, scorer="random", initial=range(n), batch_size=n).ask()
    text, html = repr(query), query._repr_html_()
    assert text.startswith(f"Query 0: {n} candidates to measure\n")
    assert len(text.splitlines()) == 2 + min(n, 11)
    texts = " ".join(Balanced(html).texts)
    for entry in shown:
        assert entry in text and entry in texts


def test_posteriors_predictives_and_raw_samples():
    posterior = laplace_approximation(GLM([[1.0, 1.0]], [2.0], potentials=[], B=[], prior_covariance=1.0))
    mixture = MixturePosterior(np.array([0.25, 0.75]), [posterior, posterior], 0.0)
    assert repr(mixture).startswith("MixturePosterior(2 nodes, n=2, log evidence 0, the heaviest 75%: Posterior(")
    predictive = GaussianProjections(np.zeros(2), np.ones(2), lambda i, j: np.eye(2), Gaussian(0.5))
    raw = Scan(np.ones((4, 8, 6), complex), "kspace", coils=0, source="<scan>")
    assert repr(raw) == "Scan(<scan>: kspace of 4 coils, 8 x 6)"
    for thing, words in [(posterior, "unknowns"), (mixture, "nodes"), (predictive, "variance"), (raw, "<scan>")]:
        assert any(words in text for text in Balanced(thing._repr_html_()).texts)
        assert len(repr(thing)) < 500


def test_a_line_needs_two_numbers():
    assert sparkline([], "x") == sparkline([1.0, np.nan], "x") == ""
    assert "from 1 to 3" in sparkline([1.0, np.nan, 3.0], "x")


def test_logging_is_quiet_until_somebody_listens(model_with_state, pool, measure, tmp_path, capsys):
    assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("adaptive").handlers)

    def work(name):
        log = EventLog(tmp_path / name, snapshot_every=2)
        with SequentialDesign(model_with_state(), pool, measure, stop=MaxSteps(3), log=log) as design:
            design.run().skip(design.ask(worker="Anna"))
            with pytest.raises(ValueError, match="NaN"):
                design.tell(design.ask(), np.nan)

    work("quiet")
    assert capsys.readouterr() == ("", "")
    stream = io.StringIO()
    handler, logger = logging.StreamHandler(stream), logging.getLogger("adaptive")
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger.addHandler(handler)
    try:
        logger.setLevel(logging.INFO)
        work("info")
        informed = stream.getvalue()
        logger.setLevel(logging.DEBUG)
        work("debug")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    assert "DEBUG" not in informed and "INFO stopped after 3 answers: MaxSteps(3) holds" in informed
    assert "INFO snapshot of 2 events beside" in informed
    said = stream.getvalue()[len(informed) :]
    for line in [
        "DEBUG asked query 0: positions [", "DEBUG told query 0, rows [0]",
        "DEBUG asked query 3 for Anna: positions [",
        "DEBUG set aside of query 3 rows [0]", "DEBUG refused an answer to query 4: ValueError: y contains NaN",
    ]:  # fmt: skip
        assert line in said


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda design: pickle.loads(pickle.dumps(design))])
def test_a_copy_asks_the_same_questions_and_goes_its_own_way(model, pool, measure, answers, twin_of, same):
    rule = MaxSteps(12) & StablePredictions(10.0, patience=3)
    design = SequentialDesign(model(), pool, None, stop=rule, random_state=3, initial=2, batch_size=2)
    for _ in range(4):
        query = design.ask()
        design.tell(query, answers[query.positions])
    waiting = design.ask(worker="Anna")
    twin = twin_of(design)
    assert twin.seconds >= design._state.seconds and twin.ask(worker="Anna").id == waiting.id
    same(design, twin)
    whole = [[], []]
    for asked, one in zip(whole, (design, twin), strict=True):
        for _ in range(3):
            query = one.ask()
            asked.append(query.positions.tolist())
            one.tell(query, answers[query.positions])
    assert whole[0] == whole[1]
    same(design, twin)
    before = repr(design)
    twin.tell(waiting, answers[waiting.positions])
    assert repr(design) == before != repr(twin) and design.pending and not twin.pending
    if twin_of is copy.deepcopy:
        assert twin.pool is design.pool  # nobody changes a pool


def test_a_design_with_a_log_is_not_copied_but_saved(model, pool, tmp_path):
    with SequentialDesign(model(), pool, log=tmp_path / "log") as design:
        for copied in (copy.deepcopy, pickle.dumps):
            with pytest.raises(
                TypeError, match=r"log .*/log can neither be pickled nor copied.*save\(path\).*load\(path"
            ):
                copied(design)
        design.tell(design.ask(), 1.0)


@pytest.mark.parametrize("chunk_size", [8, 11, 1000])  # eight are computed exactly at the end
def test_chunks_change_nothing_but_the_size_of_predictives(model, pool, measure, same, chunk_size):
    class Small(model):
        largest = 0

        def predictive(self, candidates, **options):
            type(self).largest = max(type(self).largest, len(candidates))
            return super().predictive(candidates, **options)

    rule = InformationLeft(1e-9) | StablePredictions(1e-9)
    whole = SequentialDesign(Small(), pool, measure, stop=rule, random_state=0).run(6)
    Small.largest = 0
    design = SequentialDesign(Small(), pool, measure, stop=rule, random_state=0, chunk_size=chunk_size).run(6)
    assert design.history_["position"] == whole.history_["position"]
    np.testing.assert_allclose(design.history_["score"], whole.history_["score"], rtol=1e-9)
    assert Small.largest == min(chunk_size, 25)
    whole.estimator_.select(pool, chunk_size=chunk_size)
    assert Small.largest == min(chunk_size, 25)


def test_a_comparison_in_chunks():
    X = np.random.default_rng(0).standard_normal((40, 2))
    options = {"n_queries": 6, "seeds": 1, "scorers": "margin"}
    one = compare_with_random(LogisticRegression(), X, X[:, 0] > 0, **options)
    other = compare_with_random(LogisticRegression(), X, X[:, 0] > 0, chunk_size=3, **options)
    assert one.questions["position"] == other.questions["position"]


def test_a_query_of_a_frame_shows_texts_first_and_cells_as_people_write_them():
    frame = pandas.DataFrame({
        "n": [1.0, np.nan],
        "day": pandas.to_datetime(["2025-09-19", "2025-09-20"]),
        "text": ["the printer on floor two is broken", "where do I find my last invoice"],
        "who": ["anna", pandas.NA],
    })  # fmt: skip
    query = Query(np.array([4, 7]), [4, 7], frame, np.zeros(2), 0)
    header, first, second = repr(query).splitlines()[1:]
    assert header.split() == ["position", "text", "n", "day", "who"]
    assert first.split() == ["4", *frame["text"][0].split(), "1", "2025-09-19", "anna"]
    assert second.split() == ["7", *frame["text"][1].split(), "2025-09-20"]  # nothing for a gap
