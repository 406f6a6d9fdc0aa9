"""The user's simulator at one setting, for every particle several times over, and what is kept of each outcome.

    simulate(parameters (n, d), x (f,), generator)  ->  (n,) or (n, c)          summary(outcomes (n, c))  ->  (n, s)

What is drawn follows from the seed, the setting and the particles: the same particles at the same setting are simulated
alike, whether an answer is fitted or only imagined, and others anew.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.particles.likelihood import real_numbers

if TYPE_CHECKING:
    from adaptive.estimators.particles.likelihood import Function

__all__ = ["AT_ONCE", "Simulator"]

AT_ONCE = 2**18  # outcomes that a user's function is asked for at once


@dataclass(frozen=True)
class Simulator:
    """A simulator and what is looked at of its outcomes.

    Attributes
    ----------
    simulate : callable(parameters, x, generator) -> (n,) or (n, c)
    summary : callable(outcomes (n, c)) -> (n,) or (n, s), or None: the outcomes themselves
    n_simulations : int
        Of each particle at each setting.
    seed : int
    labels : bool
        Outcomes are labels: one each, of whatever type.
    """

    simulate: Function
    summary: Function | None
    n_simulations: int
    seed: int
    labels: bool = False

    def outcomes(self, values: np.ndarray, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return one simulated outcome of each particle (n, d) at setting x, (n,) or (n, c)."""
        try:
            found = np.asarray(self.simulate(values, x, rng))
        except Exception as problem:
            text = str(problem).splitlines()[0] if str(problem) else "no message"
            raise ValueError(
                f"simulate raised {type(problem).__name__} ({text}) for {len(values)} parameter rows at setting "
                f"{x.tolist()}; it must take all that the prior allows."
            ) from problem
        if found.ndim not in ((1,) if self.labels else (1, 2)) or len(found) != len(values):
            wanted = f"({len(values)},)" + ("" if self.labels else f" or ({len(values)}, channels)")
            raise ValueError(f"simulate must return shape {wanted}, one outcome per parameter row, got {found.shape}.")
        if self.labels:
            return found
        try:
            found = real_numbers(found)
        except (TypeError, ValueError) as problem:
            raise ValueError(f"simulate must return real numbers, got {found.dtype} ({problem}).") from None
        wrong = ~np.isfinite(found)
        if wrong.any():
            at = tuple(np.argwhere(wrong)[0])
            raise ValueError(
                f"simulate gave {found[at]} for parameters {values[at[0]].tolist()} at setting {x.tolist()}; expected "
                "finite numbers."
            )
        return found

    def summaries(self, outcomes: np.ndarray) -> np.ndarray:
        """Return what is kept of outcomes (n,) or (n, c): (n, s)."""
        table = outcomes.reshape(len(outcomes), -1)
        if self.summary is None:
            return table
        try:
            found = real_numbers(np.asarray(self.summary(table)))
        except Exception as problem:
            text = str(problem).splitlines()[0] if str(problem) else "no message"
            raise ValueError(
                f"summary raised {type(problem).__name__} ({text}) for {len(table)} outcomes, the first of them "
                f"{table[0].tolist()}; it must take all that simulate returns."
            ) from problem
        if found.ndim not in (1, 2) or len(found) != len(table):
            raise ValueError(
                f"summary must return shape ({len(table)},) or ({len(table)}, s), one row per outcome, got "
                f"{found.shape}."
            )
        if not np.isfinite(found).all():
            at = int(np.argwhere(~np.isfinite(found))[0][0])
            raise ValueError(
                f"summary gave {found[at].tolist()} for outcome {table[at].tolist()}; expected finite numbers."
            )
        return found.reshape(len(table), -1)

    def replicates(self, values: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return summaries (n, R, s) of R simulations of each particle, or their labels (n, R)."""
        rng = self._generator(values, x)
        parts = []
        rows = max(1, AT_ONCE // self.n_simulations)
        for start in range(0, len(values), rows):
            part = np.repeat(values[start : start + rows], self.n_simulations, axis=0)
            found = self.outcomes(part, x, rng)
            kept = found if self.labels else self.summaries(found)
            parts.append(kept.reshape(len(part) // self.n_simulations, self.n_simulations, *kept.shape[1:]))
        return np.concatenate(parts)

    def _generator(self, values: np.ndarray, x: np.ndarray) -> np.random.Generator:
        content = np.ascontiguousarray(values).tobytes() + b"|" + np.ascontiguousarray(x).tobytes()
        return np.random.default_rng([self.seed, int.from_bytes(hashlib.blake2b(content, digest_size=16).digest())])
