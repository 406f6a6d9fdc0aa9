"""From columns to features: scikit-learn's transformers, one per kind of column, and one line that says what was done.

number, date   medians for what is missing, then mean 0 and standard deviation 1
vector         one block in single precision: mean 0, all entries divided by one number
category       a column of 0 and 1 for each of the most frequent, missing ones being a category, too
text           frequencies of words, weighted by how rare they are, rows of norm 1

Beside texts, numbers, dates and categories together have a small share of a text's mean square length: standardised
they would drown the words, each of which is seen in few rows (``ours-default-mixed``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.tables.cells import TableError, listed
from adaptive.tables.columns import MOST_CATEGORIES, Column, Kind

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.compose import ColumnTransformer

__all__ = ["Preparation"]

MOST_WORDS = 5000
BESIDE_TEXTS = 0.1  # share of a text's mean square length that all other columns have together


class Preparation:
    """Preparation of a table: turns its columns into the features of a model.

    Parameters
    ----------
    columns : sequence of Column
    what : str
        What the table is called in a message.

    Attributes
    ----------
    frame : pandas.DataFrame
        The used columns, one row per row of the table; a vector is as many columns as it has numbers.
    features : tuple of str
        Their names.
    of_texts : bool
        A used column is a text, and none a vector: words are most of what the features say.

    Raises
    ------
    TableError
        If no column besides the target is left.

    Examples
    --------
    >>> import pandas as pd
    >>> columns = [Column("age", Kind.NUMBER, pd.Series([41.0, 30.0]), 0)]
    >>> Preparation(columns, "people.csv").features
    ('age',)
    """

    def __init__(self, columns: Sequence[Column], what: str) -> None:
        import pandas as pd

        self.columns, self._what = list(columns), what
        used = [column for column in columns if column.kind is not Kind.UNUSED]
        if not used:
            left = "; ".join(f"{column.name}: {column.why}" for column in columns)
            raise TableError(f"{what} has no feature columns besides the target{f' ({left})' if left else ''}.")
        blocks = [column.values for column in used if column.kind is Kind.VECTOR]
        frame = pd.DataFrame({column.name: column.values for column in used if column.kind is not Kind.VECTOR})
        self.frame: pd.DataFrame = pd.concat([frame, *blocks] if len(frame.columns) else blocks, axis=1)
        self.features = tuple(self.frame.columns)
        if len(set(self.features)) < len(self.features):
            twice = next(name for name in self.features if self.features.count(name) > 1)
            raise TableError(f"{what} has a column {twice!r}, and a vector with a number of that name: rename one.")
        self._names = {kind: [column.name for column in used if column.kind is kind] for kind in Kind}
        self._vectors = [column for column in used if column.kind is Kind.VECTOR]
        self.of_texts = bool(self._names[Kind.TEXT]) and not self._vectors

    def weight(self, n_texts: int) -> float:
        """Return what numbers, dates and categories are multiplied by beside so many texts."""
        plain = sum(len(self._names[kind]) for kind in (Kind.NUMBER, Kind.DATE, Kind.CATEGORY))  # each of mean square 1
        return float(np.sqrt(BESIDE_TEXTS * n_texts / plain)) if plain and n_texts else 1.0

    def transformer(self) -> ColumnTransformer:
        """Return the unfitted transformer of `frame`."""
        from sklearn.compose import ColumnTransformer
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, OneHotEncoder, StandardScaler

        from adaptive.tables.vector_scaler import VectorScaler

        # divided by their largest entry first, as squares of very large and very small numbers do not exist
        numbers = make_pipeline(
            SimpleImputer(strategy="median", keep_empty_features=True), MaxAbsScaler(), StandardScaler()
        )
        one_hot = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES)
        parts: list[tuple[str, Any, Any]] = [
            ("numbers", numbers, self._names[Kind.NUMBER] + self._names[Kind.DATE]),
            ("categories", one_hot, self._names[Kind.CATEGORY]),
        ]
        for name in self._names[Kind.TEXT]:
            words = TfidfVectorizer(sublinear_tf=True, max_features=MOST_WORDS, min_df=2 if len(self.frame) > 50 else 1)
            parts.append((f"text {name}", make_pipeline(FunctionTransformer(_present), words), name))
        parts += [(f"vector {one.name}", VectorScaler(), list(one.values.columns)) for one in self._vectors]
        weight = self.weight(len(self._names[Kind.TEXT])) if self.of_texts else 1.0
        return ColumnTransformer(
            [part for part in parts if part[2]], transformer_weights={"numbers": weight, "categories": weight}
        )

    def features_of(self, fitted_on: np.ndarray | None = None) -> Any:
        """Return the features of all rows, the transformer fitted on the rows at these positions only.

        Parameters
        ----------
        fitted_on : (k,) integer array or None
            None: on all rows.

        Returns
        -------
        (n, d) float array (float32 where there are vectors), or CSR array where texts make it sparse
        """
        import scipy.sparse as sp

        transformer = self.transformer()
        try:
            transformer.fit(self.frame if fitted_on is None else self.frame.iloc[fitted_on])
        except ValueError as problem:
            if "no terms remain" not in str(problem) and "empty vocabulary" not in str(problem):
                raise
            names = listed(self._names[Kind.TEXT])
            raise TableError(
                f"{self._what}: the texts of {names} share no words that could tell rows apart; leave that column out "
                "with --ignore."
            ) from None
        X = transformer.transform(self.frame)
        if sp.issparse(X):
            return sp.csr_array(X)
        return np.ascontiguousarray(X, dtype=np.float32 if self._vectors else float)

    def in_words(self) -> str:
        """Say in one line what becomes of the columns."""
        done = []
        for kind, becomes in (
            (Kind.NUMBER, "standardised"),
            (Kind.DATE, "as days, standardised"),
            (Kind.VECTOR, "as they are, centred and on one scale"),
            (Kind.CATEGORY, "as columns of 0 and 1"),
            (Kind.TEXT, "as word frequencies"),
        ):
            found = [column for column in self.columns if column.kind is kind]
            if found:
                many = {"category": "categories"}.get(kind.value, f"{kind.value}s")
                done.append(f"{len(found)} {kind.value if len(found) == 1 else many} {becomes}")
        blank = sum(column.missing for column in self.columns if column.kind is Kind.VECTOR)
        if blank:
            done.append(f"{blank} missing {'vector' if blank == 1 else 'vectors'} filled by the mean")
        filled = sum(column.missing for column in self.columns if column.kind in (Kind.NUMBER, Kind.DATE))
        if filled:
            done.append(f"{filled} missing {'value' if filled == 1 else 'values'} filled by medians")
        if self.of_texts:
            done.append("what is learnt of a word also counts for words that occur beside it")
            if self.weight(1) != 1.0:
                done.append("and other columns weigh little until labels say otherwise")
        left = [f"{column.name} ({column.why})" for column in self.columns if column.kind is Kind.UNUSED]
        return "features: " + ", ".join(done) + (f"; left out: {', '.join(left)}" if left else "")


def _present(texts: pd.Series) -> pd.Series:
    return texts.fillna("")
