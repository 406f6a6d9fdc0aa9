"""One rule of verdicts: what a claim's stored value says, by checks that were written down beside the claim.

    check holds        the whole interval lies inside what the claim allows       -> "reproduced"
    check fails        the whole interval lies outside                            -> "not reproduced"
    neither            the interval crosses                                       -> "could not be told"
    claim              fails with any of its checks, cannot tell with any, else holds

``experiments/rules/*.json`` holds the checks of every claim: where in its value the number or interval stands, what is
allowed (``experiments/judging.py`` has the language), and what kind of number it is:

``exact``
    An identity, a count, a bound, or the outcome of this one case, of which alone the claim speaks: compared as it is.
``timed``
    Seconds, memory, ratios of times: compared as it is, and said of this processor.
``paired``
    A 95% interval over independent units (heads, people, sets, splits, seeds: ``over`` says which).
``over units``
    One number for each of five units or more, independent of each other (``over`` says which): the 95% interval of
    their mean by Student's t; of ratios, with ``"log": true``, of their geometric mean.
``share``
    A share of ``of`` independent units: Wilson's 95% interval.
``one run``
    A number that other noise, splits or seeds would change, without an interval, or with one over what are no
    independent units (slices of one head; ``over`` says which): a miss is a miss, but a hit shows nothing.

Claims that tests show need no entry. A claim that no number decides has ``{"read": why}``, and its verdict is what a
person read. ``python -m experiments.verdicts`` says which stored verdicts differ from the rule, and exits with 1 where
one does; ``--write`` mends them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from experiments.equivalence import all_of
from experiments.judging import BOUNDS, Unreadable, judge

__all__ = ["KINDS", "WORDS", "Unreadable", "basis", "checks_of", "verdict"]

RULES = Path(__file__).resolve().parent / "rules"
KINDS = ("exact", "timed", "paired", "over units", "share", "one run")
KEYS = {*BOUNDS, "at", "kind", "take", "plus_minus", "times", "over", "of", "minus", "divide", "log", "count", "unless"}
KEYS |= {"end", "against", "says", "only", "miss"}
WORDS: dict[bool | None, str] = {True: "reproduced", False: "not reproduced", None: "could not be told"}
PASSED = re.compile(r"\d+ passed")


def verdict(id: str, value: Any) -> str | None:
    """Return the verdict that the rule gives; None where a person's reading decides.

    Raises
    ------
    KeyError
        If the claim has no checks.
    Unreadable
        If a check finds no number where it looks.
    """
    checks = checks_of(id, value)
    if isinstance(checks, str):
        return None
    return WORDS[all_of(judge(one, value) for one in checks)]


def checks_of(id: str, value: Any) -> list[dict[str, Any]] | str:
    """Return the checks of a claim; a text, why a person reads it; none where tests show it."""
    found = rules().get(id)
    if found is not None:
        return found["read"] if isinstance(found, dict) else found
    if _by_tests(value):
        return []
    raise KeyError(f"claim {id!r} has no checks in experiments/rules: write down what of its value decides.")


def basis(id: str, value: Any) -> str:
    """Return in words what the verdict rests on: kinds of numbers, units of intervals."""
    checks = checks_of(id, value)
    if isinstance(checks, str):
        return "read by a person: " + checks
    if not checks:
        return "tests"
    return "; ".join(dict.fromkeys(_said(one) for one in checks))


def _said(check: Mapping[str, Any]) -> str:
    if "any" in check:
        return " or ".join(dict.fromkeys(_said(one) for several in check["any"] for one in several))
    kind = check["kind"]
    if kind in ("paired", "over units"):
        return f"{check['end'] + ' end of a ' if 'end' in check else ''}95% interval over {check['over']}"
    if kind == "share":
        return f"share of {check['of']} {check.get('over', 'units')}"
    if kind == "one run" and "over" in check:
        return f"interval over {check['over']}, which are not independent of each other"
    return {"exact": "compared as it is", "timed": "timed on this processor", "one run": "one run, no interval"}[kind]


def _by_tests(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all("::" in name and isinstance(one, str) and PASSED.fullmatch(one) for name, one in value.items())
    )


@cache
def rules() -> dict[str, Any]:
    """Return the checks of every claim, read from ``experiments/rules``; refused where one is malformed."""
    found: dict[str, Any] = {}
    for path in sorted(RULES.glob("*.json")):
        for id, checks in json.loads(path.read_text(encoding="utf-8")).items():
            if id in found:
                raise ValueError(f"claim {id!r} has checks in two files, the second is {path.name}.")
            if not (isinstance(checks, dict) and set(checks) == {"read"}):
                for one in checks:
                    _refuse_malformed(id, one)
            found[id] = checks
    return found


def _refuse_malformed(id: str, check: Mapping[str, Any]) -> None:
    if "any" in check:
        if not set(check) <= {"any", "at"}:
            raise ValueError(f"a check of claim {id!r} is malformed: {dict(check)}.")
        for one in (one for several in check["any"] for one in several):
            _refuse_malformed(id, one)
        return
    if check.get("kind") not in KINDS or not set(check) <= KEYS:
        raise ValueError(f"a check of claim {id!r} is malformed: {dict(check)}; keys {sorted(KEYS)}, kinds {KINDS}.")
    if (check["kind"] in ("paired", "over units") and "over" not in check) or (
        check["kind"] == "share" and "of" not in check
    ):
        raise ValueError(f"a check of claim {id!r} does not say over which units its interval is.")


def _differing(write: bool) -> list[str]:
    from experiments import claims

    lines, entries = [], claims.load()
    for entry in entries:
        try:
            by_rule = verdict(entry["id"], entry["value"]) if entry["verdict"] != "not run" else None
        except (KeyError, Unreadable) as error:
            lines.append(f"{entry['id']}: {error.args[0]}")
            continue
        if by_rule is not None and by_rule != entry["verdict"]:
            lines.append(f"{entry['id']}: {entry['verdict']}, by the rule {by_rule}")
            if write:
                _mend(entry, by_rule)
        if entry["verdict"] != "not run" and entry["by"] != basis(entry["id"], entry["value"]):
            lines.append(f"{entry['id']}: does not say what its verdict rests on")
            entry["by"] = basis(entry["id"], entry["value"])
    if write:
        claims.write(entries)
    return lines


def _mend(entry: dict[str, Any], by_rule: str) -> None:
    """Exchange a verdict; the reason says what stood there, once."""
    rests = basis(entry["id"], entry["value"])
    said = f"The verdict was {entry['verdict']!r} until one rule gave all verdicts ({rests})."
    entry["verdict"] = by_rule
    entry["reason"] = f"{entry['reason']} {said}".strip()


def main() -> int:
    """Compare the stored verdicts with the rule; see the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="mend what differs")
    lines = _differing(parser.parse_args().write)
    print(*lines, f"{len(lines)} differ from the rule", sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
