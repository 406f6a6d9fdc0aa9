"""Admission of people: by the link of a panel, by an invitation, or anybody; once for each form, and not too often.

secret = admission.begin(address, participant="5f2c")     the one session of that participant
secret = admission.begin(address, invitation="9a0b...")   the session that the invitation is for
secret = admission.begin(address, form="token")           a new one, the same for the same form
"""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
from typing import TYPE_CHECKING

from adaptive.serve.people import Rate
from adaptive.serve.refusals import Refused
from adaptive.serve.rendering import plain_name

if TYPE_CHECKING:
    from adaptive.serve.pages import Desk
    from adaptive.serve.people import People

__all__ = ["Admission", "is_nearby"]

MOST_NAME = 80  # letters of a labeller's name
AT_ONCE = 300  # sessions that one address may begin within a moment: a lecture hall has one address
PER_SECOND = 0.5  # after that
NEARBY = (20.0, 300)  # a second, and at once: of this machine, where a proxy may stand, and of nobody knows whom
UNKNOWN = "This link is not an invitation of this server."


class Admission:
    """Who may begin, and how many from one address.

    Parameters
    ----------
    desk : Desk
        Its panel, if any, says who comes in.
    people : People
    invitations : bool
        Whether only those come in who have a link.
    key : bytes
        Of the server: sessions of forms follow from it.
    at_once, per_second : float
        Sessions that one address may begin at once, and later.
    """

    def __init__(
        self, desk: Desk, people: People, invitations: bool, key: bytes, *, at_once: int = AT_ONCE,
        per_second: float = PER_SECOND,
    ) -> None:  # fmt: skip
        self.panel, self.texts, self._heard = desk.panel, desk.texts, desk.heard
        self.people, self.invitations, self._key = people, invitations, key
        self._salt = secrets.token_bytes(16)  # addresses are kept in memory only, and not as they are
        self._starts, self._nearby = Rate(per_second, at_once), Rate(*NEARBY)

    def begin(
        self, address: str, *, participant: str = "", invitation: str = "", name: str = "", form: str = ""
    ) -> str:
        """Return the secret of a session that has begun.

        Raises
        ------
        Refused
            If this person may not begin, or too many have begun from this address.
        """
        rate = self._nearby if address == "" or is_nearby(address) else self._starts
        if not rate.allows(self._hashed(address)):
            raise Refused(429, "Too many people are starting at once; please wait a moment.")
        if not self.invitations:  # those stay open
            self.people.sweep(self._heard)
        name = plain_name(name)[:MOST_NAME]
        if self.panel is not None:
            if not participant:
                raise Refused(403, self.texts["panel"])
            return self.people.admit(participant)
        if invitation:
            person = self.people.find(invitation)
            if person is None:
                raise Refused(404, UNKNOWN)
            self.people.begin(person, name or None)
            return invitation
        if self.invitations:
            raise Refused(403, self.texts["invitation"])
        again = hashlib.blake2b(form.encode(), key=self._key, digest_size=16).hexdigest() if form else None
        return self.people.add(name or None, secret=again)[0]

    def _hashed(self, address: str) -> bytes:
        return hashlib.blake2b(_house(address).encode(), key=self._salt, digest_size=8).digest()


def is_nearby(address: str) -> bool:
    """Return whether an address is this machine's own.

    Examples
    --------
    >>> is_nearby("127.0.0.1"), is_nearby("::1"), is_nearby("192.0.2.1"), is_nearby("nobody")
    (True, True, False, False)
    """
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _house(address: str) -> str:
    """Return what one subscriber has: an address, of IPv6 the network."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else address
