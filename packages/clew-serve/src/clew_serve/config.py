"""The settings of a server: the fields are the options of `clew serve`, by the same names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clew import Agent, ConfigError
from clew.stores import Where
from clew.support.http_address import HttpAddress
from clew.support.settings import check_fields
from clew.workers import QUEUE
from clew_serve.access.roles import Role
from clew_serve.access.users import User
from clew_serve.agents import check_name


@dataclass(frozen=True, kw_only=True)
class ServeConfig:
    """How runs are served. Raises `ConfigError` for what does not fit, or would let others in."""

    store: Where = field(default=None, repr=False)  # there may be a password in it
    """Where the runs are kept: a store, or what `open_store` takes."""

    agents: Mapping[str, Agent[Any] | str] = field(default_factory=dict[str, "Agent[Any] | str"])
    """The agents that may be asked, by name: agents, agent files, or `module:name`. No others are
    made from records."""

    host: str = "127.0.0.1"
    """The address to listen at. Others than this machine reach any other one than the default."""

    port: int = 8722
    """The port to listen at; 0 is any that is free."""

    users: Sequence[User] = ()
    """Who may ask. Without any, there is one admin, whose new token is printed as a link."""

    read_only: bool = False
    """Only show runs: nobody can begin, steer or rule on any, and none are executed."""

    allowed_hosts: Sequence[str] = ()
    """Names by which clients reach the server, beside those of this machine itself."""

    allowed_origins: Sequence[str] = ()
    """Origins (`https://app.example`) whose pages may send requests, beside the server's own."""

    proxy_header: str = ""
    """The header in which a proxy says who has signed in; it counts beside an admin's token only.
    """

    proxy_roles: Mapping[str, Role] = field(default_factory=dict[str, Role])
    """The roles of users whom the proxy names; others have the role "run"."""

    queue: str = QUEUE
    """The queue of the runs that the server begins."""

    work: bool = True
    """Execute the runs in this process. Otherwise workers elsewhere do (`clew worker`)."""

    at_once: int = 8
    """The number of concurrent runs."""

    day_cost: float | None = None
    """US dollars that the queue may spend in a day (UTC), over all its workers; None: no bound."""

    day_tokens: int | None = None
    """The same, in tokens."""

    on_held: str = ""
    """A command or URL that is told of held runs: at least once, and with no contents."""

    accept_change: bool = False
    """Also continue runs that an earlier form of an agent began, as workers do."""

    max_body: int = 20_000_000
    """The bytes that the body of a request may have."""

    patience: float = 20.0
    """The seconds that a client has to send the head of a request, and again to send its body."""

    max_connections: int = 1_000
    """The connections that are open at once, streams among them; further ones get status 503."""

    open_health: bool = False
    """Answer `/healthz` and `/readyz` without a token: they say nothing but whether all is well."""

    secure_cookie: bool = False
    """Browsers send the cookie over TLS only: for a server behind a proxy with TLS."""

    def __post_init__(self) -> None:
        """Refuse what can only be a mistake."""
        check_fields(self)
        for name in ("at_once", "max_body", "max_connections"):
            if (number := getattr(self, name)) < 1:
                raise ConfigError(f"{name} is {number}: give 1 or more", field=name)
        address = self.address
        if not self.queue:
            raise ConfigError("the queue has no name: leave it out for the usual one")
        for agent in self.agents:
            check_name(agent)
        if not address.is_local and not self.allowed_hosts:
            message = (
                f"others reach {self.host or 'every address'}: say by which names they do, "
                "with allowed_hosts (--allow-host NAME)"
            )
            raise ConfigError(message, field="allowed_hosts")
        if any(not user.token for user in self.users):
            raise ConfigError("a user without a token cannot ask: give each a token", field="users")

    @property
    def address(self) -> HttpAddress:
        """Where to listen."""
        return HttpAddress(self.host, self.port)

    @property
    def works(self) -> bool:
        """Whether runs are executed in this process."""
        return self.work and not self.read_only and bool(self.agents)

    @property
    def why_idle(self) -> str:
        """Why no runs are executed in this process; "" where they are."""
        if self.works:
            return ""
        if self.read_only:
            return "it was started with --read-only"
        return "it was started with --no-work" if not self.work else "it was started without agents"
