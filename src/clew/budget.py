"""Budgets: what the next model call is expected to take, and whether what is left holds it.

Before each thought a call is reserved: its prompt, as the last reply counted it with what came
since, and the most it may answer. It must fit in what is left beside a reserve for a landing. All
of this is read from the record and from values of the agent, so that nothing is written for it and
a replay comes to the same. What a provider takes beyond it is excess: then nothing more is begun.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from clew.events import EFFECTFUL, Json, Note, Reply, Started, Usage, encode
from clew.parts import shaped_text
from clew.protocols import Prompt, Shape, Tool
from clew.steps import in_part
from clew.trajectory import Step, Trajectory

ANSWER: Final = 1_000
"""Tokens a reply is expected to take where none has taken more and no parameter says how many."""

CHARACTERS: Final = 4
"""Characters that are counted as one token."""

IMAGE: Final = 1_000
"""Tokens that an image is expected to take."""

LEAST: Final = 1.0
"""Seconds that a call is given at least, however few are left."""

_MOST: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
"""Parameters that say how many tokens a reply may take."""


class Purse(NamedTuple):
    """One thing that is spent on model calls: how much there is, and how much of it was used."""

    name: str
    most: float
    used: float

    @property
    def in_dollars(self) -> bool:
        """Whether it is money."""
        return self.name.endswith("cost")

    def said(self, amount: float) -> str:
        """An amount in its unit."""
        return f"${amount:.4f}" if self.in_dollars else f"{amount:,.0f}"

    @property
    def standing(self) -> str:
        """How much of it was used, such as "tokens: 9,100 of 10,000 used"."""
        word = "spent" if self.in_dollars else "used"
        return f"{self.name}: {self.said(self.used)} of {self.said(self.most)} {word}"


class Taking(NamedTuple):
    """What a model call is expected to take: tokens, and US dollars."""

    prompt: int
    cached: int
    answer: int
    last: float
    """What the last reply cost, which stands for the cost where no rates are known."""

    def cost(self, so_far: Trajectory) -> float:
        """What it costs by the rates in the record."""
        if so_far.setting is None or (rates := so_far.setting.rates) is None:
            return self.last
        fresh = (self.prompt - self.cached) * rates.input
        return (fresh + self.cached * rates.cached + self.answer * rates.output) / 1_000_000


class Budget(msgspec.Struct, frozen=True):
    """What an agent's model calls may take, and what is known of them beforehand.

    `tokens`, `cost` (None: no price is known) and `seconds` are its limits, `opening` the tokens
    its first prompt takes without the question, `most` those that a reply may take (None: nobody
    says), `landing` whether a reserve is kept for one. `shape` is what the view does to
    observations.
    """

    tokens: int
    cost: float | None
    seconds: float = 600.0
    landing: bool = True
    opening: int = 0
    most: int | None = None
    shape: Shape | None = None

    def over(self, so_far: Trajectory) -> str | None:
        """Of what more was used than there is, if anything; after that nothing is begun."""
        if self._holds(so_far, 0, 0.0) or not _reserves(so_far):
            return None
        for purse in self._purses(so_far):
            if purse.used > purse.most:
                lost = so_far.spent.lost.tokens
                said = f", {lost:,} tokens of it an estimate of calls nobody saw the end of"
                excess = purse.said(purse.used - purse.most)
                return f"{purse.standing}, {excess} over{said if lost else ''}"
        return None

    def ended(self, so_far: Trajectory) -> str:
        """Why a run ends that has its answer: the bound it landed for, and what was excess."""
        bound = "" if so_far.landing is None else so_far.landing.bound
        over = (self.over(so_far) or "").removeprefix(f"{bound}: ")
        return ": ".join(filter(None, (bound, over)))

    def short(self, so_far: Trajectory) -> str | None:
        """Why the next thought does not fit in what is left, if it does not."""
        usual = self._taking(so_far)
        call = usual if self.most is None else usual._replace(answer=self.most)
        after = usual._replace(prompt=usual.prompt + usual.answer)
        tokens, cost = call.prompt + call.answer, call.cost(so_far)
        kept, reserve = 0, 0.0
        if self.landing:
            kept, reserve = after.prompt + after.answer, after.cost(so_far)
        if self._holds(so_far, tokens + kept, cost + reserve) or not _reserves(so_far):
            return None
        for purse in self._purses(so_far):
            need, more = (cost, reserve) if purse.in_dollars else (tokens, kept)
            left = purse.most - purse.used
            if need + more > left:
                told = f"{purse.standing} and the next call needs about {purse.said(need)}"
                return told if need > left else f"{told}, beside {purse.said(more)} for a landing"
        return None

    def lands(self, so_far: Trajectory) -> bool:
        """Whether a landing is wanted, and what is left holds it."""
        if not self.landing or not _reserves(so_far):
            return self.landing
        call = self._taking(so_far)
        tokens, cost = call.prompt + call.answer, call.cost(so_far)
        return self._holds(so_far, tokens, cost) or all(
            (cost if purse.in_dollars else tokens) <= purse.most - purse.used
            for purse in self._purses(so_far)
        )

    def expected(self, so_far: Trajectory) -> Usage:
        """What the next call is expected to take."""
        call = self._taking(so_far)
        cost = None if self.cost is None else call.cost(so_far)
        return Usage(call.prompt, call.answer, call.cached, cost=cost, estimated=True)

    def deadline(self, tool: Tool, so_far: Trajectory) -> float:
        """Seconds that a call may take, where the run's time may end before.

        An effect keeps the whole of its tool's timeout: cut short it would be in doubt, which is
        worse than a run that takes a little longer. Any other call is cut where the run's time
        ends, but gets a second: what is found at once can still be told in a landing.
        """
        if tool.effect in EFFECTFUL:
            return float(tool.timeout)
        left = self.seconds - so_far.spent.active_ms / 1000
        if (grant := so_far.grant) is not None:
            left = min(left, grant.seconds - so_far.total.active_ms / 1000)
        return min(float(tool.timeout), max(LEAST, round(left, 2)))

    def _holds(self, so_far: Trajectory, tokens: int, cost: float) -> bool:
        """Whether so much more surely fits: asked at every step, so nothing is made for it."""
        used, lost = so_far.spent.usage, so_far.spent.lost
        if so_far.grant is not None:
            return False
        if used.input + used.output + lost.input + lost.output + tokens > self.tokens:
            return False
        return self.cost is None or used.known_cost + lost.known_cost + cost <= self.cost

    def _purses(self, so_far: Trajectory) -> Iterator[Purse]:
        """Of a sub-run its grant, over all of it; and the limits, since a person last spoke."""
        if (grant := so_far.grant) is not None:
            used = so_far.total.usage + so_far.total.lost
            yield Purse("grant: tokens", grant.tokens, used.tokens)
            if grant.cost is not None:
                yield Purse("grant: cost", grant.cost, used.known_cost)
        used = so_far.spent.usage + so_far.spent.lost
        yield Purse("tokens", self.tokens, used.tokens)
        if self.cost is not None:
            yield Purse("cost", self.cost, used.known_cost)

    def _taking(self, so_far: Trajectory) -> Taking:
        """The next call: the last prompt that was counted, and what was said since.

        Where the last one was read from a cache or written to it, the next is expected to find it
        there. A reply is expected to be no shorter than the last one.
        """
        said, whole = 0, not so_far.capped
        for step in reversed(so_far.steps):
            said += self._said(step, whole=whole)
            reply = Reply() if step.thought is None else step.thought.reply
            if (usage := reply.usage).input:
                written = max(0, usage.output - usage.reasoning)
                cached = usage.input if usage.cached or usage.written else 0
                prompt = usage.input + written + said // CHARACTERS
                return Taking(prompt, cached, self._answer(usage.output), usage.cost or 0.0)
            said += _written(reply)
        said += len(so_far.asked) + self._said(so_far.before, whole=whole)
        return Taking(self.opening + said // CHARACTERS, 0, self._answer(0), 0.0)

    def _answer(self, last: int) -> int:
        usual = max(ANSWER, last)
        return usual if self.most is None else min(usual, self.most)

    def _said(self, step: Step, *, whole: bool) -> int:
        """The characters that a step adds to the prompt behind its thought."""
        said = sum(len(aside.text) for aside in step.asides if isinstance(aside, Note))
        for seen in [call.observation for call in step.calls if call.observation is not None]:
            text = seen.text
            text = text if self.shape is None else shaped_text(self.shape, text)
            said += len(text if whole else in_part(text))
            said += len(seen.images) * IMAGE * CHARACTERS
        return said


def _reserves(so_far: Trajectory) -> bool:
    """Whether the run was begun by a clew that reserves calls: others go on as they were begun."""
    first = so_far.entries[0].event if so_far.entries else None
    return isinstance(first, Started) and first.schema > 1


def _written(reply: Reply) -> int:
    """The characters of a reply that stay in the prompt."""
    return len(reply.text) + sum(len(c.name) + len(c.arguments or "") for c in reply.calls)


def opening(first: Prompt) -> int:
    """The tokens of a run's first prompt."""
    said = sum(len(part.text) for part in first)
    for tool in first.tools:
        said += len(tool.name) + len(tool.description) + len(encode(tool.parameters))
    return said // CHARACTERS


def most_answered(params: Mapping[str, Json]) -> int | None:
    """How many tokens a reply may take by the model's parameters, if they say so."""
    said: list[Any] = [params[name] for name in _MOST if name in params]
    return next((n for n in said if isinstance(n, int) and not isinstance(n, bool) and n > 0), None)
