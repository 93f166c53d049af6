"""What a simulated model does next, before its reply is spoiled: its script, and its mistakes."""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

from msgspec.structs import replace

from clew import ToolError
from clew.interfaces import Action, encode
from clew.testing import Move
from clew.toolbox import calculate
from clew_evals.simulated.profiles import STUBBORN, Profile
from clew_evals.simulated.prompt_reader import PromptView
from clew_evals.simulated.script import Script, ScriptStep, cited, passages

DECLINED: Final = "I cannot answer this: I have no way to look it up."
DROPPED: Final = "I cannot answer this with the evidence that I have."
UNFINISHED: Final = "I cannot answer this: I did not get to look at everything that it needs."
ASKED: Final = "Something did not work as I expected. How would you like me to go on?"

_AIDS: Final = frozenset({"calc", "planner"})
"""What can be had otherwise, or done without; any other tool tells what no model can know."""

_NUMERAL: Final = re.compile(
    r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w)|(?<![\w.,])\d+(?:\.\d+)?"
)
_MAX_DECIMALS: Final = 6
"""To so many decimal places an answer may round a result and still be known to hold it."""


@dataclass(frozen=True)
class KeyedRandom:
    """Chance that is the same whenever the same is asked for, however often and in what order."""

    model: str
    case: str
    seed: int

    def __call__(self, *what: object) -> random.Random:
        """For this seed."""
        text = " ".join(map(str, (self.model, self.case, self.seed, *what)))
        return random.Random(text)  # noqa: S311 - repeatable, not secret

    def always(self, *what: object) -> random.Random:
        """For this model and case, whatever the seed is."""
        text = " ".join(map(str, (self.model, self.case, "always", *what)))
        return random.Random(text)  # noqa: S311 - repeatable, not secret


@dataclass(frozen=True)
class Player:
    """A profile before one prompt of one case, with the luck of its seed."""

    profile: Profile
    script: Script
    sight: PromptView
    luck: KeyedRandom

    def move(self) -> Move:
        """The next move."""
        if self.sight.last:
            return Move(answer=self._best())
        if (put_off := self._put_off()) is not None:
            return put_off
        if (due := next(self._due(), None)) is not None:
            return self._call(*due)
        return Move(self._aloud(self.script.steps[-1].think), answer=self._answer())

    @property
    def _turn_count(self) -> int:
        return len(self.sight.turns)

    def _happens(self, rate: float, *what: object) -> bool:
        return rate > 0 and self.luck(*what).random() < rate

    def _aloud(self, thought: str) -> str:
        return thought if self.sight.prompt_spec.thought else ""

    # ------------------------------------------------------------------------------------ calls

    def _put_off(self) -> Move | None:
        """What it does after an error, if not the next thing."""
        if not (self.sight.turns and self.sight.turns[-1].failed):
            return None
        if self._happens(self.profile.asks, "asks", self._turn_count):
            return Move(answer=ASKED)
        if self._happens(self.profile.repeats, "repeats", self._turn_count):
            return Move(actions=self.sight.turns[-1].actions)
        return None

    def _due(self) -> Iterator[tuple[ScriptStep, list[Action]]]:
        """The steps with calls that can be made here and are not yet."""
        made = Counter(map(_identity, self.sight.calls_made))
        for step in self.script.steps:
            due: list[Action] = []
            for action in self._offered(step):
                if made[_identity(action)]:
                    made[_identity(action)] -= 1
                else:
                    due.append(action)
            if due:
                yield step, due

    def _offered(self, step: ScriptStep) -> list[Action]:
        return [action for action in step.actions if action.name in self.sight.prompt_spec.known]

    def _call(self, step: ScriptStep, due: Sequence[Action]) -> Move:
        together = self.profile.parallel and self.sight.codec == "native"
        actions = tuple(due if together else due[:1])
        if self._happens(self.profile.misnamed, "misnamed", self._turn_count):
            actions = (self._misnamed(actions[0]), *actions[1:])
        begun = due != self._offered(step)
        return Move("" if begun else self._aloud(step.think), actions)

    def _misnamed(self, action: Action) -> Action:
        if self._happens(0.5, "how misnamed", self._turn_count):
            return replace(action, name=f"{action.name}_tool")
        return replace(action, args={})

    # ----------------------------------------------------------------------------------- answers

    def _best(self) -> str:
        """The answer of a landing: nothing can be called any more."""
        answer, all_cited = cited(self.script.answer, passages(self.sight.results))
        known = all_cited and answer != self.script.answer
        return self._answer() if known or not any(self._due()) else UNFINISHED

    def _answer(self) -> str:
        """The first answer, or what becomes of it when answers were refused."""
        answer = self._first()
        for number in range(self.sight.refused):
            chance = self.luck("refused", number).random()
            if chance < self.profile.corrects:
                answer = DROPPED if self._blind else self._cited(self.script.answer)
            elif chance < self.profile.corrects + self.profile.drops:
                answer = DROPPED
        return answer

    def _first(self) -> str:
        profile, wrong = self.profile, self.script.wrong
        if self._blind:
            guesses = wrong and self._happens(profile.guesses, "guesses")
            return self._cited(self.luck("guess").choice(wrong)) if guesses else DECLINED
        if wrong and self.luck.always("wrong").random() < profile.wrong * STUBBORN:
            return self._cited(self.luck.always("which").choice(wrong))
        if wrong and self._happens(profile.wrong * (1 - STUBBORN), "wrong"):
            return self._cited(self.luck("which").choice(wrong))
        return self._cited(self._in_the_head(self.script.answer))

    @property
    def _blind(self) -> bool:
        """Whether a tool is not there without which nobody could know."""
        asked = {action.name for step in self.script.steps for action in step.actions}
        return bool(asked - self.sight.prompt_spec.known - _AIDS)

    def _cited(self, answer: str) -> str:
        return cited(answer, passages(self.sight.results))[0]

    def _in_the_head(self, answer: str) -> str:
        """The answer with what it worked out itself, for want of `calc`."""
        if "calc" in self.sight.prompt_spec.known:
            return answer
        sums = [
            str(action.args.get("expression", ""))
            for step in self.script.steps
            for action in step.actions
            if action.name == "calc"
        ]
        for number, expression in enumerate(sums):
            try:
                result = str(calculate(expression)["result"])
            except ToolError:
                continue
            digits = sum(char.isdigit() for char in expression) + len(result.strip("-"))
            if self._happens(1 - (1 - self.profile.slips) ** digits, "slips", number):
                answer = self._slipped(answer, result, number)
        return answer

    def _slipped(self, answer: str, result: str, number: int) -> str:
        """The answer with one digit of a result wrong; a wrong answer where it does not show it."""
        luck = self.luck("slip", number)
        for match in _NUMERAL.finditer(answer):
            if _is(match[0], result):
                wrong = _another_digit(match[0], luck)
                return answer[: match.start()] + wrong + answer[match.end() :]
        return luck.choice(self.script.wrong) if self.script.wrong else answer


def _identity(action: Action) -> bytes:
    return encode([action.name, sorted(action.args.items())])


def _is(numeral: str, result: str) -> bool:
    """Whether a numeral is a result, perhaps rounded."""
    written = Decimal(numeral.replace(",", ""))
    decimals = -int(written.as_tuple().exponent)
    try:
        return decimals <= _MAX_DECIMALS and abs(round(Decimal(result), decimals)) == written
    except InvalidOperation:
        return False


def _another_digit(numeral: str, luck: random.Random) -> str:
    """The numeral with one digit, if there are several not the first, replaced by another."""
    indexes = [index for index, char in enumerate(numeral) if char.isdigit()]
    index = luck.choice(indexes[1:] or indexes)
    others = [digit for digit in "123456789" if digit != numeral[index]]
    return numeral[:index] + luck.choice(others) + numeral[index + 1 :]
