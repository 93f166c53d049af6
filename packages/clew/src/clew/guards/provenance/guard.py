"""May this call happen, as far as its arguments show where they come from?

Before a model has read anything, its calls are its own. After that a call with an effect,
or one whose arguments leave, is made unasked only if each argument that decides what it does comes
from somebody who may decide: a person's words, the configuration, a field of a result that no third
party can choose, or the plan that the model made from the person's words alone. All else is asked.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal, TypeAlias, cast

from clew.core.codes import EFFECTFUL
from clew.core.contents import Handed, Observation
from clew.core.events import Note
from clew.core.tools import AgentTool, ToolSpec
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json
from clew.core.verdicts import Verdict
from clew.guards.provenance.arguments import recorded
from clew.guards.provenance.handing import (
    Task,
    handed_down,
    handed_to,
    handed_up,
    persons_words,
)
from clew.guards.provenance.judgement import Judgement, sentence_of
from clew.guards.provenance.origins import Origins
from clew.guards.provenance.plans import let_through, unmade
from clew.guards.provenance.request import SIGNS_OF_PASTING
from clew.support.errors import ConfigError
from clew.support.settings import check_fields

Level: TypeAlias = Literal["standard", "strict", "off"]

LEVELS: Final[tuple[Level, ...]] = ("off", "standard", "strict")
"""From the laxest to the strictest."""

ActingRuns: TypeAlias = Mapping[str, frozenset[str]]
"""By the names of tools that work in sub-runs: the judged tools that these may call, if any."""

_FOLD: Final = "provenance"
_READ: Final = (Observation, Note)
"""What a model reads beside the question."""


@dataclass(frozen=True)
class Provenance:
    """A guard: asks a person about calls whose arguments nothing trusted gave.

    It judges tools with an effect, and reads whose arguments leave or that others see
    (`Labels`). `strict` judges from the first call on, `standard` once the model has read
    anything but a person's words and the configuration: results of trusted tools too, for what is
    trusted may have been poisoned. `exempt` names tools that it never judges. An agent with tools
    to judge has the standard one, unless another stands among its guards.
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
        self, tools: Mapping[str, ToolSpec], config: str, acting_runs: ActingRuns | None = None
    ) -> "BoundProvenance":
        """The guard over an agent's tools; `config` are its instructions.

        Sub-runs of `acting_runs` may make calls of the judged tools that it names for each.
        """
        return BoundProvenance(self.level, tools, config, self.exempt, acting_runs or {})

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
    acting_runs: ActingRuns = field(default_factory=dict[str, frozenset[str]], repr=False)

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
        written = trajectory.call(call.key)
        if (ruling := written.ruling) is not None and ruling.allow:
            return None  # a person has seen these arguments, or wrote them
        if self._level(trajectory) == "off":
            return None
        tool, origins = self.tools[call.action.name], self.origins(trajectory)
        if not (origins.has_read or self._is_watchful(trajectory)):
            return None
        made = [*origins.made, *let_through(trajectory, call, self.judged)]
        judgement = Judgement(origins, tool, call, made=made, written=written)
        if not judgement.doubts:
            return None
        why, told = sentence_of(judgement.doubts), recorded(judgement)
        if judgement.is_refused:
            before = f"a person has refused such a call before: {why}"
            return Verdict("deny", before, origins=told)
        return Verdict("hold", why, gather=True, origins=told)

    def wants_plan(self, trajectory: Trajectory) -> bool:
        """Whether a pending call can only be judged against the plan."""
        if trajectory.planned is not None or self._has_seen_nothing(trajectory):
            return False
        names = [call.action.name for call in trajectory.step.all_calls]
        if self._acting.isdisjoint(names) or not any(map(self._is_new, trajectory.step.pending)):
            return False
        if self._level(trajectory) == "off":
            return False
        origins = self.origins(trajectory)
        if origins.planned is not None or not any(persons_words(trajectory)):
            return False
        return self._judges(origins, trajectory)

    @cached_property
    def _acting(self) -> frozenset[str]:
        """The names of tools whose calls can do harm, by themselves or in a sub-run."""
        return self.judged | self.acting_runs.keys()

    def _is_new(self, call: Call) -> bool:
        """Whether a call is still to be judged, and can do harm."""
        acts = call.action.name in self._acting
        return acts and call.ruling is None and not call.begun

    def _level(self, trajectory: Trajectory) -> Level:
        """Its own level, or that of the run above, if that is stricter."""
        if trajectory.grant is None:
            return self.level
        return stricter(self.level, handed_to(trajectory.grant).level)

    def handed_down(self, trajectory: Trajectory, calls: Sequence[Call]) -> list[Handed | None]:
        """What sub-runs of calls are told that begin at once."""
        level = self._level(trajectory)
        if level == "off" or not calls:
            return [None for _ in calls]
        origins = self.origins(trajectory)
        made = [*origins.made, *let_through(trajectory, None, self.judged)]
        rest = None if origins.planned is None else unmade(origins, made)
        tasks = [Task(call.args, self.acting_runs.get(call.action.name, ())) for call in calls]
        judges = self._judges(origins, trajectory)
        told = handed_down(
            trajectory, origins, level=level, judges=judges, made=made, tasks=tasks, left=rest
        )
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
        return self.level == "strict" or True in [tool.labels.foreign for tool in tools]

    def _has_seen_nothing(self, trajectory: Trajectory) -> bool:
        """Whether all that the model can have read so far is a person's first words: the usual
        case of a first call, for which nothing is folded.
        """
        return (
            len(trajectory.steps) == 1
            and trajectory.untainted
            and trajectory.grant is None
            and not self.is_watchful
            and not any(map(trajectory.visible_goal.__contains__, SIGNS_OF_PASTING))
            and not any(isinstance(it.event, _READ) for it in trajectory.entries)
        )


def stricter(*levels: Level) -> Level:
    """The strictest of some levels; "off" where there is none."""
    return max((LEVELS[0], *levels), key=LEVELS.index)


def judged(tool: ToolSpec) -> bool:
    """Whether a call of the tool can do harm by itself; those of a sub-agent are judged there."""
    acts = tool.effect in EFFECTFUL and not isinstance(tool, AgentTool)
    acts = acts and not tool.labels.contained
    return acts or tool.labels.egress or tool.labels.traces
