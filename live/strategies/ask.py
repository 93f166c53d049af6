"""One task answered in one form: its runs are on record, and what they took is added up."""

import hashlib
import os
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import clew
from clew import ModelError, SqliteStore, Trajectory
from clew.core.events import FINISH, Json, Status, Thought, Usage
from clew.core.journal import load
from clew.core.loop import run as go
from clew.core.runner import has_begun, start_or_take_up
from clew.models.local import LocalModel, LocalSettings, local_model
from clew.strategies import vote
from live.ask import machine
from live.outcomes import sum_of
from live.strategies.configurations import Form
from live.strategies.outcomes import Answered, Key
from live.strategies.tasks import Task

SLOTS: Final = 16
"""Each keeps the beginning of a prompt: every role of a strategy has one of its own."""
CONTEXT: Final = 8_192
MOST_RUNS: Final = 200


class Asker:
    """A model's file, and the store that its runs are recorded to."""

    def __init__(self, gguf: Path, records: Path, threads: int) -> None:
        self.gguf = gguf
        self.settings = LocalSettings(CONTEXT, SLOTS, threads)
        self.sha256 = sum_of(gguf)
        self._models: dict[int, LocalModel] = {}
        records.parent.mkdir(parents=True, exist_ok=True)
        self.store = SqliteStore(records)

    def model(self, form: Form) -> LocalModel:
        """The model as a form asks it."""
        if form.votes not in self._models:
            made = local_model(str(self.gguf), take=self.settings, params=form.params)
            self._models[form.votes] = made
        return self._models[form.votes]

    def key(self, form: Form, task: Task) -> Key:
        """What the outcome will be of."""
        print_ = form.fingerprint(self.model(form), task)
        return Key(self.sha256, form.name, print_, task.listed.id)

    async def ask(self, form: Form, task: Task) -> Answered:
        """Answer once, or go on with what was cut off."""
        key = self.key(form, task)
        run_id = "st-" + hashlib.sha256("\n".join(key).encode()).hexdigest()[:20]
        taken_up = await has_begun(self.store, run_id)
        begun, load_before = time.perf_counter(), os.getloadavg()[0]
        status: Status = "failed"
        stopped, reason, answer, first = True, "", None, run_id
        try:
            status, reason, answer, first = await self._ran(form, task, run_id)
        except ModelError as error:
            stopped, reason = False, str(error)
        seconds = time.perf_counter() - begun
        names = await self.store.ids(run_id, MOST_RUNS)
        records = [await load(self.store, name) for name in sorted(names, key=lambda n: n != first)]
        right = stopped and await task.right(status, answer, records)
        usage = sum((record.usage for record in records), start=Usage())
        return Answered(
            *key[:1], self.gguf.stem, *key[1:], task.listed.source, task.listed.half,
            status, reason[:300], answer, right, run_id,
            runs=len(records),
            calls=sum(replies(record) for record in records),
            prompt=usage.input,
            cached=usage.cached,
            written=usage.output,
            made=dict(sum((made(record) for record in records), start=Counter())),
            faults=sum(len(faults(record)) for record in records),
            seconds=round(seconds, 1),
            load=round((load_before + os.getloadavg()[0]) / 2, 2),
            machine=machine(),
            threads=self.settings.cores,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            version=clew.__version__,
            edition=form.edition,
            stopped=stopped,
            taken_up=taken_up,
        )  # fmt: skip

    async def _ran(self, form: Form, task: Task, run_id: str) -> tuple[Status, str, Json, str]:
        """How it ended, and the id of the run that says most about its answer."""
        agent, question = form.made(self.model(form), task), task.case.question
        if form.votes > 1:
            found = await vote(agent, question, form.votes, store=self.store, run_id=run_id)
            chosen = f"{run_id}.{found.chosen}" if found.chosen else run_id
            return found.result.status, found.result.reason, found.result.answer, chosen
        so_far = await go(agent, await start_or_take_up(agent, question, self.store, run_id))
        assert so_far.stop is not None
        stop = so_far.stop
        return stop.status, stop.reason, stop.answer, run_id

    async def close(self) -> None:
        """Close the store and the connections."""
        for model in self._models.values():
            await model.close()
        await self.store.close()


def replies(record: Trajectory) -> int:
    """Replies that the model gave in a run; a strategy's own thoughts are none of its."""
    return sum(1 for one in _thoughts(record) if one.reply.usage.output)


def made(record: Trajectory) -> Counter[str]:
    """The calls of tools that were made in a run by a model; those of a strategy, too."""
    return Counter(
        call.action.name
        for call in record.calls
        if call.action.name != FINISH and call.observation is not None
    )


def faults(record: Trajectory) -> list[str]:
    """What was wrong with replies that could not be read."""
    return [one.fault for one in _thoughts(record) if one.fault]


def _thoughts(record: Trajectory) -> Sequence[Thought]:
    return [step.thought for step in record if step.thought is not None]
