"""May this call happen, as far as its arguments show where they come from?

Before a model has read anything, its calls are its own. After that a call with an effect,
or one whose arguments leave, is made unasked only if each argument that decides what it does comes
from somebody who may decide: a person's words, the configuration, a field of a result that no third
party can choose, or the plan that the model made from the person's words alone. All else is asked.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Final, Literal, TypeAlias, cast

from clew.core.events import EFFECTFUL, Handed, Json, Note, Observation, PlannedCall, Verdict
from clew.core.interfaces import AgentTool, ToolSpec
from clew.core.trajectory import Call, Trajectory
from clew.guards.provenance.handing import handed_down, handed_to, handed_up, persons_words
from clew.guards.provenance.origins import Made, Origins
from clew.guards.provenance.secrets import has_secret
from clew.guards.provenance.values import (
    addresses_in,
    choices,
    identifiers_in,
    is_choice,
    leaves,
)
from clew.support.errors import ConfigError
from clew.support.settings import check_fields

Level: TypeAlias = Literal["standard", "strict", "off"]

_FOLD: Final = "provenance"


@dataclass(frozen=True)
class Provenance:
    """A guard: asks a person about calls whose arguments nothing trusted gave.

    It judges tools with an effect, and reads whose arguments leave or that others see
    (`Labels`). `strict` judges from the first call on, `standard` once the model has read
    anything but a person's words and the configuration: results of trusted tools too, for what is
    trusted may have been poisoned. `exempt` names tools that it never judges. An agent has it if it
    stands among its guards.
    """

    level: Level = "standard"
    exempt: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Raise `ConfigError` for another level, and for what is no set of names."""
        check_fields(self)
        names = cast("object", self.exempt)
        among = cast("Collection[object]", names) if isinstance(names, frozenset) else [None]
        if not all(isinstance(each, str) for each in among):
            message = f"Provenance: exempt is {names!r}: give a frozenset of the names of tools"
            raise ConfigError(message)

    def among(self, tools: Collection[str]) -> "Provenance":
        """The guard for an agent with these tools: without what names others."""
        exempt = self.exempt.intersection(tools)
        return self if exempt == self.exempt else replace(self, exempt=exempt)

    def over(
        self, tools: Mapping[str, ToolSpec], config: str, acting_runs: Iterable[str] = ()
    ) -> "BoundProvenance":
        """The guard over an agent's tools; `config` are its instructions.

        Sub-runs of `acting_runs` may make judged calls.
        """
        return BoundProvenance(self.level, tools, config, self.exempt, frozenset(acting_runs))

    async def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        """Raise `ConfigError`: it judges over an agent's tools, and is no guard of one tool."""
        raise ConfigError("Provenance() stands in an agent's guards, and is no guard of one tool")


@dataclass(frozen=True)
class BoundProvenance:
    """`Provenance` over the tools of an agent."""

    level: Level
    tools: Mapping[str, ToolSpec] = field(repr=False)
    config: str = field(repr=False)
    exempt: frozenset[str] = frozenset()
    acting_runs: frozenset[str] = field(default=frozenset(), repr=False)
    """The names of tools whose sub-runs may make judged calls."""

    def __repr__(self) -> str:
        """As the record names it."""
        more = f", exempt={sorted(self.exempt)}" if self.exempt else ""
        return f"Provenance({self.level!r}{more})"

    @property
    def as_recorded(self) -> Json:
        """As the settings of a run name it."""
        if self.level == "off":
            return None
        exempt: list[Json] = [*sorted(self.exempt)]
        return {"level": self.level, "exempt": exempt} if exempt else self.level

    @cached_property
    def judged(self) -> frozenset[str]:
        """The names of the tools whose calls it judges."""
        return frozenset(
            [name for name, tool in self.tools.items() if judged(tool) and name not in self.exempt]
        )

    async def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        """Hold a call that a person should see first, with the reason for each argument."""
        if call.action.name not in self.judged or self._has_seen_nothing(trajectory):
            return None
        if self._level(trajectory) == "off":
            return None
        tool, origins = self.tools[call.action.name], self.origins(trajectory)
        doubts = list(self._doubts(origins, tool, call, trajectory))
        if not doubts:
            return None
        if origins.refused and not self._is_planned(origins, tool, call, trajectory):
            return Verdict("deny", f"a person has refused such a call before: {'; '.join(doubts)}")
        return Verdict("hold", "; ".join(doubts))

    def wants_plan(self, trajectory: Trajectory) -> bool:
        """Whether a pending call can only be judged against the plan."""
        if trajectory.planned is not None or self._has_seen_nothing(trajectory):
            return False
        if not any(map(self._is_new, trajectory.step.pending)):
            return False
        if self._level(trajectory) == "off":
            return False
        origins = self.origins(trajectory)
        if origins.planned is not None or not any(persons_words(trajectory)):
            return False
        return self._judges(origins, trajectory)

    def _is_new(self, call: Call) -> bool:
        """Whether a call is still to be judged, and can do harm."""
        acts = call.action.name in self.judged or call.action.name in self.acting_runs
        return acts and call.ruling is None and not call.begun

    def _level(self, trajectory: Trajectory) -> Level:
        """Its own level, or that of the run above, if that is stricter."""
        return stricter(self.level, handed_to(trajectory.grant).level)

    def handed_down(self, trajectory: Trajectory, calls: Sequence[Call]) -> list[Handed | None]:
        """What sub-runs of calls are told that begin at once."""
        level = self._level(trajectory)
        if level == "off" or not calls:
            return [None for _ in calls]
        origins = self.origins(trajectory)
        made = [*origins.made, *_let_through(trajectory, None, self.judged)]
        left = None if origins.planned is None else _left(origins, made)
        told = handed_down(
            trajectory, origins, level=level, judges=self._judges(origins, trajectory), made=made,
            tasks=[call.args for call in calls], left=left,
        )  # fmt: skip
        return [*told]

    def handed_up(self, trajectory: Trajectory, answer: Json) -> Handed | None:
        """What the run tells the run that it serves, if that asks."""
        if handed_to(trajectory.grant).level == "off":
            return None
        return handed_up(self.origins(trajectory), answer)

    def origins(self, trajectory: Trajectory) -> Origins:
        """Where values of the run come from, as far as the record goes."""
        origins = trajectory.folds.get(_FOLD)
        if not isinstance(origins, Origins) or origins.tools is not self.tools:
            origins = trajectory.folds[_FOLD] = Origins(self.tools, self.judged, self.config)
        origins.follow(trajectory)
        return origins

    def _judges(self, origins: Origins, trajectory: Trajectory) -> bool:
        """Whether the model has seen what others wrote, as far as the level cares."""
        return origins.has_read or self._is_watchful(trajectory)

    def _is_watchful(self, trajectory: Trajectory) -> bool:
        """Whether it judges from the first call on."""
        if self.is_watchful:
            return True
        above = None if trajectory.grant is None else trajectory.grant.handed
        return above is not None and (above.read or above.level == "strict")

    @cached_property
    def is_watchful(self) -> bool:
        """Whether it always does: what tools say of themselves is read then."""
        tools = self.tools.values()
        return self.level == "strict" or any(tool.labels.foreign for tool in tools)

    def _has_seen_nothing(self, trajectory: Trajectory) -> bool:
        """Whether all that the model can have read so far is a person's first words: the usual
        case of a first call, for which nothing is folded.
        """
        return (
            len(trajectory.steps) == 1
            and trajectory.untainted
            and not self._is_watchful(trajectory)
            and not any(isinstance(it.event, Observation | Note) for it in trajectory.entries)
        )

    def _doubts(
        self, origins: Origins, tool: ToolSpec, call: Call, trajectory: Trajectory
    ) -> Iterator[str]:
        """What speaks against making the call unasked."""
        if not self._judges(origins, trajectory):
            return
        made = self._made(origins, call, trajectory)
        planned = _fitting(_left(origins, made), tool.name, call.args)
        is_named_again = planned is not None and planned.args == call.args
        if (tool.name, call.args) in made and not is_named_again:
            yield "it was made already"
            return
        if planned is None:
            yield "the request does not call for it"
        if planned is not None and tool.labels.traces:
            return
        bound = {} if planned is None else planned.args
        free = {name: value for name, value in call.args.items() if name not in bound}
        known = partial(origins.of, carried=self._carried(origins), verbatim=not bound)
        unknown = _unknown(tool, free, known)
        if planned is not None and not bound and _is_content(tool, call.args):
            args = call.args.items()
            unknown = [it for it, value in args if not all(map(origins.composed, leaves(value)))]
        for name in unknown:
            doubted = [each for each in leaves(call.args[name]) if known(each) is None]
            yield _of_argument(origins, name, doubted)
        content = {name: call.args.get(name) for name in tool.labels.content if name not in bound}
        yield from _content_doubts(origins, content)
        yield from _secrets_in(origins, call.args)

    def _is_planned(
        self, origins: Origins, tool: ToolSpec, call: Call, trajectory: Trajectory
    ) -> bool:
        left = _left(origins, self._made(origins, call, trajectory))
        return _fitting(left, tool.name, call.args) is not None

    def _made(self, origins: Origins, call: Call, trajectory: Trajectory) -> list[Made]:
        """The calls that were made before this one, or are let through in its step."""
        return [*origins.made, *_let_through(trajectory, call, self.judged)]

    def _carried(self, origins: Origins) -> list[str]:
        """The texts of the request that planned calls only carry: words in them decide nothing."""
        return [
            each
            for call in origins.planned or ()
            if (tool := self.tools.get(call.tool)) is not None
            for name in tool.labels.content
            for each in leaves(call.args.get(name))
            if isinstance(each, str) and each
        ]


def _unknown(
    tool: ToolSpec, args: Mapping[str, Json], known: Callable[[Json], str | None]
) -> list[str]:
    """The arguments that decide what the call does, and that nothing trusted gave."""
    return [
        name
        for name, value in args.items()
        if name not in tool.labels.content
        and not all(
            known(each) is not None or each in choices(tool.parameters, name)
            for each in leaves(value)
        )
    ]


def stricter(*levels: Level) -> Level:
    """The strictest of some levels; "off" where there is none."""
    if "strict" in levels:
        return "strict"
    return "standard" if "standard" in levels else "off"


def judged(tool: ToolSpec) -> bool:
    """Whether a call of the tool can do harm by itself; those of a sub-agent are judged there."""
    acts = tool.effect in EFFECTFUL and not isinstance(tool, AgentTool)
    return acts or tool.labels.egress or tool.labels.traces


def _let_through(trajectory: Trajectory, until: Call | None, names: Collection[str]) -> list[Made]:
    """The judged calls of the step, up to a call, that are not made yet and will be."""
    return [
        (other.action.name, other.args)
        for other in trajectory.step.all_calls
        if other.action.name in names
        and (until is None or other.position < until.position)
        and other.observation is None
        and not other.held
    ]


def _left(origins: Origins, made: Sequence[Made]) -> list[PlannedCall]:
    """The planned calls that are not made yet, and that no sub-run may still make."""
    left = [*(origins.planned or ())]
    for lent in origins.lent.values():
        for each in lent:
            if each in left:
                left.remove(each)
    for name, args in made:
        if (hit := _fitting(left, name, args)) is not None:
            left.remove(hit)
    return left


def _fitting(
    planned: Sequence[PlannedCall], name: str, args: Mapping[str, Json]
) -> PlannedCall | None:
    """The planned call that a call is: the same tool, and all arguments that the plan binds."""
    for each in planned:
        if each.tool == name and all(args.get(key) == value for key, value in each.args.items()):
            return each
    return None


def _is_content(tool: ToolSpec, args: Mapping[str, Json]) -> bool:
    """Whether a call has no argument that decides anything: all of it is content."""
    deciding = (value for name, value in args.items() if name not in tool.labels.content)
    return all(is_choice(each) for value in deciding for each in leaves(value))


def _content_doubts(origins: Origins, content: Mapping[str, Json]) -> Iterator[str]:
    """Addresses and numbers in a text that nothing trusted gave."""
    for name, value in content.items():
        text = " ".join(str(each) for each in leaves(value) if origins.of(each) is None)
        for part in (*addresses_in(text), *identifiers_in(text)):
            if origins.of(part) is None and not origins.is_quoted(part):
                yield _of_argument(origins, name, [part])


def _secrets_in(origins: Origins, args: Mapping[str, Json]) -> Iterator[str]:
    """The arguments that would send a value of a secret result."""
    for name, value in args.items():
        text = " ".join(str(each) for each in leaves(value) if each is not None)
        if has_secret(text, origins.secrets):
            yield f"{name} has a value of a secret result"


def _of_argument(origins: Origins, name: str, doubted: Sequence[Json]) -> str:
    """Why an argument is doubted, and where its values stand in untrusted text."""
    where = next((seen for each in doubted if (seen := origins.seen_in(each))), "")
    values = ", ".join(map(repr, doubted))
    return f"{name}: {values} comes from {where or 'nothing that is trusted'}"
