"""Which strategy suits a task: by rules over its words, or by a model's word.

The rules are for English. What none of them knows is left to plain ReAct, which can do everything,
only not always best. How often they are right: `python -m benchmarks.choices`.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import msgspec

from clew.core.agent import Agent
from clew.core.events import Json
from clew.core.interfaces import AnyTool
from clew.guards.limits import Limits
from clew.strategies.orchestrator import Orchestrator
from clew.strategies.program import NoAnswerError, Runs, Strategy, strategy_agent
from clew.strategies.reflexion import Reflexion, asking
from clew.strategies.rewoo import ReWOO
from clew.strategies.roles import Role
from clew.strategies.routing import CHOOSE, Route
from clew.strategies.tree_search import TreeSearch

REACT: Final = "react"

SUITS: Final[Mapping[str, str]] = {
    REACT: "one look-up or calculation, or several of which each needs the one before it",
    "rewoo": "several look-ups that do not need each other, all known from the task",
    "code": "the same work on each of many items, and counting, sorting or joining data",
    "orchestrator": "a wide task of several parts, such as a report, research or a plan",
    "tree_search": "a puzzle or a plan with rules, in which a way may lead nowhere",
    "reflexion": "work that a test can check, and that may be tried again",
}
"""What each way of working is for."""

_READ: Final = 2_000
"""So many characters of a task are looked at."""

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
"""Several names in one place of a sentence: what is asked is asked of each."""


class Chosen(NamedTuple):
    """A way of working, and why."""

    name: str
    why: str


def choose(task: str, ways: Collection[str], *, tested: bool = False) -> Chosen:
    """Choose among `ways` (the names in `SUITS`) by rules; the first that fits decides.

    `tested` says that a test can check the answer, so that it may be tried again.
    """
    task = task[:_READ]
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
    """The strategy `auto`: one of the others, chosen for the task (`choose`).

    With an `evaluator` (as of `Reflexion`) it may be tried again. `code` is an agent that acts by
    programs, if there is one. A `chooser` answers with a `Route` in the place of the rules, which
    decide where it fails; `asks` makes one of the agent's own model. The record has the reason.
    """

    agent: Agent
    evaluator: Agent | AnyTool | None = None
    code: Agent | None = None
    chooser: Agent | None = None
    asks: bool = False

    @property
    def name(self) -> str:
        return "auto"

    @property
    def params(self) -> Mapping[str, Json]:
        return {"ways": self.ways}

    @property
    def ways(self) -> list[str]:
        """The names of what there is to choose from."""
        there = {
            REACT: True,
            "rewoo": any(not tool.hidden for tool in self.agent.tools),
            "code": self.code is not None,
            "reflexion": self.evaluator is not None,
        }
        return [name for name in SUITS if there.get(name, True)]

    def _agent(self, name: str) -> Agent:
        """Who works in this way."""
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
    def defaults(self) -> Mapping[str, Agent]:
        """Who does what nobody else was given for."""
        lines = "\n".join(f"- {name}: {SUITS[name]}" for name in self.ways)
        return {
            "chooser": asking(self.agent, CHOOSE.format(who=lines), Route),
            "evaluator": Reflexion(self.agent).defaults["evaluator"],
        }

    @property
    def roles(self) -> Mapping[str, Role]:
        chooser = self.chooser or (self.defaults["chooser"] if self.asks else None)
        ways = {name: self._agent(name) for name in self.ways}
        return {**ways} if chooser is None else {"choose": chooser, **ways}

    def widened(self, limits: Limits) -> Limits:
        """Room for a search; what a plain run takes is limited by the agent itself."""
        return TreeSearch(self.agent).widened(limits)

    async def __call__(self, runs: Runs, task: str) -> Json:
        """The answer of the chosen way. Raises `NoAnswerError` where that has none."""
        chosen = await self._chosen(runs, task)
        runs.say(f"{chosen.name}: {chosen.why}.")
        found = await runs.run(chosen.name, task)
        if not found.ok:
            raise NoAnswerError(found.text)
        return found.answer

    async def _chosen(self, runs: Runs, task: str) -> Chosen:
        rule = partial(choose, task, self.ways, tested=self.evaluator is not None)
        if self.chooser is None and not self.asks:
            return rule()
        said = await runs.run("choose", task)
        route = msgspec.convert(said.answer, Route) if said.ok else None
        if route is not None and route.name in self.ways:
            return Chosen(route.name, f"the model says: {' '.join(route.why.split()).rstrip('.')}")
        chosen = rule()
        return Chosen(chosen.name, f"{chosen.why}; the model named nobody")
