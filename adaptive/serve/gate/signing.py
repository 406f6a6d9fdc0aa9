"""Signatures on what a browser brings back: the cookie of a session, and the one question that a form is about.

A session's id is 128 random bits; the store keeps its hash only. A form's token names session and place, so that a form
of another session, of another question, or made elsewhere is none.
"""

from __future__ import annotations

import hashlib
import secrets

from itsdangerous import BadData, URLSafeSerializer

__all__ = ["Signer", "hashed", "new_secret"]


def new_secret() -> str:
    """Return 128 random bits as text."""
    return secrets.token_hex(16)


def hashed(secret: str) -> bytes:
    """Return what the store keeps of a secret."""
    return hashlib.sha256(secret.encode()).digest()


class Signer:
    """Signs cookies and forms.

    Parameters
    ----------
    key : bytes

    Examples
    --------
    >>> signer = Signer(b"k" * 32)
    >>> signer.is_token(signer.token(7, "3.0"), 7, "3.0"), signer.is_token(signer.token(7, "3.0"), 8, "3.0")
    (True, False)
    """

    def __init__(self, key: bytes) -> None:
        how = {"digest_method": hashlib.sha256, "key_derivation": "hmac"}
        self._cookies = URLSafeSerializer(key, salt="adaptive session", signer_kwargs=how)
        self._forms = URLSafeSerializer(key, salt="adaptive form", signer_kwargs=how)

    def cookie(self, secret: str) -> str:
        """Return a session's secret, signed."""
        return str(self._cookies.dumps(secret))

    def secret(self, cookie: str) -> str | None:
        """Return the secret of a cookie that was signed here, else None."""
        try:
            found = self._cookies.loads(cookie) if len(cookie) < 500 else None
        except BadData:
            return None
        return found if isinstance(found, str) else None

    def token(self, session: int, place: str) -> str:
        """Return what a form about this place carries."""
        return str(self._forms.dumps([session, place]))

    def place(self, token: str, session: int) -> str | None:
        """Return the place of a token that was made for this session, else None."""
        try:
            found = self._forms.loads(token) if len(token) < 500 else None
        except BadData:
            return None
        if not isinstance(found, list) or len(found) != 2 or found[0] != session:
            return None
        return str(found[1])

    def is_token(self, token: str, session: int, place: str) -> bool:
        """Return whether a token was made for this session and place."""
        return self.place(token, session) == place
