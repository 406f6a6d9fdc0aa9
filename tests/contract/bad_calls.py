"""Candidates and outcomes of a case with one thing wrong, as people pass them, and the calls that they go through.

A call is refused in one sentence that names what was given, or taken, and then what is believed is finite; a refusal
changes nothing, and no call says a thing twice.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from adaptive import SequentialDesign
from adaptive.pool import length, take
from tests.contract.case import Case

__all__ = ["METHODS", "Call", "bad_candidates", "bad_outcomes", "calls_of", "fault_of", "state_of"]

METHODS = ("partial_fit", "fit", "select", "predict", "tell")
NAMES = (
    "X", "y", "candidates", "rows", "pairs", "users", "items", "comparisons", "metadata", "documents", "sequences",
    "blocks", "pool", "outcomes", "outcome", "query", "positions", "sample", "answers", "persons", "people", "path",
    "node", "measurements", "exposure", "times", "noise", "X_measured", "pair", "moves", "results", "columns", "person",
    "categories", "n_select", "samples", "item", "operator", "image", "images", "setting",
)  # fmt: skip
MISSING = object()


def bad_candidates(X: Any) -> dict[str, Any]:
    """Return candidates with one thing wrong, by what it is.

    Parameters
    ----------
    X : array, list of ids or of tuples, or another pool
    """
    found: dict[str, Any] = {
        "None": None, "a number": 3, "a text": "some text", "a mapping": {"a": 1}, "a date":
        np.datetime64("2020-01-01"), "nothing listed": [], "an empty array": np.zeros((0, 0)), "three axes":
        np.zeros((2, 2, 2)), "objects": [object(), object()], "ragged": [[1.0], [1.0, 2.0]], "None listed":
        [None, None], "one axis of complex numbers": np.ones(3) * 1j,
    }  # fmt: skip
    if isinstance(X, np.ndarray) and X.ndim == 1:
        X = X.tolist()
    if isinstance(X, np.ndarray):
        rows = X.astype(float)

        def with_cell(value: Any, dtype: Any = float) -> np.ndarray:
            table = rows.astype(dtype)
            table[1, 0] = value
            return table

        return found | {
            "NaN": with_cell(np.nan), "infinity": with_cell(np.inf), "minus infinity": with_cell(-np.inf),
            "1e155": with_cell(1e155), "1e200": with_cell(1e200), "-1e300": with_cell(-1e300),
            "all 1e-200": rows * 1e-200, "all 1e155": rows * 1e155, "complex": with_cell(1j, complex),
            "single precision, infinite": with_cell(np.inf, np.float32), "text": with_cell("yes", object),
            "numbers as text": rows.astype(str), "None in a cell": with_cell(None, object),
            "dates": np.full(rows.shape, np.datetime64("2020-01-01")),
            "spans of time": np.full(rows.shape, np.timedelta64(3, "D")), "a date in a cell":
            with_cell(pd.Timestamp("2020-01-01"), object), "masked": np.ma.array(rows, mask=rows == rows[1, 0]),
            "one row of one axis": rows[0], "a column more": np.column_stack([rows, rows[:, 0]]),
            "a column less": rows[:, 1:], "no columns": rows[:, :0], "no rows": rows[:0],
            "a frame with NaN": pd.DataFrame(with_cell(np.nan)), "a frame of dates":
            pd.DataFrame({f"x{k}": pd.to_datetime(["2020-01-01"] * len(rows)) for k in range(rows.shape[1])}),
            "a frame of text": pd.DataFrame(rows).astype(str), "sparse with NaN": sp.csr_array(with_cell(np.nan)),
            "sparse and complex": sp.csr_array(with_cell(1j, complex)), "a whole number of 400 digits":
            with_cell(10**400, object), "bytes": rows.astype("S8"), "a list of lists with None":
            [[None] * rows.shape[1]] * len(rows),
        }  # fmt: skip
    if isinstance(X, list):
        one = X[0]
        widths = {len(row) for row in X} if isinstance(one, tuple) else {0}
        even = np.array(X) if len(widths) == 1 else np.zeros((len(X), 2), dtype=int)

        def with_id(value: Any) -> list[Any]:
            return [(value, *one[1:]) if isinstance(one, tuple) else value, *X[1:]]

        return found | {
            "infinite id": with_id(np.inf), "NaN id": with_id(np.nan), "half an id": with_id(1.5),
            "True": with_id(True), "None id": with_id(None), "complex id": with_id(1j), "huge id":
            with_id(2**70), "another kind of id":
            with_id("x"), "date": with_id(np.datetime64("2020-01-01")), "nested": with_id([1, 2]), "bytes":
            with_id(b"x"), "an id too many": [(*row, 1) if isinstance(row, tuple) else (row, 1) for row in X],
            "an id too few": [row[:1] if isinstance(row, tuple) else () for row in X], "masked":
            np.ma.array(even, mask=np.arange(even.size).reshape(even.shape) == 0), "infinite floats":
            np.full(even.shape, np.inf), "an unknown one": with_id(9999), "booleans": np.ones(even.shape, dtype=bool),
            "text everywhere": even.astype(str), "dates": np.full(even.shape, np.datetime64("2020-01-01")),
        }  # fmt: skip
    return found


def bad_outcomes(y: Any) -> dict[str, Any]:
    """Return outcomes with one thing wrong, by what it is."""
    n = len(y)
    found: dict[str, Any] = {
        "None": None, "a number": 3.0, "a text": "yes", "a mapping": {"a": 1}, "one too few": y[: n - 1],
        "one too many": [*y, y[0]], "none at all": [], "None listed": [None] * n, "objects": [object()] * n, "ragged":
        [[1.0]] + [[1.0, 2.0]] * (n - 1), "three axes": np.zeros((n, 2, 2)), "sets": [{1}] * n,
    }  # fmt: skip
    values = {
        "NaN": np.nan, "infinity": np.inf, "minus infinity": -np.inf, "1e200": 1e200, "-1e300": -1e300, "complex": 2j,
        "a text among them": "yes", "a date": np.datetime64("2020-01-01"), "half": 0.37, "negative": -7.0, "bytes":
        b"no", "a span of time": np.timedelta64(3, "D"), "1e15": 1e15, "a number of 400 digits": 10**400, "a frame":
        pd.DataFrame([[1.0]]),
    }  # fmt: skip
    for name, value in values.items():
        found[name] = [value, *list(y)[1:]]
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biuf":
        numbers = y.astype(float)
        found |= {
            "all 1e200": np.full(n, 1e200), "all NaN": np.full(n, np.nan), "all complex": numbers + 1j, "masked":
            np.ma.array(numbers, mask=np.arange(n) == 0), "dates": np.full(n, np.datetime64("2020-01-01")),
            "two columns": np.column_stack([numbers, numbers]), "text everywhere": numbers.astype(str), "a Series of "
            "dates": pd.Series(pd.to_datetime(["2020-01-01"] * n)), "unknown to pandas": pd.array([None] * n,
            dtype="Float64"), "all infinite": np.full(n, np.inf), "sparse": sp.csr_array(numbers[None]),
        }  # fmt: skip
    return found


@dataclass(frozen=True)
class Call:
    """A call with something wrong.

    Attributes
    ----------
    name : str
        The method, and what is wrong with which argument.
    run : callable(estimator) -> object
        What is believed afterwards is judged by ``fault_of``.
    learns : bool
        Whether the estimator changes where it is taken.
    """

    name: str
    run: Callable[[Any], Any]
    learns: bool


def calls_of(case: Case, methods: tuple[str, ...] = METHODS) -> Iterator[Call]:
    """Yield the calls of a case, in one order."""
    X, y = case.learn
    estimator = case.fitted()
    for method in methods:
        if method == "tell":
            yield from _told(case)
        elif not hasattr(estimator, method):
            continue
        elif method in ("fit", "partial_fit"):
            for wrong, given in bad_candidates(X).items():
                yield Call(f"{method}(X: {wrong}, y)", _call(method, given, y), True)
            for wrong, given in bad_outcomes(y).items():
                yield Call(f"{method}(X, y: {wrong})", _call(method, X, given), True)
        else:
            for wrong, given in bad_candidates(case.candidates).items():
                yield Call(f"{method}({wrong})", _call(method, given), False)


def _call(method: str, *arguments: Any) -> Callable[[Any], Any]:
    return lambda estimator: getattr(estimator, method)(*copy.deepcopy(arguments))


def _told(case: Case) -> Iterator[Call]:
    answers = case.measure(take(case.candidates, [0, 1]))
    for wrong, given in bad_outcomes(answers).items():

        def run(estimator: Any, given: Any = given) -> Any:
            with SequentialDesign(estimator, case.candidates, scorer="random", random_state=0) as design:
                query = design.ask(positions=[0, 1])
                before = state_of(design.estimator_), len(design.log.contents())
                try:
                    design.tell(query, copy.deepcopy(given))
                except Exception:
                    if state_of(design.estimator_) != before[0] or design.iteration or not design.pending:
                        raise AssertionError("a refused answer changed the design") from None
                    raise
            return design.estimator_

        yield Call(f"tell(query, {wrong})", run, False)


def state_of(estimator: Any) -> bytes:
    """Return everything that an estimator knows, so that a change shows; what it worked out and kept is no change."""
    if not hasattr(estimator, "state"):
        return pickle.dumps(estimator)
    noted = {name: vars(estimator)[name] for name in sorted(vars(estimator)) if name.startswith(("n_", "feature_"))}
    return pickle.dumps((estimator.state(), noted))


def fault_of(case: Case, estimator: Any, call: Call) -> tuple[str, Any, bool]:
    """Return what is wrong with what came of a call ("" where nothing is), the estimator for the next, whether taken.

    Parameters
    ----------
    case : Case
    estimator : fitted estimator
        Changed by a call that is taken.
    call : Call
    """
    before = state_of(estimator)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = call.run(estimator)
        except Exception as refusal:
            changed = state_of(estimator) != before
            fault = _no_sentence(refusal) or ("a refusal changed the estimator" if changed else "")
            return fault or _spam(said), case.fitted() if changed else estimator, False
    fault = _not_finite(case, found) or _spam(said)
    if not call.learns:
        return fault or ("it changed the estimator" if state_of(estimator) != before else ""), estimator, True
    return fault, case.fitted(), True


def _no_sentence(refusal: Exception) -> str:
    text = str(refusal).strip()
    if not isinstance(refusal, (ValueError, TypeError)):
        return f"{type(refusal).__name__}: {text[:200]}"
    if "\n" in text or not text:
        return f"not one sentence: {text[:300]!r}"
    words = {word.strip(".,:;()'\"") for word in text.replace("[", " ").replace("=", " ").split()}
    return "" if words & set(NAMES) else f"names no argument: {text[:200]}"


def _spam(said: list[warnings.WarningMessage]) -> str:
    kinds = Counter((one.category.__name__, " ".join(str(one.message).split()[:4])) for one in said)
    often = [f"{n} times {category}: {text}" for (category, text), n in kinds.items() if n > 1]
    return "; ".join(often)


def _not_finite(case: Case, found: Any) -> str:
    """What is not finite in a result, or in what an estimator believes after it was taught."""
    if hasattr(found, "predictive"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            n = min(length(case.candidates), 4)
            try:
                found = found.select(take(case.candidates, list(range(n))), return_scores=True)[1]
            except ValueError:  # it was taught other columns, or several outcomes a row
                return ""
    try:
        numbers = np.asarray(found)
    except ValueError:
        return ""
    sound = numbers.dtype.kind not in "fc" or bool(np.isfinite(numbers).all())
    return "" if sound else f"taken, and not finite: {numbers.ravel()[:4]}"
