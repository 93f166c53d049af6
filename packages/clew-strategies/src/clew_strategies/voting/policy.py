"""A vote as an agent: a fixed policy takes the place of a model, and each run is a tool call.

So a vote's record is like any other: a thought with k calls, an observation for each run, and the
decision. Everything that resumes, shows or replays runs also works for votes.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import msgspec

from clew import Agent, ConfigError, Limits, ModelSettings, Tool, Trajectory
from clew.context import Instructions
from clew.interfaces import FINISH, Json, ModelInfo, OnText, Prompt, RawCall, Reply, Wire, encode
from clew.tools import Attempts
from clew_strategies.voting.decision import (
    Ballot,
    Decision,
    VerifierChoice,
    candidates,
    counts,
    decide,
    declined,
)

RUN: Final = "run"
VERIFY: Final = "verify"
NAME: Final = "clew:vote"
"""The policy's name, which identifies the record of a vote."""

LONG: Final = 366 * 24 * 3600.0
"""Seconds that a run may take, including waits for a person; its own limits bound its work."""

ToolFunction: TypeAlias = Callable[[dict[str, Json], str], Awaitable[Any]]


def ballots_in(texts: Sequence[str]) -> list[Ballot]:
    """The ballots among observations. Any other observation is of an interrupted run."""
    ballots: list[Ballot] = []
    for text in texts:
        try:
            ballots.append(msgspec.json.decode(text, type=Ballot))
        except msgspec.DecodeError:
            continue
    return ballots


def choice_in(texts: Sequence[str]) -> VerifierChoice | None:
    """The verifier's choice among observations, if it was asked; if it failed, run 0 and why."""
    for text in texts:
        try:
            return msgspec.json.decode(text, type=VerifierChoice)
        except msgspec.DecodeError:
            return VerifierChoice(0, text)
    return None


@dataclass(frozen=True)
class VotePolicy:
    """Calls k runs at once, then the verifier if their answers differ, then decides.

    It depends only on the prompt and keeps no state, so a vote can be cut anywhere and resumed.
    """

    k: int
    params: Mapping[str, Json] = field(default_factory=dict[str, Json])
    takes: frozenset[str] = frozenset()
    """The kinds of attachments that the agent takes: each run is given them."""

    @property
    def info(self) -> ModelInfo:
        """The policy itself uses no tokens."""
        return ModelInfo(NAME, self.params, priced=True, unmetered=True, takes=self.takes)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next thought of the vote."""
        del on_text
        texts = {
            name: [part.text for part in prompt.parts if part.role == "tool" and part.name == name]
            for name in (RUN, VERIFY)
        }
        if not texts[RUN]:
            calls = [_call(RUN, {"run": number}) for number in range(1, self.k + 1)]
            return self._reply(f"{self.k} runs of one agent, at once.", *calls)
        ballots, choice = ballots_in(texts[RUN]), choice_in(texts[VERIFY])
        verified = any(tool.name == VERIFY for tool in prompt.tools) and choice is None
        if verified and prompt.calls == "auto" and len(counts(ballots)) > 1:
            numbers = [each.run for each in candidates(ballots)]
            words = "The answers differ: the verifier looks at the runs."
            return self._reply(words, _call(VERIFY, {"runs": numbers}))
        return self._decided(ballots, decide(ballots, self.k, choice))

    def _decided(self, ballots: Sequence[Ballot], decision: Decision) -> Reply:
        """A reply with the chosen run's answer, or the words in which all runs declined.

        Without either the vote has no answer.
        """
        wire = Wire("clew", NAME, msgspec.to_builtins(decision))
        chosen = next((each for each in ballots if each.run == decision.run), None)
        if (words := declined(ballots, self.k)) is not None:
            return Reply(words, finish="declined", model=NAME, wire=wire)
        if chosen is None:
            return Reply(wire=wire, model=NAME)
        return self._reply(decision.words, _call(FINISH, {"answer": chosen.answer}), wire=wire)

    def _reply(self, text: str, *calls: RawCall, wire: Wire | None = None) -> Reply:
        return Reply(text, calls, "calls", model=NAME, wire=wire)


def _call(name: str, args: dict[str, Json]) -> RawCall:
    return RawCall(name=name, arguments=encode(args).decode())


@dataclass(frozen=True)
class Unanswered:
    """A bound that applies when all runs have ended without an answer; the vote then lands.

    Where all of them declined, the vote declines too, and lands not.
    """

    def __call__(self, trajectory: Trajectory) -> str | None:
        """The statuses of the runs, if none answered."""
        calls = [call for call in trajectory.calls if call.action.name == RUN]
        ballots = ballots_in([call.observation.text for call in calls if call.observation])
        if not calls or any(each.status == "answered" and each.form for each in ballots):
            return None
        if declined(ballots, len(calls)) is not None:  # that is how the vote ends: no limit
            return None
        ends = ", ".join(f"run {each.run} {each.status}" for each in ballots)
        return f"runs: none of {len(calls)} was answered ({ends or 'all were interrupted'})"


@dataclass(frozen=True, repr=False)
class RunsTool(Tool):
    """A tool that works on runs of an agent, which get the deps of the vote: those it wants."""

    deps_wanted: tuple[Any, ...] = field(default=(), compare=False)


def _tool(name: str, words: str, call: ToolFunction, wanted: tuple[Any, ...], **args: Json) -> Tool:
    """A tool of the vote. Its effects are in the records of its runs, so it has none itself.

    A vote that leaves cuts its call.
    """
    parameters: dict[str, Json] = {
        "type": "object",
        "properties": args,
        "required": list(args),
        "additionalProperties": False,
    }
    tries = Attempts(timeout=LONG)
    return RunsTool(
        name, words, parameters, call, effect="read", attempts=tries, deps_wanted=wanted
    )


def vote_agent(
    agent: Agent[Any],
    k: int,
    params: Mapping[str, Json],
    run: ToolFunction,
    verify: ToolFunction | None,
    verifier_wants: tuple[Any, ...] = (),
) -> Agent[Any]:
    """The agent of a vote's own record. It applies the agent's screens once for all runs.

    `verifier_wants` are the deps that a verifying agent gets of the vote.
    """
    number: dict[str, Json] = {"type": "integer", "minimum": 1, "maximum": k}
    words = "Take one run of the agent to its end."
    tools = [_tool(RUN, words, run, agent.deps_wanted, run=number)]
    if verify is not None:
        words = "Let the verifier choose among the answers of these runs."
        numbers: dict[str, Json] = {"type": "array", "items": number}
        tools.append(_tool(VERIFY, words, verify, verifier_wants, runs=numbers))
    return Agent(
        model=VotePolicy(k, params, frozenset(agent.engine.model.info.takes)),
        tools=tools,
        codec="native",
        prompt=Instructions(
            "Let several runs of one agent answer, and decide among their answers.",
            constraints=(),
            variants=(),
            outcome=False,  # no model reads it
            thought=False,
            tell_left="never",
        ),
        answer=agent.answer,
        tries=0,
        fallback=agent.fallback,
        limits=Limits(tool_calls=k + 2, calls_per_step=k, seconds=LONG, no_progress=None),
        bounds=(Unanswered(),),
        screens=agent.screens,
        settings=ModelSettings(seed=agent.engine.seed),
        deps=agent.deps,
    )


def vote_settings(record: Trajectory) -> Mapping[str, Json]:
    """The settings of a vote, from its record. Raises `ConfigError` for any other record."""
    spec = record.started.spec
    if spec.model != NAME:
        message = f"run {record.run_id} is no vote: give the vote an id of its own"
        raise ConfigError(message)
    return spec.params
