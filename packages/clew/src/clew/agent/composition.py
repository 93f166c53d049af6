"""What the parts of an agent come to: names resolved, its variant chosen, clew's parts added."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, Protocol

from clew.agent.approval_rules import Approvals
from clew.agent.blind_models import unseen_attachments
from clew.agent.validate import worked_examples
from clew.codecs import by_name as codec_by_name
from clew.context import Context, Instructions, Variant
from clew.context.call_estimate import CallEstimate, max_answer_tokens, opening
from clew.context.compaction import Compacting, visible_characters
from clew.context.instructions import instructions
from clew.context.variants import described, matching
from clew.context.view import first_prompt
from clew.core.bounds import AnyBound, Left, StopRule
from clew.core.budget import Budget
from clew.core.codec import Codec, PromptSpec
from clew.core.codes import ACTING, EFFECTFUL, FINISH
from clew.core.engine import NamedGuard, NamedScreen, Validator
from clew.core.judging import Check, Guard, Screen, Screened
from clew.core.models import STRATEGY, Model
from clew.core.policy import ask_guard, validate_verdict
from clew.core.prompts import Prompt
from clew.core.tools import AgentTool, AnyTool, Tool, ToolSpec
from clew.core.trajectory import Trajectory
from clew.core.verdicts import Verdict
from clew.deps.parts import ContextCheck, ContextGuard, guard_with_context
from clew.guards import AlreadyDone, NoProgress
from clew.guards.caps import Caps, WholeCaps
from clew.guards.limits import Limits, bounds_of, with_waits
from clew.guards.no_progress import Stuck
from clew.guards.provenance import LEVELS, BoundProvenance, Provenance, judged
from clew.models.resolve import resolve
from clew.models.settings import configured
from clew.support.model_settings import NOTHING_SET, ModelSettings
from clew.support.parts import Patience, ask, names_of
from clew.tools.finish import EVERY_EFFECT, answer_schema, finish_problems, finish_tool
from clew.tools.recall import fitting_recalls
from clew.tools.schema import compile_schema, problems_of_visible

_OWN_GUARDS: Final = (AlreadyDone, Caps, WholeCaps, NoProgress, BoundProvenance)
"""Guards that are clew's: they answer at once, and need no watching."""


class AgentFields(Protocol):
    """An agent as it was written: the fields of `Agent`, but for its tools."""

    @property
    def model(self) -> Model | str: ...
    @property
    def codec(self) -> Codec | str | None: ...
    @property
    def prompt(self) -> Instructions | str: ...
    @property
    def answer(self) -> Any: ...
    @property
    def checks(self) -> Sequence[Check | ContextCheck]: ...
    @property
    def tries(self) -> int: ...
    @property
    def fallback(self) -> Any: ...
    @property
    def limits(self) -> Limits: ...
    @property
    def bounds(self) -> Sequence[StopRule]: ...
    @property
    def guards(self) -> Sequence[Guard | ContextGuard]: ...
    @property
    def screens(self) -> Sequence[Screen]: ...
    @property
    def context(self) -> Context: ...
    @property
    def settings(self) -> ModelSettings: ...


@dataclass(frozen=True)
class Composition:
    """The parts of one agent, each made when it is first asked for."""

    agent: AgentFields
    own_tools: tuple[AnyTool, ...]

    @cached_property
    def model(self) -> Model:
        """The model itself, where it was given by name, with the agent's settings over its own."""
        model, settings = self.agent.model, self.agent.settings
        named = resolve(model) if isinstance(model, str) else model
        return named if settings is NOTHING_SET else configured(named, settings)

    @cached_property
    def codec(self) -> Codec:
        """The codec: the agent's own, else its variant's, else native."""
        varied = None if self.variant is None else self.variant.codec
        return _codec(varied if self.agent.codec is None else self.agent.codec)

    @cached_property
    def instructions(self) -> Instructions:
        """The instructions; a prompt given as one text is converted."""
        return instructions(self.agent.prompt)

    @cached_property
    def variant(self) -> Variant | None:
        """The first variant that fits the model and the codec, or None."""
        native = None if self.agent.codec is None else _codec(self.agent.codec).native
        return matching(self.instructions.variants, self.model.info, native=native)

    @cached_property
    def prompt_spec(self) -> PromptSpec:
        """What the codec may know about the agent."""
        schema, variant = answer_schema(self.agent.answer), self.variant
        instructions = self.instructions.settled(variant)
        acting = self.own_tools if instructions.outcome else ()
        finish = finish_tool(schema, [tool.effect for tool in acting])
        exact = self.instructions.examples is not None  # a variant takes as many as there are
        visible = [tool for tool in described(self.own_tools, variant) if not tool.hidden]
        finder = self.agent.context.retrieval
        first = {tool.name for tool in visible} if finder is None else finder.always
        return PromptSpec(
            prompt=instructions.text,
            tools=tuple(tool for tool in visible if tool.name in first),
            finish=finish,
            answer=schema,
            known=frozenset(tool.name for tool in (*self.own_tools, *self.recalls)),
            thought=bool(instructions.thought),
            examples=worked_examples(
                instructions.examples or (), (*self.own_tools, finish), exact=exact
            ),
            shape=None if variant is None else variant.shape,
            more=(*(tool for tool in visible if tool.name not in first), *self.recalls),
            visible_chars=self.visible_chars,
            withhold=self.no_progress is not None and self.no_progress.withhold,
            **instructions.switches,
        )

    @cached_property
    def first_prompt(self) -> Prompt:
        """What a run begins with, but for its question."""
        return first_prompt(self.codec, self.prompt_spec)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about settings that are rarely wise: tools that look alike, pictures unseen."""
        info = self.model.info
        unseen = [
            text
            for tool in self.own_tools
            if getattr(tool, "attaches", ())
            for text in unseen_attachments(info, tool)
        ]
        return (*problems_of_visible(self.prompt_spec.tools), *unseen)

    @cached_property
    def bounds(self) -> tuple[AnyBound, ...]:
        """The bounds of the limits and the user's own."""
        info, limits = self.model.info, self.agent.limits
        limits = with_waits(limits, info.wait) if info.wait else limits
        usual = bounds_of(limits, priced=info.priced)
        return (
            *usual,
            *(() if self.agent.limits.no_progress is None else (Stuck(),)),
            *self.agent.bounds,
        )

    @cached_property
    def no_progress(self) -> NoProgress | None:
        """The guard against repetition: of the limits, or as the variant has it."""
        varied = None if self.variant is None else self.variant.no_progress
        return self.agent.limits.repetition(varied)

    @cached_property
    def guards(self) -> tuple[Guard | ContextGuard, ...]:
        """The user's guards, those of tools, clew's; last the caps: they count what is allowed."""
        stuck = () if self.no_progress is None else (self.no_progress,)
        usual = (AlreadyDone(self.tools), self.agent.limits.guard, self.strategy_caps)
        own = [guard for guard in self.agent.guards if not isinstance(guard, Provenance)]
        acting = [
            tool
            for tool in self.own_tools
            if tool.effect in EFFECTFUL
            or tool.labels.egress
            or tool.labels.traces
            or isinstance(tool, AgentTool)
        ]
        judges = acting and (self.provenance.judged or self.provenance.acting_runs)
        origins = (self.provenance,) if judges else ()
        rules = {tool.name: tool.approve for tool in self.own_tools if tool.approve}
        approvals = (Approvals(rules, self.patience),) if rules else ()
        return (*own, *self.tool_guards, *approvals, *origins, *stuck, *usual)

    @cached_property
    def provenance(self) -> BoundProvenance:
        """What knows where values come from, and asks about calls where anything can act.

        It stands by default: whoever forgets it has it. One that is off is there too: in a sub-run
        that of the run above may be stricter. Of several the strictest counts.
        """
        guards = (each for each in self.agent.guards if isinstance(each, Provenance))
        guard = max(guards, key=lambda each: LEVELS.index(each.level), default=Provenance())
        delegating = [tool for tool in self.own_tools if isinstance(tool, AgentTool)]
        runs = {it.name: frozenset(names) for it in delegating if (names := acting_below(it))}
        return guard.over(self.tools, self.instructions.text, runs)

    @property
    def acts(self) -> bool:
        """Whether that guard may judge any call, of the agent or below it."""
        return any(isinstance(guard, BoundProvenance) for guard in self.guards)

    @cached_property
    def acting(self) -> dict[str, ToolSpec]:
        """The tools that guard judges, and those of agents below."""
        runs = (acting_below(tool) for tool in self.own_tools if isinstance(tool, AgentTool))
        below = {name: tool for tools in runs for name, tool in tools.items()}
        return {**below, **{name: tool for name, tool in self.tools.items() if judged(tool)}}

    @cached_property
    def effectful(self) -> frozenset[str]:
        """The names of its tools with an effect."""
        effectful_names = (
            it for it in self.own_tools if isinstance(it, Tool) and it.effect in EFFECTFUL
        )
        return frozenset(it.name for it in effectful_names)

    @cached_property
    def strategy_caps(self) -> WholeCaps:
        """The guard of what holds over all runs of a strategy."""
        caps = {
            name: cap
            for tool in self.own_tools
            if isinstance(tool, AgentTool)
            for name, cap in tool.caps.items()
        }
        return WholeCaps(self.effectful, caps)

    @cached_property
    def tool_guards(self) -> tuple[Guard, ...]:
        """The guards that tools bring, each of which judges the calls of its tools only."""
        guards = {id(tool.guard): tool.guard for tool in self.own_tools if tool.guard is not None}
        return tuple(guards.values())

    @cached_property
    def named_guards(self) -> tuple[NamedGuard, ...]:
        """All guards by their names in the record; a second guard of a name is `name#2`."""
        named: list[NamedGuard] = []
        for name, guard in names_of(self.guards):
            tools = frozenset(tool.name for tool in self.own_tools if tool.guard is guard) or None
            tools = guard.judged if isinstance(guard, BoundProvenance) else tools
            if isinstance(guard, _OWN_GUARDS):
                repeat = isinstance(guard, AlreadyDone)
                named.append(NamedGuard(name, guard, tools, own=True, repeat=repeat))
            elif isinstance(guard, Approvals):  # it minds the time of each rule itself
                named.append(NamedGuard(name, guard, guard.tools))
            else:
                asked = partial(ask_guard, name, guard_with_context(guard), self.patience)
                named.append(NamedGuard(name, asked, tools))
        return tuple(named)

    @cached_property
    def named_screens(self) -> tuple[NamedScreen, ...]:
        """The screens by their names in the record, as for guards."""
        limits, named = self.agent.limits, list[NamedScreen]()
        for name, screen in names_of(self.agent.screens):
            patience = self.patience
            if getattr(screen, "asks_model", False):
                patience = Patience(limits.reply_seconds, limits.grace, "reply_seconds")
            named.append((name, partial(_ask_screen, name, screen, patience)))
        return tuple(named)

    @cached_property
    def budget(self) -> Budget:
        """What its runs may spend, and what is known beforehand about its model calls."""
        model = self.model
        max_tokens = max_answer_tokens(model.info.params)
        prompt_spec = self.prompt_spec
        estimate = CallEstimate(
            opening(self.first_prompt), max_tokens, prompt_spec.shape, prompt_spec.visible_chars
        )
        info, limits = model.info, self.agent.limits
        limits = with_waits(limits, info.wait) if info.wait else limits
        strategy = info.name.partition(":")[0] == STRATEGY
        return Budget(limits.allowance, estimate, info.priced, limits.landing, strategy)

    def left(self, trajectory: Trajectory) -> Left:
        """What a run may still spend."""
        return self.budget.standing(trajectory).left

    @cached_property
    def window(self) -> int | None:
        """Tokens that the model's prompt and reply may take together, where that is known."""
        usual, settings = self.model.info.window, self.agent.context.compaction
        return None if settings is None else settings.window or usual

    @cached_property
    def compacting(self) -> Compacting | None:
        """What leaves out parts of a long run; None where all of it is shown."""
        first, prompt_spec, settings = (
            opening(self.first_prompt),
            self.prompt_spec,
            self.agent.context.compaction,
        )
        if settings is None:
            return None
        return Compacting(
            settings, self.window, first, prompt_spec.shape, prompt_spec.visible_chars
        )

    @cached_property
    def patience(self) -> Patience:
        """The deadlines of its parts."""
        return Patience(self.agent.limits.part_seconds, self.agent.limits.grace)

    @cached_property
    def tools(self) -> dict[str, AnyTool]:
        """All tools by name, including hidden ones and finish."""
        own = (*self.recalls, finish_tool(self.prompt_spec.answer, EVERY_EFFECT))
        return {tool.name: tool for tool in (*self.own_tools, *own)}

    @cached_property
    def countable(self) -> frozenset[str]:
        """The names of calls that its limits and guards judge: its tools, and those of its roles.

        These are the tools that runs of a strategy call under its caps.
        """
        roles = (
            name for each in self.own_tools if isinstance(each, AgentTool) for name in each.caps
        )
        return frozenset((*self.tools, *roles)) - {FINISH, ACTING}

    @cached_property
    def recalls(self) -> tuple[Tool, ...]:
        """The tools that read on in what the view leaves out."""
        return fitting_recalls(self.own_tools, self.codec, self.visible_chars)

    @cached_property
    def visible_chars(self) -> int | None:
        """How much of one observation is shown, where more of it can be read on."""
        return None if self.agent.context.compaction is None else visible_characters(self.window)

    @cached_property
    def validators(self) -> dict[str, Validator]:
        """By the name of each tool: what is wrong with arguments, in lines that say what to do."""
        known = {name: compile_schema(tool.parameters) for name, tool in self.tools.items()}
        if self.agent.answer is not str:
            known[FINISH] = partial(finish_problems, known[FINISH])
        return known

    @cached_property
    def result_validators(self) -> dict[str, Validator]:
        """The same for the results of tools that have a schema for them."""
        return {t.name: compile_schema(t.result, "field") for t in self.own_tools if t.result}


def acting_below(tool: AgentTool) -> dict[str, ToolSpec]:
    """The tools that runs of a tool may call, and that can do harm."""
    parts = getattr(getattr(tool.run, "agent", None), "parts", None)
    return parts.acting if isinstance(parts, Composition) else {}


def _codec(codec: Codec | str | None) -> Codec:
    """The codec itself, where it was given by name; native where none was."""
    return codec_by_name(codec or "native") if codec is None or isinstance(codec, str) else codec


async def _ask_screen(
    name: str, screen: Screen, patience: Patience, text: str
) -> Verdict | Screened | None:
    """Ask a screen about a person's words, within its deadline."""
    answer = await ask(f"the screen {name}", patience, screen, text)
    if isinstance(answer, Screened):
        return answer._replace(verdict=validate_verdict(answer.verdict, name, "screen"))
    return None if answer is None else validate_verdict(answer, name, "screen")
