"""What is cited exists, is BibTeX, and names what was used."""

import re
from functools import partial

import pytest

from adaptive import BayesianLogisticRegression, ImageReconstructor, SequentialDesign, SeveralImages, cite, inference
from adaptive.citing import BIBLIOGRAPHY, ENGINES
from adaptive.estimators import BeliefEstimator
from tests.contract.cases import CASES


def keys(text):
    return re.findall(r"^@\w+\{([\w-]+),", text, flags=re.M)


@pytest.mark.parametrize("key", BIBLIOGRAPHY)
def test_an_entry_is_bibtex(key):
    entry = BIBLIOGRAPHY[key]
    assert keys(entry) == [key] and entry.count("{") == entry.count("}") and entry.endswith("}")
    assert {"title", "year"} <= set(re.findall(r"^  (\w+) = \{", entry, flags=re.M))
    named = [k for keys in ENGINES.values() for k in keys] + ["adaptive-designs"]
    for case in CASES:
        named += getattr(type(case.make()), "_cites", ())
    assert key in {*named, "hennig2011", "ko2014", "ko2017", "paquet2014"}  # of the estimators to come


def test_every_estimator_names_its_papers():
    for case in CASES:
        model = case.make()
        if isinstance(model, BeliefEstimator):
            assert len(keys(cite(model))) >= 2, case.name


def test_engines_and_designs_are_followed():
    assert keys(cite()) == ["adaptive-designs"]
    model = BayesianLogisticRegression(inference=partial(inference.variational_bounds, variances="sampled"))
    assert "seeger2011" in keys(cite(model)) and "minka2001" not in keys(cite(model))
    design = SequentialDesign(BayesianLogisticRegression(), [[0.0], [1.0]])
    assert keys(cite(design)) == keys(cite(BayesianLogisticRegression()))
    several = SeveralImages([ImageReconstructor((8, 8), inference="expectation_propagation")])
    assert "minka2001" in keys(cite(several, model))
