"""The agent: a frozen bundle of parts, checked when it is made."""

import inspect
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, Self, TypedDict, Unpack, cast, overload

from typing_extensions import TypeForm, TypeIs, TypeVar

from clew.agent.compile import compile_engine
from clew.agent.composition import Composition
from clew.agent.run_deps import Wanted, check_factory, check_made, wanted_by
from clew.agent.validate import (
    Tools,
    check_codec,
    check_compaction,
    check_cost,
    check_finder,
    check_function,
    check_functions,
    check_json,
    check_kind,
    check_model,
    check_named,
    check_names,
    check_prompt,
    check_retrieval,
    check_screens,
    check_tools,
    check_visible,
    fitting,
    guards_among,
)
from clew.context import PROMPT, Context, Instructions
from clew.context.settings import CONTEXT
from clew.context.view import first_prompt
from clew.core.bounds import StopRule
from clew.core.codec import Codec
from clew.core.engine import Engine
from clew.core.judging import Check, Guard, Screen
from clew.core.models import Model
from clew.core.specs import AgentSpec
from clew.core.tools import AgentTool, AnyTool, FallbackTool
from clew.core.values import Json
from clew.deps.parts import ContextCheck, ContextGuard
from clew.deps.run_identity import MakeDeps
from clew.guards.limits import Limits
from clew.stores import Where
from clew.support.arguments import check_number
from clew.support.error_text import described
from clew.support.errors import ConfigError
from clew.support.html import html_table
from clew.support.model_settings import NOTHING_SET, ModelSettings
from clew.support.resources import keep_open, let_go
from clew.support.short_text import one_line
from clew.tools.finish import decode_answer

A_co = TypeVar("A_co", covariant=True, default=str)
"""The type of an agent's answer: text, as long as nobody says another."""

B = TypeVar("B")
D = TypeVar("D", default=Any)
"""The type of the deps that its runs are given."""
Made = TypeVar("Made", bound="Agent[Any]")


class _Changes(TypedDict, total=False):
    """The fields that `Agent.replace` may change; those of the answer's type are checked alone."""

    model: Model | str
    tools: Iterable[AnyTool | Callable[..., Any]]
    codec: Codec | str | None
    prompt: Instructions | str
    checks: Sequence[Check[Any] | ContextCheck[Any]]
    tries: int
    fallback: Any
    limits: Limits
    bounds: Sequence[StopRule]
    guards: Sequence[Guard | ContextGuard]
    screens: Sequence[Screen]
    context: Context
    settings: ModelSettings
    deps: MakeDeps[Any] | None
    store: Where


class _Signature:
    """What notebooks show of the class: `__new__` takes any name, to say which is near."""

    def __get__(self, _: object, owner: type[object]) -> inspect.Signature:
        made = inspect.signature(owner.__init__)
        return made.replace(parameters=[*made.parameters.values()][1:])


@dataclass(frozen=True)
class Agent(Generic[A_co, D]):
    """The agent: model, tools, codec, prompt, limits, guards and checks.

    `tools` may be plain functions; they count as unsafe unless `@tool` says otherwise. `model` and
    `codec` may be names ("openai:gpt-4o", "paper"); without a codec it is that of the variant that
    fits the model, else native. `prompt` is one text or `Instructions`. `screens` judge a person's
    messages before the model sees them. `context` says what a model sees of many tools, and of a
    long run.

    `answer` is the type of the answer, any type annotation; an `Agent[Life]` gives a
    `Result[Life]`. A rejected answer goes back to the model `tries` times; after one
    more rejection `fallback`, of that type too, is the answer. `settings` are those of the model:
    temperature, tokens, reasoning, seed, timeout … `deps` makes what its tools, guards, checks and
    prompts get by their `RunContext`, for a run of which it is told the id, the recorded labels and
    the owner: so any process can go on with it. `store` is where its runs are kept, for whoever
    names no other. Raises `ConfigError` if the parts do not fit.
    """

    model: Model | str
    tools: Tools = Tools()  # noqa: RUF009 - a descriptor, which holds nothing itself
    _: KW_ONLY
    codec: Codec | str | None = None
    prompt: Instructions | str = PROMPT
    answer: TypeForm[A_co] = str  # type: ignore[assignment] # pyright: ignore[reportAssignmentType] - the default of A_co
    checks: Sequence[Check[A_co] | ContextCheck[A_co]] = ()
    tries: int = 2
    fallback: A_co | None = None
    limits: Limits = field(default_factory=Limits)
    bounds: Sequence[StopRule] = ()
    guards: Sequence[Guard | ContextGuard] = ()
    screens: Sequence[Screen] = ()
    context: Context = CONTEXT
    settings: ModelSettings = NOTHING_SET
    deps: MakeDeps[D] | None = None
    store: Where = field(default=None, repr=False)  # there may be a password in it

    deps_wanted: ClassVar[tuple[Wanted, ...]] = ()
    """The parts that want deps, with the type of these; found when the agent is made."""

    def __post_init__(self) -> None:
        """Make the parts now, so that what does not fit is said before the first model call."""
        check_tools(tools := self.tools)
        check_kind("limits", self.limits, Limits)
        check_kind("context", self.context, Context)
        check_kind("settings", self.settings, ModelSettings)
        check_prompt(self.prompt)
        for kind in ("guard", "check", "screen", "bound"):
            if (functions := getattr(self, f"{kind}s")) != ():
                check_functions(kind, functions)
        if self.deps is not None:
            check_factory(self.deps)
        asks = self.guards or self.checks or getattr(self.prompt, "tail", None)
        asks = asks or any(
            it.guard
            or callable(it.approve)
            or isinstance(it, AgentTool | FallbackTool)
            or getattr(it, "deps", None)
            or getattr(it, "deps_wanted", ())
            for it in tools
        )
        self.__dict__["deps_wanted"] = wanted_by(self) if asks else ()
        if self.deps is not None and self.deps_wanted:
            check_made(self.deps, self.deps_wanted)
        check_screens(self.screens)
        check_model(self.model)
        check_codec(self.codec)
        check_finder(self.context.retrieval)
        check_compaction(self.context.compaction)
        parts = self.parts
        spec, codec, info = parts.prompt_spec, parts.codec, parts.model.info
        if spec.shape is not None:
            check_function("shape", spec.shape)
        check_number("tries", self.tries, minimum=0)
        check_cost(self.limits.cost, tools, priced=info.priced)
        check_json("the model's settings", dict(info.params))
        if self.context.retrieval is not None:
            check_retrieval(self.context.retrieval, tools, codec)
        check_visible(spec.tools)
        with fitting(f"the codec {codec.name}"):
            first = parts.first_prompt
        check_named(self.limits, self.guards, parts.countable)
        _ = self.engine
        info.validate(first)
        if more := spec.more:
            info.validate(first_prompt(codec, replace(spec, tools=more)))

    async def __aenter__(self) -> Self:
        """Keep open, in this event loop, what its tools and its model open, for all of its runs."""
        keep_open(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close that, once everybody who has the agent open has left."""
        if await let_go(self) and isinstance(self.model, str):  # a model given is somebody else's
            close = getattr(self.parts.model, "close", None)
            if close is not None:
                await close()

    def __repr__(self) -> str:
        """Its model, its codec and its tools; `spec` has all of it."""
        tools = ", ".join(tool.name for tool in self.tools) or "none"
        return f"<Agent {self.parts.model.info.name}, {self.parts.codec.name}, tools: {tools}>"

    __signature__ = _Signature()

    def _repr_html_(self) -> str:
        """Its model, codec and limits, its tools with their effects, for a notebook."""
        rows: list[tuple[str, object]] = [("model", self.parts.model.info.name)]
        rows += [("codec", self.parts.codec.name), ("limits", self.limits)]
        rows += [(it.name, f"{it.effect}: {one_line(it.description)}") for it in self.tools]
        return html_table([*rows, *(("warning", each) for each in self.warnings)])

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Raise `ConfigError` for a setting that an agent does not have: the name may be near."""
        known = [each.name for each in fields(cls)]
        if [*inspect.signature(cls.__init__).parameters][1:] == known:  # no __init__ of its own
            check_names(options, known, modelled=bool(args))
        return super().__new__(cls)

    def __copy__(self) -> Self:
        """The same agent again, of the same parts."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        for name in ("parts", "engine"):  # they are made again
            made.__dict__.pop(name, None)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """An agent of copies of its parts. Raises `ConfigError` where one cannot be copied."""
        state = {
            name: _done(name, "copied", deepcopy, each, memo) for name, each in self._own.items()
        }
        return _made(type(self), state)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """What pickle keeps. Raises `ConfigError` where a part cannot be pickled."""
        for name, each in self._own.items():
            _done(name, "pickled", pickle.dumps, each, protocol)
        return _made, (type(self), self._own)

    @property
    def _own(self) -> dict[str, Any]:
        """Its parts, and what a subclass adds."""
        return vars(copy(self))

    @overload
    def replace(self, *, answer: TypeForm[B], **changes: Unpack[_Changes]) -> "Agent[B, D]": ...

    @overload
    def replace(self, **changes: Unpack[_Changes]) -> Self: ...

    def replace(self, **changes: Any) -> Any:
        """Return a copy with some fields changed.

        Where its tools are changed, what its limits and guards say of tools that it has no more is
        left out. Raises `ConfigError` if the parts do not fit.
        """
        if "tools" in changes:
            changes = {**self._for_tools(changes), **changes}
        check_names(changes, [each.name for each in fields(self)], modelled=True)
        made = copy(self)
        for name, each in changes.items():
            object.__setattr__(made, name, each)
        made.__post_init__()
        return made

    def _for_tools(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """What becomes of limits and guards that name tools, where others take their place."""
        bare = {"limits": self.limits.among(()), "guards": guards_among(self.guards, ())}
        if bare == {"limits": self.limits, "guards": self.guards}:
            return {}
        made = copy(self)
        for name, each in {**bare, **changes}.items():
            object.__setattr__(made, name, each)
        names = made.parts.countable
        return {"limits": self.limits.among(names), "guards": guards_among(self.guards, names)}

    @cached_property
    def parts(self) -> Composition:
        """What its parts come to: names resolved, the variant chosen, clew's own parts added."""
        return Composition(self, self.tools)

    @cached_property
    def engine(self) -> Engine:
        """All that the loop runs with."""
        return compile_engine(self.parts, self.decode)

    @property
    def spec(self) -> AgentSpec:
        """What the record must contain for a replay, and its fingerprint."""
        return self.engine.spec

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about settings that are rarely wise.

        Many tools, tools that look alike, tools whose pictures or recordings its model never sees.
        """
        return self.parts.warnings

    def seeded(self, seed: int) -> Self:
        """A copy whose runs have this seed; the same agent where its model takes none."""
        try:
            return self.replace(settings=replace(self.settings, seed=seed))
        except ConfigError as error:
            if error.field != "seed":
                raise
            return self

    def decode(self, value: Json) -> A_co:
        """Convert an answer to the answer type. Raises `ValueError` with advice."""
        return cast("A_co", decode_answer(self.answer, value))


def _made(kind: type[Made], state: Mapping[str, Any]) -> Made:
    """An agent with this state, which was checked when it was first made."""
    made = object.__new__(kind)
    made.__dict__.update(state)
    return made


def _done(name: str, what: str, work: Callable[..., B], *args: Any) -> B:
    """What is made of a part of an agent. Raises `ConfigError` with its name."""
    try:
        return work(*args)
    except Exception as error:
        why = one_line(described(error))
        message = f"the agent's {name} cannot be {what}: {why}; make the agent where it is needed"
        raise ConfigError(message, field=name) from error


def is_agent(value: object) -> TypeIs[Agent[Any]]:
    """Whether this is an agent, of whatever answers: `isinstance` leaves their type unknown."""
    return isinstance(value, Agent)
