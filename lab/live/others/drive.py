"""Have another system answer the tasks, with the same tools, the same server and the same steps."""

import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import anyio.from_thread
import msgspec

from clew_evals import Counted, Outcome, ScoreInput, right, score
from clew_evals.scoring import hotpot, mean
from clew_local.settings import LocalSettings
from clew_local.weights import weights_of
from live.ask import CONTEXT, SLOTS, machine
from live.configurations import STEPS, TOKENS
from live.others.gateway import Gateway
from live.others.running import Reply, Running
from live.others.systems import System
from live.outcomes import Key, Measured, sum_of
from live.tasks import Task


class Driver:
    """The other systems, and the model's server that they share."""

    def __init__(self, gguf: Path, environments: Path, replies: Path, *, threads: int = 0) -> None:
        self.gguf, self.replies = gguf, replies
        self.sha256 = sum_of(gguf)
        self.settings = LocalSettings(CONTEXT, SLOTS, threads)
        self.running = Running(environments)

    @contextmanager
    def open(self) -> Generator["Driver"]:
        """The server and the tools, as long as they are needed."""
        weights = weights_of(self.gguf, self.settings)
        with anyio.from_thread.start_blocking_portal() as portal:
            portal.call(weights.load)
            self.gateway = Gateway(weights.address.removesuffix("/v1"), weights.key, portal)
            try:
                yield self
            finally:
                self.running.close()
                self.gateway.close()

    def key(self, system: System, task: Task) -> Key:
        """What the outcome will be of: the program that asks is a part of it, and its versions."""
        print_ = self.running.fingerprint(system, STEPS, TOKENS)
        return Key(self.sha256, system.name, print_, task.case.id)

    def ask(self, system: System, task: Task) -> Measured:
        """Ask once."""
        self.gateway.begin(task.tools)
        load, begun = os.getloadavg()[0], time.perf_counter()
        result = self.running.ask(
            system, self.gateway.address, task.case.question, task.tools, steps=STEPS, tokens=TOKENS
        )
        seconds, spent = time.perf_counter() - begun, self.gateway.spent
        self._keep_replies(system, task)
        outcome = anyio.run(_scored, system, task, result)
        counted = Counted(
            steps=spent.steps,
            usage=spent.usage,
            seconds=round(seconds, 3),
            calls=dict(spent.calls),
            bad_arguments=dict(spent.refused),
        )
        key = self.key(system, task)
        return Measured(
            self.sha256, self.gguf.stem, system.name, system.name, key.fingerprint,
            task.case.id, task.listed.source, task.listed.half,
            msgspec.structs.replace(outcome, counted=counted, model=self.gguf.stem),
            grammar=False,
            seconds=round(seconds, 3),
            outside=round(seconds - spent.replying, 4),
            faults=dict(spent.errors),
            machine=machine(),
            threads=self.settings.cores,
            load=round((load + os.getloadavg()[0]) / 2, 2),
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            version=self.running.version(system),
        )  # fmt: skip

    def _keep_replies(self, system: System, task: Task) -> None:
        """Outside of the repository, beside clew's records: what the model wrote."""
        line = {"system": system.name, "task": task.case.id, "replies": self.gateway.spent.replies}
        with self.replies.open("ab", buffering=0) as file:
            file.write(msgspec.json.encode(line) + b"\n")


async def _scored(system: System, task: Task, reply: Reply) -> Outcome:
    """The outcome by the shipped scoring; what a system raises counts as no answer."""
    seen = ScoreInput(task.case, reply["status"], reply["answer"])
    marks, (em, f1) = await score(seen), hotpot(seen)
    return Outcome(
        case=task.case.id,
        configuration=system.name,
        model="",
        run_id="",
        status=reply["status"],
        category=task.case.category,
        reason=reply["reason"],
        answer=reply["answer"],
        right=right(marks),
        passed=right(marks),
        score=mean(marks),
        marks=marks,
        em=em,
        f1=f1,
    )
