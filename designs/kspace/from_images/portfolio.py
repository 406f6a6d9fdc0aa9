"""Designs that know nothing of a head, over all centres and exponents: what a tuned design is taken from.

    centres      8, 12, 16, 24 and an eighth of all lines, up to 3/4 of the lines that are measured
    at each      quantiles of the half plane with exponents 1/2 to 8, one-sided low pass
    at an eighth (or at the centre that is stated; with several coils at each) equispaced, variable density
    mirrored     what lies on one side, on the other side too, where the phase is known: else the sides are alike

The number of central lines and the exponent are worth 3 to 20% of the error; which lines are taken, given these, 0 to
5%.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive.checks import integer
from designs.kspace import comparison
from designs.kspace.cartesian import as_lines, central
from designs.kspace.encode_comparison import low_pass_encodes, poisson_disc_encodes, variable_density_encodes
from designs.kspace.encode_indices import as_encodes, central_encodes, relative_radius

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Candidate", "between", "given_designs", "lines_to_try", "other_side", "points_to_try", "with_other_sides"]

WIDTHS = (8, 12, 16, 24)  # of the centre, beside an eighth
LARGEST = 0.75  # of the measured lines, of the points a third of that
EXPONENTS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
HALVES = ("half_plane", "one_sided")  # names of rules that leave out one side of k-space
OTHER_SIDE = ", other side"
DENSITIES = (2.0, 4.0)  # exponents of variable density, and slopes of Poisson discs


class Candidate(NamedTuple):
    """Lines (m,) or points (m, 2) in the order of the scan, centre first, and how many of them are that."""

    design: np.ndarray
    n_central: int


def lines_to_try(n: int, n_lines: int, n_central: int | None, several_coils: bool, seed: int) -> dict[str, Candidate]:
    """Every rule at every centre by its name; equal designs once, by the first of their names."""
    usual = min(max(4, n // 8), n_lines) if n_central is None else n_central
    widths = [usual] if n_central is not None else _widths(usual, LARGEST * n_lines)
    found: dict[str, Candidate] = {}
    for width in widths:
        said = f"{width} central"
        made: dict[str, Any] = {
            f"half_plane_quantiles, exponent {p:g}, {said}": comparison.half_plane_quantiles(
                n, n_lines, width, exponent=p
            )
            for p in EXPONENTS
        }
        made[f"one_sided_low_pass, {said}"] = comparison.one_sided_low_pass(n, n_lines, width)
        if width == min(widths, key=lambda one: abs(one - usual)) or several_coils:
            made[f"low_pass, {said}"] = comparison.low_pass(n, n_lines, width)
            made[f"equispaced, {said}"] = comparison.equispaced(n, n_lines, width)
            for p in DENSITIES:
                made[f"variable_density, exponent {p:g}, {said}"] = comparison.variable_density(
                    n, n_lines, width, exponent=p, random_state=np.random.default_rng([seed, 3, int(p)])
                )
        found |= {name: Candidate(_outwards(design, central(n, width), n), width) for name, design in made.items()}
    return _each_once(found)


def with_other_sides(tried: Mapping[str, Candidate], shape: tuple[int, ...]) -> dict[str, Candidate]:
    """The same, and every design of one half of k-space on the other half, too: as "..., other side"."""
    found = dict(tried)
    for name, one in tried.items():
        if name.startswith(HALVES) and (other := other_side(one, shape)) is not None:
            found[f"{name}{OTHER_SIDE}"] = other
    return _each_once(found)


def other_side(one: Candidate, shape: tuple[int, ...]) -> Candidate | None:
    """A design with all but its centre at the opposite frequencies, n - k in the place of k; None: that is centre.

    Examples
    --------
    >>> other_side(Candidate(np.array([3, 4, 5, 1, 2]), 3), (8,))
    Candidate(design=array([3, 4, 5, 7, 6]), n_central=3)
    """
    centre, others = one.design[: one.n_central], one.design[one.n_central :]
    sides = np.array(shape) if one.design.ndim == 2 else shape[0]
    design = np.concatenate([centre, (2 * (sides // 2) - others) % sides])
    return Candidate(design, one.n_central) if len(np.unique(design, axis=0)) == len(design) else None


def between(names: Collection[str]) -> dict[str, list[str]]:
    """Neighbours of every second exponent: the designs with the exponents on either side, all of them among ``names``.

    Examples
    --------
    >>> between(["half_plane_quantiles, exponent 2, 8 central", "half_plane_quantiles, exponent 3, 8 central"])
    {'half_plane_quantiles, exponent 3, 8 central': ['half_plane_quantiles, exponent 2, 8 central']}
    """
    found = {}
    for low, middle, high in zip(EXPONENTS[::2], EXPONENTS[1::2], EXPONENTS[2::2], strict=False):
        for name in names:
            start, word, rest = name.partition(f"exponent {middle:g},")
            others = [other for p in (low, high) if (other := f"{start}exponent {p:g},{rest}") in names]
            if word and start.startswith("half_plane_quantiles") and others:
                found[name] = others
    return found


def points_to_try(
    shape: tuple[int, int], n_points: int, n_central: int | None, several_coils: bool, seed: int
) -> dict[str, Candidate]:
    """As `lines_to_try`: Poisson discs and variable densities, of the whole plane and of one half of it."""
    usual = min(max(4, min(shape) // 8) ** 2, n_points) if n_central is None else n_central
    largest = LARGEST / 3 * n_points
    sizes = [usual] if n_central is not None else _widths(usual, largest, tuple(width**2 for width in WIDTHS))
    halves = (False,) if several_coils or 2 * n_points > np.prod(shape) else (False, True)
    rules: dict[str, tuple[Callable[..., np.ndarray], str]] = {
        "poisson_disc, slope": (poisson_disc_encodes, "slope"),
        "variable_density, exponent": (variable_density_encodes, "exponent"),
    }
    found: dict[str, Candidate] = {}
    for size in sizes:
        for half in halves:
            side = "half_plane " if half else ""
            made: dict[str, Any] = {
                f"{side}{name} {value:g}, {size} central": rule(
                    shape, n_points, size, half_plane=half, **{setting: value},
                    random_state=np.random.default_rng([seed, 4, int(value)]),
                )
                for name, (rule, setting) in rules.items()
                for value in DENSITIES
            }  # fmt: skip
            made[f"{side}low_pass, {size} central"] = low_pass_encodes(shape, n_points, size, half_plane=half)
            centre = central_encodes(shape, size)
            found |= {name: Candidate(_points_outwards(one, centre, shape), size) for name, one in made.items()}
    return _each_once(found)


def given_designs(
    extra: Mapping[str, ArrayLike] | Sequence[ArrayLike], shape: tuple[int, ...], n: int, n_central: int | None
) -> dict[str, Candidate]:
    """Designs of the user's own, checked, in the order given; those of a list are called "extra 1", "extra 2", ..."""
    named = dict(extra) if isinstance(extra, Mapping) else {f"extra {k}": one for k, one in enumerate(extra, 1)}
    found = {}
    for name, design in named.items():
        array = np.asarray(design)
        try:
            if len(shape) == 1:
                as_lines(shape[0], array, 1 if n_central is None else n_central)
            else:
                as_encodes((shape[0], shape[1]), array, 1 if n_central is None else n_central)
        except ValueError as error:
            raise ValueError(f"extra, {name}: {error}") from None
        if len(array) != n:
            raise ValueError(f"extra, {name}: it must hold {n} as the other designs, got {len(array)}.")
        found[str(name)] = Candidate(array.astype(int), _width(array, shape) if n_central is None else n_central)
    return found


def _widths(usual: int, largest: float, widths: Sequence[int] = WIDTHS) -> list[int]:
    fitting = sorted({one for one in (*widths, usual) if one <= largest})
    return fitting or [max(1, int(largest))]


def _width(design: np.ndarray, shape: tuple[int, ...]) -> int:
    """Size of the largest centre that a design holds."""
    chosen = np.zeros(shape, bool)
    chosen[tuple(design.T) if design.ndim == 2 else design] = True
    size = 1
    while size < len(design):
        wider = central(shape[0], size + 1) if len(shape) == 1 else tuple(central_encodes(shape, size + 1).T)
        if not chosen[wider].all():
            break
        size = integer("size", size + 1)
    return size


def _outwards(design: np.ndarray, centre: np.ndarray, n: int) -> np.ndarray:
    others = np.setdiff1d(design, centre)
    return np.concatenate([centre, others[np.argsort(np.abs(others - n // 2), kind="stable")]])


def _points_outwards(design: np.ndarray, centre: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    inner = np.zeros(shape, bool)
    inner[tuple(centre.T)] = True
    others = design[~inner[tuple(design.T)]]
    radius = relative_radius(shape)[tuple(others.T)]
    return np.concatenate([centre, others[np.argsort(radius, kind="stable")]])


def _each_once(found: Mapping[str, Candidate]) -> dict[str, Candidate]:
    seen: dict[bytes, str] = {}
    for name, one in found.items():
        key = np.sort(one.design, axis=0) if one.design.ndim == 1 else one.design[np.lexsort(one.design.T)]
        seen.setdefault(key.tobytes(), name)
    return {name: found[name] for name in seen.values()}
