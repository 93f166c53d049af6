"""The agent: a frozen bundle of parts, checked when it is made."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Final, Generic, Self, cast, overload

import msgspec
from typing_extensions import TypeForm, TypeIs, TypeVar

from clew.codecs import by_name as codec_by_name
from clew.codecs.interface import Codec, PromptSpec
from clew.context import (
    CONTEXT,
    PROMPT,
    Context,
    Instructions,
    Variant,
    described,
    instructions,
    matching,
)
from clew.context.call_estimate import CallEstimate, most_answered, opening
from clew.context.compaction import Compacting, shown_characters
from clew.context.prompt_spec import SWITCHES, brief_document
from clew.context.rewind import way_back
from clew.context.view import digest, first_prompt
from clew.context.visible import leaves_out
from clew.core.budget import Budget, at_most
from clew.core.events import EFFECTFUL, FINISH, AgentSpec, Compacted, Json, Rewound, ToolSetting
from clew.core.interfaces import (
    STRATEGY,
    AgentTool,
    AnyBound,
    AnyTool,
    Bound,
    Check,
    Guard,
    Model,
    Prompt,
    Screen,
    Tool,
    Tripped,
)
from clew.core.trajectory import Trajectory
from clew.guards import AlreadyDone, NoProgress
from clew.guards.caps import ACTING, Caps, WholeCaps
from clew.guards.limits import Limits
from clew.guards.no_progress import Stuck
from clew.models.resolve import resolve
from clew.support.parts import (
    PASSED,
    Patience,
    broken,
    differing,
    name_of,
    names_of,
    stable_name,
    text_from,
)
from clew.tools.finish import answer_schema, decode_answer, finish_tool
from clew.tools.recall import fitting_recalls
from clew.tools.retrieval.finder import found_names
from clew.tools.schema import Validator, compile_schema, schema_hash, shown_problems
from clew.validate import (
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
    check_number,
    check_prompt,
    check_retrieval,
    check_screens,
    check_shown,
    check_tools,
    fitting,
    guards_among,
    tool_grants,
    worked_examples,
)

OWN_GUARDS: Final = (AlreadyDone, Caps, WholeCaps, NoProgress)
UNNAMED: Final = (AlreadyDone, WholeCaps)
"""Guards that follow from other parts of an agent: its setting does not name them."""

"""Guards that are ours: they answer at once, and need no watching."""


A_co = TypeVar("A_co", covariant=True, default=Any)
"""The type of an agent's answer."""

B = TypeVar("B")


@dataclass(frozen=True)
class Agent(Generic[A_co]):
    """The agent: model, tools, codec, prompt, limits, guards and checks.

    `tools` may be plain functions; they count as unsafe unless `@tool` says otherwise. `model` and
    `codec` may be names ("openai:gpt-4o", "paper"); without a codec it is that of the variant that
    fits the model, else native. `prompt` is one text or `Instructions`. `screens` judge a person's
    messages before the model sees them. `context` says what a model sees of many tools, and of a
    long run.

    `answer` is the type of the answer, any type annotation; an `Agent[Life]` gives a
    `Result[Life]`. An answer that fails a check goes back to the model `tries` times; then
    `fallback` is the answer. `seed` is recorded, and passed to models that take one. Raises
    `ConfigError` if the parts do not fit.
    """

    model: Model | str
    tools: Tools = Tools()  # noqa: RUF009 - a descriptor, which holds nothing itself
    _: KW_ONLY
    codec: Codec | str | None = None
    prompt: Instructions | str = PROMPT
    answer: TypeForm[A_co] = cast("Any", str)  # noqa: RUF009 - it calls nothing
    checks: Sequence[Check] = ()
    tries: int = 2
    fallback: Json = None
    limits: Limits = field(default_factory=Limits)
    bounds: Sequence[Bound] = ()
    guards: Sequence[Guard] = ()
    screens: Sequence[Screen] = ()
    context: Context = CONTEXT
    seed: int = 0

    def __post_init__(self) -> None:
        """Make the parts now, so that what does not fit is said before the first model call."""
        check_tools(self.tools)
        check_kind("limits", self.limits, Limits)
        check_kind("context", self.context, Context)
        check_prompt(self.prompt)
        for kind in ("guard", "check", "screen", "bound"):
            check_functions(kind, getattr(self, f"{kind}s"))
        check_screens(self.screens)
        check_model(self.model)
        check_codec(self.codec)
        check_finder(self.context.retrieval)
        check_compaction(self.context.compaction)
        if self.brief.shape is not None:
            check_function("shape", self.brief.shape)
        check_number("tries", self.tries, least=0)
        check_number("seed", self.seed)
        check_cost(self.limits.cost, self.tools, priced=self.resolved_model.info.priced)
        check_json("fallback", self.fallback)
        check_json("the model's params", dict(self.resolved_model.info.params))
        if self.context.retrieval is not None:
            check_retrieval(self.context.retrieval, self.tools, self.resolved_codec)
        check_shown(self.brief.tools)
        with fitting(f"the codec {self.resolved_codec.name}"):
            first = self.first_prompt
        check_named(self.limits, self.guards, self.countable)
        _ = (self.setting, self.validators, self.result_validators)
        validate = self.resolved_model.info.validate
        validate(first)
        if more := self.brief.more:
            validate(first_prompt(self.resolved_codec, replace(self.brief, tools=more)))

    def __repr__(self) -> str:
        """Its model, its codec and its tools; `setting` has all of it."""
        tools = ", ".join(tool.name for tool in self.tools) or "none"
        return (
            f"<Agent {self.resolved_model.info.name}, {self.resolved_codec.name}, tools: {tools}>"
        )

    def __new__(cls, *args: Any, **given: Any) -> Self:
        """Raise `ConfigError` for a setting that an agent does not have: the name may be near."""
        check_names(given, [each.name for each in fields(cls)], modelled=bool(args))
        return super().__new__(cls)

    @overload
    def replace(self, *, answer: TypeForm[B], **changes: Any) -> "Agent[B]": ...

    @overload
    def replace(self, **changes: Any) -> Self: ...

    def replace(self, **changes: Any) -> Any:
        """Return a copy with some fields changed.

        Where its tools are changed, what its limits and guards say of tools that it has no more is
        left out. Raises `ConfigError` if the parts do not fit.
        """
        if "tools" in changes:
            changes = {**self._for_tools(changes), **changes}
        return replace(self, **changes)

    def _for_tools(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """What becomes of limits and guards that name tools, where others take their place."""
        bare = {"limits": self.limits.among(()), "guards": guards_among(self.guards, ())}
        if bare == {"limits": self.limits, "guards": self.guards}:
            return {}
        names = replace(self, **{**bare, **changes}).countable
        return {"limits": self.limits.among(names), "guards": guards_among(self.guards, names)}

    @cached_property
    def resolved_model(self) -> Model:
        """The model itself, where it was given by name."""
        return resolve(self.model) if isinstance(self.model, str) else self.model

    @cached_property
    def resolved_codec(self) -> Codec:
        """The codec: the agent's own, else its variant's, else native."""
        varied = None if self.variant is None else self.variant.codec
        return _codec(varied if self.codec is None else self.codec)

    @cached_property
    def instructions(self) -> Instructions:
        """The instructions; a prompt given as one text is converted."""
        return instructions(self.prompt)

    @cached_property
    def variant(self) -> Variant | None:
        """The first variant that fits the model and the codec, or None."""
        native = None if self.codec is None else _codec(self.codec).native
        return matching(self.instructions.variants, self.resolved_model.info, native=native)

    @cached_property
    def brief(self) -> PromptSpec:
        """What the codec may know about the agent."""
        schema, variant = answer_schema(self.answer), self.variant
        finish, said = finish_tool(schema), self.instructions.settled(variant)
        exact = self.instructions.examples is not None  # a variant takes as many as there are
        shown = [described(tool, variant) for tool in self.tools if not tool.hidden]
        finder = self.context.retrieval
        first = {tool.name for tool in shown} if finder is None else finder.always
        return PromptSpec(
            prompt=said.text,
            tools=tuple(tool for tool in shown if tool.name in first),
            finish=finish,
            answer=schema,
            known=frozenset(tool.name for tool in (*self.tools, *self.recalls)),
            thought=bool(said.thought),
            examples=worked_examples(said.examples or (), (*self.tools, finish), exact=exact),
            shape=None if variant is None else variant.shape,
            more=(*(tool for tool in shown if tool.name not in first), *self.recalls),
            shown=self.shown,
            withhold=self.no_progress is not None and self.no_progress.withhold,
            **said.switches,
        )

    @cached_property
    def first_prompt(self) -> Prompt:
        """What a run begins with, but for its question."""
        return first_prompt(self.resolved_codec, self.brief)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about settings that are rarely wise: many tools, tools that look alike."""
        return tuple(shown_problems(self.brief.tools))

    @cached_property
    def all_bounds(self) -> tuple[AnyBound, ...]:
        """The bounds of the limits and the user's own."""
        usual = at_most(self.limits, priced=self.resolved_model.info.priced)
        return (*usual, *(() if self.limits.no_progress is None else (Stuck(),)), *self.bounds)

    @cached_property
    def no_progress(self) -> NoProgress | None:
        """The guard against repetition: of the limits, or as the variant has it."""
        varied = None if self.variant is None else self.variant.no_progress
        return self.limits.repetition(varied)

    @cached_property
    def all_guards(self) -> tuple[Guard, ...]:
        """The user's guards, those of tools, clew's; last the caps: they count what is allowed."""
        stuck = () if self.no_progress is None else (self.no_progress,)
        usual = (AlreadyDone(self.by_name), self.limits.guard, self.whole_caps)
        return (*self.guards, *self.tool_guards, *stuck, *usual)

    @cached_property
    def effectful(self) -> frozenset[str]:
        """The names of its tools with an effect."""
        found = (it for it in self.tools if isinstance(it, Tool) and it.effect in EFFECTFUL)
        return frozenset(it.name for it in found)

    @cached_property
    def whole_caps(self) -> WholeCaps:
        """The guard of what holds over all runs of a strategy."""
        caps = {
            name: most
            for tool in self.tools
            if isinstance(tool, AgentTool)
            for name, most in tool.caps.items()
        }
        return WholeCaps(self.effectful, caps)

    @cached_property
    def tool_guards(self) -> tuple[Guard, ...]:
        """The guards that tools bring, each of which judges the calls of its tools only."""
        found = {id(tool.guard): tool.guard for tool in self.tools if tool.guard is not None}
        return tuple(found.values())

    @cached_property
    def named_guards(self) -> tuple[tuple[str, Guard], ...]:
        """All guards by their names in the record; a second guard of a name is `name#2`."""
        return names_of(self.all_guards)

    @cached_property
    def named_screens(self) -> tuple[tuple[str, Screen], ...]:
        """The screens by their names in the record, as for guards."""
        return names_of(self.screens)

    @cached_property
    def budget(self) -> Budget:
        """What its runs may spend, and what is known beforehand about its model calls."""
        model = self.resolved_model
        most = most_answered(model.info.params)
        brief = self.brief
        estimate = CallEstimate(opening(self.first_prompt), most, brief.shape, brief.shown)
        return Budget(self.limits.allowance, model.info.priced, self.limits.landing, estimate)

    @cached_property
    def window(self) -> int | None:
        """Tokens that the model's prompt and reply may take together, where that is known."""
        usual, settings = self.resolved_model.info.window, self.context.compaction
        return None if settings is None else settings.window or usual

    @cached_property
    def compacting(self) -> Compacting | None:
        """What leaves out parts of a long run; None where all of it is shown."""
        first, brief, settings = opening(self.first_prompt), self.brief, self.context.compaction
        if settings is None:
            return None
        return Compacting(settings, self.window, first, brief.shape, brief.shown)

    def omission(self, so_far: Trajectory) -> Compacted | Rewound | None:
        """What the next prompt leaves out: a wrong branch, or what the window would not hold."""
        back = way_back(so_far, self.by_name, self.context.rewinds, self.tries)
        if back is not None or self.window is None or self.compacting is None:
            return back
        return self.compacting.due(so_far, self.budget.estimate.next_call(so_far))

    @cached_property
    def _bounds(self) -> tuple[AnyBound, ...]:
        """All that ends a run, in the order in which it is asked."""
        budget, strategy = self.budget, self.resolved_model.info.name.partition(":")[0] == STRATEGY
        handed_out = (budget.handed_out,) if strategy else ()
        own = (budget.granted, *handed_out, budget.shortfall)
        return (budget.exceeded, *self.all_bounds, *own)

    def tripped_bound(self, so_far: Trajectory) -> Tripped | None:
        """The first bound that is reached, or that the next thought would exceed."""
        bound = None
        try:
            for bound in self._bounds:
                if reason := bound(so_far):
                    break
            else:
                return None
        except PASSED:
            raise
        except BaseException as error:
            raise broken(f"the bound {stable_name(bound)}", error) from error
        if isinstance(reason, Tripped):  # of clew's own bounds
            return reason
        said = text_from(f"the bound {stable_name(bound)}", reason, "a reason or None")
        name, _, detail = said.partition(": ")
        return Tripped("own", name, detail)

    async def discover_tools(self, so_far: Trajectory) -> tuple[str, ...]:
        """Tools that the next thought shows for the first time; none in a landing."""
        if so_far.landing is not None:
            return ()
        finder, names = self.context.retrieval, list[str]()
        if finder is not None:
            names += await found_names(finder, self.brief, so_far, self.patience)
        if leaves_out(so_far, self.brief.shape, self.shown):
            names += [tool.name for tool in self.recalls]
        return tuple(name for name in dict.fromkeys(names) if name not in so_far.shown)

    @cached_property
    def patience(self) -> Patience:
        """The deadlines of its parts."""
        return Patience(self.limits.part_seconds, self.limits.grace)

    @cached_property
    def by_name(self) -> dict[str, AnyTool]:
        """All tools by name, including hidden ones and finish."""
        own = (*self.recalls, finish_tool(self.brief.answer))
        return {tool.name: tool for tool in (*self.tools, *own)}

    @cached_property
    def countable(self) -> frozenset[str]:
        """The names of calls that its limits and guards judge: its tools, and those of its roles.

        These are the tools that runs of a strategy call under its caps.
        """
        roles = (name for each in self.tools if isinstance(each, AgentTool) for name in each.caps)
        return frozenset((*self.by_name, *roles)) - {FINISH, ACTING}

    @cached_property
    def recalls(self) -> tuple[Tool, ...]:
        """The tools that read on in what the view leaves out."""
        return fitting_recalls(self.tools, self.resolved_codec, self.shown)

    @cached_property
    def shown(self) -> int | None:
        """How much of one observation is shown, where more of it can be read on."""
        return None if self.context.compaction is None else shown_characters(self.window)

    def decode(self, value: Json) -> A_co:
        """Convert an answer to the answer type. Raises `ValueError` with advice."""
        return cast("A_co", decode_answer(self.answer, value))

    @cached_property
    def validators(self) -> dict[str, Validator]:
        """By the name of each tool: what is wrong with arguments, in lines that say what to do."""
        return {name: compile_schema(tool.parameters) for name, tool in self.by_name.items()}

    @cached_property
    def result_validators(self) -> dict[str, Validator]:
        """The same for the results of tools that have a schema for them."""
        return {t.name: compile_schema(t.result, "field") for t in self.tools if t.result}

    @cached_property
    def setting(self) -> AgentSpec:
        """What the record must contain for a replay, and its fingerprint."""
        shown = [described(tool, self.variant) for tool in self.tools]
        tools = {t.name: ToolSetting(t.version, t.effect, schema_hash(t)) for t in shown}
        parts: dict[str, Json] = {
            "answer": self.brief.answer,
            "tries": self.tries,
            "fallback": self.fallback,
            "limits": repr(self.limits),
            "bounds": [stable_name(bound) for bound in self.all_bounds],
            "guards": [name for name, guard in self.named_guards if not isinstance(guard, UNNAMED)],
            "checks": [stable_name(check) for check in self.checks],
            "examples": len(self.brief.examples),
            "thought": self.brief.thought,
            "landing": self.limits.landing,
            "unknown": self.limits.unknown,
            **self._optional_parts,
        }
        params, codec = dict(self.resolved_model.info.params), self.resolved_codec.name
        named = (self.resolved_model.info.name, codec, self.brief.prompt, params, tools, parts)
        brief = brief_document(self.brief, name_of(self.brief.shape) or "")
        info = self.resolved_model.info
        return AgentSpec(digest(*named), *named, brief, rates=info.rates, priced=info.priced)

    @property
    def _optional_parts(self) -> dict[str, Json]:
        """Parts that are named in the record only where they are not as usual."""
        context, brief, said = self.context, self.brief, self.instructions
        long = differing(context, CONTEXT, ("compaction", "rewinds"))
        parts = {
            "retrieval": name_of(context.retrieval),
            "granted": msgspec.to_builtins(tool_grants(self.tools)) or None,
            **differing(self.limits, Limits, ("depth", "argument_bytes", "observation_bytes")),
            "screens": [name for name, _ in self.named_screens] or None,
            "variant": None if self.variant is None else self.variant.name,
            **differing(brief, PromptSpec, SWITCHES),
            "shape": name_of(brief.shape),
            "tail": name_of(said.tail),
            **differing(said, PROMPT, ("tell_left",)),
            **{name: name_of(part) for name, part in long.items()},
        }
        return {name: part for name, part in parts.items() if part is not None}


def _codec(codec: Codec | str | None) -> Codec:
    """The codec itself, where it was given by name; native where none was."""
    return codec_by_name(codec or "native") if codec is None or isinstance(codec, str) else codec


def is_agent(value: object) -> TypeIs[Agent]:
    """Whether this is an agent, of whatever answers: `isinstance` leaves their type unknown."""
    return isinstance(value, Agent)
