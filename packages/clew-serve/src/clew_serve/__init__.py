"""A server of runs: an API with live events, and who may see and do what.

`serve` is `clew serve`; `application` is the same as an ASGI application, for a program of yours.
"""

from clew_serve.access.roles import Role
from clew_serve.access.users import User, read_users
from clew_serve.application import application
from clew_serve.config import ServeConfig
from clew_serve.endpoints import Endpoint, Inquiry
from clew_serve.listening import serve

__all__ = [
    "Endpoint",
    "Inquiry",
    "Role",
    "ServeConfig",
    "User",
    "application",
    "read_users",
    "serve",
]
