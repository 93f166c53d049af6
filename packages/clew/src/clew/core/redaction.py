"""Known secrets, and texts of a secret's well-known shape, blotted out of what is to be written."""

import base64
import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar, cast
from urllib.parse import quote, quote_plus

import msgspec

from clew.core.entries import decode
from clew.core.events import AnyEvent, Judged, Ruling, Suspended, Thought
from clew.core.steps import Call
from clew.core.values import Json, encode
from clew.core.verdicts import Verdict

LOG: Final = logging.getLogger("clew")

SHORTEST: Final = 6
"""Characters of the shortest text that is taken for a secret: a shorter one stands in any text."""

BLOT: Final = "[redacted]"

_SHAPES: Final = (
    r"(?-i:\b(?:AKIA|ASIA)[0-9A-Z]{16}\b)"
    r"|(?<=\bbearer )[\w.~+/=-]{16,}"
    r"""|(?<=://)[^\s/@:"'\\]*:(?!\$\{)[^\s/@"'\\]+(?=@)"""
    r"|-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----(?s:.)*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\Z)"
    r"|(?-i:\bgh[pousr]_\w{36,}|\bglpat-[\w-]{20,}|\bxox[abprs]-[\w-]{10,}|\bAIza[\w-]{35}"
    r"|\bsk-(?:ant-|proj-)?[\w-]{32,})"
)
"""Keys of AWS, bearer tokens, passwords in addresses, private keys, tokens of well-known services.

The prefixes are those that the services publish, as detect-secrets and gitleaks list them.
"""

_MARKS: Final = (
    b"akia", b"asia", b"bearer ", b"://", b"private key-----", b"ghp_", b"gho_", b"ghu_", b"ghs_",
    b"ghr_", b"glpat-", b"xox", b"aiza", b"sk-",
)  # fmt: skip
"""One of these stands in every text that has one of the shapes, in lower case."""

_SHAPED: Final = re.compile(_SHAPES.encode(), re.IGNORECASE)

SECRET_NAMES: Final = re.compile(
    r"(?:^|.*_)(?:API_?KEY|(?:SECRET|ACCESS|PRIVATE|ACCOUNT)_?KEY|AUTH|TOKEN|SECRET|PASSWORD|PASSWD|PASS"
    r"|PASSPHRASE|CREDENTIALS)$|^PGPASSWORD$|.*_KEY_SECRET$|^AWS_SECRET_ACCESS_KEY$",
    re.IGNORECASE,
)
"""Names of variables whose values are secrets; so are passwords in addresses, of any name."""

_PASSWORD: Final = re.compile(r"://[^\s/:@]*:([^\s/@]+)@")

T = TypeVar("T")


def secrets() -> tuple[str, ...]:
    """Values of the environment that must not get into a record: keys, tokens, passwords."""
    values: list[str] = []
    for name, text in os.environ.items():  # in one pass: every run begins with it
        if SECRET_NAMES.match(name):
            values.append(text)
        values += _PASSWORD.findall(text) if "://" in text else ()
    return tuple(value for value in values if len(value) > 7)


def blots_out(secret: str) -> bool:
    """Whether a text is long enough to be taken for a secret wherever it stands."""
    return len(secret) >= SHORTEST


def _encoded(secret: str) -> Iterator[str]:
    """A secret in the encodings that tools and models write: base64 at every offset, hex, URLs."""
    raw = secret.encode()
    yield raw.hex()
    yield quote(secret, safe="")
    yield quote_plus(secret)
    for offset, first in ((0, 0), (1, 2), (2, 3)):
        padded = bytes(offset) + raw
        size = len(padded) * 8 // 6  # what follows depends on what stands behind the secret
        for coded in (base64.b64encode(padded), base64.urlsafe_b64encode(padded)):
            yield coded.decode()[first:size]


def _forms(secrets: Iterable[str]) -> Iterator[str]:
    """Each secret in all forms; what is no text cannot stand anywhere.

    A text may itself be JSON that quotes the secret, as a model's arguments are. One shorter than
    `SHORTEST` is ignored, with a warning: it would blot out pieces of ordinary words.
    """
    for secret in filter(None, secrets):
        if not blots_out(secret):
            LOG.warning(
                "a secret of %d characters is not blotted out, for it would take ordinary words "
                "with it: use one of %d or more", len(secret), SHORTEST,
            )  # fmt: skip
            continue
        with suppress(UnicodeEncodeError):
            quoted = encode(secret)[1:-1].decode()
            in_json = json.dumps(secret)[1:-1]
            yield from (secret, quoted, quoted.replace("/", "\\/"), in_json)
            yield from (secret.lower(), secret.upper(), json.dumps(in_json)[1:-1])
            yield from _encoded(secret)


class Redaction:
    """Finds secrets in any case and encoding. Most events hold none: that takes little to see."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = sorted(dict.fromkeys(_forms(secrets)), key=len, reverse=True)
        self._needles = tuple(dict.fromkeys(encode(form)[1:-1].lower() for form in forms))
        self._withheld: dict[str, dict[str, Json]] = {}
        self._pattern = re.compile("|".join((*map(re.escape, forms), _SHAPES)), re.IGNORECASE)

    def finds(self, body: bytes) -> bool:
        """Whether there is anything to blot out in an encoded value."""
        low = body.lower()
        for needle in self._needles:  # loops: a generator takes as long as all the looking
            if needle in low:
                return True
        for mark in _MARKS:
            if mark in low:
                return _SHAPED.search(body) is not None
        return False

    def cleaned(self, value: T) -> T:
        """The value with every secret in its texts blotted out."""
        return cast("T", self._clean(value)) if self.finds(encode(value)) else value

    def event(self, event: AnyEvent, step: int = 0) -> AnyEvent:
        """The event without secrets; arguments that held one are marked so, and kept here.

        Those of a thought are of the calls of `step`.
        """
        self._withheld |= _withheld(event, step)
        return _marked(event, decode(encode(self._clean(event))))

    def with_secrets(self, call: Call) -> Call | None:
        """The call as it is to be made; None where what was blotted out of it is not known here."""
        if not call.redacted:
            return call
        if (args := self._withheld.get(call.key)) is None:
            return None
        action = msgspec.structs.replace(call.action, args=args, redacted=False)
        return msgspec.structs.replace(call, action=action, revised=None)

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._pattern.sub(BLOT, value)
        if isinstance(value, list | tuple):
            cleaned = [self._clean(item) for item in cast("Iterable[Any]", value)]
            return cleaned if isinstance(value, list) else tuple(cleaned)
        if isinstance(value, dict):
            mapping = cast("Mapping[str, Any]", value)
            return {self._clean(name): self._clean(inner) for name, inner in mapping.items()}
        if isinstance(value, msgspec.Struct):
            fields = {name: self._clean(getattr(value, name)) for name in value.__struct_fields__}
            return msgspec.structs.replace(value, **fields)
        return value


def redact(value: T) -> T:
    """The value as a record has it: without the secrets of the environment."""
    return Redaction(secrets()).cleaned(value)


def marked_as(old: Thought, new: Thought) -> Thought:
    """The new thought with the marks that arguments of the old one have."""
    if len(old.actions) != len(new.actions):
        return new
    pairs = zip(old.actions, new.actions, strict=True)
    marked = (msgspec.structs.replace(b, redacted=a.redacted) for a, b in pairs)
    return msgspec.structs.replace(new, actions=tuple(marked))


def _marked(event: AnyEvent, clean: AnyEvent) -> AnyEvent:
    """The clean event, saying of the arguments that differ that they do."""
    replace = msgspec.structs.replace
    match event, clean:
        case Thought(), Thought():
            pairs = zip(event.actions, clean.actions, strict=True)
            actions = (replace(b, redacted=True) if a.args != b.args else b for a, b in pairs)
            return replace(clean, actions=tuple(actions))
        case Suspended(), Suspended():  # a secret may be in the state: then nobody goes on with it
            pairs = zip(event.actions, clean.actions, strict=True)
            actions = (replace(b, redacted=True) if a.args != b.args else b for a, b in pairs)
            return replace(clean, actions=tuple(actions), state=b"")
        case Ruling(), Ruling():
            return replace(clean, redacted=clean.redacted or event.args != clean.args)
        case Judged(), Judged():
            differs = clean.verdict.redacted or event.verdict.args != clean.verdict.args
            return replace(clean, verdict=replace(clean.verdict, redacted=differs))
        case _:
            return clean


def _withheld(event: AnyEvent, step: int) -> Iterator[tuple[str, dict[str, Json]]]:
    """The arguments that an event gives to calls, by their keys; a thought's are of `step`."""
    match event:
        case Thought(actions=actions):
            yield from ((f"{step}.{index}", one.args) for index, one in enumerate(actions, 1))
        case Ruling(call=key, args=dict(args)):
            yield key, args
        case Judged(call=key, verdict=Verdict(args=dict(args))):
            yield key, args
        case _:
            return
