"""Pictures in what a tool returns: wherever they stand, a model is shown them as pictures."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import msgspec

from clew.core.events import Image

_SCALARS: Final = frozenset({str, int, float, bool, bytes, type(None)})


def caption(image: Image) -> str:
    """What stands in the place of a picture in a text."""
    data: Any = image.data
    size = f", {len(data)} bytes" if isinstance(data, bytes) else ""
    return image.text or f"an image ({image.media_type}{size})"


def has_pictures(value: Any) -> bool:
    """Whether a returned value has a picture in it."""
    try:
        return isinstance(value, Image) or any(map(has_pictures, _inner(value)))
    except RecursionError:  # it holds itself, or is too deep: told where it is recorded
        return False


def taken_out(value: Any) -> tuple[Any, tuple[Image, ...]]:
    """The value with captions in the place of its pictures, and the pictures, in order."""
    images: list[Image] = []
    return _captioned(value, images), tuple(images)


def _inner(value: Any) -> list[Any]:
    """What a value holds, but for texts and numbers."""
    if type(value) in _SCALARS:
        return []
    if isinstance(value, Mapping):
        held: Iterable[Any] = cast("dict[Any, Any]", value).values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        held = cast("list[Any]", value)
    else:
        held = _object_fields(value).values()
    return [each for each in held if type(each) not in _SCALARS]


def _captioned(value: Any, images: list[Image]) -> Any:
    if isinstance(value, Image):
        images.append(value)
        return caption(value)
    if not has_pictures(value):
        return value
    if isinstance(value, Mapping):
        mapping = cast("dict[Any, Any]", value)
        return {key: _captioned(inner, images) for key, inner in mapping.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_captioned(inner, images) for inner in cast("list[Any]", value)]
    return {key: _captioned(inner, images) for key, inner in _object_fields(value).items()}


def _object_fields(value: Any) -> dict[str, Any]:
    """The fields of a struct, dataclass or pydantic model."""
    kind = cast("Any", type(value))  # pyright: ignore[reportUnknownArgumentType] # of any value
    if isinstance(value, msgspec.Struct):
        return {name: getattr(value, name) for name in kind.__struct_fields__}
    if dataclasses.is_dataclass(kind):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(kind)}
    named: Any = getattr(kind, "model_fields", None)
    if isinstance(named, dict):
        return {name: getattr(value, name) for name in cast("dict[str, Any]", named)}
    return {}
