"""What runs that are cut at random are made of: tools, compactors, a model that says anything."""

import base64
import random
from dataclasses import dataclass
from typing import Any, Final

import clew
from clew import (
    Compaction,
    Evidence,
    Image,
    Observation,
    Rewinds,
    ToolError,
    Trajectory,
    Verdict,
    tool,
)
from clew.context import Review
from clew.context.draft import CompactionPlan
from clew_testing.servers.http_server import Fail, Say

_PIXEL: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_TOO_LONG: Final = Fail(400, "prompt is too long: 9999 tokens > 8000 maximum")
_WORDS: Final = [
    "the",
    "harbour",
    "light",
    "burns",
    "at",
    "night",
    "and",
    "the",
    "tide",
    "comes",
    "in",
    "by",
    "four",
    "they",
    "say",
]


# ------------------------------------------------------------------------------------------ tools


@tool(effect="read")
async def look_up(name: str) -> str:
    """Look a name up.

    Args:
        name: What to look up.
    """
    if name.startswith("missing"):
        raise ToolError("there is nothing of that name")
    chance = random.Random(name)
    return " ".join(chance.choices(_WORDS, k=chance.choice((1, 20, 150, 600)))) + f" [{name}]"


@tool(effect="pure")
async def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return {"sum": a + b}


@tool(effect="read")
async def listen() -> str:
    """Listen, and hear nothing."""
    return ""


@tool(effect="read")
async def draw(of: str) -> Observation:
    """Draw a picture.

    Args:
        of: What it shows.
    """
    return Observation(content=f"{of}, drawn", attachments=(Image("image/png", _PIXEL, of),))


@tool(effect="read")
async def quote(page: int) -> Observation:
    """Quote the book.

    Args:
        page: Which page.
    """
    piece = Evidence(f"book_{page}", f"On page {page} the lamp was lit at four.", 0.9)
    return Observation(content="It says much. " * 80, evidence=(piece,))


@tool(effect="unsafe")
async def light(lamp: str) -> str:
    """Light a lamp.

    Args:
        lamp: Which.
    """
    return f"{lamp} burns"


@tool(effect="unsafe")
async def burst(lamp: str) -> str:
    """Light a lamp that bursts.

    Args:
        lamp: Which.
    """
    message = f"{lamp} burst"
    raise RuntimeError(message)


def hold_reds(call: clew.Call, trajectory: Trajectory) -> Verdict | None:
    """Hold what a person has to allow."""
    lamp = str(call.args.get("lamp", ""))
    return Verdict("hold", "red is for danger") if lamp.startswith("red") else None


TOOLS: Final = (look_up, add, listen, draw, quote, light)


# -------------------------------------------------------------------------------------- compactors


@dataclass(frozen=True)
class Whim:
    """A compactor of somebody's own: it cuts and leaves out whatever a draft lets it."""

    seed: int

    def __call__(self, draft: CompactionPlan) -> None:
        """Cut results and leave out steps, at random."""
        chance = random.Random(f"{self.seed} {len(draft.trajectory.entries)} {draft.keep}")
        steps = draft.steps if chance.random() < 0.2 else draft.older
        for step in steps:
            for call in step.calls:
                if call.observation is not None and chance.random() < 0.4:
                    seen = call.observation
                    text = chance.choice(("", "…", "[gone]", seen.text[:40], "x" * 5_000))
                    draft.cut(call, seen, text)
        if draft.older and chance.random() < 0.4:  # others are refused: it would be at fault
            draft.leave_out(chance.choice(draft.older))


def compaction(chance: random.Random) -> Compaction:
    """Any policy, at any share."""
    by: tuple[Any, ...] = chance.choice(
        (
            ("duplicates", "mask", "drop"), ("extract", "drop"), ("drop",), ("mask",),
            ("duplicates", "extract"), (Whim(chance.randrange(10**6)),), ("mask", "summary"),
            ("summary",), (Whim(chance.randrange(10**6)), "summary"),
            ("mask", Whim(chance.randrange(10**6))), (Whim(chance.randrange(10**6)), "drop"),
        )
    )  # fmt: skip
    at = chance.uniform(0.4, 1.0)
    window = chance.choice((1_500, 2_500, 4_000, 8_000))
    return Compaction(by, at, at * chance.uniform(0.05, 0.9), chance.randint(1, 4), window)


# ------------------------------------------------------------------------------- by itself


@dataclass(frozen=True)
class Doubt:
    """A critic that finds fault at random, also where there is no step to go back to."""

    seed: int

    def __call__(self, trajectory: Trajectory) -> Review:
        """What it says of a run."""
        chance = random.Random(f"{self.seed} {len(trajectory.steps)}")
        to = chance.randrange(len(trajectory.steps) + 2)
        return Review(chance.random() < 0.5, to, "Not that way.")


@dataclass(frozen=True)
class Taste:
    """A check that some answers do not pass."""

    seed: int

    def __call__(self, answer: object, trajectory: Trajectory) -> str | None:
        """Why it does not, at random."""
        chance = random.Random(f"{self.seed} {len(trajectory.steps)}")
        return "say which light" if chance.random() < 0.4 else None


def rewinds(chance: random.Random) -> Rewinds | None:
    """When the run goes back by itself, if at all."""
    if chance.random() < 0.4:
        return None
    critic = Doubt(chance.randrange(10**6)) if chance.random() < 0.5 else None
    rejected, every = chance.randint(1, 2), chance.randint(1, 4)
    if critic is None:
        return Rewinds(rejected=rejected)
    return Rewinds(rejected=rejected, critic=critic, every=every)


# ------------------------------------------------------------------------------------- the model


@dataclass
class Talker:
    """What a model says, at random: some steps, then an answer."""

    chance: random.Random
    below: bool = False
    left: int = 8
    number: int = 0
    fails: bool = True

    def __call__(self, body: dict[str, Any]) -> Say | Fail:
        """The next reply, whatever was asked."""
        chance = self.chance
        if self.fails and chance.random() < 0.06:
            return _TOO_LONG
        self.number += 1
        self.left -= 1
        reasoning = f"Step {self.number}." if chance.random() < 0.3 else ""
        if self.left < 0:
            return self._answer(reasoning)
        if chance.random() < 0.12:
            return self._unreadable()
        calls = [self._call() for _ in range(chance.choice((1, 1, 1, 2, 3, 5)))]
        cited = f" [book_{chance.randrange(4)}]" if chance.random() < 0.2 else ""
        text = chance.choice(("", "I look.", "So far, so good: on with it."))
        return Say(text + cited if text else "", calls, reasoning=reasoning)

    def _answer(self, reasoning: str) -> Say:
        if self.chance.random() < 0.5:
            return Say("The light burns.", reasoning=reasoning)
        return Say("", [("finish", '{"answer": "The light burns."}')], reasoning=reasoning)

    def _unreadable(self) -> Say:
        return self.chance.choice(
            (
                Say("", []),
                Say("I go on, but was cut", [], "length"),
                Say("", [("look_up", '{"name": "a cut ca')], "length"),
                Say("", [("look_up", "{'name': 1")]),
                Say("", [("look_up", "[1]")]),
                Say("", [("add", None)]),
                Say("A tool that is not there.", [("look.out", '{"name": "x"}')]),
                Say("", [("add", '{"a": "one", "b": 2}')]),
            )
        )

    def _call(self) -> tuple[str, str]:
        chance, number = self.chance, self.chance.randrange(40)
        calls = [
            ("look_up", f'{{"name": "name {number}"}}'),
            ("look_up", f'{{"name": "name {number}"}}'),
            ("look_up", '{"name": "missing one"}'),
            ("add", f'{{"a": {number}, "b": 2}}'),
            ("listen", "{}"),
            ("draw", f'{{"of": "boat {number}"}}'),
            ("quote", f'{{"page": {number % 4}}}'),
            ("light", f'{{"lamp": "white {number}"}}'),
        ]
        if not self.below:
            step = chance.randrange(max(1, self.number))
            calls += [
                ("light", f'{{"lamp": "red {number}"}}'),
                ("burst", f'{{"lamp": "thin {number}"}}'),
                ("colleague", f'{{"task": "Look after lamp {number}."}}'),
                ("backtrack", f'{{"step": {step}, "lesson": "Not by lamp {number}."}}'),
                ("read_more", f'{{"handle": "{step + 1}.1"}}'),
                ("recall", '{"query": "harbour light tide"}'),
            ]
        return chance.choice(calls)
