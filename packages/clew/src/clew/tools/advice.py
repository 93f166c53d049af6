"""What a model is told of a call that cannot be made: the tools there are, or a right form."""

from collections.abc import Mapping

from clew.core.codec import PromptSpec
from clew.core.tools import ToolSpec
from clew.core.trajectory import Trajectory
from clew.core.values import Json, encode
from clew.support.nearest_name import did_you_mean
from clew.support.schema_likeness import example_like, with_fields_of
from clew.tools.schema import right_form as form_of


def unknown_tool(prompt_spec: PromptSpec, trajectory: Trajectory, name: str) -> str:
    """A name that no tool has: the nearest one, or all that there are."""
    names = [
        *(tool.name for tool in prompt_spec.tools),
        *trajectory.visible_tools,
        prompt_spec.finish.name,
    ]
    there_are = f"there are: {', '.join(names)}"
    instead = did_you_mean(name, [*names, *prompt_spec.later], there_are)
    return f"unknown_tool({name}): {instead}"


def right_form(tool: ToolSpec, args: Mapping[str, Json]) -> str:
    """Arguments that the tool takes, with every field of those given, as JSON; "" if unknown."""
    like = example_like(tool.parameters, dict(args))
    completed = [with_fields_of(each, like) for each in tool.examples[:1]]
    right = form_of(tool.parameters, *completed, like, *tool.examples[:1])
    return "" if right is None else encode(right).decode()
