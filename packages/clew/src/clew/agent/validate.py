"""Whether the parts of an agent fit together: said when it is made, before any model call."""

import inspect
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, Final, TypeAlias, cast

import msgspec

from clew.agent.approval_rules import check_rule
from clew.codecs.no_action import void
from clew.context import Compaction, Instructions
from clew.context.demonstrations import DEMONSTRATIONS
from clew.context.tool_examples import tool_examples
from clew.core.actions import Action
from clew.core.codec import Codec, Describes, Example
from clew.core.codes import FINISH, RUN_CODE
from clew.core.contents import Grant
from clew.core.judging import Guard
from clew.core.models import Model, ModelInfo
from clew.core.tools import AgentTool, AnyTool, Finder, Tool, ToolSpec
from clew.core.values import encode
from clew.deps.parameters import context_parameter, rule_takes_context
from clew.deps.parts import ContextGuard
from clew.guards import NoProgress, Provenance
from clew.guards.limits import Limits
from clew.support.arguments import check_number
from clew.support.error_text import described
from clew.support.errors import ConfigError
from clew.support.model_settings import ModelSettings
from clew.support.nearest_name import did_you_mean, nearest
from clew.support.parts import PASSED, short_repr
from clew.support.wings import EXAMPLES, require
from clew.support.wings import names as names_in
from clew.tools.dependent import DependentTool
from clew.tools.function import tool
from clew.tools.recall import READ_MORE, RECALL
from clew.tools.schema import checked, problems

AnyGuard: TypeAlias = Guard | ContextGuard

ELSEWHERE: Final[Mapping[str, str]] = {
    "system_prompt": "prompt",
    "system": "prompt",
    "instructions": "prompt",
    "llm": "model",
    "functions": "tools",
    "output_type": "answer",
    "response_format": "answer",
    "max_steps": "limits=Limits(steps=…)",
    "max_iterations": "limits=Limits(steps=…)",
    "model_settings": "settings=ModelSettings(…)",
    **{name: f"settings=ModelSettings({name}=…)" for name in ModelSettings.HELP},
}
"""What other libraries call the fields of an agent, and what they are here."""

INSIDE: Final[Mapping[str, str]] = {
    each.name: f"{field}={kind.__name__}({each.name}=…)"
    for field, kind in (("limits", Limits), ("prompt", Instructions))
    for each in fields(kind)
}
"""What is said of an agent in a field of one of its parts."""

ASKED: Final[Mapping[str, tuple[str, ...]]] = {
    "guard": ("call", "trajectory"),
    "check": ("answer", "trajectory"),
    "screen": ("words",),
    "bound": ("trajectory",),
    "tail": ("trajectory", "left"),
    "shape": ("text",),
    "compactor": ("draft",),
    "repair": ("arguments",),
    "approve": ("arguments",),
    "probe": ("arguments", "key"),
}
"""What each kind of function is called with."""

ASKED_WITH_CONTEXT: Final[Mapping[str, tuple[str, ...]]] = {
    "guard": ("call", "ctx"),
    "check": ("answer", "ctx"),
    "tail": ("ctx",),
    "approve": ("arguments", "ctx"),
}
"""What is called with if it has a parameter of type `RunContext`."""

MAX_TOOLS: Final = 40
"""So many tools may be shown: no model chooses well among more."""

AT_ONCE: Final = frozenset({"bound", "tail", "shape", "repair", "compactor"})
"""Those that nobody awaits."""


def check_prompt(prompt: object) -> None:
    """Raise `ConfigError` for what is neither a text nor instructions."""
    if isinstance(prompt, (str, Instructions)):
        if isinstance(prompt, Instructions) and prompt.tail is not None:
            check_function("tail", prompt.tail)
        return
    hint = "a text or Instructions"
    if callable(prompt):
        hint = "the text it returns, or Instructions(persona=…, tail=function) for words said anew"
    message = f"prompt is {short_repr(prompt)}: give {hint}"
    raise ConfigError(message)


def check_screens(screens: Iterable[object]) -> None:
    """Raise `ConfigError` where two screens look for the same: only the stricter one would count.

    A screen says what it looks for by `looks_for`; what says nothing may stand beside anything.
    """
    seen: set[str] = set()
    for screen in screens:
        looks_for = getattr(screen, "looks_for", "")
        if looks_for and looks_for in seen:
            raise ConfigError(f"two screens look for {looks_for}: keep the one that is meant")
        seen.add(looks_for)


class Tools:
    """The field `tools` of an agent: given as tools or plain functions, had as tools."""

    def __get__(self, agent: object, kind: type) -> tuple[AnyTool, ...]:
        return () if agent is None else agent.__dict__["tools"]

    def __set__(self, agent: object, assigned: Iterable[AnyTool | Callable[..., Any]]) -> None:
        tools = _as_tools(assigned)
        agent.__dict__["tools"] = tuple(_among(each, tools) for each in tools)


def _as_tools(tools: object) -> tuple[AnyTool, ...]:
    """The tools, plain functions made into some. Raises `ConfigError` for what can be none."""
    if isinstance(tools, str) or callable(tools) or not isinstance(tools, Iterable):
        message = f"tools is {short_repr(tools)}: give a list of functions and tools"
        raise ConfigError(message)
    made: list[AnyTool] = []
    for each in cast("Iterable[object]", tools):
        if isinstance(each, AnyTool):
            made.append(each)
        elif inspect.isroutine(each):
            made.append(tool(each))
        else:
            what = "is a class" if isinstance(each, type) else "is no tool"
            message = f"{short_repr(each)} {what}: give a function, or make a Tool"
            raise ConfigError(message)
    return tuple(made)


def _among(tool: AnyTool, tools: tuple[AnyTool, ...]) -> AnyTool:
    """What a tool becomes beside the others. Raises `ConfigError` where that is not possible."""
    if not isinstance(tool, DependentTool):
        return tool
    with fitting(f"the tool {tool.name}"):
        made = cast("object", tool.among(tools))
    if not isinstance(made, Tool) or made.name != tool.name:
        message = f"the tool {tool.name} must stay a tool of that name among others: it became "
        raise ConfigError(message + short_repr(made))
    return made


def check_names(names: Collection[str], known: Collection[str], *, modelled: bool) -> None:
    """Raise `ConfigError` for settings that an agent does not have, and say which was meant."""
    for name in names:
        if name in known:
            continue
        meant = ELSEWHERE.get(name) or INSIDE.get(name) or nearest(name, known)
        hint = f"say {meant}" if meant else f"there are {', '.join(known)}"
        message = f"an agent has no {name!r}: {hint}"
        raise ConfigError(message)
    if not modelled and "model" not in names:
        message = 'an agent needs a model: name one, such as model="offline"'
        raise ConfigError(message)


@contextmanager
def fitting(what: str) -> Generator[None]:
    """Whatever a part raises while the agent is made, this part cannot be used."""
    try:
        yield
    except PASSED:
        raise
    except BaseException as error:
        message = f"{what} failed when the agent was made: {described(error)}; mend it"
        raise ConfigError(message) from error


def check_functions(kind: str, functions: object) -> None:
    """Raise `ConfigError` for what is no list of functions of this kind."""
    if isinstance(functions, str) or callable(functions) or not isinstance(functions, Iterable):
        message = f"{kind}s is {short_repr(functions)}: give a list of functions"
        raise ConfigError(message)
    for part in cast("Iterable[object]", functions):
        check_function(kind, part)


def check_function(kind: str, part: object) -> None:
    """Raise `ConfigError` for what cannot be called as a part of this kind is."""
    if isinstance(part, type):
        message = f"the {kind} {part.__name__} is a class: give an instance, {part.__name__}(…)"
        raise ConfigError(message)
    if isinstance(part, ToolSpec) or not callable(part):
        message = f"{short_repr(part)} is no {kind}: give a function of ({', '.join(ASKED[kind])})"
        raise ConfigError(message)
    name = getattr(part, "__qualname__", None) or type(part).__name__
    parameters = ASKED[kind]
    wants_context = rule_takes_context if kind == "approve" else context_parameter
    if kind in ASKED_WITH_CONTEXT and wants_context(part):
        parameters = ASKED_WITH_CONTEXT[kind]
    try:
        inspect.signature(part).bind(*parameters)
    except TypeError as error:
        why = "it takes too few parameters" if "too many" in str(error) else f"{error}; mend it"
        message = f"the {kind} {name} is called with ({', '.join(parameters)}): {why}"
        raise ConfigError(message) from error
    except ValueError:  # written in C, it does not tell what it takes
        return
    awaited = any(map(inspect.iscoroutinefunction, (part, getattr(part, "__call__", None))))  # noqa: B004 - whether that is async
    if awaited and kind in AT_ONCE:
        message = f"the {kind} {name} is async, and has to answer at once: make it a plain def"
        raise ConfigError(message)


def check_model(model: Model | str) -> None:
    """Raise `ConfigError` for what is no model; one that is only named is looked for later."""
    if isinstance(model, str):
        return
    wanted: Mapping[str, Callable[[object], bool]] = {
        "info": lambda value: isinstance(value, ModelInfo),
        "complete": callable,
    }
    _check_door("model", model, wanted, 'name one ("provider:model"), or see clew.interfaces.Model')


def check_codec(codec: Codec | str | None) -> None:
    """Raise `ConfigError` for what is no codec."""
    if codec is None or isinstance(codec, str):
        return
    wanted: dict[str, Callable[[object], bool]] = {
        "name": lambda value: isinstance(value, str),
        "stop": lambda value: isinstance(value, tuple),
        "native": lambda value: isinstance(value, bool),
    }
    wanted |= dict.fromkeys(
        ("head", "render", "tail", "reply_schema", "parse", "stream_filter"), callable
    )
    _check_door("codec", codec, wanted, "see clew.interfaces.Codec")


def check_finder(finder: Finder | None) -> None:
    """Raise `ConfigError` for what is no retrieval."""
    if finder is None:
        return
    wanted: Mapping[str, Callable[[object], bool]] = {
        "always": lambda value: isinstance(value, Sequence) and not isinstance(value, str),
        "find": callable,
    }
    _check_door("retrieval", finder, wanted, "see clew.interfaces.Finder")


def check_compaction(compaction: Compaction | None) -> None:
    """Raise `ConfigError` for a compactor that cannot be called as one."""
    for one in () if compaction is None else compaction.by:
        if not isinstance(one, str):
            check_function("compactor", one)


def _check_door(
    what: str, part: object, wanted: Mapping[str, Callable[[object], bool]], help_: str
) -> None:
    if isinstance(part, type):
        message = f"the {what} {part.__name__} is a class: give an instance, {part.__name__}(…)"
        raise ConfigError(message)
    for name, fits in wanted.items():
        with fitting(f"{name} of the {what}"):
            value = getattr(part, name, None)
        if not fits(value):
            message = f"the {what} {short_repr(part)} has {name} = {short_repr(value)}: {help_}"
            raise ConfigError(message)


def check_tools(tools: Sequence[AnyTool]) -> None:
    """Raise `ConfigError` for two tools of a name, for one whose name is taken, and for no tool."""
    names = [each.name for each in tools]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        message = f"two tools are called {', '.join(twice)}: rename one"
        raise ConfigError(message)
    if FINISH in names:
        message = f"{FINISH!r} is the tool that ends a run: call yours something else"
        raise ConfigError(message)
    if empty := [name for name in names if void(name)]:
        message = f"{empty[0]!r} is how models say that they call no tool: use another name"
        raise ConfigError(message)
    for each in tools:
        checked(each)
        if each.approve is not False:
            check_rule(each.name, each.approve)
        if callable(each.approve):
            check_function("approve", each.approve)
        if each.repair is not None:
            check_function("repair", each.repair)
        if each.guard is not None:
            check_function("guard", each.guard)
        if isinstance(each, Tool) and each.attempts.probe is not None:
            check_function("probe", each.attempts.probe)


def check_named(limits: Limits, guards: Iterable[AnyGuard], tools: Collection[str]) -> None:
    """Raise `ConfigError` where a limit or a guard names a tool that is none of these."""
    check_tool_names("limits: calls_per_tool", limits.calls_per_tool, tools)
    for one in (limits.no_progress, *guards):
        if isinstance(one, NoProgress):
            check_tool_names("NoProgress: polling", sorted(one.polling), tools)
        elif isinstance(one, Provenance):
            check_tool_names("Provenance: exempt", sorted(one.exempt), tools)


def guards_among(guards: Sequence[AnyGuard], tools: Collection[str]) -> Sequence[AnyGuard]:
    """The guards for an agent with these tools; the same where they name no others."""
    among = [
        one.among(tools) if isinstance(one, NoProgress | Provenance) else one for one in guards
    ]
    same = all(one is other for one, other in zip(among, guards, strict=True))
    return guards if same else among


def check_tool_names(what: str, named: Iterable[str], tools: Collection[str]) -> None:
    """Raise `ConfigError` for a name of a tool that is not there, with the nearest that is."""
    for name in named:
        if name in tools:
            continue
        own = sorted({*tools} - {READ_MORE, RECALL})  # nobody listed those
        has = f"there are {', '.join(own)}" if own else "the agent has none"
        if name == FINISH:
            hint = "it ends the run, and is no tool to limit"
        else:
            hint = did_you_mean(name, tools, has)
        message = f"{what} names {name!r}, which is no tool of this agent: {hint}"
        raise ConfigError(message, field=name)


def tool_grants(tools: Iterable[AnyTool]) -> dict[str, Grant]:
    """What a sub-run of each agent among the tools may spend at most, by their names."""
    agents = (tool for tool in tools if isinstance(tool, AgentTool))
    return {tool.name: tool.grant for tool in agents if tool.grant is not None}


def check_visible(tools: Sequence[ToolSpec]) -> None:
    """Raise `ConfigError` where more tools are shown than a model chooses well among."""
    if len(tools) > MAX_TOOLS:
        message = (
            f"{len(tools)} tools are shown and {MAX_TOOLS} are the most: hide or leave out some, "
            "or show them as they are needed (Context(retrieval=…), docs/tools.md)"
        )
        raise ConfigError(message)


def check_cost(limit: float | None, tools: Sequence[AnyTool], *, priced: bool) -> None:
    """Raise `ConfigError` where a limit on cost could not hold the model, or a sub-agent."""
    if limit is not None and not priced:
        message = (
            "a cost limit needs a model with a known price: say what it costs (prices=, or "
            "[prices] in an agent file), or limit tokens"
        )
        raise ConfigError(message)
    unpriced = [name for name, grant in tool_grants(tools).items() if grant.cost is None]
    if limit is not None and unpriced:
        message = (
            f"a cost limit cannot hold {unpriced[0]}, whose model has no known price: say what it "
            "costs (prices=, or [prices] in an agent file), or limit tokens"
        )
        raise ConfigError(message)


def check_kind(name: str, value: object, kind: type) -> None:
    """Raise `ConfigError` for a setting that is not of its type."""
    if not isinstance(value, kind):
        message = f"{name} is {short_repr(value)}: give {kind.__name__}(…)"
        raise ConfigError(message)


def check_json(name: str, value: object) -> None:
    """Raise where the value would come back from the record as another."""
    try:
        same = msgspec.json.decode(encode(value)) == value
        why = "" if same else f"{value!r} is no JSON value"
    except (TypeError, ValueError, RecursionError) as error:
        why = str(error)
    if why:
        message = (
            f"{name}: {why}; give text, finite numbers, None, lists, or dicts with text as keys"
        )
        raise ConfigError(message)


def check_retrieval(retrieval: Finder, tools: Sequence[ToolSpec], codec: Codec) -> None:
    """Raise `ConfigError` where tools cannot be shown as they are found."""
    seen = {each.name for each in tools if not each.hidden}
    if strange := [name for name in retrieval.always if name not in seen]:
        message = f"there is no tool {strange[0]!r} to be always shown: add it, or leave it out"
        raise ConfigError(message)
    if not codec.native and not isinstance(codec, Describes):
        message = (
            f"the codec {codec.name} cannot describe tools in the midst of a run: give "
            "it the method describe (clew.interfaces.Describes), or leave the retrieval out"
        )
        raise ConfigError(message)


def worked_examples(
    examples: Sequence[Example] | int, tools: Sequence[ToolSpec], *, exact: bool
) -> tuple[Example, ...]:
    """The examples that are shown: the agent's own; or so many of those that ship and fit it, then
    of those made from its tools. With `run_code` those of programs come first.

    `tools` are all of the agent's, `finish` last. Raises `ConfigError` where one does not fit, or
    too few do although an `exact` number was asked for.
    """
    if isinstance(examples, int):
        return _numbered(examples, [tool for tool in tools if not tool.hidden], exact=exact)
    value = cast("object", examples)
    if isinstance(value, str) or not isinstance(value, Iterable):
        message = f"examples is {short_repr(examples)}: give a number of them, or Examples"
        raise ConfigError(message)
    for number, example in enumerate(examples, start=1):
        if wrong := _misfit(example, tools):
            raise ConfigError(f"example {number} calls {wrong}")
    return tuple(examples)


def _numbered(count: int, tools: Sequence[ToolSpec], *, exact: bool) -> tuple[Example, ...]:
    check_number("examples", count, minimum=0)
    *looked_up, calculated = DEMONSTRATIONS
    programs = _programs(tools)
    last = () if programs else (calculated,)  # it is one call, which shows no program
    offered = (*programs, *looked_up, *tool_examples(tools[:-1]), *last)
    fitting = [example for example in offered if not _misfit(example, tools)]
    if exact and len(fitting) < count:
        *others, finish = tools
        has = ", ".join(tool.name for tool in others) or "none"
        kind = "no text" if problems(finish.parameters, {"answer": ""}) else "text"
        message = (
            f"examples is {count}, and {len(fitting)} that ship or can be made fit this agent "
            f"(its tools: {has}; its answer: {kind}): "
            f"{f'ask for {len(fitting)}' if fitting else 'leave them out'}, or give some of your "
            "own"
        )
        raise ConfigError(message)
    return tuple(fitting[:count])


def _programs(tools: Sequence[ToolSpec]) -> tuple[Example, ...]:
    """The examples of programs, for an agent that runs some and has tools to call in them."""
    if not {tool.name for tool in tools} > {RUN_CODE, FINISH}:
        return ()
    if RUN_CODE not in names_in(EXAMPLES):
        return ()  # the tool is a user's own

    def fits(call: Action) -> bool:
        return not _unfit(call, tools)

    programs: tuple[Example, ...] = require(EXAMPLES, RUN_CODE)(tools, fits)
    return programs


def _misfit(example: Example, tools: Sequence[ToolSpec]) -> str:
    """Which call an example makes, and sees done, that cannot be made; empty where all can."""
    calls = (call for step in example.steps for call in step.calls)
    done = (call.action for call in calls if call.observation is None or call.observation.ok)
    return next((wrong for action in done if (wrong := _unfit(action, tools))), "")


def _unfit(action: Action, tools: Sequence[ToolSpec]) -> str:
    """Why a call cannot be made; empty where it can."""
    schemas = {tool.name: tool.parameters for tool in tools}
    if action.name not in schemas:
        return f"{action.name}, which the agent does not have; it has {', '.join(schemas)}"
    wrong = problems(schemas[action.name], action.args)
    return f"{action.name} wrongly: {wrong[0]}" if wrong else ""
