"""Labels of the user and the classes they stand for; a likelihood of -1 and +1 whose outcomes are two such labels."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from adaptive import checks
from adaptive.potentials import BernoulliLogit, BernoulliProbit

if TYPE_CHECKING:
    from adaptive.potentials.likelihood import Likelihood
    from adaptive.types import ArrayLike, Outcomes, RandomState

__all__ = [
    "LINKS",
    "Labelled",
    "codes_of",
    "known_classes",
    "labelled",
    "one_against_rest",
    "refuse_other_than_labels",
    "refuse_two_kinds",
    "unboxed",
    "warn_of_one_class",
]

LARGEST = 2.0**53  # up to which floats are whole numbers


def known_classes(y: np.ndarray, named: ArrayLike | None, earlier: np.ndarray | None = None) -> np.ndarray:
    """Merge the classes that were ``named``, those known ``earlier`` and those of ``y``; sorted, without repeats.

    Raises
    ------
    ValueError
        If classes were named and y holds another label.

    Examples
    --------
    >>> known_classes(np.array(["b"]), ["b", "a"]).tolist()
    ['a', 'b']
    """
    refuse_other_than_labels(y)
    known = np.unique(y) if named is None else np.unique(named)
    if named is not None:
        _refuse_strangers(y, known)
    return known if earlier is None else np.unique(np.concatenate([earlier, known]))


def codes_of(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the position of every label in ``classes``, (m,) ints."""
    _refuse_strangers(y, classes)
    return np.searchsorted(classes, y)


def warn_of_one_class(classes: np.ndarray) -> None:
    """Say where a whole fit has seen one class only, so that every prediction will be that one."""
    if len(classes) == 1:
        warnings.warn(
            f"y holds one class only, {classes.tolist()[0]!r}, and nothing else can be predicted: name the other "
            "classes by classes=, or wait for an answer of another class.",
            UserWarning,
            stacklevel=3,
        )


def refuse_other_than_labels(y: np.ndarray) -> None:
    """Refuse, in a sentence with the cure, what scikit-learn takes for no labels."""
    try:
        if y.dtype.kind == "S":
            raise ValueError
        check_classification_targets(y)
    except (ValueError, TypeError):
        given = np.asarray(y)
        if given.dtype.kind != "f":
            refuse_two_kinds(given.ravel().tolist())
            strange = [one for one in given.ravel().tolist() if not isinstance(one, (str, int, float))]
            example = f", {checks.short(strange[0])} among them" if strange else ""
            raise ValueError(
                f"Unknown label type: y must hold labels, numbers or text, one for each row, got {given.dtype} of "
                f"shape {given.shape}{example}."
            ) from None
        finite = np.isfinite(given)
        if not finite.all():
            raise ValueError(
                f"y must hold labels, got {given[~finite].flat[0]}; leave out what is not known."
            ) from None
        number = given[(given != np.round(given)) | (abs(given) > LARGEST)][0]
        raise ValueError(
            f"Unknown label type: y must hold labels, and numbers such as {number:g} are for a regressor "
            "(SparseLinearRegression)."
        ) from None


def refuse_two_kinds(y: Outcomes) -> None:
    """Refuse a list of labels of which some are text and some are not, or that are no labels at all."""
    strange = [label for label in y if isinstance(label, (set, dict, list))] if isinstance(y, (list, tuple)) else []
    if strange and not all(isinstance(label, list) for label in strange):
        raise ValueError(f"y must hold labels, numbers or text, got {checks.short(strange[0])}.")
    if isinstance(y, (list, tuple)) and 0 < sum(isinstance(label, str) for label in y) < len(y):
        kinds = sorted({type(label).__name__ for label in y})
        raise ValueError(f"y must hold labels of one kind, all numbers or all text, got {' and '.join(kinds)}.")


def unboxed(y: Outcomes) -> Outcomes:
    """Return labels as they are; of numbers alone that stand in an array of objects, those numbers.

    Examples
    --------
    >>> unboxed(np.array([0, 1], dtype=object)).dtype.kind, unboxed(["a", "b"])
    ('i', ['a', 'b'])
    """
    if getattr(getattr(y, "dtype", None), "kind", "") != "O":
        return y
    values = np.asarray(y).tolist()
    numbers = all(isinstance(value, int | float | np.number | np.bool_) for value in values)
    return np.array(values) if numbers else y


def _refuse_strangers(y: np.ndarray, classes: np.ndarray) -> None:
    unknown = ~np.isin(y, classes)
    if unknown.any():
        raise ValueError(
            f"y contains the label {y[unknown].tolist()[0]!r}, but the known classes are {classes.tolist()}."
        )


LINKS: dict[str, type[BernoulliLogit] | type[BernoulliProbit]] = {"logit": BernoulliLogit, "probit": BernoulliProbit}


def labelled(family: Likelihood, labels: np.ndarray | None) -> Likelihood:
    """Return a family of -1 and +1 under two labels; as it is where there are not two."""
    return family if labels is None or len(labels) != 2 else cast("Likelihood", Labelled(family, labels))


def one_against_rest(table: np.ndarray) -> np.ndarray:
    """Return probabilities (..., c) of classes, each against the rest, divided by their sum."""
    table = np.maximum(table, np.finfo(float).tiny)
    return table / table.sum(axis=-1, keepdims=True)


class Labelled:
    """A Bernoulli family whose outcomes are called by other names; everything else is the family's own.

    Parameters
    ----------
    family : BernoulliLogit or BernoulliProbit, without outcomes
    labels : (2,) array
        Names of -1 and +1.

    Examples
    --------
    >>> from adaptive.potentials import BernoulliLogit
    >>> family = Labelled(BernoulliLogit(), np.array(["ham", "spam"]))
    >>> family.outcomes.tolist(), family.observe("spam").y.tolist()
    (['ham', 'spam'], 1.0)
    """

    def __init__(self, family: Likelihood, labels: np.ndarray) -> None:
        self.family, self.outcomes = family, np.asarray(labels)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("family", "outcomes"):  # not there yet while unpickling
            raise AttributeError(name)
        return getattr(self.family, name)

    def observe(self, y: ArrayLike) -> Likelihood:
        """Return the potential of the label ``y``."""
        return self.family.observe(self._signs(y))

    def log_density(self, s: ArrayLike, y: ArrayLike) -> np.ndarray:
        """Return ln p(label | s)."""
        return self.family.log_density(s, self._signs(y))

    def sample(self, s: ArrayLike, random_state: RandomState = None) -> np.ndarray:
        """Return labels drawn at the projections ``s``."""
        return self.outcomes[(self.family.sample(s, random_state=random_state) > 0).astype(int)]

    def outcome_probabilities(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the labels and their (m, 2) probabilities."""
        return self.outcomes, self.family.outcome_probabilities(mean, variance)[1]

    def _signs(self, y: ArrayLike) -> np.ndarray:
        y = np.asarray(y)
        if y.ndim == 0:
            for sign, label in zip((-1.0, 1.0), self.outcomes, strict=True):
                if y == label:
                    return np.array(sign)
        unknown = ~np.isin(y, self.outcomes)
        if unknown.any():
            raise ValueError(f"outcome must be one of {self.outcomes.tolist()}, got {y[unknown].flat[0]!r}.")
        return np.where(y == self.outcomes[1], 1.0, -1.0)
