"""Values as a reply in a text format writes them: its answer, or the arguments of its call.

A format that can say what of a reply is the value of a call does so with a reader that is fed the
reply as it arrives. What it tells is the beginning of what the parser makes of the whole reply.
Where that cannot be known yet, it tells nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple, Protocol, TypeAlias, runtime_checkable

from clew.codecs.arguments import fields, may_act, text_field, tool_named, types
from clew.codecs.no_action import may_be_void
from clew.codecs.schema_references import resolved
from clew.core.codec import PromptSpec
from clew.core.codes import FINISH
from clew.core.tools import Parameters
from clew.support.structural import Structural

_HEAD: Final = 256
"""What a value is shows within so many characters."""

_FENCE: Final = re.compile(r"`{3,}[\w+-]{0,20}[ \t]*\r?\n")
_HALF_FENCE: Final = re.compile(r"`{1,}[\w+-]{0,20}[ \t]*\r?")
_FIRST_KEY: Final = re.compile(r'\{\s*"([^"\\]*)"\s*:')
_MARKS: Final = "*_`"
_LAST_FENCE: Final = re.compile(r"(?:^|\n)[ \t]*`{3,}[\w+-]{0,20}\Z")
_LINE: Final = 64
_EXACT: Final = frozenset({"enum", "const", "pattern", "format"})


class ValuePiece(NamedTuple):
    """More of a value that a reply writes, for a call of a `tool`.

    It is text of the parameter `field`, or if it `is_json` more of the JSON of that, or of all
    arguments where there is no `field`. One with an `offset` only says where in the reply an answer
    begins, before any of it is told: text from there on is shown as that alone. An `offset` of -1
    says that it is none after all.
    """

    tool: str
    text: str
    field: str = ""
    is_json: bool = False
    offset: int | None = None


ReadPiece: TypeAlias = Callable[[str], Iterable[ValuePiece]]
"""Takes the next piece of a reply, and tells what of its value came with it."""


@runtime_checkable
class ReadsValues(Protocol, metaclass=Structural):
    """A format that can tell a value while it arrives."""

    def value_reader(self, prompt_spec: PromptSpec) -> ReadPiece:
        """A reader for one reply. Linear in the length of that, however it is cut into pieces."""
        ...


class Trimmed:
    """A text as far as it will stand in the value: without blanks around it.

    What may be the end of it is held back: blanks, emphasis, and the fence that closes a block.
    """

    def __init__(self, marks: str = _MARKS) -> None:
        self._marks = marks
        self._held: list[str] = []
        self._last = ""
        self._begun = False

    def feed(self, piece: str) -> str:
        """Take more; what of it can be told."""
        if not self._begun:
            piece = piece.lstrip()
            self._begun = bool(piece)
        end = len(piece)
        while end and (piece[end - 1].isspace() or piece[end - 1] in self._marks):
            end -= 1
        if not end:
            self._held.append(piece)
            return ""
        text = "".join([*self._held, piece[:end]])
        self._held = [piece[end:]]
        tail = (self._last + text)[-_LINE:]
        if (fence := _LAST_FENCE.search(tail)) is not None and self._marks:
            kept = max(len(text) - (len(tail) - fence.start()), 0)
            self._held.insert(0, text[kept:])
            text = text[:kept]
        self._last = (self._last + text)[-_LINE:]
        return text.replace("\r\n", "\n")


class ValueReader:
    """The arguments of one call, or the answer, read from where they begin.

    `closing` is the bracket that ends them. With `fenced` a block of code may stand around them,
    and `final` says that it is the answer itself, not the arguments of finish.
    """

    def __init__(
        self,
        prompt_spec: PromptSpec,
        name: str,
        *,
        closing: str = "",
        fenced: bool = False,
        final: bool = False,
    ) -> None:
        self.name = name
        self._closing = closing
        self._fenced, self._final = fenced, final
        self._acts = may_act(prompt_spec, name)
        tool = tool_named(prompt_spec, name)
        self._schema: Parameters = {} if tool is None else tool.parameters
        self._names: Mapping[str, Parameters] = fields(self._schema)
        self._only = "answer" if final else text_field(self._schema) if tool is not None else None
        self._hides = tool is None
        self._head = ""
        self._kind: tuple[str, bool] | None = None
        self._depth = 1
        self._void = bool(fenced and not final)
        self._trimmed = Trimmed("" if closing else _MARKS)

    def feed(self, piece: str) -> Iterator[ValuePiece]:
        """Take more of the text."""
        if self._hides or not piece:
            return
        if self._kind is None:
            self._head = piece = (self._head + piece).lstrip()
            if not self._decide():
                self._hides |= len(piece) > _HEAD
                return
            piece, self._head = self._head, ""
        yield from self._more(piece)

    def _more(self, piece: str) -> Iterator[ValuePiece]:
        """More of a text of which it is known what it is."""
        field, is_json = self._kind or ("", True)
        if not is_json:
            piece = self._trimmed.feed(self._inside(piece) if self._closing else piece)
        if piece:
            yield ValuePiece(self.name, piece, field, is_json)

    def _decide(self) -> bool:
        """Find out what the text is; False where too little of it has come, or nobody can tell."""
        if self._fenced and self._head.startswith("`"):
            if (fence := _FENCE.match(self._head)) is None:
                self._hides = _HALF_FENCE.fullmatch(self._head) is None
                return False
            self._head = self._head[fence.end() :].lstrip()
        if not self._head:
            return False
        self._kind = self._json() if self._head[0] in "{[" else self._text()
        return self._kind is not None

    @property
    def _field_schema(self) -> Parameters:
        return resolved(self._schema, self._names.get(self._only or "", {}))

    def _json(self) -> tuple[str, bool] | None:
        """What an object or a list is: all arguments, or the only one."""
        takes = types(self._field_schema) if self._only else frozenset[str]()
        as_field = None
        if self._only and "string" not in takes:
            as_field = (self._only, True)
        if self._final:
            self._hides = as_field is None
            return as_field
        if self._head[0] == "[":
            self._hides = as_field is None
            return as_field
        if self._only is None or (takes and "object" not in takes):
            return ("", True)
        return self._by_first_key(as_field)

    def _by_first_key(self, as_field: tuple[str, bool] | None) -> tuple[str, bool] | None:
        """What an object is where the only parameter takes one too."""
        if (key := _FIRST_KEY.match(self._head)) is None:
            return None
        if key[1] not in self._names:
            self._hides = as_field is None
            return as_field
        self._hides = key[1] in fields(self._field_schema)
        return None if self._hides else ("", True)

    def _text(self) -> tuple[str, bool] | None:
        """A bare text, for the only parameter."""
        schema = self._field_schema
        loose = types(schema) == frozenset({"string"}) and _EXACT.isdisjoint(schema)
        quoted = self._head[0] in "\"'" and not (self._final or self.name == FINISH)
        if not (self._only and loose) or quoted or (self._acts and not self._closing):
            self._hides = True
            return None
        if self._void and may_be_void(self._head):
            return None
        return (self._only, False)

    def _inside(self, piece: str) -> str:
        """What of a text stands within the brackets."""
        if not self._depth:
            return ""
        opening = "[" if self._closing == "]" else "("
        for bracket in re.finditer(f"[{re.escape(opening + self._closing)}]", piece):
            self._depth += 1 if bracket[0] == opening else -1
            if not self._depth:
                return piece[: bracket.start()]
        return piece
