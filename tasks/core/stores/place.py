"""Settings of a store → where it is, and the only ways in which it is spoken of: without user, password and key."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from tasks.core.errors import InputError
from tasks.core.masking import masked, splits_password

_SHOWN = 300


@dataclass(frozen=True)
class Place:
    """A server and what is ours on it."""

    url: str = field(repr=False)
    key: str = field(repr=False)
    prefix: str
    """Names of all that is ours start with it."""
    seconds: float
    """Of one request."""

    @property
    def shown(self) -> str:
        """Without user and password, also where one has `/`, `?` or `#` in it."""
        parts = self._parts
        if not parts.scheme or splits_password(self.url):
            return "an address that is no URL"
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    @property
    def login(self) -> tuple[str, str] | None:
        """User and password, where the URL has them."""
        parts = self._parts
        return (unquote(parts.username), unquote(parts.password or "")) if parts.username else None

    def failed(self, what: str, why: object, hint: str) -> InputError:
        """The error that says so, without any secret."""
        said = " ".join(str(why).split()) or type(why).__name__
        password = self._parts.password or ""
        said = masked(said, (self.key, password, unquote(password)))
        return InputError(f"{what} at {self.shown} cannot be used: {said[:_SHOWN]}", hint)

    @property
    def _parts(self) -> SplitResult:
        try:
            return urlsplit(self.url)
        except ValueError:
            return urlsplit("")
