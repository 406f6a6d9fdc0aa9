"""Features of what people see: words of texts as TF-IDF weights, pictures small and grey."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from adaptive.cli.errors import CommandError

__all__ = ["grey", "words"]

DIRECTIONS = 100  # of the TF-IDF weights, the first so many; a model of thousands of words would answer slowly
SIDE = 16  # a picture is looked at as so many rows and columns of grey


def words(texts: list[str], path: Path, column: str) -> np.ndarray:
    """(n, at most DIRECTIONS) array: TF-IDF weights of words, in the directions in which texts differ most."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        weights = TfidfVectorizer(sublinear_tf=True, min_df=2 if len(texts) > 50 else 1, max_features=20_000)
        counted = weights.fit_transform(texts)
    except ValueError:
        raise CommandError(f"{path}: the column {column!r} holds no words that two texts share.") from None
    n = min(DIRECTIONS, counted.shape[1] - 1, counted.shape[0] - 1)
    if n < 1:
        return np.asarray(counted.todense())
    found = TruncatedSVD(n, random_state=0).fit_transform(counted)
    spread = found.std(axis=0)
    told = spread > 0.02 * spread.max()  # directions in which texts hardly differ would only slow the model down
    return found[:, told] / max(float(spread.max()), 1e-12)  # about as large as standardised features


def grey(pictures: Any) -> np.ndarray:
    """(n, SIDE * SIDE) array: the pictures small and grey, standardised; one that is none is grey all over."""
    from PIL import Image

    found = np.full((len(pictures.names), SIDE * SIDE), 0.5)
    for position in range(len(found)):
        picture = pictures.picture(position)
        if picture is not None:
            try:
                with Image.open(picture.path) as image:
                    small = image.convert("L").resize((SIDE, SIDE))
                found[position] = np.asarray(small, dtype=float).ravel() / 255.0
            except (OSError, ValueError, Image.DecompressionBombError):
                continue
    return (found - found.mean(axis=0)) / np.maximum(found.std(axis=0), 1e-3)
