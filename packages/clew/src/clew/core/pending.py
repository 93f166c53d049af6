"""What is pending in a run and its sub-runs, and how a person ends it."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from msgspec.structs import asdict as fields_of

from clew.core.actions import Action
from clew.core.engine import Engine
from clew.core.events import AnyEvent, Stop
from clew.core.journal import Journal, load
from clew.core.observations import refusal, shortened
from clew.core.settling import brought, stopped
from clew.core.stores import Store
from clew.core.subruns import SUB_RUN, close_sub_run
from clew.core.tools import Parameters
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json
from clew.core.verdicts import Origin, Verdict
from clew.support.errors import ConfigError, RunNotFoundError

Wants: TypeAlias = Literal["ruling", "outcome", "result"]
"""What a held call waits for."""

_ID: Final = re.compile(r"(\S+?):(\d+\.\d+)(?::([0-9a-f]{12}))?")
_AGAIN: Final = "To allow it is to make it again: look first whether it happened."


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """A call that waits for a person's ruling, with its arguments.

    `id` names it for a ruling. `run_id` and `call` say where it is; `root` is the run to resume
    after the ruling, which differs from `run_id` in a sub-run. `at` is the time it began to wait
    (Unix milliseconds). `seen` identifies the arguments and the attempts so far. `asks` is the JSON
    Schema of the answer that the call wants with the ruling, if any.
    `origins` say where values of its arguments come from, as far as the guard that held it knows.
    `behind` are the calls that wait behind it, and go ahead once a person has ruled. `labels` and
    `owner` are those of the run. It `wants` a ruling, or word of what came of it (`clew.settle`) or
    its result (`clew.answer`). At the time `until` (Unix milliseconds, if not 0) it waits no more.
    """

    run_id: str
    call: str
    tool: str
    args: dict[str, Json] = field(hash=False)
    why: str
    at: int
    seen: str
    root: str
    asks: Parameters | None = field(default=None, hash=False)
    origins: Mapping[str, tuple[Origin, ...]] = field(
        default_factory=dict[str, tuple[Origin, ...]], hash=False
    )
    behind: tuple[Action, ...] = field(default=(), hash=False)
    labels: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    owner: str = ""
    wants: Wants = "ruling"
    until: int = 0

    @property
    def id(self) -> str:
        """Names the call, with its arguments and attempts as they are: it covers nothing else.

        It is unique over a store; its form may change.
        """
        return f"{self.run_id}:{self.call}:{digest_of(self.seen)}"

    def to_json(self) -> dict[str, Json]:
        """All of it as values that JSON has; the keys are the names of the fields."""
        fields = {"id": self.id, **asdict(self)}
        fields["origins"] = {name: [*map(fields_of, of)] for name, of in self.origins.items()}
        fields["behind"] = [{"tool": call.name, "args": call.args} for call in self.behind]
        return fields


def digest_of(question: str) -> str:
    """Identifies what a ruling covers (`Call.question`), as an id has it."""
    return hashlib.blake2b(question.encode(), digest_size=6).hexdigest()


class ApprovalId(NamedTuple):
    """What an id names; without a digest the call is meant whatever its arguments are."""

    run_id: str
    key: str
    digest: str = ""


def approval_id(text: str) -> ApprovalId:
    """Read the id of an approval, or a call key (`run_id:step.index`). Raises `ConfigError`."""
    match = _ID.fullmatch(text) if isinstance(cast("object", text), str) else None
    if match is None:
        message = (
            f"{text!r} is no id of an approval: take it from `clew approvals`, or name a call as "
            "RUN:2.1"
        )
        raise ConfigError(message)
    return ApprovalId(match[1], match[2], match[3] or "")


def pending_here(trajectory: Trajectory, root: str = "") -> Iterator[PendingApproval]:
    """The held calls in the record itself, including calls whose sub-run waits."""
    held = ((call, call.verdict) for call in trajectory.held if call.verdict is not None)
    for call, judged in held:
        since = next((e.at for e in reversed(trajectory.entries) if e.event is judged), 0)
        yield PendingApproval(
            trajectory.run_id, call.key, call.action.name, call.args, _why(call, judged.verdict),
            since, call.question, root or trajectory.run_id, judged.verdict.asks,
            judged.verdict.origins, (*_behind(trajectory, call),),
            trajectory.started.labels, trajectory.started.owner,
            _wants(call, judged.verdict), judged.verdict.until,
        )  # fmt: skip


def _wants(call: Call, held: Verdict) -> Wants:
    return "outcome" if held.code == "unknown" and call.begun else held.wants


def _behind(trajectory: Trajectory, held: Call) -> Iterator[Action]:
    """The calls that were put off after this one, up to the next one that is held."""
    for call in trajectory.step.gathered:
        if call.held and call.position > held.position:
            return
        if call.position > held.position and call.observation is None:
            yield call.action


def _why(call: Call, held: Verdict) -> str:
    """Why a call waits, and what it means to allow one that may have happened."""
    if held.code != "unknown" or not call.begun:
        return held.why
    return shortened(f"{held.why} {_AGAIN}")


def waits_below(call: Call) -> bool:
    """Whether a call is held only because its sub-run is."""
    return call.held and call.verdict is not None and call.verdict.by == SUB_RUN


async def pending_in(
    store: Store, trajectory: Trajectory, root: str = ""
) -> tuple[PendingApproval, ...]:
    """The held calls of the run and all its sub-runs."""
    below = {call.key: call.child for call in trajectory.held if waits_below(call)}
    approvals: list[PendingApproval] = []
    for each in pending_here(trajectory, root):
        if (child := below.get(each.call)) is None:
            approvals.append(each)
            continue
        try:
            record = await load(store, child)
        except RunNotFoundError:  # it is not in this store: taking it up says so
            record = None
        if record is None or record.is_foreign:
            approvals.append(each)
        else:
            approvals += await pending_in(store, record, root or trajectory.run_id)
    return tuple(approvals)


async def ancestors(store: Store, trajectory: Trajectory) -> list[tuple[Trajectory, Call]]:
    """The runs that a sub-run serves, nearest first, with the call of each that it is for.

    Raises `RunNotFoundError` where one of them is not in the store.
    """
    chain: list[tuple[Trajectory, Call]] = []
    while served := trajectory.parent_call:
        run_id, _, key = served.rpartition(":")
        try:
            above = await load(store, run_id)
        except RunNotFoundError as error:
            message = f"run {trajectory.run_id} serves call {key} of run {run_id}: {error}"
            raise RunNotFoundError(message) from error
        call = next((call for call in above.calls if call.key == key), None)
        if call is None or call.child != trajectory.run_id:
            break  # it only says so
        if trajectory.is_foreign and not above.is_foreign:
            break
        chain.append((above, call))
        trajectory = above
    return chain


async def interrupt(engine: Engine, journal: Journal, why: str = "") -> None:
    """Close what is pending (not done, or unknown after an attempt, unless somebody said which)."""
    why = why or "a person interrupted the run"
    closing: list[AnyEvent] = []
    for call in journal.trajectory.step.all_calls:
        if call.observation is not None:
            continue
        if call.settled is not None and (came := brought(engine, journal.trajectory, call)):
            closing.append(came)
        elif call.child:
            closing.append(await close_sub_run(engine, journal, call, why))
        elif call.begun:
            text = "a person interrupted it: it may or may not have happened"
            closing.append(refusal(call, "unknown", text))
        else:
            far = "what it had called by then was done" if call.asked else "it did not happen"
            closing.append(refusal(call, "interrupted", f"a person did: {far}"))
    if closing:
        await journal.record(*closing)
    await journal.record(stopped(journal.trajectory, Stop("interrupted", why)))
