"""People of the real sets: who trains the items, who reveals every other answer, which items are turned round."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adaptive import datasets

__all__ = ["Halves", "halves", "reversed_items", "two_parameter_bank"]


class Halves(NamedTuple):
    """A set of answers split for a comparison.

    Attributes
    ----------
    train : frame (people, items)
    revealed, hidden : frames (other people, items), NaN where the other of the two has the answer
    traits : list of str, of each item
    reverse : tuple of items
    """

    train: Any
    revealed: Any
    hidden: Any
    traits: list[str]
    reverse: tuple[Any, ...]


def halves(name: str, n_people: int, seed: int = 0) -> Halves:
    """Half of ``n_people`` train the items, the others reveal every other one."""
    table = datasets.answers(name)
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(table))[:n_people]
    table = table.iloc[chosen].reset_index(drop=True)
    train, test = table.iloc[: n_people // 2], table.iloc[n_people // 2 :]
    shown = np.arange(table.shape[1]) % 2 == 0
    traits = [str(item)[0] for item in table.columns]
    revealed, hidden = test.copy(), test.copy()
    revealed.loc[:, ~shown] = np.nan
    hidden.loc[:, shown] = np.nan
    return Halves(train, revealed, hidden, traits, reversed_items(train, traits))


def reversed_items(table: Any, traits: list[str]) -> tuple[Any, ...]:
    """Items that load on their trait's first component with the sign of the minority."""
    turned: list[Any] = []
    for trait in dict.fromkeys(traits):
        items = [item for item, one in zip(table.columns, traits, strict=True) if one == trait]
        values = table[items].to_numpy()
        values = np.where(np.isnan(values), np.nanmean(values, axis=0), values)
        loading = np.linalg.eigh(np.corrcoef(values.T))[1][:, -1]
        minority = loading < 0 if (loading < 0).sum() * 2 <= len(items) else loading > 0
        turned += [item for item, one in zip(items, minority, strict=True) if one]
    return tuple(turned)


def two_parameter_bank(n_items: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Discriminations (log-normal about 1.2) and difficulties (standard normal) of a synthetic bank."""
    rng = np.random.default_rng(seed)
    return 1.2 * rng.lognormal(0.0, 0.3, n_items), rng.standard_normal(n_items)
