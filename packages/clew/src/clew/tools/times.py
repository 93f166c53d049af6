"""Times as people write them, in the form that msgspec reads: `10:00` becomes `10:00:00`."""

import re
from typing import Any, Final

from msgspec import inspect

from clew.core.values import Json
from clew.tools.typed_json import changed

_NO_SECONDS: Final = re.compile(
    r"(?P<head>(?:\d{4}-\d\d-\d\d[Tt ])?(?:[01]\d|2[0-3]):[0-5]\d)"
    r"(?P<zone>[Zz]|[+-]\d\d:?\d\d)?"
)


def completed(kind: Any, value: Json) -> Json:
    """The value with seconds at each time that has none, where the type has a time there."""
    return changed(kind, value, _with_seconds)


def _with_seconds(kind: inspect.Type, value: Json) -> Json:
    if not isinstance(value, str) or not isinstance(kind, inspect.TimeType | inspect.DateTimeType):
        return value
    match = _NO_SECONDS.fullmatch(value)
    return f"{match['head']}:00{match['zone'] or ''}" if match else value
