"""One question to a real model, through clew: the run is on record, and its outcome is measured."""

import os
import platform
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

import clew
from clew import ModelSettings, SqliteStore, Trajectory
from clew.agent.runner import has_begun
from clew.core.contents import Reply
from clew.core.events import Thought
from clew.core.journal import load
from clew.core.models import Model, ModelInfo, OnText
from clew.core.prompts import Prompt
from clew_evals import Configuration, Plan, World
from clew_evals.trial import settle
from clew_local import LocalModel, LocalSettings, local_model
from live.configurations import Variation, fingerprint
from live.outcomes import Key, Measured, sum_of
from live.tasks import Task

SLOTS: Final = 2
CONTEXT: Final = 8_192


@dataclass
class Timed:
    """A model, and when it was at work."""

    model: Model
    began: float = field(default_factory=time.perf_counter)
    cpu_began: float = field(default_factory=time.thread_time)
    replying: float = 0.0
    ended: float = 0.0
    cpu_ended: float = 0.0

    @property
    def info(self) -> ModelInfo:
        return self.model.info

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Complete the prompt, and note how long that took."""
        begun = time.perf_counter()
        try:
            return await self.model.complete(prompt, on_text)
        finally:
            self.ended, self.cpu_ended = time.perf_counter(), time.thread_time()
            self.replying += self.ended - begun

    @property
    def outside(self) -> float:
        """Seconds up to the last reply in which none was waited for."""
        return max(0.0, self.ended - self.began - self.replying) if self.ended else 0.0

    @property
    def cpu(self) -> float:
        """Seconds that this thread computed, up to the last reply."""
        return self.cpu_ended - self.cpu_began if self.ended else 0.0


class Asker:
    """A model's file, and the store that its runs are recorded to."""

    def __init__(
        self, gguf: Path, records: Path, *, threads: int = 0, context: int = CONTEXT
    ) -> None:
        self.gguf = gguf
        self.settings = LocalSettings(context, SLOTS, threads)
        self.sha256 = sum_of(gguf)
        self._models: dict[tuple[bool, int], LocalModel] = {}
        records.parent.mkdir(parents=True, exist_ok=True)
        self.store = SqliteStore(records)

    def model(self, variation: Variation) -> LocalModel:
        """The model as a configuration asks it."""
        key = variation.grammar, variation.votes
        if key not in self._models:
            take = msgspec.structs.replace(self.settings, grammar=variation.grammar)
            self._models[key] = local_model(
                str(self.gguf), take=take, settings=ModelSettings(**variation.params)
            )
        return self._models[key]

    def key(self, variation: Variation, task: Task) -> Key:
        """What the outcome will be of. Raises `ConfigError` where the agent cannot be made."""
        agent = variation.made(self.model(variation), task)
        print_ = fingerprint(agent, variation, variation.params)
        return Key(self.sha256, "clew", print_, task.case.id)

    async def ask(self, variation: Variation, task: Task) -> Measured:
        """Ask once, or go on with a run that was cut off."""
        timed, key = Timed(self.model(variation)), self.key(variation, task)
        name = f"{variation.name} {key.fingerprint}"
        agent, model = variation.made(timed, task), self.gguf.stem
        configuration = Configuration(name, agent, model=model, votes=variation.votes)
        plan = Plan("live", World("live", [task.case]), [configuration])
        (trial,) = plan.trials()
        taken_up = await has_begun(self.store, trial.run_id)
        load_before = os.getloadavg()[0]
        row = await settle(trial, plan, self.store)
        outcome = msgspec.structs.replace(
            row.outcome, configuration=variation.name, passed=row.outcome.right
        )
        records = [await load(self.store, name) for name in outcome.runs]
        alone = variation.votes == 1  # several at once: their waits overlap
        return Measured(
            *key[:1], model, "clew", variation.name, key.fingerprint,
            task.case.id, task.listed.source, task.listed.half, outcome,
            grammar=variation.grammar,
            seconds=round(outcome.counted.seconds, 3),
            outside=round(timed.outside, 4) if alone else 0.0,
            cpu=round(timed.cpu, 4) if alone else 0.0,
            later=later(records),
            faults=faults(records),
            repairs=repairs(records),
            machine=machine(),
            threads=self.settings.cores,
            load=round((load_before + os.getloadavg()[0]) / 2, 2),
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            version=clew.__version__,
            taken_up=taken_up,
            billions=self.model(variation).info.billions or 0.0,
        )  # fmt: skip

    async def close(self) -> None:
        """Close the store and the connections."""
        for model in self._models.values():
            await model.close()
        await self.store.close()


def machine() -> str:
    """What it was measured on."""
    python = platform.python_version()
    return f"{os.cpu_count()} cores {platform.machine()}, {platform.system()}, Python {python}"


def faults(records: Iterable[Trajectory]) -> dict[str, int]:
    """What was wrong with replies that could not be read."""
    return dict(Counter(one.fault for one in _thoughts(records) if one.fault))


def repairs(records: Iterable[Trajectory]) -> dict[str, int]:
    """The repairs of replies, by name."""
    return dict(Counter(name for one in _thoughts(records) for name in one.repairs))


def later(records: Iterable[Trajectory]) -> tuple[int, int]:
    """The prompt tokens of all steps but the first of each run, and how many were cached."""
    usages = [thought.reply.usage for record in records for thought in _thoughts([record])[1:]]
    return sum(one.input for one in usages), sum(one.cached for one in usages)


def _thoughts(records: Iterable[Trajectory]) -> Sequence[Thought]:
    return [step.thought for record in records for step in record if step.thought is not None]
