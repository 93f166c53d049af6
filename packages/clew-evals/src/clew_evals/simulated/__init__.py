"""Simulated models: not language models, but scripts played with the faults of recorded ones.

Each plays the script of the case whose question is in the prompt, in the prompt's format, and makes
mistakes at the rates of its profile. It sees only the prompt and its seed and keeps no state, so a
run can be cut anywhere and resumed. What it gets right says nothing about any real model; it
measures what the runtime makes of such replies.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from clew import Call, ConfigError, ModelError, Step, Usage
from clew.codecs import by_name
from clew.core.events import Fingerprints
from clew.interfaces import ModelInfo, OnText, Prompt, Rates, RawCall, Reply, Thought, encode
from clew.support.nearest_name import did_you_mean
from clew.testing import Move
from clew_evals.case import Case
from clew_evals.simulated.faults import drawn, spoiled, stopped
from clew_evals.simulated.player import KeyedRandom, Player
from clew_evals.simulated.profiles import PROFILES, STUBBORN, Fault, Profile
from clew_evals.simulated.prompt_reader import PromptView, Turn, look
from clew_evals.simulated.script import Script, scripts_of

__all__ = ["NAMES", "PROFILES", "STUBBORN", "Fault", "Profile", "Simulated", "simulated"]

NAMES: Final = tuple(profile.name for profile in PROFILES)
"""The names of the simulated models."""

CHARACTERS: Final = 4
"""Characters that are counted as one token."""


def simulated(name: str, cases: Iterable[Case]) -> "Simulated":
    """The simulated model of that name, with the scripts of these cases.

    Raises `ConfigError` for an unknown name, and for a case whose script cannot be played.
    """
    match = next((profile for profile in PROFILES if profile.name == name), None)
    if match is None:
        hint = did_you_mean(name, NAMES, f"there are {', '.join(NAMES)}")
        message = f"there is no simulated model {name!r}: {hint}"
        raise ConfigError(message)
    return Simulated(match, scripts_of(cases))


@dataclass(frozen=True)
class Simulated:
    """A model that plays scripts by their questions; the seed decides its mistakes.

    Tokens are characters divided by four, and prices are invented.
    """

    profile: Profile
    scripts: Mapping[str, Script] = field(repr=False)

    @property
    def info(self) -> ModelInfo:
        """Its name says that it is simulated; its prices are invented."""
        of_input, of_output = self.profile.price
        rates = Rates(of_input, of_output, of_input)
        return ModelInfo(f"simulated:{self.profile.name}", priced=True, rates=rates)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next reply. Raises `ModelError` for a question without a script."""
        sight = look(prompt)
        if (script := self.scripts.get(sight.question)) is None:
            message = f"{self.info.name} has no script for this question: ask one of its cases"
            raise ModelError(message)
        luck = KeyedRandom(self.info.name, script.case, prompt.seed)
        reply = self._reply(Player(self.profile, script, sight, luck), luck)
        if self.profile.stops:
            reply = stopped(reply, prompt.stop)
        if on_text is not None:
            on_text(reply.text)
        return msgspec.structs.replace(
            reply, usage=self._usage(prompt, reply), model=self.info.name
        )

    def _reply(self, player: Player, luck: KeyedRandom) -> Reply:
        """The player's move in the words of the format, with the fault that is drawn for it."""
        sight, move = player.sight, player.move()
        number = len(sight.turns) + 1
        reply = _written(sight, move, number)
        rates = self.profile.native if sight.codec == "native" else self.profile.text
        fault = drawn(rates, luck, number)
        if fault not in {"two actions", "several pairs"}:
            return spoiled(reply, fault, "")
        return spoiled(reply, fault, _next(player, move, number))

    def _usage(self, prompt: Prompt, reply: Reply) -> Usage:
        told = sum(len(part.text) + _calls(part.calls) for part in prompt)
        told += sum(len(tool.description) + len(encode(tool.parameters)) for tool in prompt.tools)
        read = -(-told // CHARACTERS)
        wrote = -(-(len(reply.text) + _calls(reply.calls)) // CHARACTERS)
        of_input, of_output = self.profile.price
        cost = (read * of_input + wrote * of_output) / 1_000_000
        return Usage(input=read, output=wrote, cost=cost, estimated=True)


def _calls(calls: Iterable[RawCall]) -> int:
    return sum(len(call.name) + len(call.arguments or "") for call in calls)


def _written(sight: PromptView, move: Move, number: int) -> Reply:
    """A move as the format wants it written."""
    thought = Thought(
        Reply(), Fingerprints("", "", "", ""), move.thought, move.actions, move.answer
    )
    calls = [
        Call(f"{number}.{number_in_step}", each)
        for number_in_step, each in enumerate(move.actions, start=1)
    ]
    part = by_name(sight.codec).render(sight.prompt_spec, Step(number, thought, tuple(calls)))[0]
    return Reply(part.text, part.calls, "calls" if part.calls else "stop")


def _next(player: Player, move: Move, number: int) -> str:
    """The text of the reply that would follow a call if all went well; "" after an answer."""
    if not move.actions:
        return ""
    turns = (*player.sight.turns, Turn(move.actions))
    then = replace(player, sight=replace(player.sight, turns=turns))
    return _written(player.sight, then.move(), number + 1).text
