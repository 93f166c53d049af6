"""Have another system answer the tasks, with the same tools, the same server and the same steps."""

import ast
import hashlib
import json
import os
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio.from_thread
import msgspec

from clew.evals import Counted, Outcome, Seen, right, score
from clew.evals.scoring import hotpot, mean
from clew.models.local.settings import LocalSettings
from clew.models.local.weights import weights_of
from live.ask import CONTEXT, SLOTS, machine
from live.configurations import STEPS, TOKENS
from live.others.gateway import Gateway
from live.others.systems import PROGRAMS, System, start, versions
from live.outcomes import Key, Measured, sum_of
from live.tasks import Task


class Driver:
    """The other systems, and the model's server that they share."""

    def __init__(self, gguf: Path, environments: Path, replies: Path, *, threads: int = 0) -> None:
        self.gguf, self.environments, self.replies = gguf, environments, replies
        self.sha256 = sum_of(gguf)
        self.settings = LocalSettings(CONTEXT, SLOTS, threads)
        self._programs: dict[str, subprocess.Popen[str]] = {}
        self._versions: dict[str, str] = {}

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
                for program in self._programs.values():
                    program.kill()
                    program.wait()
                self.gateway.close()

    def key(self, system: System, task: Task) -> Key:
        """What the outcome will be of: the program that asks is a part of it, and its versions."""
        programs = [
            ast.dump(ast.parse((PROGRAMS / f"{name}.py").read_bytes()))
            for name in (system.program, "questions")
        ]
        said = json.dumps([programs, system.form, self.version(system), STEPS, TOKENS])
        print_ = hashlib.sha256(said.encode()).hexdigest()[:12]
        return Key(self.sha256, system.name, print_, task.case.id)

    def version(self, system: System) -> str:
        """The versions of its packages."""
        if system.program not in self._versions:
            self._versions[system.program] = versions(system, self.environments)
        return self._versions[system.program]

    def ask(self, system: System, task: Task) -> Measured:
        """Ask once."""
        self.gateway.begin(task)
        load, begun = os.getloadavg()[0], time.perf_counter()
        said = self._asked(system, task)
        seconds, spent = time.perf_counter() - begun, self.gateway.spent
        self._keep_replies(system, task)
        found = anyio.run(_scored, system, task, said)
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
            msgspec.structs.replace(found, counted=counted, model=self.gguf.stem),
            grammar=False,
            seconds=round(seconds, 3),
            outside=round(seconds - spent.replying, 4),
            faults=dict(spent.errors),
            machine=machine(),
            threads=self.settings.cores,
            load=round((load + os.getloadavg()[0]) / 2, 2),
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            version=self.version(system),
        )  # fmt: skip

    def _asked(self, system: System, task: Task) -> dict[str, Any]:
        program = self._programs.get(system.name)
        if program is None or program.poll() is not None:
            program = self._programs[system.name] = start(system, self.environments)
        tools = [
            {"name": one.name, "description": one.description, "parameters": one.parameters}
            for one in task.tools
        ]
        asked = {
            "address": self.gateway.address, "question": task.case.question, "tools": tools,
            "steps": STEPS, "tokens": TOKENS, "form": system.form,
        }  # fmt: skip
        assert program.stdin is not None and program.stdout is not None  # noqa: PT018 -- pipes
        program.stdin.write(json.dumps(asked) + "\n")
        program.stdin.flush()
        if not (line := program.stdout.readline()):
            return {"answer": None, "status": "failed", "reason": "its program ended"}
        said: dict[str, Any] = json.loads(line)
        return said

    def _keep_replies(self, system: System, task: Task) -> None:
        """Outside of the repository, beside clew's records: what the model wrote."""
        line = {"system": system.name, "task": task.case.id, "replies": self.gateway.spent.replies}
        with self.replies.open("ab", buffering=0) as file:
            file.write(msgspec.json.encode(line) + b"\n")


async def _scored(system: System, task: Task, said: dict[str, Any]) -> Outcome:
    """The outcome by the shipped scoring; what a system raises counts as no answer."""
    seen = Seen(task.case, said["status"], said["answer"])
    marks, (em, f1) = await score(seen), hotpot(seen)
    return Outcome(
        case=task.case.id,
        configuration=system.name,
        model="",
        run_id="",
        status=said["status"],
        category=task.case.category,
        reason=said["reason"],
        answer=said["answer"],
        right=right(marks),
        passed=right(marks),
        score=mean(marks),
        marks=marks,
        em=em,
        f1=f1,
    )
