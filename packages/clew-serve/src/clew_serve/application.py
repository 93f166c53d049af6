"""The server as an ASGI application: alone, or in a program of your own."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager

from starlette.types import ASGIApp

from clew_serve.access.gate import Gate
from clew_serve.access.origins import Origins, loopback_names
from clew_serve.access.users import User, Users
from clew_serve.config import ServeConfig
from clew_serve.endpoints import Endpoint
from clew_serve.routes import route_table
from clew_serve.service import Service, open_service


def gate(service: Service, users: Sequence[User], further: Iterable[Endpoint] = ()) -> ASGIApp:
    """The application of a service that is open, for these users."""
    config = service.config
    local = loopback_names(config.host) if config.address.is_local else ()
    return Gate(
        service,
        route_table(further),
        Users(users, config.proxy_header, config.proxy_roles),
        Origins((*local, *config.allowed_hosts), config.allowed_origins),
    )


@asynccontextmanager
async def application(
    config: ServeConfig, further: Iterable[Endpoint] = ()
) -> AsyncGenerator[ASGIApp]:
    """The application, which answers while the context lasts; `config` has its users.

    `further` endpoints stand in the same table: each declares its role.
    """
    async with open_service(config) as service:
        yield gate(service, config.users, further)
