"""The plan of a run, as an editor shows it."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

from acp import schema

from clew import Observation
from clew.guards import Planned
from clew.interfaces import Action
from clew_acp.safe_text import as_json, quoted

_PLANNER: Final = "planner"


class Plan:
    """What a person's words ask for, and what of it is done; or the steps that `planner` made."""

    def __init__(self) -> None:
        self._entries: list[tuple[str, str, bool]] = []
        """The tool, the words, and whether it is done."""

    def begin(self, planned: Planned) -> Iterator[schema.AgentPlanUpdate]:
        """The calls that a person's words ask for."""
        words = (quoted(f"{it.tool} {as_json(it.args)}") for it in planned.calls)
        self._entries = [
            (it.tool, text, False) for it, text in zip(planned.calls, words, strict=True)
        ]
        if self._entries:
            yield self._update()

    def after(self, action: Action, result: Observation) -> Iterator[schema.AgentPlanUpdate]:
        """What a call changes in the plan."""
        if action.name == _PLANNER and result.ok:
            self._entries = [*_steps(result.content)]
        elif (index := self._next(action.name)) is not None and result.ok:
            tool, words, _ = self._entries[index]
            self._entries[index] = (tool, words, True)
        else:
            return
        if self._entries:
            yield self._update()

    def _next(self, tool: str) -> int | None:
        every = enumerate(self._entries)
        return next((index for index, (name, _, done) in every if name == tool and not done), None)

    def _update(self) -> schema.AgentPlanUpdate:
        entries = [
            schema.PlanEntry(
                content=words, priority="medium", status="completed" if done else "pending"
            )
            for _, words, done in self._entries
        ]
        return schema.AgentPlanUpdate(session_update="plan", entries=entries)


def _steps(content: Any) -> Iterator[tuple[str, str, bool]]:
    """The steps that `clew.toolbox.planner` gave."""
    steps: Any = cast("dict[str, Any]", content).get("steps") if isinstance(content, dict) else None
    for step in cast("Sequence[Any]", steps) if isinstance(steps, list) else ():
        match step:
            case {"tool": str(tool), "do": str(words)}:
                yield tool, quoted(f"{tool}: {words}" if tool else words), False
            case _:
                pass
