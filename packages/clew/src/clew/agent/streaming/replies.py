"""A reply as it arrives: the words of its answer, and values as far as they have come.

What a codec makes of a reply is known when all of it is there. Until then the texts and values in
it are read here: in the native format, in that of JSON objects, and in text formats that tell them
(`ReadsValues`). Of other formats, the words are shown as they come. The text of a native reply is
told as the answer until a call follows.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import msgspec

from clew.agent.streaming.answer_words import AnswerWords
from clew.agent.streaming.items import LiveItem, Partial, PartialCall, Token, ValueState
from clew.agent.streaming.json_prefix import JsonPrefix, Path
from clew.agent.streaming.raw_text import RawText
from clew.agent.streaming.reply_so_far import ReplySoFar
from clew.agent.streaming.text_prefix import TextPrefix
from clew.codecs.schema_references import resolved
from clew.codecs.written_values import ReadPiece, ReadsValues, ValuePiece
from clew.core.actions import Action
from clew.core.codes import FINISH
from clew.core.events import Thought
from clew.core.values import Json

Show = Callable[[LiveItem], None]

_OBJECT: Final = re.compile(r"^[ \t]*(?:`{3,}\w*[ \t]*)?\[?[ \t]*(?=\{)", re.MULTILINE)
_VALUE: Final = re.compile(r'\s*(?:```\w*\s+)?(?=[{\["])')
_CALL_LIKE: Final = ("{", "[", "<", "```")
"""How calls begin that models write as text: such a text is told once it is read."""

_FIELD: Final = re.compile(r'[^"]*"|[^"]+')
"""Text up to the end of a field at most."""

_DRESSING: Final = re.compile(r"\s*`{0,3}\w*\s*")
_WIDTH: Final = 64
"""An object begins within so many characters of its line's start."""

_EXACT: Final = frozenset({"enum", "const", "pattern", "format"})
"""What a text may be held to that its beginning cannot be."""

_STEP: Final = 16
"""A value is shown anew once this part of it, or so many characters, have come since."""


@dataclass(slots=True)
class _Value:
    """A value that arrives: of which tool, and where it stands in what is written."""

    tool: str
    inner: Path = ()
    index: int = 0
    reader: JsonPrefix | TextPrefix = field(default_factory=JsonPrefix)
    key: str = ""
    """The only argument, where what is written is the value of that."""
    member: Path = ()
    """The key of an object in which its tool was not found."""
    length: int = 0
    began: bool = False
    """Whether anything of it was told, the last time at `length`."""


class ReplyReader:
    """What is shown of one attempt at a reply of an agent's model."""

    def __init__(self, agent: Any, show: Show) -> None:
        self._agent = agent
        self.so_far = ReplySoFar(show)
        self._show = show = self.so_far.show
        codec = agent.engine.codec
        self.in_objects = codec.name.startswith("json/")
        self._typed = not agent.engine.prompt_spec.answers_text
        self._reads_text = self.in_objects or (codec.native and self._typed)
        self._talks = codec.native and not self._typed
        self._may_call = bool(agent.engine.prompt_spec.tools or agent.engine.prompt_spec.more)
        self._called = False
        self._text: _Value | None = None
        self._ahead = ""
        self._calls: dict[int, _Value] = {}
        self._read: ReadPiece | None = None
        if isinstance(codec, ReadsValues):
            self._read = codec.value_reader(agent.engine.prompt_spec)
        self.words = AnswerWords(show)
        self.offered: Json = None
        """The answer that was read in it."""
        self._raw = RawText(show)
        self._written: list[ValuePiece] = []
        """What was read of the last piece."""
        self.began = False

    def take(self, piece: str, hear: Callable[[str], bool]) -> bool:
        """Take a piece of the text, of which `hear` lets pass what can be shown."""
        if self._read is None and not self.in_objects:
            self._take_text(piece)
            return hear(piece)
        ended = False
        for part in _FIELD.findall(piece) if self.in_objects else (piece,):
            self._read_ahead(part)
            ended = hear(part)
            self._take_text(part)
        return ended

    def _read_ahead(self, piece: str) -> None:
        """Read a piece of the text, before the codec lets pass what can be shown of it."""
        if self._read is None:
            return
        for written in self._read(piece):
            if written.offset is None:
                self._written.append(written)
            elif self._text is None:
                self._raw.answer_at(written.offset)

    def show_raw(self, text: str) -> None:
        """Show what the codec lets pass, if no words of it are told in another way."""
        if self.in_objects:
            self._show(Token(text, "thought"))
        elif self._text is None and not self._talks:
            self._raw.take(text)

    def _take_text(self, piece: str) -> None:
        """Tell what there is in a piece of the text, once it was read and shown."""
        self.began = True
        written, self._written = self._written, []
        for each in written:
            self._tell(each)
        if self._talks:
            self._talk(piece)
        if not self._reads_text:
            return
        if self._text is None:
            self._ahead += piece
            begins = _OBJECT.search if self.in_objects else _VALUE.match
            if (start := begins(self._ahead)) is None:
                self._look_ahead()
                return
            self._text = _Value("" if self.in_objects else FINISH, index=int(self.in_objects))
            piece, self._ahead = self._ahead[start.end() :], ""
        self._feed(self._text, piece)

    def _talk(self, piece: str) -> None:
        """Text of a native reply: the answer, unless a call stands beside it."""
        if self._called:
            self._show(Token(piece, "thought"))
        elif self.words.told:
            self.words.say(piece)
        else:
            self._ahead += piece
            begun = self._ahead.lstrip()
            held = self._may_call and begun.startswith(_CALL_LIKE)
            if begun.strip("`") and not held:
                self.words.say(self._ahead)
                self._ahead = ""

    def _tell(self, piece: ValuePiece) -> None:
        """More of the value of the call that a text format writes."""
        if (value := self._text) is None:
            finishes = piece.tool == FINISH
            value = self._text = _Value(piece.tool, index=1)
            value.reader = JsonPrefix() if piece.is_json else TextPrefix()
            value.inner = ("answer",) if finishes and not piece.field else ()
            value.key = "" if finishes else piece.field
        self._feed(value, piece.text)

    def _look_ahead(self) -> None:
        """Keep the line under way, which may yet begin a value; an answer begins with one."""
        if self.in_objects:
            line = self._ahead.rpartition("\n")[2]
            self._ahead = line if len(line) < _WIDTH else "…"
        elif not _DRESSING.fullmatch(self._ahead):
            self._reads_text = False

    def arguments(self, index: int, name: str, piece: str) -> None:
        """A piece of the arguments of a call."""
        self.began = True
        if self._talks and not self._called:
            self._called = True
            self.words.withdraw()
        if (value := self._calls.get(index)) is None:
            inner = ("answer",) if name == FINISH else ()
            value = self._calls[index] = _Value(name, inner, len(self._calls) + 1)
        self._feed(value, piece)

    def end(self, thought: Thought | None) -> None:
        """The reply is there as it was read, or does not come: say how each value ended."""
        self.offered = self._offered(thought)
        if self.offered is None and self._text is None:
            self._raw.release()
        self._end_values(thought)
        if self.offered is None or self.words.told or not (self._typed and self._raw.told):
            self.words.end(self.offered)
        if self.offered is not None and not self._typed and self._agent.answer is not str:
            index = self._finish_index(thought)  # a date, say: only its end tells the value
            self._show(self._partial(_Value(FINISH, index=index), self.offered, "complete"))
        self.so_far.end(answers=self.offered is not None)

    def _finish_index(self, thought: Thought | None) -> int:
        """The number of the call that offers the answer; 0 where the text itself does."""
        actions = () if thought is None else thought.actions
        calls = (number for number, each in enumerate(actions, 1) if each.name == FINISH)
        written = int(self.in_objects or self._read is not None)
        return next(calls, written)

    def _end_values(self, thought: Thought | None) -> None:
        actions = () if thought is None else thought.actions
        for number, value in enumerate(self._calls.values()):
            self._close(value, actions[number] if number < len(actions) else None)
        told = {value.index for value in self._calls.values()}
        answer = self._answer_as_text(thought)
        if self._text is None and answer is not None:  # no piece of it came
            self._text = _Value(FINISH, index=self._finish_index(thought))
        if self._text is not None:
            reads = self.in_objects or self._read is not None
            action = actions[0] if actions and reads else None
            if action is not None and not self._text.tool:  # its name came last
                self._text.tool = action.name
            self._close(self._text, answer or action)
            told.add(self._text.index)
        for number, action in enumerate(actions, start=1):
            if number not in told:
                self._close(_Value(action.name, index=number), action)

    def _answer_as_text(self, thought: Thought | None) -> Action | None:
        """The typed answer that is the text of a reply, as a call of finish would write it."""
        if thought is not None and thought.answer is not None and self._typed:
            with suppress(msgspec.DecodeError):
                return Action(FINISH, {"answer": msgspec.json.decode(thought.answer)})
        return None

    def _offered(self, thought: Thought | None) -> Json:
        """The answer that a thought offers; None where it offers none."""
        if thought is None or thought.fault:
            return None
        if (answer := thought.answer) is not None:
            with suppress(msgspec.DecodeError):
                return msgspec.json.decode(answer) if self._typed else answer
        finish = (each for each in thought.actions if each.name == FINISH and not each.fault)
        return next((each.args.get("answer") for each in finish), answer)

    def _feed(self, value: _Value, piece: str) -> None:
        reader = value.reader
        texts = reader.feed(piece)
        if value is self._text and self.in_objects:
            self._find_tool(value)
        inside = len(value.inner)
        for path, text in texts:
            if value.tool == FINISH and path[:inside] == value.inner:
                self.words.say(text, path[inside:])
        if reader.broken or not self._shows(value) or reader.closed:
            return
        grown = reader.length - value.length
        if grown * _STEP < reader.length or (grown < _STEP and value.began):
            return
        json = self._inner(value, reader.value(open_text=not self._exact(value)))
        if json is not None:
            value.length, value.began = reader.length, True
            self._show(self._partial(value, json, "open"))

    def _shows(self, value: _Value) -> bool:
        return bool(value.tool) and (self._typed or value.tool != FINISH)

    def _find_tool(self, value: _Value) -> None:
        """Find out which tool an object calls, once it says so."""
        key = value.reader.path[:1]
        if value.tool or (key in {(), ("thought",), value.member} and not value.reader.closed):
            return
        value.member = key
        name = _field(value.reader.value(open_text=False), "action")
        if isinstance(name, str):
            value.tool = name
            value.inner = ("args", "answer") if name == FINISH else ("args",)

    @staticmethod
    def _inner(value: _Value, json: Json) -> Json:
        """The part of what was read that is the value."""
        for key in value.inner:
            json = _field(json, key)
        return {value.key: json} if value.key and json is not None else json

    def _exact(self, value: _Value) -> bool:
        """Whether the text under way says nothing before it is complete."""
        if not value.reader.in_text:
            return False
        root = self._schema(value)
        schema = resolved(root, root)
        if value.key:
            schema = resolved(root, _field(schema.get("properties"), value.key))
        for key in value.reader.path[len(value.inner) :]:
            inner = _field(schema.get("properties"), key) or schema.get("items")
            schema = resolved(root, inner)
        return not _EXACT.isdisjoint(schema)

    def _schema(self, value: _Value) -> Any:
        if value.tool == FINISH:
            return self._agent.engine.prompt_spec.answer
        tool = self._agent.engine.tools.get(value.tool)
        return {} if tool is None else tool.parameters

    def _partial(self, value: _Value, json: Json, state: ValueState) -> Partial[Any] | PartialCall:
        """What is known of a value, decoded if it fits its type."""
        if value.tool != FINISH:
            return self._partial_call(value, json, state)
        plain: Partial[Any] = Partial(json, state=state, index=value.index)
        if state == "cut":
            return plain
        try:
            return replace(plain, value=self._agent.decode(json), valid=True)
        except Exception:  # noqa: BLE001 - a user's type may raise anything: it does not fit yet
            return plain

    def _partial_call(self, value: _Value, json: Json, state: ValueState) -> PartialCall:
        """What is known of the arguments of a call: none of what is no object."""
        args = cast("dict[str, Json]", json) if isinstance(json, dict) else {}
        validator = self._agent.engine.validators.get(value.tool)
        valid = False
        with suppress(Exception):  # as above
            valid = (
                state != "cut" and args is json and validator is not None and not validator(args)
            )
        return PartialCall(value.tool, value.index, args, valid=valid, state=state)

    def _close(self, value: _Value, action: Action | None) -> None:
        """Say that a value is complete, as it was read, or that it was cut."""
        if not self._shows(value):
            return
        if action is not None and action.name == value.tool and not action.fault:
            json: Json = action.args.get("answer") if value.tool == FINISH else action.args
            self._show(self._partial(value, json, "complete"))
        elif value.began or value.reader.length:
            json = self._inner(value, value.reader.value())
            self._show(self._partial(value, json, "cut"))


def _field(value: Json, key: str) -> Json:
    """What an object has under a key; None where it is none."""
    return cast("dict[str, Json]", value).get(key) if isinstance(value, dict) else None
