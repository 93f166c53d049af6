"""An answer as it may be shown: addresses that text from outside could have planted lead nowhere.

Whoever shows an answer as Markdown or HTML fetches its images, and makes what looks like an address
clickable, with whatever was put behind the question mark. So where a run has read text from
outside, an address is left as it is only where a person, the configuration or a trusted result gave
it as a whole. All others are written so that no program takes them for addresses, and a person can
undo it: `hxxps://`, `[.]`, `[:]`. What makes a link or an image of them is taken apart by a space.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Final, cast

from clew.core.events import Note
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.guards.links import ended
from clew.support.lazy_regex import Lazy

_END: Final = r"[^\s<>\"'`|\\^{}\[\]]"
_NETS: Final = (
    "com|net|org|info|biz|io|ai|app|dev|xyz|site|online|link|click|example|eu|uk|de|fr|ru|cn|nl|top"
    "|shop|icu|zip|mov"
)
"""Ends of names that programs for mail and chat make links of, without more."""
_MARKS: Final = Lazy(
    r"(?P<link>\](?=\())"  # [text](…) and ![text](…)
    r"|(?P<definition>\](?=:))"  # [name]: …
    r"|(?P<image>!(?=\[[^\[\]]{0,999}\]\[))"  # ![text][name]
    r"|(?P<tag><(?=[a-z/!?]|[^<>\s]*@))"
    r"|(?P<entity>&(?=#\d|#x[\da-f]|(?:colon|sol|period|bsol|commat|quest|excl|l[sc]ub|[lr]sqb"
    r"|[lr]brack|[lr]par|tab|newline|num|percnt|equals);))"
    rf"|(?P<address>(?:[a-z][a-z0-9+.-]{{1,31}}\\?:[\\/]|\bwww\.|(?<![:\w/])//(?=\w)){_END}*"
    r"|(?<![a-z0-9])(?:data|javascript|vbscript|mailto|tel|sms|blob|file|about|view-source|ms-\w{1,30}"
    rf")\\?:{_END}+"
    rf"|\b(?:[\w-]{{1,63}}\.){{1,8}}[^\W\d_]{{2,24}}(?::\d{{1,5}})?[/?#]{_END}*"
    rf"|\b(?:[\w-]{{1,63}}\.){{1,8}}(?:{_NETS}|xn--[\w-]{{1,59}})\b"
    rf"|\b\d{{1,3}}(?:\.\d{{1,3}}){{3}}[/:?#]{_END}*)",
    re.IGNORECASE,
)
_INLINE: Final = Lazy(
    r"\]\(\s{0,9}<?([^\s<>()\\&]{1,2000})>?(?:\s{1,9}\"[^\"\\&<>]{0,200}\")?\s{0,9}\)"
)
_NAMED: Final = Lazy(
    r"\]:[ \t]{0,9}<?([^\s<>\\&]{1,2000})>?(?:[ \t]{1,9}\"[^\"\\&<>]{0,200}\")?[ \t]{0,9}$",
    re.MULTILINE,
)
_TAG: Final = Lazy(
    r"<(?:(?:a|img)\s{1,9}(?:href|src)=\"([^\"\s<>&\\]{1,2000})\""
    r"(?:\s{1,9}alt=\"[^\"<>&]{0,200}\")?\s{0,9}/?|([a-z][a-z0-9+.-]{1,31}:[^\s<>&\\]{1,2000})"
    r"|(?!(?:script|style|iframe|object|embed|link|meta|base|svg|math|form|frame|frameset|noscript"
    r"|template|textarea|title|xmp|plaintext|noembed|noframes|listing)\b)/?[a-z][a-z0-9]{0,40}\s?/?)>",
    re.IGNORECASE,
)
_CAPTION: Final = Lazy(r"\[([^\[\]]{0,999})\Z")
_REFERENCE: Final = Lazy(r"!\[([^\[\]]{0,999})\]\[([^\[\]]{0,999})\]")
_DEFINED: Final = Lazy(r"\[([^\[\]]{1,999})\](?=:)")
_HOST: Final = Lazy(r"(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}")
_SCHEME: Final = Lazy(r"[a-z][a-z0-9+.-]*\\?", re.IGNORECASE)
_COLON: Final = Lazy(r":(?!\])(?=([(\[:]?))")
_OWN_FILE: Final = Lazy(r"file:[\w%.~+-]+(?:/[\w%.~+-]+)*", re.IGNORECASE)
"""A file beside others, as `file:notes/a.md`: it leads no further than its bare name does."""
_HARMLESS: Final = ("hxxp", "hxxps")
_TRAILING: Final = ".,;:!?*_~"
_QUOTED: Final = 80
"""So much of what was taken apart is told, where it holds no address."""


def safe_links(
    trajectory: Trajectory, config: str = ""
) -> Callable[[Json], tuple[Json, tuple[str, ...]]]:
    """What makes a text of the model, or each one in a value, fit to be shown.

    It gives the value, and the addresses that lead nowhere in it; `config` are the agent's
    instructions. What a run shows that has read nothing untrusted stays as it is.
    """
    if trajectory.untainted:
        return lambda value: (value, ())
    known = _Known(trajectory, config)

    def safe(value: Json) -> tuple[Json, tuple[str, ...]]:
        unsafe: dict[str, None] = {}
        return _each(value, known, unsafe), (*unsafe,)

    return safe


def _each(value: Json, known: "_Known", unsafe: dict[str, None]) -> Json:
    """The value with each of its texts made safe; `unsafe` takes the addresses."""
    if isinstance(value, str):
        return _Rewriter(value, known, unsafe).text()
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Json]", value)
        return {
            _Rewriter(name, known, unsafe).text(): _each(each, known, unsafe)
            for name, each in fields.items()
        }
    if isinstance(value, list | tuple):
        return [_each(each, known, unsafe) for each in cast("Sequence[Json]", value)]
    return value


class _Known:
    """The addresses that a person, the configuration or a trusted result gave."""

    def __init__(self, trajectory: Trajectory, config: str) -> None:
        started = trajectory.started
        texts = [config, started.goal if started.trust == "trusted" else ""]
        notes = (each.event for each in trajectory.entries if isinstance(each.event, Note))
        texts += [it.text for it in notes if it.source == "person" and it.trust == "trusted"]
        seen = (call.observation for call in trajectory.calls)
        texts += [it.text for it in seen if it is not None and it.ok and it.trust == "trusted"]
        self._text = "\n".join(texts)

    def __contains__(self, address: object) -> bool:
        """Whether the address stands in them as a whole, letter for letter."""
        wanted = str(address).removesuffix("/")
        if not {".", "/"} & {*wanted} or wanted not in self._text:
            return False
        end = rf"/?(?=[{_TRAILING})]*(?:[\s<>\"'`|\])]|\Z))"
        return re.search(rf"(?<![\w./:@%-]){re.escape(wanted)}{end}", self._text) is not None


class _Rewriter:
    """A text on its way to whoever shows it."""

    def __init__(self, text: str, known: _Known, unsafe: dict[str, None]) -> None:
        self._text, self._known, self._unsafe = text, known, unsafe
        self._apart = ""

    def text(self) -> str:
        """The text with unknown addresses that lead nowhere."""
        before = len(self._unsafe)
        safe = _MARKS.sub(self._safe, self._text)
        if self._apart and len(self._unsafe) == before:
            self._unsafe[self._apart] = None
        return safe

    def _safe(self, match: re.Match[str]) -> str:
        kind, marks = str(match.lastgroup), match[0]
        if kind == "address":
            return self._address(marks)
        if self._is_own(kind, match.start()):
            return marks
        self._apart = self._apart or self._text[match.start() : match.start() + _QUOTED]
        return f"{marks} "

    def _is_own(self, kind: str, at: int) -> bool:
        """Whether what makes a link or an image leads where a person said."""
        if kind == "link":
            return self._is_own_link(at)
        if kind == "image":
            reference = _REFERENCE.match(self._text, at)
            name = "" if reference is None else _label(reference[2] or reference[1])
            return name not in self._planted
        pattern = {"definition": _NAMED, "tag": _TAG}.get(kind)
        match = None if pattern is None else pattern.match(self._text, at)
        if match is None:
            return False
        named = next(filter(None, match.groups()), "")
        return not named or named in self._known

    @cached_property
    def _planted(self) -> frozenset[str]:
        """The names of definitions that lead where no person said."""
        named = _DEFINED.finditer(self._text)
        return frozenset(
            _label(it[1]) for it in named if not self._is_own("definition", it.end() - 1)
        )

    def _is_own_link(self, at: int) -> bool:
        """The same of a link with a caption, which may name no other place."""
        inline = _INLINE.match(self._text, at)
        if inline is None or inline[1] not in self._known:
            return False
        caption = _CAPTION.search(self._text[max(0, at - 1_000) : at])
        return caption is not None and all(host in inline[1] for host in _HOST.findall(caption[1]))

    def _address(self, marks: str) -> str:
        """An address, as it is where it is known, else so that it leads nowhere."""
        bare = ended(marks)
        if bare in self._known or _is_own_file(bare):
            return marks
        safe = _defanged(bare)
        if safe != bare:
            self._unsafe[bare] = None
        return f"{safe}{marks[len(bare) :]}"


def _label(name: str) -> str:
    """The name of a definition as Markdown compares it."""
    return " ".join(name.casefold().split())


def _is_own_file(address: str) -> bool:
    """Whether it is the relative path of a file, in which no name passes for a host."""
    path = address.partition(":")[2]
    return _OWN_FILE.fullmatch(address) is not None and _MARKS.search(path) is None


def _defanged(address: str) -> str:
    """An address that no program takes for one, and a person can read."""
    scheme, colon, rest = address.partition(":")
    if not colon or _SCHEME.fullmatch(scheme) is None:
        return _without_dots(_COLON.sub(_in_brackets, address))
    safe = _without_dots(_COLON.sub(_in_brackets, rest))
    if rest.startswith("//") and scheme.lower() in {"http", "https"}:
        return f"hxxp{scheme[4:]}:{safe}"
    if rest.startswith("//") and scheme.lower() in _HARMLESS:
        return f"{scheme}:{safe}"
    return f"{_COLON.sub(_in_brackets, f'{scheme}:{safe[:1]}')}{safe[1:]}"


def _in_brackets(match: re.Match[str]) -> str:
    """A colon in brackets, which are not the caption of a link."""
    return "[:] " if match[1] else "[:]"


def _without_dots(address: str) -> str:
    return re.sub(r"\.(?=\w)", "[.]", address)
