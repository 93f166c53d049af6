"""One task answered in one form: its runs are on record, and what they took is added up."""

import hashlib
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from clew import ModelError, ModelSettings, SqliteStore
from clew.agent.runner import has_begun, start_or_take_up
from clew.core.codes import Status
from clew.core.journal import load
from clew.core.loop import run as go
from clew.core.values import Json
from clew_local import LocalModel, LocalSettings, local_model
from clew_local.weights import weights_of
from clew_strategies import vote
from live.ask import machine
from live.outcomes import sum_of
from live.strategies.configurations import Form
from live.strategies.counting import counts
from live.strategies.others import Others
from live.strategies.outcomes import Answered, Key
from live.strategies.tasks import Task
from live.strategies.took import Took

SLOTS: Final = 16
"""Each keeps the beginning of a prompt: every role of a strategy has one of its own."""
CONTEXT: Final = 8_192
MAX_RUNS: Final = 200


class Asker:
    """A model's file, the store that its runs are recorded to, and the other frameworks."""

    def __init__(
        self,
        gguf: Path,
        records: Path,
        threads: int,
        environments: Path,
        at_once: int,
        asking: int = 1,
    ) -> None:
        self.gguf = gguf
        self.asking = asking
        self.at_once = at_once
        self.settings = LocalSettings(CONTEXT, SLOTS, threads)
        self.sha256 = sum_of(gguf)
        self._models: dict[int, LocalModel] = {}
        records.parent.mkdir(parents=True, exist_ok=True)
        self.store = SqliteStore(records)
        self.others = Others(environments, records.with_suffix(".jsonl"))

    def model(self, form: Form) -> LocalModel:
        """The model as a form asks it."""
        if form.votes not in self._models:
            made = local_model(
                str(self.gguf), take=self.settings, settings=ModelSettings(**form.params)
            )
            self._models[form.votes] = made
        return self._models[form.votes]

    def key(self, form: Form, task: Task) -> Key:
        """What the outcome will be of."""
        if form.system:
            print_ = self.others.fingerprint(form)
        else:
            print_ = form.fingerprint(self.model(form), task)
        if task.edition > 1:
            print_ += f"-{task.edition}"
        return Key(self.sha256, form.name, print_, task.listed.id, self.asking)

    async def ask(self, form: Form, task: Task) -> Answered:
        """Answer once, or go on with what was cut off."""
        key = self.key(form, task)
        names = key[:4] if key.asking == 1 else map(str, key)  # the first as ever: it is taken up
        run_id = "st-" + hashlib.sha256("\n".join(names).encode()).hexdigest()[:20]
        load_before = os.getloadavg()[0]
        if form.system:
            took = await self.others.ask(form, task, weights_of(self.gguf, self.settings))
        else:
            took = await self._asked(form, task, run_id)
        return Answered(
            *key[:1], self.gguf.stem, *key[1:4], task.listed.source, task.listed.half,
            took.status, took.reason[:300], took.answer, took.right, run_id,
            runs=took.counts.runs,
            calls=took.counts.calls,
            prompt=took.counts.usage.input,
            cached=took.counts.usage.cached,
            written=took.counts.usage.output,
            made=dict(took.counts.made),
            faults=took.counts.faults,
            seconds=round(took.seconds, 1),
            load=round((load_before + os.getloadavg()[0]) / 2, 2),
            machine=machine(),
            threads=self.settings.cores,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            version=took.version,
            edition=form.edition,
            question=task.edition,
            stopped=took.stopped,
            taken_up=took.taken_up,
            once=True,
            at_once=self.at_once,
            asking=self.asking,
        )  # fmt: skip

    async def _asked(self, form: Form, task: Task, run_id: str) -> Took:
        """What clew's runs came to, and what their records say that they took."""
        taken_up = await has_begun(self.store, run_id)
        begun = time.perf_counter()
        status: Status = "failed"
        stopped, reason, answer, first = True, "", None, run_id
        try:
            status, reason, answer, first = await self._ran(form, task, run_id)
        except ModelError as error:
            stopped, reason = False, str(error)
        seconds = time.perf_counter() - begun
        names = await self.store.ids(run_id, MAX_RUNS)
        records = [await load(self.store, name) for name in sorted(names, key=lambda n: n != first)]
        return Took(
            status,
            reason,
            answer,
            stopped and await task.right(status, answer, records),
            counts(records),
            seconds=seconds,
            stopped=stopped,
            taken_up=taken_up,
        )

    async def _ran(self, form: Form, task: Task, run_id: str) -> tuple[Status, str, Json, str]:
        """How it ended, and the id of the run that says most about its answer."""
        agent, question = form.made(self.model(form), task), task.case.question
        if form.votes > 1:
            vote_result = await vote(agent, question, form.votes, store=self.store, run_id=run_id)
            chosen = f"{run_id}.{vote_result.chosen}" if vote_result.chosen else run_id
            return (
                vote_result.result.status,
                vote_result.result.reason,
                vote_result.result.answer,
                chosen,
            )
        trajectory = await go(
            agent.engine, await start_or_take_up(agent, question, self.store, run_id)
        )
        assert trajectory.stop is not None
        stop = trajectory.stop
        return stop.status, stop.reason, stop.answer, run_id

    async def close(self) -> None:
        """Close the store and the connections, and end what else runs."""
        self.others.close()
        for model in self._models.values():
            await model.close()
        await self.store.close()
