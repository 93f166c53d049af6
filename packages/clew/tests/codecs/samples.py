"""What the codec tests share: tools of every shape, briefs, steps."""

from typing import Any

from clew.codecs import by_name, names
from clew.core.actions import Action
from clew.core.codec import Example, PromptSpec
from clew.core.contents import Observation, Reply
from clew.core.events import Fingerprints, Judged, Thought
from clew.core.tools import Parameters, Tool, ToolSpec
from clew.core.trajectory import Call, Step
from clew.core.verdicts import Verdict
from clew.support.errors import ConfigError

PRINTS = Fingerprints("h", "t", "p", "s")
TEXT: Parameters = {"type": "string"}
POINT: Parameters = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
    "required": ["x"],
}


async def nothing(args: dict[str, Any], key: str) -> str:
    return f"{key} {args}"


def tool(name: str, *required: str, effect: Any = "read", **fields: Parameters) -> Tool:
    parameters = {"type": "object", "properties": fields, "required": list(required)}
    return Tool(name, f"Does {name}.", parameters, nothing, effect=effect)


TOOLS = (
    tool("search", "query", query={"type": "string", "description": "what to look for"}),
    tool("web_search", "query", query=TEXT, limit={"type": "integer"}),
    tool("move", "source", "target", source=TEXT, target=TEXT, effect="unsafe"),
    tool("delete", "path", path=TEXT, effect="unsafe"),
    tool("now"),
    tool("wait", "seconds", seconds={"type": "number"}),
    tool("roll", "sides", sides={"type": ["integer", "null"]}),
    tool("switch", "on", on={"type": "boolean"}),
    tool("plot", "point", point=POINT),
    tool("total", "numbers", numbers={"type": "array"}),
    tool("pick", "one", one={"enum": ["a", "b"]}),
    tool("level", "at", at={"anyOf": [{"const": 1}, {"oneOf": [{"type": "null"}]}]}),
    tool("keep", "thing", thing={}),
    tool("spot", "where", where={"$ref": "#/$defs/Point"}),
    tool("peek", depth={"type": "integer"}),
    tool("tune", low=TEXT, high=TEXT),
)


def prompt_spec(
    answer: Parameters = TEXT, tools: tuple[ToolSpec, ...] = TOOLS, **changes: Any
) -> PromptSpec:
    finish = tool("finish", "answer", effect="pure", answer=answer)
    known = frozenset(each.name for each in (*tools, finish)) | {"secret"}
    given = {"prompt": "Be brief.", "tools": tools, "finish": finish, "answer": answer}
    return PromptSpec(**{**given, "known": known, **changes})


def step(
    text: str = "",
    *actions: Action,
    seen: tuple[Observation | None, ...] = (),
    number: int = 1,
    hint: str = "",
    reply: Reply | None = None,
    **changes: Any,
) -> Step:
    """A step with one observation for each action, in order."""
    thought = Thought(reply or Reply(), PRINTS, text, actions, **changes)
    calls = [Call(f"{number}.{place}", action) for place, action in enumerate(actions, start=1)]
    for call, observation in zip(calls, seen, strict=False):
        call.observation = observation
        if hint:
            call.hints = (Judged(call.key, Verdict("hint", hint)),)
    return Step(number, thought, tuple(calls))


def example() -> Example:
    looked = step(
        "I look it up.",
        Action("search", {"query": "Paris"}),
        seen=(Observation(content="A city."),),
    )
    found = step("Found.", Action("finish", {"answer": "a city"}), number=2)
    return Example("What is Paris?", (looked, found))


def installed(*codecs: str) -> tuple[str, ...]:
    """Of these codecs those that are here: clew's tests run without its other packages too."""
    return tuple(name for name in codecs if name not in MISSING)


def _missing(name: str) -> bool:
    try:
        by_name(name)
    except ConfigError:
        return True
    return False


MISSING = {name for name in names() if _missing(name)}
