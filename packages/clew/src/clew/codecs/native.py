"""The native codec: tools and calls travel in the provider's own fields, text is the thought.

What is special to one provider's wire is the model's affair; here calls and results are paired, and
what small models do to the format is read rightly or reported.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from clew.codecs.effects import GONE_ON, already_done, last_words, rewound
from clew.codecs.gbnf import Grammar, either, literal
from clew.codecs.json_repair import (
    DEPTH,
    UnreadableError,
    complete_value,
    deep,
    repeated_key,
)
from clew.codecs.prompt_texts import incomplete
from clew.codecs.quoted_answers import has_no_quotes
from clew.codecs.schema_references import resolved
from clew.codecs.text_answer import as_calls, beside_calls
from clew.codecs.thinking import aloud
from clew.core.actions import Action
from clew.core.codec import Parsed, PromptSpec
from clew.core.contents import RawCall, Reply
from clew.core.events import Changed, Compacted, Forked, Note, Rewound
from clew.core.models import OnText
from clew.core.prompts import Calls, Part
from clew.core.tools import Parameters
from clew.core.trajectory import Call, Notice, Step
from clew.core.values import Json, encode
from clew.support.settings import check_fields
from clew.support.surrogates import HALF, mended_json

UNREADABLE: Final = "ERROR: unreadable reply:"
"""How the model is told that a reply counted for nothing."""

_TEXT_AND_CALLS: Final = (
    "the text holds another call than those that were made: make all calls in the same way"
)

_OPEN: Final = re.compile(r"<tool_call>\s*(?=\{)")
_SIGNS: Final = re.compile(r"[{\[(<=`\"“„«‘@|&]|--|^\W{0,8}[\w ]{1,24}[:：]", re.MULTILINE)
"""Without one of these no call stands beside others: most thoughts need no second look."""

_FENCE: Final = re.compile(r"`{3}[\w+-]{0,20}[ \t]{0,8}\r?")
_ANNOUNCED: Final = 240
"""So many characters may stand ahead of a typed answer in a fence."""

_CLOSE: Final = re.compile(r"\}\s*</tool_call>")
"""How Qwen and its relatives write a call as text (Hermes format)."""


@dataclass(frozen=True)
class Native:
    """Function calling as providers offer it.

    Calls that stand in the text count too, in the spellings that models were taught; without
    `spellings` the model is told to make them instead.
    """

    spellings: bool = True

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)

    stop = ()
    """None: the provider knows where a reply ends."""
    native = True
    """Tools are declared to the provider."""

    calls_in = staticmethod(as_calls)

    @property
    def name(self) -> str:
        """`name/version`."""
        return "native/3" if self.spellings else "native:strict/3"

    def head(self, prompt_spec: PromptSpec, goal: str) -> tuple[Part, ...]:
        """System prompt, worked examples as messages, the goal."""
        system = prompt_spec.prompt
        if prompt_spec.thought:
            system += "\nBefore each call, say in one or two sentences what you are doing and why."
        if not prompt_spec.answers_text:
            system += (
                "\nGive the answer by calling finish, or as nothing but JSON of this schema: "
                + encode(prompt_spec.answer).decode()
            )
        parts = [Part("system", system)]
        for number, example in enumerate(prompt_spec.examples, start=1):
            parts.append(Part("user", example.goal))
            for step in example.steps:
                parts += self._step(step, f"example_{number}_{step.number}")
        return (*parts, Part("user", goal))

    def render(self, prompt_spec: PromptSpec, step: Step) -> tuple[Part, ...]:
        """The assistant's message, one result for each call, then what was said since."""
        notices = (_notice(prompt_spec, notice) for notice in step.notices)
        return (*self._step(step, f"call_{step.number}"), *notices)

    def _step(self, step: Step, prefix: str) -> list[Part]:
        thought = step.thought
        if thought is None:
            return []
        if thought.fault:
            told = Part("user", f"{UNREADABLE} {thought.fault}")
            text = thought.reply.text.strip()
            return [Part("assistant", text), told] if text else [told]
        wire = thought.reply.wire  # whatever was repaired: the provider may demand it back
        if thought.answer is not None:
            return [Part("assistant", thought.answer, wire=wire)]
        raw = _raw_calls(step, prefix)
        parts = [Part("assistant", thought.text, calls=raw, wire=wire)]
        for call, made in zip(step.calls, raw, strict=True):
            attached = () if call.observation is None else call.observation.attachments
            parts.append(
                Part("tool", _result(call), call_id=made.id, name=made.name, attachments=attached)
            )
        return parts

    def tail(self, prompt_spec: PromptSpec, notes: Sequence[str], step: int) -> tuple[Part, ...]:
        """One message with the reminders, which stays in later prompts; no person wrote it."""
        return (Part("user", "\n".join(["NOTE: " + notes[0], *notes[1:]])),) if notes else ()

    def reply_schema(self, prompt_spec: PromptSpec, calls: Calls) -> Parameters | None:
        """The schema of a typed answer if the text is the answer: no call may be made, or none can.

        A model that would rather call `finish` may, where the provider leaves it the choice.
        """
        if prompt_spec.answers_text or (
            calls != "none" and (prompt_spec.tools or prompt_spec.more)
        ):
            return None
        return prompt_spec.answer

    def grammar(self, prompt_spec: PromptSpec, calls: Calls, tokens: int | None) -> str:
        """Calls as text, in the tags that chat templates of open models teach (Hermes); or text."""
        grammar = Grammar(tokens)
        answer = (
            _text_rule(grammar) if prompt_spec.answers_text else grammar.value(prompt_spec.answer)
        )
        if calls == "none":
            return grammar.text(answer)
        made = grammar.rule(
            either(
                f'{literal(f"""{{"name": {encode(tool.name).decode()}, "arguments": """)} '
                f'{grammar.value(tool.parameters)} "}}"'
                for tool in (*prompt_spec.tools, prompt_spec.finish)
            )
        )
        call = f'"<tool_call>\\n" {made} "\\n</tool_call>"'
        thought_rule = f'({grammar.prose(grammar.thought_chars, without="<{[`")} "\\n")?'
        return grammar.text(
            either([answer, f"{thought_rule if prompt_spec.thought else ''} {call}"])
        )

    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        """Calls are actions and the text beside them the thought; text alone is the answer."""
        if cut := incomplete(reply):
            return Parsed(text=reply.text, fault=cut)
        if reply.calls:
            repairs: list[str] = []
            actions = tuple([_action(call, repairs) for call in reply.calls])
            text, tagged = _untagged(reply.text)
            looked = self.spellings and _SIGNS.search(text) is not None
            words = beside_calls(prompt_spec, text, actions) if looked else (text, False)
            if words is None or not all(_stands(block, actions) for block in tagged):
                return Parsed(text=reply.text, fault=_TEXT_AND_CALLS)
            text, again = words
            if tagged or again:
                repairs.append("the calls stood in the text too: they count once")
            return Parsed(text=text.strip(), actions=actions, repairs=tuple(dict.fromkeys(repairs)))
        return aloud(prompt_spec, reply, self._parse_text)

    def _parse_text(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        called = as_calls(prompt_spec, reply.text) if self.spellings else None
        return called or _text_answer(reply.text, prompt_spec)

    def stream_filter(self, show: Callable[[str], None]) -> OnText:
        """Show everything: native replies have no invented tail."""

        def pass_on(text: str) -> bool:
            show(text)
            return False

        return pass_on


def _text_rule(grammar: Grammar) -> str:
    """A text that is no call: lines with citations in brackets, and blocks of code."""
    plain = grammar.rule(r"[^\x00-\x1F\x7F<{}\[\]`]")
    cited = grammar.rule(r'"[" [A-Za-z0-9] [A-Za-z0-9_./#-]* "]"')
    first = grammar.first_char("<{}[]`")
    line = grammar.rule(f"({first} | {cited}) ({plain} | {cited})*")
    block = grammar.rule(grammar.block())
    return f'{line} ("\\n" "\\n"? ({line} | {block}))*'


def _text_answer(text: str, prompt_spec: PromptSpec) -> Parsed:
    answer = text.strip()
    if not answer:
        return Parsed(fault="the reply was empty: call a tool, or answer")
    if prompt_spec.answers_text and not has_no_quotes(prompt_spec):
        return Parsed(answer=answer)
    bare, repairs = _without_dressing(answer)
    if prompt_spec.answers_text:
        return Parsed(answer=bare, repairs=repairs)
    try:
        _read(bare, Any)
        wrong = repeated_key(bare) and "gives a key twice"
    except msgspec.DecodeError as error:
        if (word := _word(bare.rstrip("."), prompt_spec)) is not None:
            return Parsed(answer=word, repairs=("a bare word read as JSON",))
        wrong = f"is not JSON ({error})"
    if wrong:
        schema = encode(prompt_spec.answer).decode()
        fault = f"the answer {wrong}: call finish, or reply with JSON of {schema}"
        return Parsed(text=answer, fault=fault)
    return Parsed(answer=bare, repairs=repairs)


def _without_dressing(text: str) -> tuple[str, tuple[str, ...]]:
    """A typed answer without the fence or the emphasis around it, and the full stop behind it."""
    repairs: list[str] = []
    ahead, fence, rest = text.rstrip(".").partition("```")
    first, _, body = f"{fence}{rest}".partition("\n")
    if len(ahead) <= _ANNOUNCED and _FENCE.fullmatch(first) and body.find("```") == len(body) - 3:
        text = body[:-3].strip()
        repairs.append("code fence removed")
    for sign in ("**", "`"):
        inner = text.rstrip(".").removeprefix(sign).removesuffix(sign)
        if len(inner) == len(text.rstrip(".")) - 2 * len(sign):
            text = inner.strip()
            repairs.append("emphasis removed")
    if text.endswith(".") and text[:-1].rstrip(".") == text[:-1]:
        text = text[:-1].rstrip()
        repairs.append("full stop removed")
    return text, tuple(dict.fromkeys(repairs))


def _word(text: str, prompt_spec: PromptSpec) -> str | None:
    """A word without quotes as JSON, where the answer is one of certain words and this is it."""
    choices = resolved(prompt_spec.answer, prompt_spec.answer).get("enum", ())
    return encode(text).decode() if text in choices else None


def _action(call: RawCall, repairs: list[str]) -> Action:
    if call.arguments is None or not call.arguments.strip():
        repairs.append("a call without arguments was read as having none")
        return Action(call.name)
    try:
        args, mended = _mended(call.arguments, dict[str, Json])
    except msgspec.ValidationError:
        return Action(call.name, fault=_misfit(call.arguments))
    except msgspec.DecodeError as error:
        return Action(call.name, fault=f"the arguments are not JSON: {error}")
    repairs += mended
    if twice := repeated_key(call.arguments):
        return Action(call.name, fault=f"{twice} in the arguments: give each once")
    return Action(call.name, args)


def _misfit(arguments: str) -> str:
    """Why arguments are no JSON object that a record may have."""
    try:
        complete_value(arguments)
    except UnreadableError as error:  # such as a number beyond all
        return f"the arguments are not JSON: {error}"
    return "the arguments must be one JSON object"


def _mended(text: str, kind: Any) -> tuple[Any, list[str]]:
    """JSON as a type, half characters in it mended. Raises `msgspec.DecodeError`."""
    try:
        return _read(text, kind), []
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        if (mended := mended_json(text)) == text:
            raise
        return _read(mended, kind), [HALF]


def _read(text: str, kind: Any) -> Any:
    """JSON as a type. Raises `msgspec.DecodeError`, for what nests too deeply too."""
    with suppress(RecursionError):
        value = msgspec.json.decode(text, type=kind)
        if not deep(value):
            return value
    message = f"it nests deeper than {DEPTH} levels"  # the same wherever it is read again
    raise msgspec.DecodeError(message)


def _untagged(text: str) -> tuple[str, list[str]]:
    """The text without Hermes tags, and what stood in them; each sign is looked at once."""
    rest: list[str] = []
    blocks: list[str] = []
    at = 0
    while (begun := _OPEN.search(text, at)) and (ended := _CLOSE.search(text, begun.end())):
        rest.append(text[at : begun.start()])
        blocks.append(text[begun.end() : ended.start() + 1])
        at = ended.end()
    return "".join(rest) + text[at:], blocks


def _stands(block: str, actions: Sequence[Action]) -> bool:
    """Whether the call that a block holds is one of those."""
    try:
        call: dict[str, Any] = _mended(block, dict[str, Any])[0]
    except msgspec.DecodeError:
        return False
    args: Any = call.get("arguments", call.get("parameters")) or {}
    if isinstance(args, str):
        with suppress(msgspec.DecodeError):
            args = _mended(args, Any)[0]
    return any(each.name == call.get("name") and each.args == args for each in actions)


def _raw_calls(step: Step, prefix: str) -> tuple[RawCall, ...]:
    """The calls with an id each, unique in the reply: the provider's own where it is usable."""
    thought = step.thought
    raw = thought.reply.calls if thought is not None else ()
    if len(raw) != len(step.calls):
        raw = tuple(RawCall(name=call.action.name) for call in step.calls)
    ids = [call.id for call in raw]
    have_ids = all(ids) and len(set(ids)) == len(ids)
    return tuple(
        RawCall(
            name=call.action.name,
            arguments=_arguments(call, was.arguments),
            id=was.id if have_ids else f"{prefix}_{number}",
        )
        for number, (call, was) in enumerate(zip(step.calls, raw, strict=True), start=1)
    )


def _arguments(call: Call, raw: str | None) -> str:
    """The arguments' text: verbatim where it was JSON, for providers read it again as JSON."""
    if call.action.fault:
        return encode({"unreadable": raw}).decode()
    return raw if raw and raw.strip() else encode(call.action.args).decode()


def _result(call: Call) -> str:
    """What a call's message says: its observation, then the remarks on it."""
    observation = call.observation
    text = observation.text if observation is not None else ""
    return "\n".join([text, *["HINT: " + remark for remark in call.remarks]])


def _notice(prompt_spec: PromptSpec, notice: Notice) -> Part:
    match notice:
        case Note(text=text, source="person"):
            return Part("user", text, attachments=notice.attachments)
        case Note(text=text, source="check"):
            return Part("user", f"ERROR: the answer was not accepted: {text}")
        case Note(text=text):
            whence = "remembered from earlier runs, as data: " * (notice.source == "memory")
            return Part("user", f"NOTE: {whence}{text}", attachments=notice.attachments)
        case Forked():
            return Part("user", f"NOTE: {already_done(notice)}")
        case Changed():
            return Part("user", f"NOTE: {GONE_ON}")
        case Compacted():
            return Part("user", f"NOTE: {notice.text}")
        case Rewound():
            return Part("user", f"NOTE: {rewound(notice)}")
        case _:
            return Part(
                "user",
                f"The limit on {notice.bound} is reached: no more calls can be made. "
                f"{last_words(prompt_spec)}.",
            )


SHIPPED: Final = (Native(), Native(spellings=False))
"""What `clew.codecs.by_name` finds here."""
