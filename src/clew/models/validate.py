"""What cannot be meant is refused when a model is made, and not at its first request."""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from clew.core.errors import ConfigError
from clew.models.resolve import hidden, host_and_port
from clew.support.extras import installed

SOCKS: Final = "a SOCKS proxy needs socksio: run pip install socksio"

_FIELD: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LINE: Final = re.compile(r"(?:[!-~](?:[\t -~]*[!-~])?)?")


_OPTIONS: Final = (
    *("params", "prices", "timeout", "retries", "patience", "total", "rate", "headers", "proxy"),
    *("sleep", "base_url", "api_key", "api_version", "provider", "key_variable", "client", "cache"),
)
"""What models behind HTTP may be told, by its name."""


_PARAMETERS: Final = frozenset({"seed", "stop", "stream", "top_p", "top_k", "n", "tools", "user"})
"""Parameters of providers that look like the name of an option."""


def check_options(name: str, settings: Iterable[str], known: Collection[str] = _OPTIONS) -> None:
    """Raise `ConfigError` for an option that the model `name` does not know, with the nearest."""
    for option in settings:
        if option in known:
            continue
        near = [] if option in _PARAMETERS else difflib.get_close_matches(option, known, n=1)
        hint = (
            f"did you mean {near[0]}?"
            if near
            else f"a parameter of the provider goes into params, as params={{{option!r}: …}}"
        )
        raise ConfigError(f"{name} takes no option {option!r}: {hint}")


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise `ConfigError` for a setting of a connection that cannot be meant."""
    if (address := settings.get("base_url")) is not None:
        check_address(address)
    for name in ("timeout", "total"):
        if not (seconds := settings.get(name, 1)) > 0:  # which nan is not either
            raise ConfigError(f"{name} is {seconds:g}: give a number of seconds over 0")
    if not (seconds := settings.get("patience", 0)) >= 0:
        raise ConfigError(f"patience is {seconds:g}: give 0 seconds or more")
    headers: Mapping[str, str] = settings.get("headers") or {}
    for name, text in headers.items():
        check_header(name, text)
    check_proxy(settings.get("proxy", ""))


def check_address(address: str) -> None:
    """Raise `ConfigError` where this cannot be the address of a server."""
    if host_and_port(address) is None:
        raise ConfigError(
            f"{hidden(address)!r} is no address of a server; give base_url as "
            "http(s)://host:port/path"
        )


def check_header(name: str, text: str) -> None:
    """Raise `ConfigError` where HTTP has no such header; its text may be a secret."""
    if not _FIELD.fullmatch(name):
        raise ConfigError(f"{name!r} is no name of a header: use letters, digits and -")
    if not _LINE.fullmatch(text):
        raise ConfigError(
            f"the header {name} has a line break, a space at an end or a character that is not "
            "ASCII: take it out"
        )


def check_proxy(proxy: str) -> None:
    """Raise `ConfigError` where this cannot be the address of a proxy; "" is none."""
    if not proxy:
        return
    scheme, _, rest = proxy.partition("://")
    known = scheme.lower() in {"http", "https", "socks5", "socks5h"}
    if not known or host_and_port(f"http://{rest}") is None:
        raise ConfigError(f"{hidden(proxy)!r} is no address of a proxy; give http://host:port")
    if scheme.lower().startswith("socks") and not installed("socksio"):
        raise ConfigError(SOCKS)
