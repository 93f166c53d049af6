"""Choose a strategy for a task: by rules over its words, or by asking a model.

The rules are for English. A task that matches no rule is answered by a plain ReAct run, which can
do everything, though not always best. How often they are right: `python -m benchmarks.choices`.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from clew import Agent, Limits
from clew.core.tools import AnyTool
from clew.interfaces import Json
from clew.support.settings import check_fields
from clew.support.short_text import one_line
from clew_strategies.default_roles import typed_agent
from clew_strategies.interface import NoAnswerError, Runs, Strategy
from clew_strategies.orchestrator import Orchestrator
from clew_strategies.policy import strategy_agent
from clew_strategies.reflexion import Reflexion
from clew_strategies.rewoo import ReWOO
from clew_strategies.roles import Role
from clew_strategies.routing import CHOOSE, RoutedAgent
from clew_strategies.tree_search import TreeSearch

REACT: Final = "react"

GOOD_FOR: Final[Mapping[str, str]] = {
    REACT: "one look-up or calculation, or several of which each needs the one before it",
    "rewoo": "several look-ups that do not need each other, all known from the task",
    "code": "the same work on each of many items, and counting, sorting or joining data",
    "orchestrator": "a wide task of several parts, such as a report, research or a plan",
    "tree_search": "a puzzle or a plan with rules, in which a way may lead nowhere",
    "reflexion": "work that a test can check, and that may be tried again",
}
"""What each strategy is good for."""

_MAX_CHARS: Final = 2_000
"""The rules look at this many characters of a task."""

_PUZZLE: Final = re.compile(
    r"\b(puzzles?|riddle|sudoku|crossword|maze|chess\w*|(check)?mate in|sequence of moves|anagram|"
    r"cipher|decode|decrypt|palindrome|knapsack|rucksack|labyrinth|text adventure|game of 24|"
    r"each once|exactly once|at a time|across the river|prove that|proof)\b|"
    r"\bso that (no|none|nobody|neither|not|all|every)\b|\bwithout \w+ing\b|pattern \S*[?_]\S*",
    re.IGNORECASE,
)
_EACH: Final = re.compile(
    r"\b(for (each|every)|(each|every) (of|line|row|file|page|link|photo\w*|entry|item|customer|"
    r"record|order|department)|all \d+|all (the )?(files|rows|lines|records|entries|pages|links|"
    r"photo\w*|items|numbers)|the first \d+|\d+ (most|largest|smallest|highest|lowest)|"
    r"(ten|five|twenty|hundred) (most|largest|smallest)|by (hour|day|month|year|product|name|"
    r"surname|size|date)|go through)\b",
    re.IGNORECASE,
)
_COUNT: Final = re.compile(
    r"\b(count|sum|add up|average|mean|median|standard deviation|variance|percentile|fraction|"
    r"share of|rank|sort|group|join|merge|filter|deduplicate|duplicates|plot|histogram|rename|"
    r"frequen\w+|total|compute|how many)\b",
    re.IGNORECASE,
)
_DATA: Final = re.compile(
    r"\b(csv|json|spreadsheet|tables?|database|dataset|data|logs?|log files?|folder|"
    r"director(y|ies)|list|records|rows|columns|address book|readings|"
    r"\w+\.(csv|json|xlsx|txt|log))\b",
    re.IGNORECASE,
)
_TOTAL: Final = re.compile(
    r"\b(costs?|prices?|worth|pay|owe|spend|spent|weigh|bill)\b[^.?!]{0,200}"
    r"\b(together|in all|in total|altogether)\b|"
    r"\b(together|in all|in total|altogether)\b[^.?!]{0,200}"
    r"\b(costs?|prices?|worth|pay|owe|spend|spent|weigh|bill)\b",
    re.IGNORECASE,
)
"""A sum over what is looked up, each perhaps several times."""
_SUPERLATIVE: Final = (
    r"\b(least|most|fewest|best|worst|(?!\w*(for|inter|inv|requ)est\b)\w{3,}est)\b"
)
_EXTREME: Final = re.compile(
    rf"{_SUPERLATIVE}[^.?!,:]*[,:] [^.?!,]+, [^.?!]*\bor\b|"
    rf"{_SUPERLATIVE}( \w+)? of [^.?!,]+, [^.?!]*\band\b|"
    rf"\bof [^.?!,]{{1,60}}, [^.?!]{{0,200}}\band [^.?!]{{0,60}}{_SUPERLATIVE}",
    re.IGNORECASE,
)
"""The least or the most of three or more things, each of which is looked up."""
_WIDE: Final = re.compile(
    r"\b((write|draft|prepare|compile|produce|give|create|make) (me )?(an? |the )?((\w+ ){0,3})"
    r"(report|analysis|overview|guide|handbook|dossier|proposals?|strategy|study|survey|plan|manual|"
    r"essay|article|review|presentation)|research|investigate|explore|assess|evaluate|review|"
    r"plan an?|in depth|thorough(ly)?|detailed|from every angle|arguments for and against|"
    r"pros and cons|what (is|are) to be considered|what should (we|i) consider|state of|"
    r"how (should|could|can) (an?|we|i|our)\b.*\?? (cover|consider|include)|"
    r"what (can we learn|comes next))\b",
    re.IGNORECASE,
)
_ASKS: Final = (
    r"(find|get|calculate|compute|convert|tell|give|show|determine|estimate|book|order|check|list|"
    r"create|make|predict|analy[sz]e|compare|solve|identify|provide|look|search|play|generate|"
    r"what|how|who|where|when|which|I (also )?(need|want|would like))"
)
_SEVERAL: Final = re.compile(
    r"\b(both|compare|versus|vs\.?|the same|respectively|together)\b|\bof \w+(, of \w+)* and of\b|"
    r"\bwhich (one )?(of|is)\b|\bwho is \w+er\b|\b\w+er, .* or\b|the \w+ \w+, the .* and the\b|"
    r"^(is|are|was|were|do|does|did) .* (and|or) |\b(two|three|four|five|several) different\b|"
    r"\b(after that|then|also|finally|additionally|next|secondly|afterwards),? (\w+ ){0,5}?"
    rf"{_ASKS}\b|\band (\w+ )?{_ASKS}\b|\bfirst,? (\w+ ){{0,6}}{_ASKS}\b.*\b(then|also|and)\b",
    re.IGNORECASE | re.DOTALL,
)
_NAMES: Final = re.compile(
    r"\b(of|in|for|between|from|about|near|at|by|on|do|does)( the)? ([\w,]+ ){0,6}?[A-Z][\w.]+,? "
    r"(and|or)( of| in| for| the| on)* (?!I\b|[Mm]y\b)[\"'A-Z]|"
    r"[\"'] (and|or)( from)? [\"']|\b\d+, \d+,? and \d+\b|\b(the \w+, )+(the \w+,? )?and the \w+"
)
"""Several names in one place of a sentence: the question concerns each of them."""

_FORM: Final = re.compile(
    r"(?:^|(?<=[.?!] ))(?:please )?(?:answer|reply|respond)(?: only| just)? (?:with|in|as|by|using)"
    r"\b[^.?!\n]*",
    re.IGNORECASE | re.MULTILINE,
)
"""How the answer is to be written, which says nothing about the work."""


class Chosen(NamedTuple):
    """The name of a strategy, and why it was chosen."""

    name: str
    why: str


def choose(task: str, ways: Collection[str], *, tested: bool = False) -> Chosen:
    """Choose among `ways` (names in `GOOD_FOR`) by rules; the first rule that matches decides.

    `tested`: a test can check the answer, so a failed attempt can be repeated.
    """
    task = _FORM.sub("", task[:_MAX_CHARS])
    data = bool(_DATA.search(task))
    rules = (
        ("reflexion", tested, "a test can check the answer"),
        ("tree_search", bool(_PUZZLE.search(task)), "it is a puzzle, or has rules to keep"),
        (
            "code",
            bool(_COUNT.search(task)) and (data or bool(_EACH.search(task))),
            "it counts or sorts data, or does the same for many items",
        ),
        ("orchestrator", bool(_WIDE.search(task)), "it is wide, and has several parts"),
        ("code", data and bool(_EACH.search(task)), "it does the same for many items"),
        ("code", bool(_TOTAL.search(task)), "it calculates with all that it looks up"),
        ("code", bool(_EXTREME.search(task)), "it looks for the least or the most of several"),
        (
            "rewoo",
            bool(_SEVERAL.search(task) or _NAMES.search(task)),
            "its look-ups do not need each other",
        ),
    )
    missing = ""
    for name, fits, why in rules:
        if fits and name in ways:
            return Chosen(name, why)
        if fits:
            missing = missing or f" ({name} would suit it: {why}; there is none here)"
    return Chosen(REACT, f"no rule asks for more{missing}")


@dataclass(frozen=True)
class Auto:
    """The strategy `auto`: one of the others, chosen for each task (`choose`).

    An `evaluator` (as in `Reflexion`) allows `reflexion`. `code` is an agent that acts by programs,
    if you have one. A `chooser` is an agent that answers with a `RoutedAgent`, not the rules, which
    decide if it fails; `asks` makes one of the agent's own model. The reason is in the record.
    """

    agent: Agent[Any]
    evaluator: Agent[Any] | AnyTool | None = None
    code: Agent[Any] | None = None
    chooser: Agent[Any] | None = None
    asks: bool = False

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)

    @property
    def name(self) -> str:
        return "auto"

    @property
    def params(self) -> Mapping[str, Json]:
        return {"ways": self.ways}

    @property
    def ways(self) -> list[str]:
        """The names of the strategies to choose from."""
        available = {
            REACT: True,
            "rewoo": any(not tool.hidden for tool in self.agent.tools),
            "code": self.code is not None,
            "reflexion": self.evaluator is not None,
        }
        return [name for name in GOOD_FOR if available.get(name, True)]

    def _agent(self, name: str) -> Agent[Any]:
        """The agent that works in this way."""
        agent = self.agent
        if name == REACT:
            return agent
        if name == "code" and self.code is not None:
            return self.code
        made: dict[str, Callable[[], Strategy]] = {
            "rewoo": lambda: ReWOO(agent),
            "orchestrator": lambda: Orchestrator(agent),
            "tree_search": lambda: TreeSearch(agent),
            "reflexion": lambda: Reflexion(agent, self.evaluator),
        }
        return strategy_agent(made[name](), agent)

    @property
    def defaults(self) -> Mapping[str, Agent[Any]]:
        """The agents used where none is given."""
        lines = "\n".join(f"- {name}: {GOOD_FOR[name]}" for name in self.ways)
        return {
            "chooser": typed_agent(self.agent, CHOOSE.format(who=lines), RoutedAgent),
            "evaluator": Reflexion(self.agent).defaults["evaluator"],
        }

    @property
    def roles(self) -> Mapping[str, Role]:
        chooser = self.chooser or (self.defaults["chooser"] if self.asks else None)
        ways = {name: self._agent(name) for name in self.ways}
        return {**ways} if chooser is None else {"choose": chooser, **ways}

    def extended_limits(self, limits: Limits) -> Limits:
        """Steps and calls for a search; the agent's own limits bound a plain run."""
        return TreeSearch(self.agent).extended_limits(limits)

    async def __call__(self, runs: Runs, task: str) -> Json:
        """The answer of the chosen way. Raises `NoAnswerError` if it has none."""
        chosen = await self._choose(runs, task)
        runs.say(f"{chosen.name}: {chosen.why}.")
        result = await runs.run(chosen.name, task)
        if not result.ok:
            raise NoAnswerError(result.problem)
        return result.answer

    async def _choose(self, runs: Runs, task: str) -> Chosen:
        rule = partial(choose, runs.question or task, self.ways, tested=self.evaluator is not None)
        if self.chooser is None and not self.asks:
            return rule()
        reply = await runs.run("choose", task)
        route = msgspec.convert(reply.answer, RoutedAgent) if reply.ok else None
        if route is not None and route.name in self.ways:
            return Chosen(route.name, f"the model says: {one_line(route.why).rstrip('.')}")
        chosen = rule()
        return Chosen(chosen.name, f"{chosen.why}; the model named nobody")
