"""The tool `planner`: makes a plan with the tools of its agent."""

from collections.abc import Sequence
from typing import Any, Final, cast

from clew.core.tools import AnyTool, Tool
from clew.core.values import Json
from clew.support.errors import ConfigError
from clew.toolbox.plan import plan
from clew.tools.dependent import DependentTool

_DOCS: Final = "docs"
_QUERIES: Final = frozenset({"query", "q", "entity", "keywords", "search", "terms", "topic"})
"""What the one argument is called of a tool that looks up whatever it is given."""

_EXPRESSIONS: Final = frozenset({"expression"})


def planner(tools: Sequence[str] | None = None) -> Tool:
    """The tool over `plan`; its steps name tools of its agent, by default all that it can use.

    It can use those that change nothing and need one text: a query, or an expression. Of several
    that search, `docs` is taken, else the first. With `tools` it is the first of these, and `calc`
    if it is among them; an agent that lacks one of them is a `ConfigError`.
    """
    if tools is None:
        return _planner("", "", None)
    others = [name for name in tools if name not in {"calc", "planner", "finish"}]
    return _planner(next(iter(others), ""), "calc" if "calc" in tools else "", tools)


def _planner(search: str, sums: str, named: Sequence[str] | None) -> Tool:
    def call(args: dict[str, Json], key: str) -> Any:
        return plan(args["question"], search, sums)

    def among(tools: Sequence[AnyTool]) -> Tool:
        if named is None:
            return _planner(
                _taking(tools, _QUERIES, first=_DOCS), _taking(tools, _EXPRESSIONS), None
            )
        has = {tool.name for tool in tools}
        for name in (search, sums):
            if name and name not in has:
                message = (
                    f"the planner names {name}, which the agent does not have: add it to the "
                    "tools, or leave it out of planner(…)"
                )
                raise ConfigError(message)
        return made

    made = DependentTool(
        name="planner",
        description=(
            "Split a question into short steps for the other tools, by fixed rules. Worth asking "
            "for questions that need several facts or facts and arithmetic; it knows no answers."
        ),
        parameters={
            "type": "object",
            "properties": {
                "question": {"type": "string", "description": "The whole question, in English"}
            },
            "required": ["question"],
            "additionalProperties": False,
        },
        call=call,
        effect="pure",
        trust="trusted",
        examples=({"question": "How old was the author of Emma when it was published?"},),
        among=among,
    )
    return made


def _taking(tools: Sequence[AnyTool], arguments: frozenset[str], first: str = "") -> str:
    """The tool that changes nothing and can be given a text called so, and nothing else; empty
    where there is none.
    """
    names: list[str] = []
    for tool in tools:
        harmless = isinstance(tool, Tool) and tool.effect in {"pure", "read"} and not tool.hidden
        needed = cast("list[str]", tool.parameters.get("required", []))
        if harmless and len(needed) == 1 and needed[0] in arguments:
            names.append(tool.name)
    return first if first in names else next(iter(names), "")
