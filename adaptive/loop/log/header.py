"""The first line of a log: what a design must agree with to continue it."""

from __future__ import annotations

import functools
import platform
import warnings
from collections.abc import Mapping, Sized
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool as pools
from adaptive.loop.candidates import Candidates
from adaptive.loop.log.event_log import LogError
from adaptive.loop.log.events import check_keys
from adaptive.loop.log.plain_data import encode, is_plain
from adaptive.names import public_name

if TYPE_CHECKING:
    from adaptive.types import Estimator

__all__ = [
    "check_header",
    "check_pool",
    "digest",
    "header",
    "parameters_of",
    "recorded_arguments",
    "versions",
]

# The arguments of a design that its log records as they are, and that `load` takes from there.
RECORDED = ("scorer", "exploration", "batch_size", "joint", "initial", "repeat")
# Those that a log records alike where they were given; it may be older than they are.
OPTIONAL = ("price",)
# Those of which it keeps a digest only: they must be given again, the same.
DIGESTED = ("target", "cost", "mask")
_FUNCTION = "function "
_IRRELEVANT = ("n_jobs", "verbose")  # results do not depend on them


def versions() -> dict[str, str]:
    """Return the versions that results can depend on."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    return found | {name: _version(name) for name in ("adaptive-designs", "numpy", "scipy", "scikit-learn")}


@functools.cache  # it reads and parses a file each time, and a server opens a design per page
def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def describe_estimator(estimator: Estimator) -> dict[str, Any]:
    """Return public name and parameters of an estimator, and whether it is fitted, as plain data."""
    described: dict[str, Any] = {"class": public_name(type(estimator))}
    found = parameters_of(estimator, deep=True)
    if found is not None:
        relevant = {key: value for key, value in found.items() if key.split("__")[-1] not in _IRRELEVANT}
        learner = getattr(estimator, "last", estimator)  # of a pipeline's view, whose transformers are always fitted
        described["fitted"] = any(key.endswith("_") and not key.startswith("_") for key in vars(learner))
        described["parameters"] = {key: digest(relevant[key]) for key in sorted(relevant)}
    return described


def parameters_of(estimator: Estimator, *, deep: bool) -> dict[str, Any] | None:
    """Return the parameters of an estimator by name, ``deep`` those of its parts as well; None where it names none."""
    return estimator.get_params(deep=deep) if hasattr(estimator, "get_params") else None


def describe_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a design (those in ``RECORDED``, ``OPTIONAL`` and ``DIGESTED``) as plain data."""
    scorer = arguments["scorer"]
    recorded = {key: arguments[key] for key in RECORDED}
    recorded["scorer"] = scorer if isinstance(scorer, str) else f"{_FUNCTION}{digest(scorer)}"
    recorded |= {key: arguments[key] for key in OPTIONAL if arguments.get(key) is not None}
    return recorded | {key: digest(arguments[key]) for key in DIGESTED}


def digest(value: object) -> Any:
    """Return short plain data that changes when ``value`` does: itself, a hash of its content, the name of a function.

    Examples
    --------
    >>> digest(0.5), digest(np.array([1, 2])), digest(len)
    (0.5, '[1, 2]', 'builtins.len')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    if callable(value) and hasattr(value, "__qualname__"):
        return public_name(value)
    if isinstance(value, Sized) and is_plain(value) and len(value) <= 8:
        return repr(value.tolist() if isinstance(value, np.ndarray) else value)
    if isinstance(value, Sized) or hasattr(value, "shape"):
        return f"{type(value).__name__} {pools.fingerprint(value)[:16]}"
    return public_name(type(value))


def header(
    seed: int,
    candidates: Candidates,
    estimator: Estimator,
    arguments: Mapping[str, Any],
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the header of a new log.

    Parameters
    ----------
    seed : int
    candidates : Candidates
    estimator : estimator to start from
    arguments : dict
        Those in ``RECORDED``, ``OPTIONAL`` and ``DIGESTED``.
    settings : dict, optional
        As `adaptive.loop.log.plain_settings` makes them.
    """
    return {
        "versions": versions(),
        "seed": seed,
        "pool": candidates.summary(),
        "estimator": describe_estimator(estimator),
        "arguments": describe_arguments(arguments),
        **({"settings": dict(settings)} if settings else {}),
    }


def recorded_arguments(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with which a log was started, as far as it records them."""
    arguments = {name: header["arguments"][name] for name in (*RECORDED, *OPTIONAL) if name in header["arguments"]}
    if arguments["scorer"].startswith(_FUNCTION):
        del arguments["scorer"]
    return {**arguments, "random_state": header["seed"]}


def check_pool(logged: Mapping[str, Any], candidates: Candidates, path: str) -> None:
    """Compare the pool of a log with that of the design that wants to continue it; LogError if they differ."""
    check_keys(path, 1, "a header", logged, ("versions", "seed", "pool", "estimator", "arguments"))
    check_keys(path, 1, "a header", logged["arguments"], (*RECORDED, *DIGESTED))
    there, pool = logged["pool"], candidates.summary()
    if there != pool:
        changed = _changed_parts(there.get("parts"), pool.get("parts"))
        if changed:
            raise LogError(f"candidates are not those of log {path}: {changed} is not what it was.")
        raise LogError(f"candidates are not those of log {path}: it has {_pool(there)}, got {_pool(pool)}.")


def _changed_parts(there: Mapping[str, str] | None, here: Mapping[str, str] | None) -> str:
    """Return the first part of a pool that differs, with the number of others; "" where parts do not tell."""
    if not there or not here or list(there) != list(here):
        return ""
    differ = [name for name in there if there[name] != here[name]]
    others = f" (and {len(differ) - 1} more)" if len(differ) > 1 else ""
    return f"{differ[0]}{others}" if differ else ""


def check_header(
    logged: Mapping[str, Any], seed: int, estimator: Estimator, arguments: Mapping[str, Any], path: str
) -> None:
    """Compare everything else; LogError names the first difference, other versions are a warning.

    Parameters
    ----------
    logged : dict
        The header of the log.
    seed, estimator, arguments
        As for `header`, of the design that wants to continue it.
    path : for the message
    """
    theirs = _compared(logged["seed"], logged["estimator"], logged["arguments"])
    ours = _compared(seed, describe_estimator(estimator), describe_arguments(arguments))
    for what, there in theirs.items():
        here = ours.get(what)
        if encode(there) != encode(here):
            again = f"; give {what}= again, as it was" if str(there).startswith(_FUNCTION) else ""
            raise LogError(f"{what} is not that of log {path}: it has {there!r}, got {here!r}{again}.")
    found = versions()
    changed = [
        f"{name} {old} -> {found.get(name)}" for name, old in logged["versions"].items() if found.get(name) != old
    ]
    if changed:
        warnings.warn(
            f"log {path} was written with other versions ({', '.join(changed)}); "
            "a replay may differ in the last digits.",
            stacklevel=3,
        )


def _compared(seed: int, estimator: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries to compare, by the name that a message gives them."""
    return {
        "estimator": estimator["class"],
        "whether the estimator is fitted": estimator.get("fitted"),
        **{f"estimator parameter {name}": value for name, value in estimator.get("parameters", {}).items()},
        **{name: arguments[name] for name in (*RECORDED, *DIGESTED)},
        **{name: arguments.get(name) for name in OPTIONAL},
        "random_state": seed,
    }


def _pool(pool: Mapping[str, Any]) -> str:
    if pool["kind"] == "callable":
        return "a callable pool"
    return f"{pool['length']} candidates with fingerprint {str(pool['fingerprint'])[:12]}"
