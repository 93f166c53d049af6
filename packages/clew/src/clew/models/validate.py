"""What cannot be meant is refused when a model is made, and not at its first request."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, cast

from clew.core.tools import Retry
from clew.models.prices import Price
from clew.models.resolve import host_and_port
from clew.support.addresses import hidden, proxy_problem
from clew.support.errors import ConfigError
from clew.support.model_settings import ModelSettings
from clew.support.nearest_name import did_you_mean
from clew.support.parts import short_repr

_FIELD: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LINE: Final = re.compile(r"(?:[!-~](?:[\t -~]*[!-~])?)?")


_OPTIONS: Final = (
    *("settings", "prices", "retries", "patience", "total", "rate", "headers", "proxy"),
    *("sleep", "base_url", "api_key", "api_version", "provider", "key_variable", "client"),
)
"""What models behind HTTP may be told, by its name."""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_table_of(kind: type) -> Callable[[object], bool]:
    """Whether each value of a table, which may be left out as None, is of this kind."""

    def fits(value: object) -> bool:
        if not isinstance(value, Mapping):
            return value is None
        table = cast("Mapping[object, object]", value)
        return all(isinstance(key, str) and isinstance(it, kind) for key, it in table.items())

    return fits


_KINDS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    **dict.fromkeys(("total", "patience"), (_is_number, "a number of seconds")),
    "retries": (lambda value: isinstance(value, Retry), "a Retry, such as Retry(times=3)"),
    "prices": (_is_table_of(Price), 'a Price for each model, as {"model": Price(…)}'),
    "headers": (_is_table_of(str), "texts by the names of headers"),
    "proxy": (lambda value: isinstance(value, str), "the address of a proxy"),
    "sleep": (callable, "a function of the seconds to wait"),
}
"""Of what kind the settings of a connection are, and what is said where one is of another."""

_PARAMETERS: Final = frozenset({"stream", "top_k", "n", "tools", "user"})
"""Parameters of providers that look like the name of an option."""


def check_options(name: str, settings: Iterable[str], known: Collection[str] = _OPTIONS) -> None:
    """Raise `ConfigError` for an option that the model `name` does not know, with the nearest."""
    for option in settings:
        if option in known:
            continue
        if option in ModelSettings.HELP:
            hint = f"it is a setting, settings=ModelSettings({option}=…)"
        else:
            extra = f"ModelSettings(extra={{{option!r}: …}}) takes parameters of the provider"
            hint = did_you_mean(option, () if option in _PARAMETERS else known, extra)
        raise ConfigError(f"{name} takes no option {option!r}: {hint}")


def _check_kind(name: str, value: object) -> None:
    fits, wanted = _KINDS[name]
    if not fits(value):
        secret = name in {"headers", "proxy"}  # there may be a key or a password in it
        text = type(value).__name__ if secret else short_repr(value)
        raise ConfigError(f"{name} is {text}: give {wanted}")


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise `ConfigError` for a setting of a connection that cannot be meant."""
    if (address := settings.get("base_url")) is not None:
        check_address(address)
    for name in _KINDS:
        if name in settings:
            _check_kind(name, settings[name])
    if not (seconds := settings.get("total", 1)) > 0:  # which nan is not either
        raise ConfigError(f"total is {seconds:g}: give a number of seconds over 0")
    if not (seconds := settings.get("patience", 0)) >= 0:
        raise ConfigError(f"patience is {seconds:g}: give 0 seconds or more")
    headers: Mapping[str, str] = settings.get("headers") or {}
    for name, text in headers.items():
        check_header(name, text)
    check_proxy(settings.get("proxy", ""))


def check_address(address: str) -> None:
    """Raise `ConfigError` where this cannot be the address of a server."""
    if not isinstance(cast("object", address), str):
        raise ConfigError(f"base_url is {short_repr(address)}: give a text, the server's address")
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
    if proxy and (problem := proxy_problem(proxy)):
        raise ConfigError(problem)
