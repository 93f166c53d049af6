"""The four benchmarks whose loops are driven anew, each as its original ran it.

What a loop was is taken from its published code: FEVER and WebShop from the notebooks of ReAct
(https://github.com/ysymyth/ReAct), FireAct from `generation.py` of
https://github.com/anchen1011/FireAct, Reflexion from `hotpotqa_runs/agents.py` of
https://github.com/noahshinn/reflexion.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import clew
from clew.core.bounds import StopRule
from clew.core.codes import Effect
from clew_evals.texts import normal
from recordings.forms import Record
from recordings.text_formats import FORMATS, Format, Turn

ANSWERED: Final = "answered"
STEPS: Final = "steps"
"""How a run ended: with an answer, or by the name of the bound that stopped it."""

EFFECTS: Final[dict[str, Effect]] = {"think": "pure", "click": "unsafe"}
"""What the tools do to the world; all others only read. A click may buy."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as both sides can be compared by: name and argument, without case and outer blanks."""

    name: str
    argument: str

    def __str__(self) -> str:
        return f"{self.name}[{self.argument}]"


def asked(name: str, argument: str) -> Asked:
    """A call to compare."""
    return Asked(name.strip().lower(), argument.strip())


def _actions(turn: Turn) -> Asked | None:
    """The call of a turn as the original read it."""
    first = next(iter(turn["actions"]), None)
    return None if first is None else asked(first["name"], first["arg"] or "")


@dataclass(frozen=True)
class Source:
    """One benchmark: how its loop was bound, how it ended, what was a success.

    `right` says whether an answer is right by the source's own rule; None where only its
    environment could say.
    """

    kind: str
    name: str
    limit: Callable[[Record], int]
    ended: Callable[[Record], str]
    succeeded: Callable[[Record], bool]
    right: Callable[[Record, str], bool] | None = None
    called: Callable[[Turn], Asked | None] = _actions
    bounds: Callable[[Record], Sequence[StopRule]] = lambda _: ()
    fallback: str | None = None

    @property
    def form(self) -> Format:
        """The format of its replies, the same in which the codecs are held against them."""
        return next(form for form in FORMATS if form.kind == self.kind)


def _as_gold(record: Record, answer: str) -> bool:
    """Exact match after normalisation: the rule of HotpotQA, which all three took over."""
    return normal(answer) == normal(str(record["gold"]))


# ---------------------------------------------------------------- FEVER

FEVER: Final = Source(
    kind="react-fever",
    name="FEVER",
    limit=lambda record: int(record["max_steps"]),
    ended=lambda record: STEPS if record["outcome"]["forced_finish"] else ANSWERED,
    succeeded=lambda record: bool(record["outcome"]["em"]),
    right=_as_gold,
    fallback="",  # the original ended a run without an answer by `finish[]`
)


# ---------------------------------------------------------------- WebShop

INVALID: Final = "Invalid action!"
BUY: Final = "Buy Now"


@dataclass(frozen=True)
class Bought:
    """A bound: the episode is over once something was bought."""

    def __call__(self, trajectory: clew.Trajectory) -> str | None:
        """A reason once the shop took the order."""
        for call in trajectory.step.calls:
            wanted = call.action.name == "click" and call.args.get("button") == BUY
            if wanted and call.observation is not None and call.observation.text != INVALID:
                return "bought: the shop ends the episode"
        return None


def _webshop_call(turn: Turn) -> Asked | None:
    """A click or a search; a turn that thinks calls `think`, which the shop answers with OK."""
    return asked("think", turn["thought"]) if turn["thought"] is not None else _actions(turn)


WEBSHOP: Final = Source(
    kind="react-webshop",
    name="WebShop",
    limit=lambda record: int(record["max_steps"]) - 1,  # the first of its actions is the reset
    ended=lambda record: "bought" if record["outcome"]["ended"] else STEPS,
    succeeded=lambda record: bool(record["outcome"]["success"]),
    called=_webshop_call,
    bounds=lambda _: (Bought(),),
)


# ---------------------------------------------------------------- FireAct

FIREACT: Final = Source(
    kind="fireact-hotpot",
    name="FireAct",
    limit=lambda _: 11,
    ended=lambda _: ANSWERED,  # only what was finished was written down
    succeeded=lambda record: bool(record["outcome"]["em"]),
    right=_as_gold,
)


# ---------------------------------------------------------------- Reflexion

PROMPT_TOKENS: Final = 3_896
HEAD: Final = 6_650
"""Characters of its instructions and six examples, which stood before the question."""
CHARACTERS: Final = 4.5
"""Of a token of its prompts, about: its own tokenizer does not lie here."""


@dataclass(frozen=True)
class PromptTokens:
    """A bound: the prompt has become longer than the original let it be; `before` the first step.

    Characters stand for tokens.
    """

    before: int
    limit: int = PROMPT_TOKENS

    def __call__(self, trajectory: clew.Trajectory) -> str | None:
        """A reason once the prompt is over its most."""
        texts = [step.thought.reply.text for step in trajectory if step.thought is not None]
        seen = [call.observation.text for call in trajectory.calls if call.observation is not None]
        told = sum(map(len, (*texts, *seen)))
        tokens = int((self.before + told) / CHARACTERS)
        return f"prompt: about {tokens} tokens" if tokens > self.limit else None


def _reflexion_end(record: Record) -> str:
    if record["outcome"]["status"] != "halted":
        return ANSWERED
    return STEPS if len(record["turns"]) >= record["max_steps"] else "prompt"


REFLEXION: Final = Source(
    kind="reflexion-hotpot",
    name="Reflexion",
    limit=lambda record: int(record["max_steps"]),
    ended=_reflexion_end,
    succeeded=lambda record: bool(record["outcome"]["status"] == "correct"),
    right=_as_gold,
    bounds=lambda record: (PromptTokens(HEAD + len(record["memory"] or "") + len(record["task"])),),
)

SOURCES: Final = (FEVER, WEBSHOP, FIREACT, REFLEXION)
