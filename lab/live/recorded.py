"""Questions and pages out of recordings: what other models looked up is what can be looked up here.

The recordings are no part of the project (`lab/recordings/data.py`). Two kinds are read, by their
forms: runs over HotpotQA (questions, answers) and over FEVER (claims, labels). Each page that a run
was shown is one under the name that was searched; sentences that it looked up are added to it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from clew.evidence import normalised
from clew.support.errors import ConfigError
from clew_evals import Case
from clew_evals.environments.fever import ASK, LABELS
from clew_evals.environments.hotpotqa import SHORT
from recordings.data import Unread, files, lines, missing

HOTPOTQA: Final = "hotpotqa"
FEVER: Final = "fever"

_FILES: Final = {
    "visible-fireact-hotpot": HOTPOTQA,
    "visible-reflexion-hotpot": HOTPOTQA,
    "visible-react-fever": FEVER,
}
_NO_PAGE: Final = re.compile(
    r"(Could not find|Invalid action|No Results|No more results|None$|Episode finished"
    r"|Answer is|The last page)"
)
_LOGGED_OUT: Final = re.compile(r"^Pages for logged out editors learn more\. ")
_NUMBERED: Final = re.compile(r"^\(Result \d+ ?/ ?\d+\) *")
_MINIMUM: Final = 40
"""Characters of what may be a page; shorter ones are a search engine's answer."""


SHORTEST: Final = 4
"""Answers of fewer characters, such as `us`, stand in many pages by chance."""


@dataclass
class Question:
    """A question with what its recorded runs looked up; `right` of them answered it rightly.

    `named` says that pages were searched by their names, not by queries.
    """

    name: str
    source: str
    text: str
    gold: str
    pages: dict[str, str] = field(default_factory=dict[str, str])
    right: int = 0
    named: bool = False

    @property
    def answerable(self) -> bool:
        """Whether the pages hold what is asked for."""
        if not self.pages:
            return False
        if self.source == FEVER or self.gold.lower() in {"yes", "no"}:
            return self.right > 0
        if len(self.gold) < SHORTEST:
            return False
        return normalised(self.gold) in normalised(" ".join(self.pages.values()))

    def case(self) -> Case:
        """The question as a case, asked and scored as clew's worlds of these data sets do."""
        ask, gold = (ASK, {"em": self.gold}) if self.source == FEVER else (SHORT, {"em": self.gold})
        text = f"{ASK}\n\nClaim: {self.text}" if self.source == FEVER else f"{self.text}\n\n{ask}"
        return Case(self.name, text, gold, category=self.source)


@cache
def questions() -> Mapping[str, Question]:
    """All questions by their names. Raises `ConfigError` where there are no recordings."""
    if why := missing():
        raise ConfigError(why)
    fields: dict[str, Question] = {}
    for path in files():
        source = _FILES.get(path.name.removesuffix(".jsonl.gz"))
        for record in lines(path) if source else ():
            if not isinstance(record, Unread):
                _add(fields, source or "", record)
    if not fields:
        message = f"the recordings have none of {', '.join(_FILES)}: see that the files are there"
        raise ConfigError(message)
    return fields


def _add(results: dict[str, Question], source: str, record: Mapping[str, Any]) -> None:
    text, gold = (
        record["task"].removeprefix("Claim:").strip(),
        str(record.get("gold") or "").strip(),
    )
    if not gold or (source == FEVER and gold not in LABELS):
        return
    name = f"{source}-{re.sub(r'[^a-z0-9]+', '-', text.lower())[:48].strip('-')}"
    one = results.setdefault(name, Question(name, source, text, gold))
    outcome = record.get("outcome") or {}
    won = outcome.get("em") or outcome.get("reward") or outcome.get("status") == "correct"
    pages = list(_pages(record["turns"]))
    one.named |= any(each["name"] == "Lookup" for each in record["tools"])
    one.right += bool(won) and bool(pages)
    for title, page in pages:
        _put(one.pages, title, page)


def _put(pages: dict[str, str], title: str, page: str) -> None:
    """Add a page, or a sentence of one that is there."""
    have = pages.get(title, "")
    if page not in have:
        pages[title] = f"{have}\n{page}" if have else page


def _pages(turns: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """What was found, by the name under which it was searched."""
    title = ""
    for turn in turns:
        seen = turn.get("observation")
        if len(turn["actions"]) != 1 or not isinstance(seen, str) or _NO_PAGE.match(seen):
            continue
        (action,) = turn["actions"]
        name, asked = action["name"].strip().lower(), str(action.get("arg") or "").strip()
        text = _NUMBERED.sub("", _LOGGED_OUT.sub("", seen)).strip()
        if name == "search" and asked and len(text) >= _MINIMUM:
            title = asked
            yield title, text
        elif name == "lookup" and title and text:
            yield title, text
