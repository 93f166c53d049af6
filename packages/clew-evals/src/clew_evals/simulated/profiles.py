"""What the simulated models do wrong, and how often: rates seen in recordings, and invented ones.

The recordings were made in November 2026: nine models, about 22,000 replies, in text formats and
with native calls, read by the parsers that they were made with. The package's README.md has the
same table for readers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from clew.support.settings import check_fields

Fault: TypeAlias = Literal[
    "fence", "prose", "two actions", "finish form", "several pairs", "cut", "empty", "beside"
]
"""How a reply is spoiled: it stands in a code fence; words stand ahead of it; a second action
stands behind the first; `FINISH [..]` stands for `Finish[..]`; an observation and a further step
are invented; its end is missing; nothing is there; text stands beside a native call."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One simulated model. Rates are shares of replies unless stated otherwise.

    Seen in recordings: `text` and `native` are its faults in the two kinds of format. After an
    error it repeats the call with the share `repeats`, and turns to the person with the share
    `asks`. `parallel` says that it makes independent calls of its script in one native reply,
    `stops` that its server ends a reply at a stop sequence.

    Invented: `wrong` is the share of wrong answers with all tools available, `misnamed` that of
    replies whose first call names no tool or omits its arguments. Without a tool to look things up
    it `guesses` a share of its answers, and otherwise says that it cannot know. Without `calc` each
    digit goes wrong with the chance `slips`. Of refused answers it `corrects` and `drops` shares,
    and insists on the rest. `price` is in US dollars per million tokens of prompts and of replies.
    """

    name: str
    like: str
    text: Mapping[Fault, float] = field(default_factory=dict[Fault, float])
    native: Mapping[Fault, float] = field(default_factory=dict[Fault, float])
    repeats: float = 0.0
    asks: float = 0.0
    parallel: bool = False
    stops: bool = True
    wrong: float
    misnamed: float = 0.0
    guesses: float
    slips: float
    corrects: float
    drops: float
    price: tuple[float, float]

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)


STUBBORN: Final = 0.5
"""The share of wrong answers that do not depend on the seed; invented too.

Without it further runs would outvote every error, unlike in real models.
"""

PROFILES: Final = (
    Profile(
        name="strong",
        # 6,023 recorded native calls: no bad JSON, no unknown name, no wrong argument. In text
        # formats 0 % of the replies of gpt-4o and deepseek-v3 could not be read. Up to 12 calls
        # stood in one reply. After an error strong models never repeated the call (0 of 73).
        like="large models with native calls, such as gpt-4o",
        parallel=True,
        wrong=0.03,
        guesses=0.1,
        slips=0.01,
        corrects=0.8,
        drops=0.2,
        price=(2.5, 10.0),
    ),
    Profile(
        name="fencing",
        # 24 % of the replies of gemini-2.0 could not be read, for they stood in a code fence.
        like="gemini-2.0",
        text={"fence": 0.24},
        parallel=True,
        wrong=0.05,
        guesses=0.15,
        slips=0.015,
        corrects=0.7,
        drops=0.2,
        price=(0.1, 0.4),
    ),
    Profile(
        name="chatty",
        # 7.7 % of the replies of llama-3.3-70b could not be read: prose ahead of the action,
        # FINISH [..] for FINISH(..), two actions in one reply. That the three are equally frequent
        # is invented.
        like="llama-3.3-70b",
        text={"prose": 0.077 / 3, "two actions": 0.077 / 3, "finish form": 0.077 / 3},
        wrong=0.06,
        guesses=0.2,
        slips=0.02,
        corrects=0.6,
        drops=0.2,
        price=(0.2, 0.6),
    ),
    Profile(
        name="older",
        # 0.24 % of the replies of text-davinci-002, with a stop sequence, could not be read; that
        # they were cut is invented. After an error an older model made the same call again in 15 %.
        like="text-davinci-002",
        text={"cut": 0.0024},
        repeats=0.15,
        wrong=0.12,
        misnamed=0.01,
        guesses=0.4,
        slips=0.03,
        corrects=0.4,
        drops=0.2,
        price=(20.0, 20.0),
    ),
    Profile(
        name="small",
        # 16 % of the replies of a small model (7B) were rejected: text beside a call, or nothing at
        # all. That the two are equally frequent, and that the same happens in text formats (there
        # the text is prose ahead of the action), is invented. Without a stop sequence, which small
        # servers may ignore, about 1 % of replies held several pairs of thought and action. After
        # an error a small model turned to the person in 89 %.
        like="a model of seven billion parameters",
        text={"empty": 0.08, "prose": 0.08, "several pairs": 0.01},
        native={"empty": 0.08, "beside": 0.08},
        asks=0.89,
        stops=False,
        wrong=0.15,
        misnamed=0.02,
        guesses=0.5,
        slips=0.05,
        corrects=0.3,
        drops=0.3,
        price=(0.02, 0.04),
    ),
)
"""All profiles, each with the recordings that it is based on."""
