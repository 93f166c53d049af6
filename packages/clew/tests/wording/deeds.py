"""What a build does, in terms that programs read: `python -m tests.wording.deeds WHAT STORE`.

It works in the current folder. `write` runs each scenario once and leaves copies of its record that
are cut behind some entries. `read` goes on with the copies, replays what is whole, forks, rewinds
and lists; `command` uses the command line, a worker too. Each prints JSON in which no sentence
stands: two builds that differ in nothing but sentences print the same.
"""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import msgspec

from clew import Agent, ClewError, Limits, ModelError, fork, read, replay, resume, rewind, run
from clew.agent.runner import start
from clew.agent.subagents import delegate
from clew.core.contents import Reply, Usage
from clew.core.entries import Entry
from clew.core.prompts import Prompt
from clew.core.stores import Append, Store
from clew.core.trajectory import Trajectory
from clew.retention import verify
from clew.stores import open_store
from clew.testing.models import ScriptedModel, act, acts, finish, say
from clew.workers import QUEUE
from clew.workers.agents import KnownAgents
from clew.workers.run_one import carry
from tests.core.play import go_on
from tests.core.scenarios import SCENARIOS, Scenario, by_name, lookup, scripted

WORDS = {
    "thought": ("prints",),
    "judged": ("verdict.reason",),
    "attempt": ("after", "timeout", "grant.seconds"),
    "observation": ("detail",),
    "charged": ("why",),
    "landing": ("bound", "detail"),
    "stop": ("reason",),
    "compacted": ("text", "why", "cuts"),
    "cancel": ("why",),
    "started": ("spec", "question"),
    "changed": ("spec",),
    "forked": ("spec",),
}
"""What of each event is for people and models, or tells the time."""

COUNTED = ("fault", "repairs", "reminders")
"""What of a thought counts, and not how it is said."""


def facts(entry: Entry, finishes: set[str]) -> dict[str, Any]:
    """An entry without its words."""
    event: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(entry.event))
    for path in WORDS.get(event["event"], ()):
        *outer, last = path.split(".")
        place: Any = event
        for name in outer:
            place = place.get(name) or {}
        place.pop(last, None)
    for name in COUNTED:
        if name in event:
            event[name] = len(event[name]) > 0 if name == "fault" else len(event[name])
    for action in event.get("actions", ()):
        action["fault"] = bool(action.get("fault"))
    said = event.get("code") or event.get("call") in finishes
    if event["event"] == "observation" and said:
        event.pop("content", None)
    elif "content" in event:
        event["content"] = unquoted(event["content"])
    if event["event"] == "note" and event.get("source") in {"check", "late"}:
        del event["parts"]
    return {"epoch": entry.epoch} | event


def unquoted(content: Any) -> Any:
    """A result without what it quotes of errors."""
    if isinstance(content, str):
        return "ERROR" if content.startswith("ERROR: ") else content
    return [unquoted(each) for each in content] if isinstance(content, list) else content


def told(record: Trajectory) -> list[dict[str, Any]]:
    """A record without its words."""
    finishes = {call.key for call in record.calls if call.action.name == "finish"}
    found = [facts(entry, finishes) for entry in record.entries]
    for place in range(1, len(found)):  # calls that are made at once end in any order
        start = place
        while start and all(one["event"] == "observation" for one in found[start - 1 : start + 1]):
            if found[start - 1]["call"] <= found[start]["call"]:
                break
            found[start - 1 : start + 1] = found[start], found[start - 1]
            start -= 1
    return found


def own_bound(trajectory: Trajectory) -> str | None:
    return "steps: as many as I like" if len(trajectory.steps) > 1 else None


def below(folder: Path) -> Agent:
    """An agent that hands on to one that uses its grant up, and to one that declines."""
    script = [act("lookup", key="a")] * 9
    deep = Agent(ScriptedModel(script), tools=[lookup], limits=Limits(steps=2))
    shy = Agent(ScriptedModel([Reply("I cannot", finish="declined")] * 3))
    tools = [
        delegate(deep, name="dig", description="Dig."),
        delegate(shy, name="ask", description="Ask."),
    ]
    calls = acts(act("dig", task="Dig."), act("ask", task="Ask."))
    return Agent(ScriptedModel([calls, finish("done")] * 3), tools=tools)


def down_once(folder: Path) -> Agent:
    """An agent whose model fails the first worker."""

    def reply(_: Prompt) -> Reply:
        if not (marker := folder / "down").exists():
            marker.touch()
            raise ModelError("it is down")
        return UP

    return Agent(ScriptedModel([reply] * 3), tools=[lookup])


UP = Reply("up", usage=Usage(100, 10))
LOOKS = [act("lookup", key=f"{n}") for n in range(9)]
BOUNDS: tuple[Scenario, ...] = (
    Scenario("bound: steps", scripted(*LOOKS, limits=Limits(steps=3))),
    Scenario("bound: steps, no landing", scripted(*LOOKS, limits=Limits(steps=3, landing=False))),
    Scenario("bound: tool calls", scripted(*LOOKS, limits=Limits(tool_calls=2))),
    Scenario("bound: tokens", scripted(*LOOKS, limits=Limits(tokens=900))),
    Scenario("bound: own", scripted(*LOOKS, bounds=[own_bound], limits=Limits(landing=False))),
    Scenario("bound: own, unpaid", scripted(*LOOKS, bounds=[own_bound], limits=Limits(tokens=700))),
    Scenario("bound: no progress", scripted(*[act("lookup", key="a")] * 9)),
    Scenario("bound: unmade", scripted(*[act("nothing", key="a")] * 9)),
    Scenario("bound: faults", scripted(*[say("")] * 9)),
    Scenario("sub-runs", below),
    replace(by_name("a held call that is allowed"), name="a call that stays held", then=()),
)
EVERY = 3
"""After every so manieth entry a record is cut."""


async def write(store: Store, folder: Path) -> dict[str, Any]:
    """Run each scenario, and leave copies that are cut."""
    found: dict[str, Any] = {}
    for number, scenario in enumerate((*SCENARIOS, *BOUNDS)):
        place = folder / str(number)
        place.mkdir(exist_ok=True)
        run_id = f"run-{number}"
        try:
            agent = scenario.agent(place)
            await run(agent, scenario.goal, store=store, run_id=run_id)
            await go_on(scenario, agent, store, run_id)
        except ClewError as error:
            found[f"{run_id} ended"] = type(error).__name__
        lines = await store.read(run_id)
        found[scenario.name] = told(await read(run_id, store=store))
        at_once = any(len(step.calls) > 1 for step in await read(run_id, store=store))
        for cut in range(2, len(lines), len(lines) if at_once else EVERY):
            await _cut(store, f"{run_id}-cut-{cut}", lines[:cut])
    agent = down_once(folder)
    await start(agent, "Is it up?", store, run_id="queued", queue=QUEUE)
    found["a worker whose model is down"] = await _outcome(_worked_on(agent, store))
    return found


async def _worked_on(agent: Agent, store: Store) -> Any:
    """What a worker makes of the run that is queued."""
    return told(await carry(KnownAgents({"agent": agent}), store, "queued"))


async def _cut(store: Store, run_id: str, lines: Any) -> None:
    """A run of its own with the first lines of another, taken up as often as that was."""
    await store.create(run_id)
    for _ in range(1, lines[-1].epoch):
        await store.open(run_id)
    await store.append(Append(run_id, lines[-1].epoch, tuple(lines)))


async def reread(store: Store, folder: Path) -> dict[str, Any]:
    """Go on with what is cut, replay what is whole, list all."""
    found: dict[str, Any] = {}
    for number, scenario in enumerate((*SCENARIOS, *BOUNDS)):
        agent, whole = scenario.agent(folder / str(number)), f"run-{number}"
        found[f"{scenario.name}: replay"] = await _outcome(_replayed(agent, whole, store))
        if (await read(whole, store=store)).stop is None:
            found[f"{scenario.name}: on"] = await _outcome(_gone_on(scenario, agent, whole, store))
        ids = [info.run_id for info in await store.runs()]
        for run_id in sorted(one for one in ids if one.startswith(f"{whole}-cut")):
            work = _gone_on(scenario, agent, run_id, store)
            found[f"{scenario.name}: {run_id}"] = await _outcome(work)
    found["a worker after it"] = await _outcome(_worked_on(down_once(folder), store))
    found["forked"] = await _outcome(_forked(store, folder))
    found["rewound"] = await _outcome(_rewound(store))
    found["listed"] = {
        status: sorted(info.run_id for info in await store.runs(status=status))
        for status in ("open", "answered", "bound", "held", "failed", "refused", "declined")
    }
    found["due"] = sorted(info.run_id for info in await store.due())  # type: ignore[attr-defined]  # a store of SQLite has it
    checked, lost = await verify(store=store)
    found["verified"] = sorted((one.run_id, one.ok, one.newer) for one in checked), len(lost)
    return found


async def _forked(store: Store, folder: Path) -> Any:
    """A fork that has the effects of its parent before it: what repeats one is held."""
    scenario = by_name("effects of every kind")
    number = SCENARIOS.index(scenario)
    agent = scenario.agent(folder / str(number))
    made = await fork(agent, f"run-{number}", at=0, new_id="forked", store=store)
    return made.status, told(await read(made.run_id, store=store))


async def _rewound(store: Store) -> Any:
    """A run goes back a step, and on."""
    number = SCENARIOS.index(by_name("three values"))
    await rewind(f"run-{number}", to=1, lesson="no", store=store)
    agent = SCENARIOS[number].agent(Path())
    await resume(agent, f"run-{number}", store=store)
    return told(await read(f"run-{number}", store=store))


async def _gone_on(scenario: Scenario, agent: Agent, run_id: str, store: Store) -> Any:
    await go_on(scenario, agent, store, run_id)
    return told(await read(run_id, store=store))


async def _replayed(agent: Agent, run_id: str, store: Store) -> Any:
    replayed = await replay(agent, run_id, store=store)
    return len(replayed.trajectory)


async def _outcome(work: Any) -> Any:
    """What came of it; of an error only the kind, and of a replay that parted the field."""
    try:
        return await work
    except ClewError as error:
        return [type(error).__name__, getattr(error, "field", "")]


def commands(place: str) -> list[Any]:
    """What commands end with, and how the runs stand that they made."""
    found = list[Any]()
    for words in COMMANDS:
        command = [sys.executable, "-m", "clew.cli", *words.split("|")]
        given = {**os.environ, "CLEW_STORE": place, "NO_COLOR": "1"}
        done = subprocess.run(command, env=given, capture_output=True, check=False, text=True)
        said = json.loads(done.stdout) if "--json" in words and done.stdout else None
        found.append([words, done.returncode, _machine(said)])
    return found


COMMANDS = (
    "ask|What is 6 * 7?|--model|offline|--json",
    "ask|What is 6 * 7?|--model|offline|--json|--steps|1",
    "ask|Delete everything.|--model|offline|--json",
    "submit|What is 2 + 2?|--model|offline",
    "runs|--json",
    "worker|--until-idle",
    "runs|--json",
    "replay|last",
    "resume|last|--json",
    "fork|last|--at|1|--json",
    "approvals|--json",
    "records|verify|--json",
    "show|nobody",
    "nonsense",
    "ask|What?|--model|nobody:nothing",
)


def _machine(said: Any) -> Any:
    """What programs read of a command's JSON, where that is the same each time."""
    kept = {"status", "ok", "fallback", "steps", "entries", "wrong", "newer", "lost"}
    if isinstance(said, dict):
        return {name: value for name, value in said.items() if name in kept}
    return [_machine(each) for each in said] if isinstance(said, list) else said


async def main(what: str, place: str) -> None:
    folder = Path("effects")
    folder.mkdir(exist_ok=True)
    store = open_store(place)
    found = await {"write": write, "read": reread}[what](store, folder)
    await store.close()
    sys.stdout.write(json.dumps(found, sort_keys=True))


if __name__ == "__main__":
    if sys.argv[1] == "command":
        sys.stdout.write(json.dumps(commands(sys.argv[2]), sort_keys=True))
    else:
        anyio.run(main, sys.argv[1], sys.argv[2])
