"""A task answered by another framework: same model, same server, same tools, same limits."""

import time
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec
from anyio.from_thread import BlockingPortal

from clew_local.weights import Weights
from live.others.gateway import Gateway, Spent
from live.others.running import Reply, Running
from live.others.systems import BY_NAME
from live.strategies.configurations import STEPS, TOKENS, Form
from live.strategies.counting import Counts
from live.strategies.tasks import Task
from live.strategies.took import Took


class Others:
    """The frameworks, in environments that are made where they are not there yet."""

    def __init__(self, environments: Path, replies: Path) -> None:
        self.running = Running(environments)
        self.replies = replies
        self._free = anyio.Lock()  # a framework's program answers one question at a time

    def fingerprint(self, form: Form) -> str:
        """What tells a form's outcomes from others: the program that asks, and the versions."""
        return f"{self.running.fingerprint(BY_NAME[form.system], STEPS, TOKENS)}-{form.edition}"

    async def ask(self, form: Form, task: Task, weights: Weights) -> Took:
        """Ask once. Raises `ConfigError` where the model or the framework cannot be had."""
        system = BY_NAME[form.system]
        version = await anyio.to_thread.run_sync(self.running.version, system)
        await weights.load()
        async with self._free:
            begun = time.perf_counter()
            text, spent = await self._asked(form, task, weights)
            seconds = time.perf_counter() - begun
        self._keep(form, task, spent.replies)
        errors = spent.refused.total() + spent.errors.total()
        return Took(
            text["status"],
            text["reason"],
            text["answer"],
            await task.right(text["status"], text["answer"], []),
            Counts(1, spent.steps, spent.usage, spent.calls, errors),
            seconds=seconds,
            version=version,
        )

    async def _asked(self, form: Form, task: Task, weights: Weights) -> tuple[Reply, Spent]:
        """What it said, and what that took; its tools are called in this event loop."""
        async with BlockingPortal() as portal:
            gateway = Gateway(weights.address.removesuffix("/v1"), weights.key, portal, raises=True)
            gateway.begin(task.tools, task.checks)
            try:
                result = await anyio.to_thread.run_sync(self._say, form, gateway.address, task)
            finally:
                await anyio.to_thread.run_sync(gateway.close)
        return result, gateway.spent

    def _say(self, form: Form, address: str, task: Task) -> Reply:
        return self.running.ask(
            BY_NAME[form.system],
            address,
            task.case.question,
            task.tools,
            steps=STEPS,
            tokens=TOKENS,
            checked=bool(task.checks),
        )

    def _keep(self, form: Form, task: Task, replies: Sequence[object]) -> None:
        """Outside of the repository, beside clew's records: what the model wrote."""
        line = {"form": form.name, "task": task.listed.id, "replies": replies}
        with self.replies.open("ab", buffering=0) as file:
            file.write(msgspec.json.encode(line) + b"\n")

    def close(self) -> None:
        """End their programs."""
        self.running.close()
