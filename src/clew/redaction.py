"""Known secrets, found in what is about to be written and blotted out."""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, cast

import msgspec

from clew.events import AnyEvent, decode, encode

LOG: Final = logging.getLogger("clew")

SHORTEST: Final = 6
"""Characters of the shortest text that is taken for a secret: a shorter one stands in any text."""


def needles(secrets: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Each secret and how it stands in JSON; what is no text cannot stand there.

    A text may itself be JSON that quotes the secret, as a model's arguments are. One shorter than
    `SHORTEST` is ignored, with a warning: it would blot out pieces of ordinary words.
    """
    for secret in filter(None, secrets):
        if len(secret) < SHORTEST:
            LOG.warning(
                "a secret of %d characters is not blotted out, for it would take ordinary words "
                "with it: use one of %d or more", len(secret), SHORTEST,
            )  # fmt: skip
            continue
        with suppress(UnicodeEncodeError):
            quoted = encode(secret)[1:-1].decode()
            forms = (secret, quoted, quoted.replace("/", "\\/"), json.dumps(secret)[1:-1])
            yield from ((form, encode(form)[1:-1]) for form in dict.fromkeys(forms))


def redacted(event: AnyEvent, secrets: Sequence[str]) -> AnyEvent:
    """The event with every known secret in its texts blotted out; its own words stay."""

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            for secret in secrets:
                value = value.replace(secret, "[redacted]")
            return value
        if isinstance(value, list | tuple):
            cleaned = [clean(item) for item in cast("Iterable[Any]", value)]
            return cleaned if isinstance(value, list) else tuple(cleaned)
        if isinstance(value, dict):
            return {clean(k): clean(v) for k, v in cast("Mapping[str, Any]", value).items()}
        if isinstance(value, msgspec.Struct):
            fields = {name: clean(getattr(value, name)) for name in value.__struct_fields__}
            return msgspec.structs.replace(value, **fields)
        return value

    return decode(encode(clean(event)))
