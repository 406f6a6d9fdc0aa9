"""Phase-encode lobes of a sequence, found: on which axis, before which read-outs, and which wind back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaptive.scanner.pulseq.moments import AXES, NEAR, Moments, gradient_of

__all__ = ["Lobes", "in_order", "lobes_of"]

EXACT = 1e-3  # of an encode


@dataclass(frozen=True)
class Lobes:
    """Lobes of one axis that encode.

    Attributes
    ----------
    axis : int
    before : list of int
        For each read-out the block of its lobe.
    after : list of int or None
        Of the lobe that winds back, where there is one.
    template, behind : the largest of both
    rest : float
        Where a read-out would lie without its lobe, 1/m.
    end : float
        Where its lobes leave it.
    """

    axis: int
    before: list[int]
    after: list[int | None]
    template: Any
    behind: Any
    rest: float
    end: float


def lobes_of(moments: Moments) -> list[Lobes]:
    """Lobes of all axes that encode, in the order x, y, z."""
    moved = [float(np.ptp(echo.k, axis=0).max()) for echo in moments.echoes]
    if not moved:
        raise ValueError("the sequence reads nothing out: there is no ADC in it.")
    between = np.searchsorted(moments.pulses, [echo.block for echo in moments.echoes])
    if (np.diff(between) == 0).any():
        number = int(np.flatnonzero(np.diff(between) == 0)[0]) + 2
        raise ValueError(
            f"read-out {number} follows another without a pulse between them: read-outs that share a phase "
            "encode (EPI, several echoes) cannot be given another."
        )
    found = []
    for k, axis in enumerate(AXES):
        chains = [_before(moments, echo.block, axis) for echo in moments.echoes]
        rank = _differing(moments, chains, axis)
        if rank is not None:
            found.append(_lobes(moments, chains, rank, k))
    if not found:
        raise ValueError("no lobe before the read-outs differs between them: nothing looks like a phase encode.")
    read = np.array([np.ptp(echo.k, axis=0) for echo in moments.echoes])
    for one in found:
        if (read[:, one.axis] > EXACT * max(moved)).any():
            number = int(read[:, one.axis].argmax()) + 1
            raise ValueError(
                f"read-out {number} moves along {AXES[one.axis]} while it samples, where lobes differ: only Cartesian "
                "sequences have phase encodes to exchange."
            )
    return found


def _before(moments: Moments, block: int, axis: str) -> list[int]:
    """Blocks of the gradients on an axis before a read-out, the nearest first, up to a pulse or another read-out."""
    found, blocks = [], moments.blocks
    own = gradient_of(blocks[block], axis)
    if own is not None and moments.ends(own)[1] <= blocks[block].adc.delay + 0.5 * moments.raster:
        found.append(block)
    for j in range(block - 1, -1, -1):
        if blocks[j].adc is not None or blocks[j].rf is not None:
            break
        if gradient_of(blocks[j], axis) is not None:
            found.append(j)
    return found


def _after(moments: Moments, block: int, axis: str) -> list[int]:
    """Blocks of the gradients on an axis behind a read-out, the nearest first, up to the next pulse or read-out."""
    found, blocks = [], moments.blocks
    for j in range(block + 1, len(blocks)):
        gradient = gradient_of(blocks[j], axis)
        if blocks[j].adc is not None:
            break
        if gradient is not None and (blocks[j].rf is None or moments.ends(gradient)[1] <= blocks[j].rf.delay + NEAR):
            found.append(j)
        if blocks[j].rf is not None:
            break
    return found


def _differing(moments: Moments, chains: list[list[int]], axis: str) -> int | None:
    """The first place, counted from the read-out, at which lobes differ."""
    for rank in range(max(map(len, chains))):
        areas = [
            moments.area(gradient_of(moments.blocks[chain[rank]], axis)) if rank < len(chain) else 0.0
            for chain in chains
        ]
        if np.ptp(areas) > 1e-6 * max(np.abs(areas).max(), 1.0):
            return rank
    return None


def _lobes(moments: Moments, chains: list[list[int]], rank: int, k: int) -> Lobes:
    axis, blocks = AXES[k], moments.blocks
    offsets = {
        echo.block - chain[rank] for echo, chain in zip(moments.echoes, chains, strict=True) if rank < len(chain)
    }
    before = []
    for number, (echo, chain) in enumerate(zip(moments.echoes, chains, strict=True), start=1):
        if rank < len(chain):
            before.append(chain[rank])
            continue
        at = echo.block - min(offsets)
        if len(offsets) > 1 or blocks[at].rf is not None or (blocks[at].adc is not None) != (at == echo.block):
            raise ValueError(
                f"read-out {number} has no lobe on {axis} before it, where others have one: there is nothing to scale."
            )
        before.append(at)  # its lobe was nothing, and left out
    areas = np.array([moments.area(gradient_of(blocks[j], axis)) for j in before])
    where = np.array([echo.middle[k] for echo in moments.echoes])
    largest = _largest(moments, [*before], axis)
    rest = where - areas
    scale = max(np.ptp(where), 1.0)
    if np.ptp(rest) > 1e-3 * scale:
        number = int(np.abs(rest - np.median(rest)).argmax()) + 1
        raise ValueError(f"the lobe on {axis} before read-out {number} does not explain its phase encode.")
    after, end = _winding(moments, before, k, where)
    return Lobes(k, before, after, largest, _largest(moments, after, axis), float(np.median(rest)), end)


def _largest(moments: Moments, blocks: list[int | None], axis: str) -> Any:
    found = [gradient_of(moments.blocks[j], axis) for j in blocks if j is not None]
    return max(found, key=lambda one: abs(moments.area(one)), default=None)


def _winding(moments: Moments, before: list[int], k: int, where: np.ndarray) -> tuple[list[int | None], float]:
    """Lobes that wind back, and where they leave k; (None, ...) where lobes behind the read-outs are all the same."""
    axis, blocks = AXES[k], moments.blocks
    chains = [_after(moments, echo.block, axis) for echo in moments.echoes]
    nothing: list[int | None] = [None] * len(before)
    for rank in range(max(map(len, chains), default=0)):
        at = [chain[rank] if rank < len(chain) else None for chain in chains]
        there = np.array([one is not None for one in at])
        areas = np.array([0.0 if j is None else moments.area(gradient_of(blocks[j], axis)) for j in at])
        if np.ptp(areas[there]) <= 1e-6 * max(np.abs(areas).max(), 1.0):
            continue
        left = (where + areas)[there]
        if np.ptp(left) > 1e-3 * max(np.ptp(where), 1.0):
            number = int(np.flatnonzero(there)[np.abs(left - np.median(left)).argmax()]) + 1
            raise ValueError(f"the lobe on {axis} behind read-out {number} does not wind its phase encode back.")
        return at, float(np.median(left))
    return nothing, 0.0


def in_order(lobes: list[Lobes], moments: Moments, n: int) -> list[Lobes]:
    """Axes as the plan counts them: by the labels LIN and PAR where they tell, else x, y, z."""
    if len(lobes) != n:
        found = " and ".join(AXES[one.axis] for one in lobes)
        take = "lines" if len(lobes) == 1 else "points"
        raise ValueError(
            f"the sequence encodes along {found}, and the plan has {n} phase {'encode' if n == 1 else 'encodes'} for "
            f"each read-out: plan {take}."
        )
    if n == 2:
        for first, second in ((lobes[0], lobes[1]), (lobes[1], lobes[0])):
            if _follows(first, "LIN", moments) and _follows(second, "PAR", moments):
                return [first, second]
    return lobes


def _follows(lobes: Lobes, label: str, moments: Moments) -> bool:
    """True where a counter goes with an axis."""
    counted = np.array([echo.labels.get(label, 0) for echo in moments.echoes], float)
    where = np.array([echo.middle[lobes.axis] for echo in moments.echoes])
    if np.ptp(counted) == 0 or np.ptp(where) == 0:
        return False
    return bool(abs(np.corrcoef(counted, where)[0, 1]) > 0.999)
