"""Settings of a design that its log holds as they are, so that who goes on need not give them again: target, stops.

What the header of a log has beside them (scorer, batches, seed, ...) is `adaptive.loop.log.header`'s.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

from adaptive.loop.at_most import AtMost
from adaptive.loop.log.plain_data import encode, is_plain
from adaptive.loop.log.storage import LogError
from adaptive.loop.stopping import (
    AllOf,
    AnyOf,
    BestMoveKnown,
    InformationLeft,
    MaxCost,
    MaxSeconds,
    MaxSteps,
    StablePredictions,
    StoppingRule,
    TargetDeviation,
)

__all__ = ["plain_settings", "settings_of"]

COMBINED = {rule.__name__: rule for rule in (AllOf, AnyOf)}
SINGLE = {
    rule.__name__: rule
    for rule in (
        AtMost, BestMoveKnown, InformationLeft, MaxCost, MaxSeconds, MaxSteps, StablePredictions, TargetDeviation,
    )
}  # fmt: skip
LONGEST = 10_000  # characters; a target of many inputs has to be given again


def plain_settings(target: Any, stop: Any) -> dict[str, Any]:
    """Return what a log keeps of them: entries "target" and "stop", each only where it is plain and short.

    Examples
    --------
    >>> plain_settings("centre", MaxSteps(20) | TargetDeviation(0.01))["stop"]["rules"][1]
    {'rule': 'TargetDeviation', 'limit': 0.01}
    >>> plain_settings(None, lambda design: True)
    {}
    """
    settings = {"target": target, "stop": _as_data(stop)}
    return {name: value for name, value in settings.items() if value is not None and _short(value)}


def settings_of(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments ``target`` and ``stop`` as far as the header of a log has them.

    Raises
    ------
    LogError
        If it names a rule that there is not.

    Examples
    --------
    >>> settings_of({"settings": plain_settings(None, MaxSteps(20) & MaxCost(3.0))})
    {'stop': AllOf(MaxSteps(20), MaxCost(3))}
    """
    settings = dict(header.get("settings", {}))
    if "stop" in settings:
        settings["stop"] = _as_rule(settings["stop"])
    return settings


def _short(value: Any) -> bool:
    return is_plain(value) and len(json.dumps(encode(value))) <= LONGEST


def _as_data(rule: Any) -> dict[str, Any] | None:
    """Return a rule of the library as plain data; None of any other."""
    name = type(rule).__name__
    if COMBINED.get(name) is type(rule):
        parts = [_as_data(part) for part in rule.rules]
        return None if None in parts else {"rule": name, "rules": parts}
    if SINGLE.get(name) is not type(rule):
        return None
    return {"rule": name, **{one: getattr(rule, one) for one in inspect.signature(type(rule)).parameters}}


def _as_rule(data: Mapping[str, Any]) -> StoppingRule:
    given = dict(data)
    name = given.pop("rule", None)
    if name in COMBINED:
        return COMBINED[name](*map(_as_rule, given["rules"]))
    if name not in SINGLE:
        raise LogError(f"the log names the stopping rule {name!r}, which this version does not have; give stop=.")
    return SINGLE[name](**given)
