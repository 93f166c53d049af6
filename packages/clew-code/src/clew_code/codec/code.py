"""Code as action: a reply is a thought and one block of Python, in which tools are functions.

The tool `run_code` runs the block. A block that is nothing but one call, with arguments written
out, is that call; without `run_code` every block must be one. Names as in CodeAct (Wang et al.,
arXiv 2402.01030).
"""

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from clew.codecs import prompt_texts
from clew.codecs.text_codec import (
    Grammar,
    ReadPiece,
    TextCodec,
    UnreadableError,
    aloud,
    check_thought,
    complete_value,
    either,
    example,
    literal,
    may_act,
    trace,
    visible_tools,
)
from clew.core.codes import RUN_CODE
from clew.interfaces import (
    FINISH,
    OUTCOME,
    Action,
    Calls,
    Json,
    OnText,
    Parsed,
    Part,
    PromptSpec,
    Reply,
    ToolSpec,
    encode,
)
from clew.support.json_arguments import unfit
from clew_code.codec.block_lines import (
    ANSWER,
    FENCE,
    OBSERVATION,
    THOUGHT,
    BlockFilter,
    Pieces,
    may_show,
)
from clew_code.codec.code_values import CodeReader
from clew_code.codec.fenced_answers import is_answer, is_labelled, is_text
from clew_code.codec.functions import (
    function_name,
    lone_call,
    runs_code,
    signature,
    written,
)

LABELS: Final = prompt_texts.Labels(
    (("thought", "thought"), ("answer", "final"), ("observation", "observation"))
)

_CODE: Final = re.compile(
    r"\s{0,8}[*_]{0,3}(?:code|action)[*_]{0,3}:[*_]{0,3}\s{0,8}", re.IGNORECASE
)
_TAGS: Final = ("execute", "code", "python")
_LABEL: Final = "Thought: "
"""How a thought begins in the prompt, and so in the grammar: one that differs misleads a model."""

_EMPTY: Final = "the reply was empty"
_UNCLOSED: Final = "code fence not closed"
_FENCED: Final = "answer taken out of a code fence"


@dataclass(frozen=True)
class Code(TextCodec):
    """A thought, then a block of Python; or an answer."""

    name = "code/2"
    stop = ("\nObservation:",)
    """Where a model begins to invent a result."""

    def head(self, prompt_spec: PromptSpec, goal: str) -> tuple[Part, ...]:
        """Instructions, rules, functions and examples in one system part, then the question."""
        thought = prompt_texts.thought_in_form(prompt_spec) if prompt_spec.thought else ""
        block = f"{_thought_line(thought)}```python\n{_usual(prompt_spec)}\n```"
        rules = (
            "You act by writing Python. Each of your replies is one step: a block of code, or the "
            f"answer. A block has this very form:\n\n{block}\n\n"
            f"{_results(prompt_spec)}\n\n"
            f"{prompt_texts.discipline(prompt_spec, 'the Observation')}\n"
            "- Once you know the answer, give it alone, without a block: "
            f"{_finish_text(prompt_spec)}"
            f"{prompt_texts.outcome_rule(prompt_spec, _finish_form)}"
        )
        tools = (
            signature(tool) for tool in visible_tools(prompt_spec)[:-1] if tool.name != RUN_CODE
        )
        system = prompt_texts.system(self.layout(), prompt_spec, rules, tools)
        return (system, Part("user", f"Question: {goal}"))

    def describe(self, prompt_spec: PromptSpec, tools: Sequence[ToolSpec]) -> tuple[Part, ...]:
        """One part that describes further functions."""
        listed = [signature(tool) for tool in tools if tool.name != RUN_CODE]
        return prompt_texts.further(listed) if listed else ()

    def grammar(self, prompt_spec: PromptSpec, calls: Calls, tokens: int | None) -> str:
        """One thought on one line, then a block, or the answer."""
        grammar = Grammar(tokens)
        answer = grammar.answer() if prompt_spec.answers_text else grammar.value(prompt_spec.answer)
        ends = [f"{literal('Answer: ')} {answer}"]
        if calls != "none" and (code := _code_rule(grammar, prompt_spec)):
            ends.append(f"{literal('```python' + chr(10))} {code} {_END}")
        thought_rule = f'{literal(_LABEL)} {grammar.prose(grammar.thought_chars)} "\\n" '
        return grammar.text((thought_rule if prompt_spec.thought else "") + either(ends))

    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        """Take the first block, or the answer; the text before it is the thought."""
        return aloud(prompt_spec, reply, self._parse)

    def _parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        parsed_pieces = _pieces(reply.text)
        thought = _prose(parsed_pieces)
        try:
            if why := prompt_texts.cut_short(reply, complete=bool(parsed_pieces.dropped)):
                raise UnreadableError(why)
            if parsed_pieces.coded or parsed_pieces.answer is not None:
                check_thought(thought)
            return _read(prompt_spec, reply, parsed_pieces, thought)
        except UnreadableError as error:
            block = f"```python\n{_usual(prompt_spec)}\n```"
            return Parsed(text=thought, fault=prompt_texts.fault(error, block))

    def stream_filter(self, show: Callable[[str], None]) -> OnText:
        """Show everything up to the end of the block, or an invented observation."""
        return BlockFilter(show).take

    def value_reader(self, prompt_spec: PromptSpec) -> ReadPiece:
        """The program that a block is, or the answer, as it arrives."""
        pieces = Pieces()
        return CodeReader(prompt_spec, pieces, ANSWER, partial(may_show, pieces)).feed

    def layout(self) -> prompt_texts.Syntax:
        return prompt_texts.Syntax(
            labels=LABELS,
            question="Question",
            turn=lambda prompt_spec, _, thought, action: self._turn(prompt_spec, thought, action),
            thought=lambda _, text: _thought_line(text).rstrip("\n"),
            seen=lambda _: "Observation",
            finish=lambda prompt_spec, _: _finish_text(prompt_spec),
        )

    def _turn(self, prompt_spec: PromptSpec, thought: str, action: Action) -> str:
        thought_line = _thought_line(thought)
        if action.name == FINISH and action.args.keys() == {"answer"}:
            answer: Json = action.args["answer"]
            plain = f"Answer: {answer if isinstance(answer, str) else encode(answer).decode()}"
            parsed = self.parse(prompt_spec, Reply(plain))
            if parsed.actions == (Action(FINISH, action.args),) and not parsed.repairs:
                return thought_line + plain
        return thought_line + _block(_program(action))


def _pieces(text: str) -> Pieces:
    pieces = Pieces()
    for line in text.replace("\r\n", "\n").split("\n"):
        pieces.take(line)
    return pieces


def _prose(pieces: Pieces) -> str:
    text = "\n".join(pieces.prose).strip()
    label = THOUGHT.match(text)
    return text if label is None else text[label.end() :].strip()


def _thought_line(thought: str) -> str:
    return f"{_LABEL}{_inert(thought)}\n" if thought else ""


def _inert(text: str) -> str:
    """A thought with `| ` before each line that would be read as something else."""
    lines = text.split("\n")
    special = (OBSERVATION.match, ANSWER.match, FENCE.fullmatch)
    return "\n".join(f"| {line}" if any(one(line) for one in special) else line for line in lines)


def _program(action: Action) -> str:
    code = action.args.get("code")
    if action.name == RUN_CODE and isinstance(code, str) and len(action.args) == 1:
        return code
    return written(action)


def _block(code: str) -> str:
    """A program between fences that none of its own lines closes."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}python\n{code}\n{fence}"


_END: Final = literal("\n```")


def _code_rule(grammar: Grammar, prompt_spec: PromptSpec) -> str:
    """A program as a grammar: lines that close no fence; or one call with its arguments.

    "" where there is neither: without a tool, or where those that there are are withheld.
    """
    if runs_code(prompt_spec):
        return grammar.code()
    asked = prompt_texts.asks_outcome(prompt_spec)
    tools = visible_tools(prompt_spec)[: None if asked else -1]
    names = [(literal(f"{function_name(tool.name)}(**"), tool) for tool in tools]
    made = [f'{name} {grammar.value(tool.parameters)} ")"' for name, tool in names]
    return either(made) if made else ""


def _usual(prompt_spec: PromptSpec) -> str:
    """What a block may look like."""
    tools = [tool for tool in visible_tools(prompt_spec)[:-1] if tool.name != RUN_CODE]
    if not tools:
        return "print(6 * 7)"
    call = written(Action(tools[0].name, example(tools[0])), tools[0])
    return f"found = {call}\nprint(found)" if runs_code(prompt_spec) else call


def _results(prompt_spec: PromptSpec) -> str:
    if not runs_code(prompt_spec):
        return (
            "It holds one call of a function below, with arguments written out. What the call "
            'gives comes to you as "Observation: ...".'
        )
    return (
        'What it prints, and the value of its last line, comes to you as "Observation: ...". '
        "Variables stay for the next block. The functions below are there without an import; they "
        "give values, and raise an exception where something goes wrong. Use loops and conditions "
        "where several calls belong together. There is no generator, no class that inherits, no "
        "file, and of modules little more than json, re, math, datetime and random."
    )


def _finish_form(_: str) -> str:
    return f"a block of nothing but {FINISH}(answer=..., {OUTCOME}=...)"


def _finish_text(prompt_spec: PromptSpec) -> str:
    if prompt_spec.answers_text:
        return "Answer: the answer"
    return f"Answer: JSON of the schema {encode(prompt_spec.answer).decode()}"


def _read(prompt_spec: PromptSpec, reply: Reply, pieces: Pieces, thought: str) -> Parsed:
    """The action of a reply. Raises `UnreadableError`."""
    repairs = [pieces.dropped] if pieces.dropped else []
    if pieces.answer is not None:
        return Parsed(
            thought,
            (_answered(prompt_spec, "\n".join(pieces.answer).strip()),),
            repairs=(*repairs,),
        )
    code = "\n".join(pieces.code) if pieces.coded else None
    if code is not None and pieces.fence:
        repairs.append(_UNCLOSED)
    if code is None:
        code, thought, how = _unfenced(prompt_spec, reply, thought)
        repairs += [how] if how else []
    if code is None:
        if not thought:
            raise UnreadableError(_EMPTY)
        if prompt_spec.answers_text and not pieces.dropped:
            return Parsed(answer=thought)
        return Parsed(actions=(_answered(prompt_spec, thought),), repairs=(*repairs,))
    if not code.strip():
        raise UnreadableError("the block is empty")
    if pieces.fence and not pieces.over and (name := _acting(prompt_spec, code)):
        raise UnreadableError(f"the block is never closed, and {name} changes things")
    made = _in_fence(prompt_spec, code, pieces.language) if pieces.coded else None
    if made is not None and (name := trace(prompt_spec, "\n".join(pieces.prose))):
        raise UnreadableError(f"a call of {name} stands before the block and cannot be read")
    if made is not None:
        return Parsed(thought, (made,), repairs=(*repairs, _FENCED))
    return Parsed(thought, (_made(prompt_spec, code),), repairs=tuple(repairs))


def _in_fence(prompt_spec: PromptSpec, code: str, language: str) -> Action | None:
    """The answer that a block is; None where it is a program."""
    inside = _pieces(code)
    before = "\n".join(inside.prose)
    if inside.answer is not None and not inside.coded and is_labelled(code, before):
        return _answered(prompt_spec, "\n".join(inside.answer).strip())
    if not is_answer(code, language):
        return None
    if (call := lone_call(prompt_spec, code)) is not None:
        if is_text(language) and may_act(prompt_spec, call.name):
            raise UnreadableError(
                f"the block is marked as {language}, and {call.name} changes things: nothing was "
                "done. A block that is to run is marked as python"
            )
        return None
    if not prompt_spec.answers_text:
        try:
            value = complete_value(code.strip())
        except UnreadableError:
            return None
        return Action(FINISH, {"answer": value})
    return Action(FINISH, {"answer": _unquoted(code.strip())})


def _unquoted(text: str) -> str:
    """A text without the quotes around it, if that is all that it is."""
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return text
    return value if isinstance(value, str) and value.strip() and not unfit(value) else text


def _acting(prompt_spec: PromptSpec, code: str) -> str:
    """The first function with an effect that a program names, "" where it names none."""
    acting = {function_name(tool.name): tool.name for tool in _acting_tools(prompt_spec)}
    words = (acting.get(word, "") for word in re.findall(r"[^\W\d]\w*", code))
    return next(filter(None, words), "")


def _acting_tools(prompt_spec: PromptSpec) -> tuple[ToolSpec, ...]:
    tools = (*visible_tools(prompt_spec), *prompt_spec.more)
    return tuple(
        each for each in tools if each.name != RUN_CODE and may_act(prompt_spec, each.name)
    )


def _made(prompt_spec: PromptSpec, code: str) -> Action:
    """A block as a call: the one that it is, or that of `run_code`."""
    if (call := lone_call(prompt_spec, code)) is not None:
        return call
    if runs_code(prompt_spec):
        return Action(RUN_CODE, {"code": code})
    raise UnreadableError("the block is not one call of a function, with arguments written out")


def _answered(prompt_spec: PromptSpec, text: str) -> Action:
    if not text:
        raise UnreadableError("nothing stands behind Answer:")
    return Action(FINISH, {"answer": text if prompt_spec.answers_text else complete_value(text)})


def _unfenced(prompt_spec: PromptSpec, reply: Reply, text: str) -> tuple[str | None, str, str]:
    """A program that stands in a call, in tags, in an object or behind a label, and the thought.

    The last says how it was found.
    """
    if not runs_code(prompt_spec):
        return None, text, ""
    for call in reply.calls[:1]:
        return _coded(complete_value(call.arguments or "{}")), text, "program taken from a call"
    for tag in _TAGS:
        before, opened, rest = text.partition(f"<{tag}>")
        if opened:
            inside, closed, _ = rest.partition(f"</{tag}>")
            if not closed and (name := _acting(prompt_spec, inside)):
                raise UnreadableError(f"<{tag}> is never closed, and {name} changes things")
            return inside.strip("\n"), before.strip(), "tags around the program"
    if text.startswith("{"):
        try:
            code = _coded(complete_value(text))
        except UnreadableError:
            code = None
        return (None, text, "") if code is None else (code, "", "program in an object")
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if (label := _CODE.match(line)) is not None:
            pieces = _pieces("\n".join(["```", line[label.end() :], *lines[index + 1 :]]))
            thought = "\n".join(lines[:index]).strip()
            if (
                pieces.fence
                and not pieces.over
                and (name := _acting(prompt_spec, "\n".join(pieces.code)))
            ):
                raise UnreadableError(f"the program is never closed, and {name} changes things")
            return "\n".join(pieces.code).strip("\n"), thought, "no fence around the program"
    return None, text, ""


def _coded(value: Any) -> str | None:
    """The program in the arguments of a call, or in the call as an object."""
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    for name in ("code", "arguments", "args", "input", "parameters"):
        inner = fields.get(name)
        if isinstance(inner, str) and name == "code":
            return inner
        if isinstance(inner, dict):
            return _coded(inner)
    return None


CODE: Final = Code()
"""What `clew.codecs.by_name("code")` finds."""
