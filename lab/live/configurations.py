"""What is compared: a table of names and changes to the agent, each by itself from the base.

The base is clew as it is for this model when nothing is set. A new switch is one line. A line that
sets what this clew has no field for, or does not know, is left out, and said so.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, TypeAlias

import msgspec

from clew import Agent, ConfigError, Instructions, Limits
from clew.context import Example, demonstrations
from clew.core.models import Model
from clew.core.values import Json
from clew.guards import Provenance
from clew_web.host_limits import share
from live.tasks import Task

STEPS: Final = 8
TOKENS: Final = 300
"""Of a reply at most, as in the first runs of this model that clew has notes of."""
SECONDS: Final = 7_200.0
"""No run ends by the clock: the machine is shared."""

WARM: Final = 0.7
"""The temperature of a vote: at 0 all runs say the same."""

BASE: Final = "default"
BEFORE: Final = "before"
PLAIN: Final = "before json"
"""What the others' agents would be in clew's most reliable format."""

Settings: TypeAlias = Mapping[str, Any]
Chosen: TypeAlias = Callable[[Task], Sequence[Example]]


@dataclass(frozen=True)
class Variation:
    """One line of the table: what is set in the agent, its instructions, its limits and the model.

    `examples` gives the worked examples for a task. `grammar` says whether replies are held to the
    format; `votes` runs at a temperature of their own vote.
    """

    name: str
    what: str
    agent: Settings = field(default_factory=dict[str, Any])
    prompt: Settings = field(default_factory=dict[str, Any])
    limits: Settings = field(default_factory=dict[str, Any])
    examples: Chosen | None = None
    grammar: bool = True
    votes: int = 1

    @property
    def known(self) -> bool:
        """Whether this clew has all fields that it sets."""
        there = ((Agent, self.agent), (Instructions, self.prompt), (Limits, self.limits))
        return all({*names} <= {one.name for one in fields(kind)} for kind, names in there)

    @property
    def params(self) -> dict[str, Json]:
        """What the model is asked with."""
        return {"max_tokens": TOKENS, "temperature": WARM if self.votes > 1 else 0}

    def made(self, model: Model, task: Task) -> Agent:
        """The agent for a task. Raises `ConfigError` where this clew cannot make it."""
        prompt = {**self.prompt}
        if self.examples is not None:
            prompt["examples"] = self.examples(task)
        steps = STEPS * self.votes  # a vote divides its limits among its runs
        return Agent(
            model=model,
            tools=task.tools,
            guards=[*task.guards, Provenance("off")],
            prompt=Instructions(**prompt),
            limits=Limits(**{"steps": steps, "seconds": SECONDS, **self.limits}),
            **self.agent,
        )


def fingerprint(agent: Agent, variation: Variation, params: Mapping[str, Json]) -> str:
    """What tells an agent from others, wherever its model's file lies and whatever its tools hold.

    Worked examples that are chosen for the question do not count.
    """
    spec = agent.spec
    prompt_spec: Any = dict(msgspec.to_builtins(spec.prompt_spec))
    if variation.examples is not None:
        prompt_spec.pop("examples", None)
    # A run that fits the window, as all of these do, has nothing to read on in.
    prompt_spec = {
        name: part for name, part in prompt_spec.items() if name not in {"more", "visible_chars"}
    }
    prompt_spec["known"] = sorted(tool.name for tool in agent.tools)
    # The bounds of time say how long a run may take on this machine, and not what it does.
    tools = {name: f"{it.version} {it.effect} {it.schema}" for name, it in spec.tools.items()}
    parts = (spec.codec, spec.prompt, dict(params), tools, prompt_spec, variation.grammar)
    more = (variation.votes, spec.parts, variation.name if variation.examples else "")
    document = msgspec.json.encode(_known([*parts, *more]), order="deterministic")
    return hashlib.sha256(document).hexdigest()[:12]


_LATER: Final = frozenset(
    {"asked", "suspended", "versions", "id", "received", "doubts", "begun", "gathered", "settled"}
    | {"provenance", "woken", "settled_below", "unknown"}
)
"""Fields that records got after the first outcomes; where they are empty, they say nothing."""


def _known(value: Any) -> Any:
    """What is said, without empty fields that were not there when the first outcomes were."""
    if isinstance(value, Mapping):
        there = msgspec.convert(value, dict[str, Any]).items()
        return {name: _known(part) for name, part in there if part or name not in _LATER}
    if isinstance(value, list | tuple):
        return [_known(part) for part in msgspec.convert(value, list[Any])]
    return value


def fixed(count: int) -> Chosen:
    """The first `count` of the worked examples that ship and fit the tools."""

    def choose(task: Task) -> Sequence[Example]:
        return demonstrations(count, [tool.name for tool in task.tools])

    return choose


def retrieved(count: int) -> Chosen:
    """Those of the shipped ones whose questions have most words in common with the task's."""

    def choose(task: Task) -> Sequence[Example]:
        names = [tool.name for tool in task.tools]
        there = [*_all(names)]
        asked = task.case.question
        return sorted(there, key=lambda one: -share(one.goal, asked))[:count]

    return choose


def _all(names: Sequence[str]) -> Sequence[Example]:
    examples: Sequence[Example] = ()
    for count in range(1, 100):
        try:
            examples = demonstrations(count, names)
        except ConfigError:
            break
    return examples


FORMATS: Final = ("native", "json", "labelled", "paper")

TABLE: Final = (
    Variation(BASE, "nothing set: `json`, thoughts, four worked examples with the agent's tools"),
    Variation(
        BEFORE,
        "`native`, and nothing that is done for small models",
        agent={"codec": "native:strict"},
        prompt={"variants": (), "outcome": False},
    ),
    *(
        Variation(
            f"{BEFORE} {name}",
            f"the same in `{name}`",
            agent={"codec": name},
            prompt={"variants": (), "outcome": False},
        )
        for name in FORMATS[1:]
    ),
    *(
        Variation(name, f"the format `{name}`", agent={"codec": name})
        for name in FORMATS
        if name != "json"  # that of the base
    ),
    Variation(
        "native strict",
        "`native`, and calls that are spelled in the text are not read",
        agent={"codec": "native:strict"},
    ),
    Variation("no grammar", "replies are free", grammar=False),
    Variation(
        "before no grammar",
        "the same as `before`, replies are free",
        agent={"codec": "native:strict"},
        prompt={"variants": (), "outcome": False},
        grammar=False,
    ),
    Variation(
        "no thought",
        "calls only, where the base has a thought with each",
        prompt={"thought": False},
    ),
    Variation("0 examples", "no worked example", prompt={"examples": 0}),
    Variation("1 example", "one of those that ship", examples=fixed(1)),
    Variation("3 examples", "three of those that ship", examples=fixed(3)),
    Variation("1 retrieved", "the shipped one most like the question", examples=retrieved(1)),
    Variation("3 retrieved", "the three shipped ones most like it", examples=retrieved(3)),
    *(
        Variation(f"no {what}", text, prompt={name: False})
        for what, name, text in (
            ("short prompt", "short", "the usual persona and constraints instead of a few lines"),
            ("question again", "repeat_question", "nothing said again after an empty or cut reply"),
            ("strict landing", "strict_landing", "a landing that asks for the best answer"),
            ("raw replies", "raw_replies", "replies encoded anew in the prompt"),
        )
    ),
    Variation(
        "late no-progress",
        "the guard at the third equal call, and no tool withheld",
        limits={"no_progress": "late"},
    ),
    Variation("vote of 3", f"three runs at temperature {WARM:g} vote", votes=3),
)
"""All that is compared. Later lines are the switches of `Variant`, each turned off by itself."""

NAMES: Final = tuple(one.name for one in TABLE)
