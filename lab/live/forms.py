"""Which form each configuration has today: outcomes of an earlier one are told apart from it.

A prompt that is changed makes another form of each configuration that shows it (`fingerprint`).
Neither the model's file nor the recordings are needed to say which it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from clew.core.contents import Reply
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew_evals import Case
from clew_web import KeepPlace, paper_tools
from live.configurations import TABLE, fingerprint
from live.figures import Row, against
from live.outcomes import Measured, of
from live.recorded import HOTPOTQA
from live.tables import table
from live.tasks import FOLDERS, Listed, Task, tasks

EARLIER: Final = """\
## Earlier forms

Measured with a prompt that this clew no longer sends, and counted in no other table: a fingerprint
of the prompt is kept with each outcome.
"""


@dataclass(frozen=True)
class _Named:
    """A model of which only the name and size matter: nobody asks it."""

    info: ModelInfo

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        raise NotImplementedError(prompt, on_text)


@cache
def forms(model: str, billions: float) -> Mapping[tuple[str, bool], str]:
    """The fingerprints of today, by configuration and by whether its tools search documents.

    Of a model by this name; `billions` of weights where that does not tell (0: it does).
    """
    paper = Task(
        Listed("", HOTPOTQA, "tuning"),
        Case("", "?", ""),
        paper_tools({"A": "a."}),
        (KeepPlace(),),
    )
    fields: dict[tuple[str, bool], str] = {}
    named = _Named(ModelInfo(f"local:{model}", priced=True, billions=billions or None))
    for task in (tasks(sources=[*FOLDERS])[0], paper):
        for one in TABLE:
            if one.known:
                agent = one.made(named, task)
                kind = one.name, task is not paper
                fields[kind] = fingerprint(agent, one, one.params)
    return fields


def current(measurements: Sequence[Measured]) -> list[Measured]:
    """What was measured with the form of today; of another system, with its latest one."""
    latest: dict[tuple[str, str, str], Measured] = {}
    for one in measurements:
        kind = one.sha256, one.system, one.configuration
        if kind not in latest or one.at > latest[kind].at:
            latest[kind] = one
    return [one for one in measurements if one.fingerprint == _wanted(one, latest)]


def _wanted(one: Measured, latest: Mapping[tuple[str, str, str], Measured]) -> str:
    if one.system == "clew":
        return forms(one.model, one.billions).get((one.configuration, one.source in FOLDERS), "")
    return latest[one.sha256, one.system, one.configuration].fingerprint


def first(measurements: Sequence[Measured], configuration: str) -> list[Measured]:
    """What a configuration of clew gave with the first form of it that was measured."""
    mine = sorted(of(measurements, configuration), key=lambda one: one.at)
    begun = {one.source in FOLDERS: one.fingerprint for one in reversed(mine)}
    return [one for one in mine if one.fingerprint == begun[one.source in FOLDERS]]


def earlier(measurements: Sequence[Measured]) -> str:
    """What was measured with an earlier form, and is in no other table."""
    today = current(measurements)
    now = {one.key for one in today}
    groups: dict[tuple[str, str, str], list[Measured]] = {}
    for one in measurements:
        if one.key not in now:
            groups.setdefault((one.configuration, one.fingerprint, one.half), []).append(one)
    rows = [
        (
            f"`{name}`",
            f"`{form}`",
            _tools(those[0]),
            half,
            f"{Row(name, those).right} of {len(those)}",
            _since(
                those,
                [
                    one
                    for one in today
                    if (one.system, one.configuration) == (those[0].system, name)
                ],
            ),
        )
        for (name, form, half), those in groups.items()
    ]
    heads = ("configuration", "form", "tools", "half", "right", "today's against it")
    return f"{EARLIER}\n{table(heads, rows) if rows else 'None.'}"


def _since(those: Sequence[Measured], today: Sequence[Measured]) -> str:
    """What came of the change, over the tasks that both have answered."""
    gain = against(today, those)
    if gain is None:
        return ""
    return f"{gain.value:+.2f} ({gain.low:+.2f} to {gain.high:+.2f}, {gain.cases} paired)"


def _tools(one: Measured) -> str:
    return "`docs`, `calc`" if one.source in FOLDERS else "`search`, `lookup`"
