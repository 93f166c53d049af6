"""HotpotQA in its own file format: questions over ten paragraphs, or over Wikipedia.

The format is that of `hotpot_dev_distractor_v1.json` and its like (https://hotpotqa.github.io): an
array of questions with `_id`, `question`, `answer`, `type`, `level` and `context`.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Final, cast

import msgspec

from clew import ConfigError, Tool
from clew.interfaces import Json
from clew_evals.case import Case
from clew_evals.environments.entries import FileEntry, chosen, entries, read
from clew_evals.world import Episode, Quiet, World
from clew_web import KeepPlace, paper_tools
from clew_web.wiki import LANGUAGE, WIKIPEDIA

SHORT: Final = (
    "Answer with the bare name, date, number, yes or no that is asked for, and nothing else."
)
"""Answers are compared word by word, so a sentence would be wrong."""

Titled = list[tuple[str, list[str]]]
"""Paragraphs as the file has them: title and sentences."""


class HotpotOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a matrix file may say of this world.

    Without `paragraphs` the tools search Wikipedia as it is now: in `language`, or another wiki
    whose `api.php` is at the address `api`. `ask` is said after each question; `take` is how many
    of the first questions are worked on, 0 for all.
    """

    paragraphs: bool = True
    language: str = LANGUAGE
    api: str = WIKIPEDIA
    ask: str = SHORT
    take: int = 0


OPTIONS: Final = HotpotOptions
"""What `clew_evals.environments` reads the settings of a matrix file into."""


USUAL: Final = HotpotOptions()


class _Question(msgspec.Struct):
    id: str = msgspec.field(name="_id")
    question: str
    answer: str | None = None
    type: str = ""
    level: str = ""
    context: Titled = []


def world(path: str | Path, options: HotpotOptions = USUAL) -> World:
    """The questions of a file. Raises `ConfigError` for what cannot be read or scored."""
    cases = chosen(
        str(path), ((one.where, _case(one, options)) for one in entries(path)), options.take
    )
    over = "paragraphs" if options.paragraphs else "Wikipedia"
    return World(f"hotpotqa over {over}", cases, reading(options.language, options.api))


def _case(entry: FileEntry, options: HotpotOptions) -> Case:
    one = read(entry, _Question)
    for name, text in (("_id", one.id), ("question", one.question), ("answer", one.answer or "")):
        if not text.strip():
            hint = " (those of the test set are secret)" if name == "answer" else ""
            message = f"{entry.where}: it has no {name}{hint}"
            raise ConfigError(message)
    if options.paragraphs and not one.context:
        message = f"{entry.where}: it has no context: say paragraphs = false to use Wikipedia"
        raise ConfigError(message)
    return Case(
        one.id,
        f"{one.question.strip()}\n\n{options.ask}".strip(),
        {"em": one.answer},
        category="/".join(filter(None, (one.type, one.level))),
        tests="facts of several articles, put together",
        extra={"context": by_title(one.context)} if options.paragraphs else {},
    )


def by_title(context: Titled) -> Json:
    """The paragraphs by their titles; those of one title are one."""
    articles: dict[str, list[str]] = {}
    for title, sentences in context:
        articles.setdefault(title, []).extend(sentences)
    return cast("Json", articles)


def reading(language: str, api: str) -> Callable[[Case], AbstractAsyncContextManager[Episode]]:
    """Episodes with the paper's `search` and `lookup`, over a case's context where it has one."""

    @asynccontextmanager
    async def enter(case: Case) -> AsyncGenerator[Episode]:
        yield Quiet(_tools(case, language, api), (KeepPlace(),))

    return enter


def _tools(case: Case, language: str, api: str) -> tuple[Tool, ...]:
    if "context" in case.extra:
        return paper_tools(msgspec.convert(case.extra["context"], dict[str, list[str]]))
    return paper_tools(language=language, api=api)
