"""What a person's words ask for: read by the model in these words alone, before it is told more.

The request has the instructions, the tools that act and the person's messages. No result of a tool
is in it, so nothing that came from outside can change what it says. Idea: the planner of CaMeL
(arXiv 2503.18813), asked late: only when a call cannot be judged without.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from clew.agent.composition import Composition
from clew.codecs.gbnf import either, literal
from clew.core.actions import PlannedCall
from clew.core.contents import Reply
from clew.core.events import AnyEvent, Planned
from clew.core.models import OnText
from clew.core.prompts import Part, Prompt
from clew.core.tools import ToolSpec
from clew.core.trajectory import Trajectory
from clew.core.values import Json, encode
from clew.guards.provenance import persons_words
from clew.guards.provenance.request import spoken

ASKED: Final = (
    "Which of these tools does the request below call for, and how often? Nothing has been looked "
    "up yet. List each call that it asks for, in order. Give only arguments that the request "
    "itself settles; leave out, or set to null, what has to be looked up first. Call nothing. "
    'Reply with JSON: {"calls": [{"tool": "name", "args": {}}]}'
)

_FORM: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "calls": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"tool": {"type": "string"}, "args": {"type": "object"}},
                "required": ["tool", "args"],
            },
        }
    },
    "required": ["calls"],
}


_MAX_CALLS: Final = 20
"""Of a plan under a grammar: else a small model repeats one until the reply is cut off."""


_VALUES: Final = (
    r'value ::= simple | "[" (inner (", " inner)*)? "]" | '
    r""""{" (pair (", " pair)*)? "}"
pair ::= string ": " inner
inner ::= simple | "[" (simple (", " simple)*)? "]" | "{" (field (", " field)*)? "}"
field ::= string ": " simple
simple ::= string | number | "true" | "false" | "null"
string ::= "\"" ([^"\\\x00-\x1F\x7F] | "\\" ["\\nt])* "\""
number ::= "-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,15})?
"""
)
"""Values of arguments: which are right, validation says where they are called with."""


class _Call(msgspec.Struct):
    tool: str
    args: dict[str, Json] = {}


class _Plan(msgspec.Struct):
    calls: list[_Call]


async def planned(
    ask: Callable[[Prompt, OnText | None], Awaitable[Reply]],
    parts: Composition,
    trajectory: Trajectory,
) -> Sequence[AnyEvent]:
    """Ask the model which calls a person's words call for. Raises `ModelError`."""
    acting = parts.acting
    reply = await ask(_prompt(parts, acting, trajectory), None)
    text = reply.text[reply.text.find("{") : reply.text.rfind("}") + 1]
    try:
        plan = msgspec.json.decode(text, type=_Plan)
    except (msgspec.DecodeError, UnicodeError):
        return [Planned((), reply.usage, "the model's reply could not be read")]
    return [Planned(tuple(_settled(plan, acting)), reply.usage)]


def _prompt(parts: Composition, acting: Mapping[str, ToolSpec], trajectory: Trajectory) -> Prompt:
    """The tools that act, and what the person said themself, without what they only pasted."""
    tools: list[Json] = [_described(tool) for tool in acting.values()]
    head = "\n\n".join(filter(None, (parts.prompt_spec.prompt, ASKED, encode(tools).decode())))
    words = tuple(Part("user", spoken(text)[0]) for text in persons_words(trajectory))
    held = parts.model.info.params.get("grammar") is True
    return Prompt(
        (Part("system", head),), words, calls="none", reply_schema=_FORM, purpose="plan",
        grammar=_grammar(acting) if held else "",
    )  # fmt: skip


def _grammar(acting: Mapping[str, ToolSpec]) -> str:
    """A plan and nothing else: small models put it in prose, or copy a schema into it.

    Spaces are those of the form in the question: without them a small model errs at each quote.
    """
    calls = either(
        f'{literal(f"""{{"tool": {encode(name).decode()}, "args": {{""")} '
        f'{_args([*tool.parameters.get("properties", {})])} "}}}}"'
        for name, tool in acting.items()
    )
    begun = literal("""{"calls": [""")
    root = f'{begun} (call (", " call){{0,{_MAX_CALLS - 1}}})? "]}}"'
    return f"root ::= {root}\ncall ::= {calls}\n{_VALUES}"


def _args(names: Sequence[str]) -> str:
    """Some of these arguments, in order, each once: the request need not settle any."""
    pairs = [f'{literal(encode(each).decode())} ": " value' for each in names]
    begun = [
        " ".join([pair, *(f'(", " {later})?' for later in pairs[at:])])
        for at, pair in enumerate(pairs, 1)
    ]
    return f"({either(begun)})?" if begun else '""'


def _described(tool: ToolSpec) -> dict[str, Json]:
    """A tool; of a foreign one only names, since its description might ask for calls."""
    if tool.labels.foreign:
        return {"tool": tool.name, "parameters": [*tool.parameters.get("properties", {})]}
    return {"tool": tool.name, "what": tool.description, "parameters": tool.parameters}


def _settled(plan: _Plan, acting: Mapping[str, ToolSpec]) -> Iterator[PlannedCall]:
    """The planned calls of tools that act, with the arguments that the words settle."""
    for call in plan.calls:
        if call.tool in acting:
            args = {name: value for name, value in call.args.items() if value is not None}
            yield PlannedCall(call.tool, args)
