"""How settings become what a provider takes: each under its key, or refused by name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias, cast

from clew.core.models import Model
from clew.core.values import Json
from clew.support.errors import ConfigError
from clew.support.model_settings import ModelSettings, refuse_settings


class Configurable(Protocol):
    """A model that can be told settings; one without this method takes a seed alone."""

    def with_settings(self, settings: ModelSettings) -> Model:
        """The model with these settings over its own. Raises `ConfigError`, by name."""
        ...


@dataclass(frozen=True)
class Key:
    """Where a field stands in a provider's request.

    `path` has the names of nested tables between points. `values` are the words that it takes, and
    what is sent for each; without them the value goes as it is. `beside` is sent with it.
    """

    path: str
    values: Mapping[Any, Json] | None = None
    beside: Mapping[str, Json] | None = None


Keys: TypeAlias = Mapping[str, "Key | str"]
"""Where a provider takes each field, by its name; what is not there it takes none of."""

OWN: Final = frozenset({"timeout"})
"""Settings that no request has: the connection keeps them."""


def words(path: str, *taken: str) -> Key:
    """A field that takes these words as they are."""
    return Key(path, {word: word for word in taken})


def configured(model: Model, settings: ModelSettings) -> Model:
    """The model with these settings over its own.

    A model of one's own may have the method `with_settings`; without it, it takes the seed that is
    in its prompts, and nothing else. Raises `ConfigError` for what it does not take, by name.
    """
    if not settings:
        return model
    if getattr(type(model), "with_settings", None) is not None:
        return cast("Configurable", model).with_settings(settings)
    why = f", for {type(model).__name__} has no with_settings"
    refuse_settings(model.info.name, settings, ("seed",), why)
    return model


def native(name: str, settings: ModelSettings, keys: Keys) -> dict[str, Json]:
    """The settings as the provider of the model `name` takes them, with the `extra` ones.

    Raises `ConfigError` for a field, or a value of one, that it has none of; and for an extra
    parameter that clew has a name for.
    """
    body: dict[str, Json] = {}
    for field, value in settings.set_fields():
        if field in OWN:
            continue
        if (key := keys.get(field)) is None:
            message = f"{name} takes no {field}: leave it out"
            raise ConfigError(message, field=field)
        key = Key(key) if isinstance(key, str) else key
        if key.path:
            _put(body, key.path, _sent(name, field, value, key))
        for path, more in (key.beside or {}).items():
            _put(body, path, more)
    taken = {_plain(path): field for field, path in _paths_of(keys)}
    for path in _paths(settings.extra):
        if (known := taken.get(_plain(path))) is not None:
            message = f"{name}: extra has {path}: say it as {known}, which is its name here"
            raise ConfigError(message, field="extra")
    return merged(body, settings.extra)


def _sent(name: str, field: str, value: Any, key: Key) -> Json:
    if key.values is None:
        return [*value] if field == "stop" else value
    if value not in key.values:
        message = f"{name} takes no {field} {value!r}: choose one of {', '.join(key.values)}"
        raise ConfigError(message, field=field)
    return key.values[value]


def _paths_of(keys: Keys) -> Iterator[tuple[str, str]]:
    for field, key in keys.items():
        yield field, key if isinstance(key, str) else key.path


def _plain(path: str) -> str:
    """A path as it is known again: some APIs take `top_p` for `topP`."""
    return path.replace("_", "").lower()


def _paths(table: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """All paths in nested tables."""
    for key, value in table.items():
        yield above + key
        if isinstance(value, Mapping):
            yield from _paths(cast("Mapping[str, Any]", value), f"{above}{key}.")


def _put(body: dict[str, Any], path: str, value: Json) -> None:
    *above, last = path.split(".")
    for key in above:
        body = body.setdefault(key, {})
    body[last] = value


def merged(one: Mapping[str, Json], other: Mapping[str, Json]) -> dict[str, Json]:
    """Two nested tables in one; where both have a value, it is that of the second."""
    result: dict[str, Any] = dict(one)
    for key, value in other.items():
        known = result.get(key)
        both = isinstance(known, Mapping) and isinstance(value, Mapping)
        result[key] = merged(cast("Any", known), cast("Any", value)) if both else value
    return result
