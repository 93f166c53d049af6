"""Who asks: a user by a token of its own, by the cookie made of that, or by a proxy's word."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers

from clew import ConfigError
from clew.support.settings import check_fields
from clew_serve.access.cookies import cookie_in
from clew_serve.access.roles import ROLES, Role

MIN_TOKEN: Final = 16
"""Characters that a token needs: whoever guesses one is that user."""

MAX_NAME: Final = 256

OPERATOR: Final = "the operator"
"""Who rules, where the user has no name."""


@dataclass(frozen=True, slots=True)
class User:
    """Who may ask, by the secret `token`, and what they may do.

    The runs that they begin belong to `name`, and they see no others, but that the role "rule" sees
    those that wait for a decision. An admin sees all, and may
    have no name: then the runs belong to nobody. Raises `ConfigError` for a token that can be
    guessed, and for a name that is missing.
    """

    name: str = ""
    role: Role = "admin"
    token: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Refuse what would let in somebody else."""
        check_fields(self)
        if not self.name and self.role != "admin":
            raise ConfigError("a user needs a name: only an admin may do without", field="name")
        if len(self.name) > MAX_NAME or not self.name.isprintable():
            raise ConfigError(
                f"the name of a user has {MAX_NAME} visible characters at most", field="name"
            )
        if self.token and (len(self.token) < MIN_TOKEN or not _is_word(self.token)):
            message = (
                f"a token has {MIN_TOKEN} characters at least, of ASCII and without spaces: "
                "make one with `openssl rand -hex 32`"
            )
            raise ConfigError(message, field="token")

    @property
    def owner(self) -> str | None:
        """Whose runs they see; None for everybody's."""
        return None if self.role == "admin" else self.name

    @property
    def reviews(self) -> bool:
        """Whether they decide on others' runs that wait; who begins runs does not."""
        return self.role == "rule"

    @property
    def begins_for(self) -> str | None:
        """Whose the runs are that they begin; None for nobody's."""
        return self.name or None

    @property
    def by(self) -> str:
        """Who is on record for what they decide."""
        return self.name or OPERATOR


def _is_word(token: str) -> bool:
    return token.isascii() and token.isprintable() and " " not in token


def new_token() -> str:
    """A token of 256 random bits."""
    return secrets.token_urlsafe(32)


def read_users(path: Path) -> list[User]:
    """The users in a file: one token alone, or lines `NAME ROLE TOKEN`.

    Empty lines, and those that begin with #, are passed over. Raises `ConfigError`, which shows no
    token.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise ConfigError(f"the tokens in {path} cannot be read: {why}") from error
    rows = [
        (number, line.split())
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not rows:
        raise ConfigError(f"{path} has no token: write one, or lines NAME ROLE TOKEN")
    return [_user(path, number, words, alone=len(rows) == 1) for number, words in rows]


def _user(path: Path, number: int, words: list[str], *, alone: bool) -> User:
    try:
        match words:
            case [token] if alone:
                return User(token=token)
            case [name, ("look" | "rule" | "run" | "admin") as role, token]:
                return User(name, role, token)
            case _:
                raise ConfigError(f"write NAME ROLE TOKEN, with a role of {', '.join(ROLES)}")
    except ConfigError as error:
        raise ConfigError(f"{path}, line {number}: {error}", field=error.field) from error


class Users:
    """All who may ask; each request is compared with all tokens, in constant time.

    `proxy_header` names the header in which a proxy says who has signed in. It counts beside the
    token of an admin only, which the proxy sends, and nobody who comes past the proxy has. Such a
    user has its role of `roles`, else "run". Raises `ConfigError` for two with one token or name.
    """

    def __init__(
        self, users: Iterable[User], proxy_header: str = "", roles: Mapping[str, Role] | None = None
    ) -> None:
        self._users = tuple(users)
        self._header = proxy_header
        self._roles: dict[str, Role] = dict(roles or {})
        for what in ("token", "name"):
            values = [getattr(user, what) for user in self._users]
            if len({*values}) < len(values):
                raise ConfigError(f"two users have one {what}: give each its own", field=what)
        tokens = "\n".join(sorted(user.token for user in self._users))
        self.cookie = f"clew-{hashlib.sha256(tokens.encode()).hexdigest()[:12]}"
        """The name of the cookie: servers on other ports of a machine have other ones."""

    def by_token(self, token: str) -> User | None:
        """Who has this token."""
        return self._match(token, {user.token: user for user in self._users if user.token})

    def by_cookie(self, headers: Headers) -> User | None:
        """Who has the cookie of a request."""
        value = cookie_in(headers, self.cookie)
        return self._match(value, {self.cookie_of(user): user for user in self._users})

    def cookie_of(self, user: User) -> str:
        """What a user's cookie holds: it proves that they had the token, and does not have it."""
        return hmac.new(user.token.encode(), b"clew-serve cookie", "sha256").hexdigest()

    def by_header(self, headers: Headers) -> User | None:
        """Who has the bearer token of a request; behind a proxy, whom that names."""
        user = self.by_token(_bearer(headers))
        if user is None or not self._header:
            return user
        names = headers.getlist(self._header)
        if not names:
            return user
        if user.role != "admin" or len(names) > 1:
            return None
        try:
            return User(names[0], self._roles.get(names[0], "run"))
        except ConfigError:
            return None

    def has_wrong_token(self, headers: Headers) -> bool:
        """Whether a request has a bearer token, and one that nobody has."""
        token = _bearer(headers)
        return bool(token) and self.by_token(token) is None

    @staticmethod
    def _match(secret: str, users: Mapping[str, User]) -> User | None:
        match = None
        for known, user in users.items():
            if hmac.compare_digest(known.encode(), secret.encode()):
                match = user
        return match if secret else None


def _bearer(headers: Headers) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
