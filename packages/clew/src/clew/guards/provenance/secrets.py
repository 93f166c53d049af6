"""Whether a text has a secret in it, in whatever form."""

import base64
from collections.abc import Iterable
from typing import Final

from clew.guards.provenance.values import bare

MIN_SECRET: Final = 6
"""Characters of a secret value that are looked for in what is sent."""


def has_secret(text: str, secrets: Iterable[str]) -> bool:
    """Whether a secret is in a text: spaced, in other case, backwards, in hex or base64."""
    signs = bare(text)
    for secret in map(bare, secrets):
        if len(secret) >= MIN_SECRET and (secret in signs or secret[::-1] in signs):
            return True
    encoded = (it.encode() for it in secrets if len(it) >= MIN_SECRET)
    return any(
        raw.hex() in signs or base64.b64encode(raw)[:-2].rstrip(b"=").decode() in text
        for raw in encoded
    )
