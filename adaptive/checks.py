"""Bad input ends here: one clear sentence that names the argument, what was given and what is expected."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, DType, Matrix, RandomState

__all__ = [
    "as_given",
    "choice",
    "complex_numbers",
    "finite",
    "generator",
    "integer",
    "positive",
    "real",
    "refuse_masked",
    "shape",
    "share",
    "short",
]


_TIMES = (np.datetime64, np.timedelta64, datetime.date, datetime.timedelta)


def finite(name: str, values: object, *, dtype: DType | None = float) -> np.ndarray:
    """Return ``values`` as an array of finite numbers.

    Parameters
    ----------
    name : str
        What the argument is called where the user gave it.
    values : array-like
        Numbers.
    dtype : dtype, default float
        What the array is converted to; None keeps the dtype.

    Raises
    ------
    ValueError
        If ``values`` is not numeric or holds NaN or infinity (the first position is named).

    Examples
    --------
    >>> finite("y", [1, 2])
    array([1., 2.])
    """
    as_given(name, values)
    try:
        given = np.asarray(values)
        if given.dtype.kind == "O" and any(isinstance(one, (str, bytes)) for one in given.flat):
            raise TypeError
        if given.dtype.kind in "US":  # NumPy would read "1" as a number
            raise TypeError
        if given.dtype.kind == "c" and dtype is not None and np.dtype(dtype).kind != "c":  # and drop imaginary parts
            raise TypeError("real ")
        array = given.astype(given.dtype if dtype is None and given.dtype.kind in "biufc" else dtype, copy=False)
    except (TypeError, ValueError, OverflowError) as problem:
        real = "real " if str(problem) == "real " else ""
        raise ValueError(
            f"{name} must be an array of {real}numbers, got {type(values).__name__} {short(values)}."
        ) from None
    if array.dtype.kind in "fc" and not np.isfinite(array).all():
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        at = f" at position {where[0] if len(where) == 1 else where}" if where else ""
        raise ValueError(f"{name} contains {array[where]}{at}; expected finite numbers (leave out what is not known).")
    return array


def complex_numbers(name: str, values: object) -> np.ndarray:
    """Return ``values`` as an array of finite complex numbers; single precision stays."""
    array = finite(name, values, dtype=None)
    return array if array.dtype.kind == "c" else array.astype(complex)


def refuse_masked(name: str, values: object) -> None:
    """Refuse cells that are masked, which NumPy reads as what stands below the mask."""
    if isinstance(values, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(values)
        if masked.any():
            where = tuple(int(k) for k in np.argwhere(masked)[0])
            at = f" at position {where[0] if len(where) == 1 else where}" if where else ""
            raise ValueError(f"{name} has a masked cell{at}; leave out what is not known.")


def as_given(name: str, values: object) -> None:
    """Refuse what NumPy makes numbers of without a word: cells that are masked, dates, spans of time.

    Parameters
    ----------
    name : str
        What the argument is called where the user gave it.
    values : array-like or frame

    Raises
    ------
    ValueError
        Names the first masked position, or the dtype.
    """
    refuse_masked(name, values)
    columns = getattr(values, "dtypes", None)
    kinds = [getattr(values, "dtype", None)] if columns is None else [*columns] if np.iterable(columns) else [columns]
    if isinstance(values, (list, tuple)) or any(getattr(kind, "kind", "") == "O" for kind in kinds):
        kinds += [type(one) for one in _entries(values) if isinstance(one, _TIMES)]
    for kind in kinds:
        if getattr(kind, "kind", "") in ("M", "m") or (isinstance(kind, type) and issubclass(kind, _TIMES)):
            said = kind.__name__ if isinstance(kind, type) else kind
            raise ValueError(
                f"{name} holds dates or times ({said}), which are not numbers; (dates - dates.min()) / "
                "np.timedelta64(1, 'D') are days."
            )


def _entries(values: Any) -> list[Any]:
    """The entries of a list, a frame or an array of objects; none where they are numbers."""
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        return []
    return list(array.flat) if array.dtype.kind in "OMm" else []


def positive(name: str, values: object, *, or_zero: bool = False, dtype: DType | None = float) -> np.ndarray:
    """Return ``values`` as an array of finite numbers > 0 (>= 0 with ``or_zero``)."""
    array = finite(name, values, dtype=dtype)
    bad = array < 0 if or_zero else array <= 0
    if bad.any():
        raise ValueError(f"{name} must be {'>= 0' if or_zero else '> 0'}, got {float(array[bad].flat[0])!r}.")
    return array


def real(value: object) -> float:
    """Return one real number as a float, NaN and infinity too; ValueError where it is none."""
    one = isinstance(value, (int, float, np.generic)) or (isinstance(value, np.ndarray) and value.ndim == 0)
    if not one or np.asarray(value).dtype.kind not in "biuf":
        raise ValueError(f"expected a number, got {short(value)}.")
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise ValueError("expected a number that floats can hold.") from None


def integer(name: str, value: object, *, minimum: int | None = None) -> int:
    """Return ``value`` as an int that is at least ``minimum``."""
    if isinstance(value, (bool, np.bool_, np.timedelta64)) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be an integer, got {type(value).__name__} {short(value)}.")
    if minimum is not None and value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {int(value)}.")
    return int(value)


def shape(name: str, array: ArrayLike | Matrix, expected: tuple[int | None, ...]) -> None:
    """Check ``array.shape`` against ``expected``, where None stands for any length."""
    given = tuple(np.shape(array)) if not hasattr(array, "shape") else tuple(array.shape)
    if len(given) != len(expected) or any(e is not None and g != e for g, e in zip(given, expected, strict=True)):
        wanted = ", ".join("any" if e is None else str(e) for e in expected) + ("," if len(expected) == 1 else "")
        raise ValueError(f"{name} must have shape ({wanted}), got {given}.")


def share(name: str, value: object) -> float:
    """Return a number strictly between 0 and 1, a level of an interval or a probability, as a float."""
    try:
        number = real(value)
    except ValueError:
        number = np.nan
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name} must lie between 0 and 1, got {short(value)}.")
    return number


def choice(name: str, value: object, known: Iterable[str]) -> str:
    """Return ``value`` if it is one of the ``known`` names; else say what is known, and what was perhaps meant."""
    names = list(known)
    if isinstance(value, str) and value in names:
        return value
    close: list[str] = []
    if isinstance(value, str) and value:
        close = [name for name in names if name.startswith(value)] or get_close_matches(value, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"{name} must be one of {', '.join(map(repr, names))}, got {short(value)}.{hint}")


def generator(random_state: RandomState | Sequence[int] = None) -> np.random.Generator:
    """Return a ``numpy.random.Generator`` for None, an int, a SeedSequence, a Generator or a RandomState."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4))
    if random_state is None or isinstance(random_state, (int, np.integer, np.random.SeedSequence, list, tuple)):
        return np.random.default_rng(random_state)
    raise ValueError(
        "random_state must be None, an integer, a SeedSequence, a Generator or a RandomState, "
        f"got {short(random_state)}."
    )


def short(value: object) -> str:
    """Return how Python writes a value, on one line and at most 60 letters long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
