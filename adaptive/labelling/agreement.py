"""A table of people who have labelled: how much, how often as others did, how often they are believed to be right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adaptive.estimators.linear.annotators.rates import Skill

__all__ = ["people_table"]


def people_table(
    said: Sequence[tuple[int, str, Any]], skills: Mapping[str, Skill], names: Mapping[str, str] | None = None
) -> dict[str, list[Any]]:
    """Return columns annotator, labels, agreement, and with skills also skill, low and high (its 90% interval).

    Parameters
    ----------
    said : sequence of (row, person, label)
        Answers that stand.
    skills : mapping of people to their skills
        Without any there are no such columns.
    names : mapping of people to what they are called, optional

    Returns
    -------
    dict of lists
        A row for each person, in the order in which they first answered; agreement is the share of others' labels of
        the same rows that are equal, None where there are none.

    Examples
    --------
    >>> people_table([(0, "Ann", "yes"), (0, "Bob", "no"), (1, "Ann", "no")], {})
    {'annotator': ['Ann', 'Bob'], 'labels': [2, 1], 'agreement': [0.0, 0.0]}
    """
    table: dict[str, list[Any]] = {"annotator": [], "labels": [], "agreement": []}
    table |= {"skill": [], "low": [], "high": []} if skills else {}
    by_row: dict[int, list[tuple[str, Any]]] = {}
    for row, who, label in said:
        by_row.setdefault(row, []).append((who, label))
    for who in dict.fromkeys(one for _, one, _ in said):
        own = [(row, label) for row, one, label in said if one == who]
        beside = [other == label for row, label in own for one, other in by_row[row] if one != who]
        table["annotator"].append((names or {}).get(who, who))
        table["labels"].append(len(own))
        table["agreement"].append(round(sum(beside) / len(beside), 3) if beside else None)
        if skills:
            found = skills.get(who)
            for key, name in (("skill", "mean"), ("low", "low"), ("high", "high")):
                table[key].append(None if found is None else round(float(getattr(found, name)), 4))
    return table
