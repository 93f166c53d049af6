"""What an agent file says of a model's prices and the way to its server."""

import os
import re
from typing import Any, Final, cast

from clew.agent_files.spec import PriceTable, Spec, part
from clew.core.models import Model
from clew.models.prices import Price, is_priced_by, unprefixed
from clew.models.rate import read_rate
from clew.models.resolve import resolve
from clew.models.validate import check_header, check_settings
from clew.support.errors import ConfigError

_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
RECORDED: Final = "would be in the record of every run: name a variable of the environment"
_PASSWORD: Final = re.compile(r"//[^/@]*:[^/@$]+@")
_SECRET: Final = re.compile(r"authorization|cookie|api-?key|token|secret", re.IGNORECASE)
"""Names of headers whose values nobody should read."""


def model_settings(spec: Spec, name: str = "") -> dict[str, Any]:
    """What is said of the model's prices and the way to its server.

    `name` is that of another model that the spec names: it has prices of its own in the same table.
    """
    _, model = unprefixed(name or spec.model)
    reached = spec.connection
    settings: dict[str, Any] = {}
    if spec.prices:
        prices = dict(map(_price, spec.prices.items()))
        settings["prices"] = {one: it for one, it in prices.items() if is_priced_by(model, [one])}
    for way in ("patience", "total", "rate", "base_url", "proxy", "headers"):
        if (value := getattr(reached, way)) is not None:
            settings[way] = _reached(way, value)
    return settings


def model_beside(spec: Spec, name: str) -> Model:
    """Another model that the file names, such as a parser.

    One of the same provider is reached in the same way: what is meant for a server of one's own,
    and the key for it, goes to no other. Raises `ConfigError`.
    """
    same = _provider(name) == _provider(spec.model)
    settings = model_settings(spec, name) if same else {}
    return resolve(name, **settings)


def _provider(model: str) -> str:
    """The provider of a model's name, whichever of its formats is asked for."""
    name, _ = unprefixed(model)
    return name.removesuffix("-responses").removesuffix("-completions")


def _price(entry: tuple[str, PriceTable]) -> tuple[str, Price]:
    name, each = entry
    with part("prices", name):
        return name, Price(each.input, each.output, each.cached)


def _reached(name: str, value: Any) -> Any:
    """One setting of the way to the server. Raises `ConfigError` where it cannot be meant."""
    if isinstance(value, dict):
        headers = cast("dict[str, str]", value)
        return {key: _header(key, text) for key, text in headers.items()}
    filled = _filled(value, "connection", name) if isinstance(value, str) else value
    with part("connection", name):
        if isinstance(value, str) and _PASSWORD.search(value):
            message = f"the password in {name} {RECORDED}, such as http://me:${{PASSWORD}}@host"
            raise ConfigError(message)
        if name == "rate":
            return read_rate(filled)
        check_settings({name: filled})
    return filled


def _header(name: str, text: str) -> str:
    filled = _filled(text, "connection", "headers", name)
    with part("connection", "headers", name):
        if _SECRET.search(name) and filled == text:
            raise ConfigError(f"the value of {name} {RECORDED}, such as ${{NAME}}")
        check_header(name, filled)
    return filled


def _filled(text: str, *path: str) -> str:
    """The text with variables of the environment in their places."""

    def value(match: re.Match[str]) -> str:
        if (known := os.environ.get(match[1])) is None:
            message = f"{'.'.join(path)} names the variable {match[1]}, which is not set: set it"
            raise ConfigError(message)
        return known

    with part(*path):
        return _VARIABLE.sub(value, text)
