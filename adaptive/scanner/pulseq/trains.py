"""Trains of echoes, and which phase encode goes where in them, so that the centre comes at the effective echo time.

A train is what follows one excitation with several echoes, or one inversion or other preparation with several
excitations; elsewhere each echo stands alone, and the order is the plan's. Two orders of trains are known, of which
that one is taken which explains the sequence's own table better:

    linear     sorted along the axis that changes within a train, begun elsewhere so that the centre is at its place
    centric    by distance from the centre, the places by theirs from that of the centre
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adaptive.scanner.pulseq.moments import PREPARES, Moments

__all__ = ["Order", "Train", "own_order", "places", "trains_of"]


@dataclass(frozen=True)
class Train:
    """Echoes that follow one another.

    Attributes
    ----------
    begin, end : int
        Its blocks.
    echoes : tuple of int
        Positions among the read-outs.
    slice : tuple
        Which of several slices; the same table is for each.
    """

    begin: int
    end: int
    echoes: tuple[int, ...]
    slice: tuple[float, ...]


@dataclass(frozen=True)
class Order:
    """Order of the encodes in trains.

    Attributes
    ----------
    centre : int
        Place of the effective echo time.
    rule : {"linear", "centric"}
    axis : int
        The one that changes within a train.
    signs : (axes,) array
        Whether encodes rise or fall along the places, and along the trains.
    """

    centre: int
    rule: str
    axis: int
    signs: np.ndarray


def trains_of(moments: Moments) -> list[Train]:
    """The trains of a sequence, in its order."""
    of_pulse: dict[int, list[int]] = {}
    for number, echo in enumerate(moments.echoes):
        of_pulse.setdefault(echo.pulse, []).append(number)
    if max(map(len, of_pulse.values())) > 1:
        begins = sorted(of_pulse)
    else:
        begins = _prepared(moments, sorted(of_pulse)) or sorted(of_pulse)
    if begins[0] < 0:
        raise ValueError("the sequence reads out before anything was excited.")
    first = [_at_rest(moments, j) for j in begins]
    bounds = [*first, len(moments.blocks)]
    members = np.searchsorted(begins, [echo.pulse for echo in moments.echoes], side="right") - 1
    found = []
    for k in range(len(begins)):
        echoes = tuple(int(number) for number in np.flatnonzero(members == k))
        pulse = moments.blocks[moments.echoes[echoes[0]].pulse].rf
        where = (round(float(pulse.freq_offset), 3), float(moments.echoes[echoes[0]].labels.get("SLC", 0)))
        found.append(Train(bounds[k], bounds[k + 1], echoes, where))
    return found


def _prepared(moments: Moments, excited: list[int]) -> list[int]:
    """Begins of what follows preparations, where several excitations follow one; else nothing.

    A pulse that is said to prepare, or one between read-outs that none follows; what comes before all is a dummy.
    """
    reads = set(excited)
    stated = [j for j in moments.pulses if moments.use(j) in PREPARES]
    silent = [j for j in moments.pulses if j > excited[0] and j not in reads and moments.use(j) != "refocusing"]
    pulses = np.array(sorted({*stated, *silent}))
    if not len(pulses):
        return []
    seen = np.searchsorted(excited, pulses)  # excitations before each
    run = np.maximum.accumulate(np.where(np.diff(seen, prepend=-1) > 0, np.arange(len(pulses)), 0))
    last = np.unique(np.searchsorted(pulses, excited) - 1)
    begins = [excited[0] if k < 0 else int(pulses[run[k]]) for k in last]
    if len(begins) == len(excited) or (not stated and len(begins) < 2):
        return []
    return begins


def _at_rest(moments: Moments, j: int) -> int:
    """The block at or before ``j`` at whose begin no gradient goes on."""
    while j > 0 and not moments.starts_at_rest(j):
        j -= 1
    return j


def places(encodes: np.ndarray, n_trains: int, length: int, order: Order) -> np.ndarray:
    """(m, 2) train and place in it of every encode (m, axes), 0 the centre."""
    m, axis = len(encodes), order.axis
    s = min(n_trains, -(-m // length))
    distance, turned = np.linalg.norm(encodes, axis=1), encodes * order.signs
    others = [turned[:, k] for k in range(turned.shape[1]) if k != axis]
    found = np.zeros((m, 2), dtype=np.intp)
    if order.rule == "centric":
        nearest = sorted(range(length), key=lambda place: (abs(place - order.centre), place))
        for rank, encode in enumerate(np.lexsort((*others, turned[:, axis], distance))):
            found[encode] = rank % s, nearest[rank // s]
        return found
    ranked = np.lexsort((*others, turned[:, axis]))
    middle = int(np.flatnonzero(ranked == distance.argmin())[0])
    target = min(order.centre * s + s // 2, m - 1)
    later = order.centre - target // s  # of a plan that ends before: it begins later
    begun = np.roll(ranked, target - middle)
    for start in range(0, m, s):  # within a place by the other axis, so that a train changes along one
        few = begun[start : start + s]
        few = few[np.lexsort((turned[few, axis], *[one[few] for one in others]))] if others else few
        for train, encode in enumerate(few):
            found[encode] = train, start // s + later
    return found


def own_order(encodes: np.ndarray, trains: Sequence[Train]) -> Order:
    """The order that a sequence has.

    Parameters
    ----------
    encodes : (echoes, axes) array
        Where its read-outs lie.
    trains : sequence of Train
        Of one slice, of one length.
    """
    own = np.array([encodes[list(train.echoes)] for train in trains])  # (trains, places, axes)
    s, length, axes = own.shape
    axis = int(np.argmax([np.ptp(own[:, :, k], axis=1).mean() for k in range(axes)]))
    distance = np.linalg.norm(own, axis=2)
    centre = int(np.median(np.argwhere(distance <= distance.min() + 0.25)[:, 1]))
    steps = [np.diff(own[..., k], axis=1 if k == axis else 0) for k in range(axes)]
    rising = [np.median(one) if one.size else 1.0 for one in steps]
    signs = np.where(np.array(rising) < 0, -1.0, 1.0)
    flat, real = own.reshape(-1, axes), np.tile(np.arange(length), s)
    tried = [Order(centre, rule, axis, signs) for rule in ("linear", "centric")]
    return min(tried, key=lambda one: float(np.abs(places(flat, s, length, one)[:, 1] - real).mean()))
