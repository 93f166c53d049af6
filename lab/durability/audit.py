"""After a storm: what the records say, what the file of effects says, and whether they agree."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import clew
from clew.core.contents import Observation
from clew.core.events import Attempt
from clew.core.journal import chain, load
from clew.core.stores import Store
from clew.core.trajectory import Call, Trajectory
from clew.support.errors import ClewError
from durability import world
from durability.progress import tell


@dataclass
class Audit:
    """What was found; every field but the counts of what there is has to be 0 or empty."""

    runs: int = 0
    entries: int = 0
    epochs: int = 0
    calls: Counter[str] = field(default_factory=Counter[str])
    happened: Counter[str] = field(default_factory=Counter[str])
    lost: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])
    twice: list[str] = field(default_factory=list[str])
    silent: list[str] = field(default_factory=list[str])
    amiss: list[str] = field(default_factory=list[str])
    doubted: list[str] = field(default_factory=list[str])
    broken: list[str] = field(default_factory=list[str])
    again: int = 0

    @property
    def well(self) -> bool:
        """Whether nothing was found that must not be."""
        counts = (self.lost, self.wrong, self.twice, self.silent, self.amiss, self.broken)
        return self.runs > 0 and not any(counts)


async def audit(
    store: Store,
    run_ids: Sequence[str],
    ledger: world.Ledger,
    agent: clew.Agent,
    *,
    every: int = 1,
    steps: int = world.STEPS,
    progress: Callable[[str], None] = tell,
) -> Audit:
    """Hold the records of runs against what happened outside; replay every nth."""
    audit, counted = Audit(), ledger.counted()
    for tool, keys in counted.items():
        audit.happened[tool] = keys.total()
    known: set[str] = set()
    for number, run_id in enumerate(run_ids):
        audit.runs += 1
        try:
            record = await load(store, run_id)
        except ClewError as error:
            audit.broken.append(f"{run_id}: {error}")
            continue
        audit.entries += len(record.entries)
        audit.epochs += max(0, record.entries[-1].epoch - 2)  # begun, and taken up
        _ended(audit, record, steps)
        for call in record.calls:
            key = f"{run_id}:{call.key}"
            known.add(key)
            _one(audit, call, key, counted.get(call.action.name, Counter()))
        await _check_record(audit, store, record)
        if number % every == 0:
            await _replays(audit, agent, store, record)
        if number % 50 == 49:
            progress(f"{number + 1} of {len(run_ids)} records looked through")
    for tool, keys in counted.items():
        strange = [key for key in keys if key not in known]
        audit.silent += [f"{tool} {key}: happened, and stands in no record" for key in strange]
    return audit


def _ended(audit: Audit, record: Trajectory, steps: int) -> None:
    if record.stop is None:
        audit.lost.append(f"{record.run_id}: open after {len(record.entries)} entries")
    elif (record.stop.status, record.stop.answer) != ("answered", world.ANSWER):
        audit.wrong.append(f"{record.run_id}: {record.stop.status}: {record.stop.reason}")
    elif (taken := sum(step.thought is not None for step in record)) != steps:
        audit.wrong.append(f"{record.run_id}: {taken} steps")


def _one(audit: Audit, call: Call, key: str, keys: Counter[str]) -> None:
    """One call: what the record knows of it, and how often it happened."""
    tool, times = call.action.name, keys[key]
    if tool == "finish":
        return
    audit.calls[tool] += 1
    seen = call.observation
    if seen is None:
        if call.attempts:
            audit.silent.append(f"{tool} {key}: attempted, and nobody says what came of it")
        return
    if tool == "send":
        if times > 1:
            audit.twice.append(f"send {key}: {times} times")
        if seen.outcome == "unknown":
            audit.doubted.append(f"send {key}: {'happened' if times else 'did not happen'}")
        elif (times == 1) != (seen.outcome == "done"):
            audit.silent.append(f"send {key}: {seen.outcome}, and happened {times} times")
    elif seen.outcome != "done" or times < 1:
        told = f"{seen.outcome} ({seen.code})" if seen.code else seen.outcome
        audit.amiss.append(f"{tool} {key}: {told}, and happened {times} times")
    elif tool == "post" and times != 1:
        audit.twice.append(f"post {key}: {times} times")
    else:
        audit.again += times - 1


async def _check_record(audit: Audit, store: Store, record: Trajectory) -> None:
    """The chain of the hashes, and that no call has an observation too many."""
    before = b""
    for line in await store.read(record.run_id):
        before = chain(before, line.seq, line.at, line.epoch, line.body)
        if before != line.hash:
            audit.broken.append(f"{record.run_id}: entry {line.seq} does not chain")
            return
    epochs = [entry.epoch for entry in record.entries]
    if epochs != sorted(epochs):
        audit.broken.append(f"{record.run_id}: an older epoch wrote after a newer one")
    seen = Counter(
        entry.event.call for entry in record.entries if isinstance(entry.event, Observation)
    )
    audit.broken += [f"{record.run_id}: {call} observed twice" for call in seen if seen[call] > 1]
    tried = {entry.event.call for entry in record.entries if isinstance(entry.event, Attempt)}
    effects = {call.key for call in record.calls if call.action.name in {"send", "put", "post"}}
    audit.broken += [
        f"{record.run_id}: {call} without an attempt" for call in effects - tried if call in seen
    ]


async def _replays(audit: Audit, agent: clew.Agent, store: Store, record: Trajectory) -> None:
    try:
        again = await clew.replay(agent, record.run_id, store=store)
    except ClewError as error:
        audit.broken.append(f"{record.run_id}: does not replay: {error}")
        return
    if again.trajectory.stop != record.stop:
        audit.broken.append(f"{record.run_id}: a replay ends otherwise")
