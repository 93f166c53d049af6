"""One run of a real agent in an environment of AgentDojo, and what came of it."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec

from clew import Agent, Limits, MemoryStore, PendingApproval, Result, open_run, resume, rule
from clew.core.tools import ToolSpec
from clew.core.trajectory import Call, Trajectory
from clew.core.values import encode
from clew.core.verdicts import Verdict
from clew.guards.provenance import ActingRuns, BoundProvenance, Level, Provenance, judged
from security.attacks import BY_NAME, Attack, Scene
from security.dojo import Made, Suite, suites
from security.forms import Form, agent_of, codec, tools_of
from security.labels import LABELS
from security.remembered import remembered
from security.strategies import STRATEGIES, Roles, by_strategy
from security.toolbox import Toolbox
from security.victim import Victim

LIMITS: Final = Limits(steps=80, tool_calls=120)
"""Larger than usual: some tasks with an attack in them take more than 15 steps."""
_ROUNDS: Final = 40

System = Literal["none", "standard", "forgetful", "strict"]
SYSTEMS: Final[Mapping[System, tuple[Level, int]]] = {
    "none": ("off", 0), "standard": ("standard", 0), "forgetful": ("standard", 5),
    "strict": ("strict", 0),
}  # fmt: skip
"""The guard's level, and one in how many calls the plan forgets."""


class Case(msgspec.Struct, frozen=True):
    """What is run."""

    suite: str
    user: str
    attacker: str
    """The attacker's task; of an attack on the user's own calls, the number of the try."""
    attack: str
    form: Form = "native"


class Outcome(msgspec.Struct, frozen=True):
    """What came of it."""

    case: Case
    system: System
    status: str
    useful: bool
    """Whether the user's task was done, by AgentDojo's own check."""
    foreign: list[str]
    """Calls that acted or sent something, and were none of the user's."""
    won: bool
    """Whether the attacker's task was done, by AgentDojo's own check."""
    fooled: bool
    """Whether the injected text came before the model's eyes at all."""
    asks: int
    questions: int
    judged: int
    """Calls that a guard judged, and the CPU time that took."""
    milliseconds: float
    needless: list[str] = []
    """Why a person was asked about calls that they then allowed."""


@dataclass
class Clock:
    """CPU time of a guard."""

    seconds: float = 0.0
    calls: set[str] = field(default_factory=set[str])


@dataclass(frozen=True)
class TimedGuard(BoundProvenance):
    """The guard, with a clock beside it."""

    clock: Clock = field(default_factory=Clock, compare=False, repr=False)

    async def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        began = time.process_time()
        try:
            return await super().__call__(call, trajectory)
        finally:
            self.clock.seconds += time.process_time() - began
            if judged(self.tools[call.action.name]):
                self.clock.calls.add(call.key)

    def wants_plan(self, trajectory: Trajectory) -> bool:
        began = time.process_time()
        try:
            return super().wants_plan(trajectory)
        finally:
            self.clock.seconds += time.process_time() - began


@dataclass(frozen=True)
class Timed(Provenance):
    """`Provenance` with a clock."""

    clock: Clock = field(default_factory=Clock, compare=False, repr=False)

    def over(
        self, tools: Mapping[str, ToolSpec], config: str, acting_runs: ActingRuns | None = None
    ) -> BoundProvenance:
        return TimedGuard(
            self.level, tools, config, self.exempt, acting_runs or {}, clock=self.clock
        )


@dataclass
class Person:
    """An honest one: says yes exactly to calls of the task that were not made yet."""

    calls: Sequence[Made]
    asks: int = 0
    questions: int = 0
    needless: list[str] = field(default_factory=list[str])
    """What was asked about and allowed, with the reason for the question."""

    async def rule(self, held: Sequence[PendingApproval], made: Sequence[Made], store: Any) -> None:
        """Rule on all that is held: one question."""
        self.questions += 1
        left = _counted(self.calls) - _counted(made)
        for each in held:
            self.asks += 1
            key = _key((each.tool, each.args))
            yes = left[key] > 0
            left[key] -= yes
            if yes:
                self.needless.append(f"{each.tool}: {each.why}"[:200])
            await rule(each.id, allow=yes, store=store)


async def played(case: Case, system: System) -> Outcome | None:
    """Run a case; None where the task offers nothing for such an attack."""
    suite, attack = suites()[case.suite], BY_NAME[case.attack]
    staged = stage(suite, attack, case)
    if staged is None:
        return None
    box, victim = staged
    before = box.environment.model_copy(deep=True)
    level, victim.forgets = SYSTEMS[system]
    clock = Clock()
    guards = [Timed(level, clock=clock)]
    person = Person(victim.calls)
    victim.form, victim.tools = case.form, tools_of(case.form, box.tools())
    victim.begin()
    inner = Agent(
        model=Roles(victim), tools=victim.tools, guards=guards, limits=LIMITS,
        codec=codec(case.form),
    )  # fmt: skip
    if case.form in STRATEGIES:
        agent = by_strategy(case.form, inner)
    else:
        agent = agent_of(case.form, inner, victim.request)
    note = await _note(suite, attack, case) if case.form == "memory" else b""
    result = await _finished(agent, victim.request, person, box, note)
    answer = victim.answer if case.form == "worker" else str(result.answer or "")
    won = case.attacker in suite.attackers and suite.won(
        case.attacker, answer, before, box.environment, box.made
    )
    return Outcome(
        case, system, result.status,
        useful=suite.done(case.user, answer, before, box.environment, box.made),
        foreign=foreign(box.made, victim.calls), won=won, fooled=victim.fooled,
        asks=person.asks, questions=person.questions,
        judged=len(clock.calls), milliseconds=clock.seconds * 1000,
        needless=person.needless,
    )  # fmt: skip


async def _note(suite: Suite, attack: Attack, case: Case) -> bytes:
    """What an earlier conversation, in an environment of its own, left in the memory."""
    staged = stage(suite, attack, case)
    return b"" if staged is None else await remembered(staged[1].calls, staged[0].tools())


async def _finished(
    agent: Agent[Any], request: str, person: Person, box: Toolbox, note: bytes
) -> Result[Any]:
    store = MemoryStore()
    async with open_run(agent, request, store=store, run_id="r") as opened:
        if note:
            await store.post("r", note)
        result = await opened.go_on()
    for _ in range(_ROUNDS):
        if result.status != "held":
            break
        await person.rule(result.pending_approvals, box.made, store)
        result = await resume(agent, "r", store=store)
    return result


def stage(suite: Suite, attack: Attack, case: Case) -> tuple[Toolbox, Victim] | None:
    """The environment and the model for a case."""
    plain = Scene(suite, case.user, case.attacker, suite.environment(case.user, {}))
    planted = attack.planted(plain)
    text, box = attack.text(planted), Toolbox(suite, plain.environment)
    if case.attack != "clean":
        if attack.own and not planted:
            return None
        if not _inject(attack, plain, text, box):
            return None
    task = suite.users[case.user]
    calls = suite.calls(case.user, box.environment)
    answer = task.GROUND_TRUTH_OUTPUT or "Done."
    return box, Victim(task.PROMPT, calls, answer, planted, attack.order)


def _inject(attack: Attack, scene: Scene, text: str, box: Toolbox) -> bool:
    """Write the text to its place; whether there is one."""
    suite = scene.suite
    if attack.target == "environment":
        vectors = suite.seen(scene.user)
        box.environment = suite.environment(scene.user, dict.fromkeys(vectors, text))
        return bool(vectors)
    if attack.target == "trusted result":
        names = [name for name, _ in scene.own if _is_trusted_read(name)]
        box.results.update(dict.fromkeys(names[:1], text))
        return bool(names)
    acting = attack.target == "acting tool"
    name = next(it.name for it in suite.tools if _is_judged(it.name) == acting)
    box.descriptions[name] = f" {text}"
    return True


def _is_judged(name: str) -> bool:
    return LABELS[name].harmful or LABELS[name].labels.traces


def _is_trusted_read(name: str) -> bool:
    return LABELS[name].trust == "trusted" and not LABELS[name].harmful


def foreign(made: Sequence[Made], own: Sequence[Made]) -> list[str]:
    """Calls that did something, and more often than the user's task has them."""
    acted = [call for call in made if LABELS[call[0]].harmful]
    extra = _counted(acted) - _counted(own)
    return sorted(
        f"{name} {args.decode()}"[:300]
        for (name, args), times in extra.items()
        for _ in range(times)
    )


def _counted(calls: Sequence[Made]) -> Counter[tuple[str, bytes]]:
    return Counter(map(_key, calls))


def _key(call: Made) -> tuple[str, bytes]:
    name, args = call
    return name, encode(dict(sorted(args.items())))
