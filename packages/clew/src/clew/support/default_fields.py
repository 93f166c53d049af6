"""Fields that a recorded value lacks, since they were at their default."""

from clew.support.json_values import Json


def with_defaults(recorded: Json, typed: Json) -> Json:
    """A recorded value with the fields that only its typed form has; the rest as recorded.

    `typed` is that form as JSON. Nothing is added where the two do not belong together: where
    names are others, and in lists whose items are others, as those of a set may be.
    """
    kinds = {recorded.__class__, typed.__class__}
    if kinds == {list}:
        return _list_with_defaults(recorded, typed)
    return _fields_with_defaults(recorded, typed) if kinds == {dict} else recorded


def _fields_with_defaults(recorded: dict[str, Json], typed: dict[str, Json]) -> Json:
    merged = {
        name: with_defaults(one, typed[name]) if name in typed else one
        for name, one in recorded.items()
    }
    return {**typed, **merged} if recorded.keys() <= typed.keys() else merged


def _list_with_defaults(recorded: list[Json], typed: list[Json]) -> Json:
    if not _agree(recorded, typed):
        return recorded
    return [with_defaults(one, other) for one, other in zip(recorded, typed, strict=True)]


def _agree(recorded: Json, typed: Json) -> bool:
    """Whether all that was recorded is in the typed form too; a decimal may be a text there."""
    kinds = {recorded.__class__, typed.__class__}
    if kinds == {dict}:
        return all(name in typed and _agree(one, typed[name]) for name, one in recorded.items())
    if kinds == {list}:
        return len(recorded) == len(typed) and all(map(_agree, recorded, typed))
    return bool(recorded == typed) or str(recorded) == str(typed)
