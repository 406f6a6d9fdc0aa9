"""Panels that send people and pay them: who comes is known by a number in the link, and is sent back at the end.

GET /?PROLIFIC_PID=5f2c...                                      a session of that participant, here or on another device
at the end  https://app.prolific.com/submissions/complete?cc=C1  fixed in the file, never taken from a link
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from adaptive.serve.refusals import Refused

__all__ = ["Panel"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_PARTICIPANT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PLACE = "{participant}"


@dataclass(frozen=True)
class Panel:
    """Panel that people come from.

    Attributes
    ----------
    participant : str
        Name of the parameter that holds who somebody is, as the panel writes it into the link: "PROLIFIC_PID", SONA's
        "survey_code", a name of one's own in Qualtrics.
    done : str
        https address that people are sent to at the end, also those who do not agree; ``{participant}`` in it is
        filled in. Empty: they stay.
    consent : str
        Text to agree to before anything is asked; empty: none.
    screen_out : int
        A test ends, and leads to ``done``, after so many wrong answers to attention items; 0: never.

    Raises
    ------
    ValueError
        If the name is not one, or the address is not an https one.

    Examples
    --------
    >>> panel = Panel("PROLIFIC_PID", "https://panel.example.org/complete?who={participant}")
    >>> panel.back("5f2c-9")
    'https://panel.example.org/complete?who=5f2c-9'
    >>> panel.participant_of({"PROLIFIC_PID": "5f2c-9"})
    '5f2c-9'
    """

    participant: str
    done: str = ""
    consent: str = ""
    screen_out: int = 0

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.participant):
            raise ValueError(
                f'participant must be the name of a parameter, such as "PROLIFIC_PID", got {self.participant!r}.'
            )
        if self.done:
            parts = urlsplit(self.done)
            host = parts.hostname or ""
            strange = re.findall(r"\{[^}]*\}?", self.done.replace(_PLACE, ""))
            if parts.scheme != "https" or not host or "{" in parts.netloc or strange:
                raise ValueError(
                    f"done must be an https address, with {_PLACE} behind its host if at all, got {self.done!r}."
                )

    def participant_of(self, parameters: Mapping[str, str]) -> str | None:
        """Return who a link says that somebody is; None where it says nothing, refused where that is no such number."""
        found = parameters.get(self.participant)
        if found is None:
            return None
        if not _PARTICIPANT.fullmatch(found):
            raise Refused(
                400, f"The {self.participant} of this link is not one of the panel's; open the link that you were sent."
            )
        return found

    def back(self, participant: str | None) -> str:
        """Return the address that somebody goes to at the end; empty where there is none."""
        return self.done.replace(_PLACE, quote(participant or "", safe=""))
