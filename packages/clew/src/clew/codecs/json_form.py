"""The JSON Schema of a reply in the format `json`, for servers that can hold a reply to one."""

from typing import Any, Final

import msgspec

from clew.codecs.arguments import visible_tools
from clew.core.codec import PromptSpec
from clew.core.prompts import Calls
from clew.core.tools import Parameters, ToolSpec
from clew.core.values import Json

_VALUES: Final = frozenset({"const", "default", "enum", "examples"})
"""Keywords whose values are data: nothing in them is a reference."""

_DEFINED: Final = ("$defs", "definitions")


def step_schema(prompt_spec: PromptSpec, calls: Calls, thought: int | None = None) -> Parameters:
    """The schema of one step: a branch for each tool, or only the one that finishes.

    A `thought` has at most so many characters (None: any number). Definitions stand once, at the
    outermost schema, where their references look for them.
    """
    tools = visible_tools(prompt_spec) if calls != "none" else (prompt_spec.finish,)
    definitions: dict[str, Json] = {}
    branches = [_branch(prompt_spec, tool, definitions, thought) for tool in tools]
    schema: Parameters = branches[0] if len(branches) == 1 else {"anyOf": branches}
    return {**schema, "$defs": definitions} if definitions else schema


def _branch(
    prompt_spec: PromptSpec, tool: ToolSpec, definitions: dict[str, Json], longest: int | None
) -> Parameters:
    moved = _Moved(tool.name)
    args = moved.schema({key: it for key, it in tool.parameters.items() if key not in _DEFINED})
    for key in _DEFINED:
        inner: dict[str, Json] = tool.parameters.get(key, {})
        for name, schema in inner.items():
            definitions[f"{tool.name}.{name}"] = moved.schema(schema)
    if moved.refers_to_root:
        definitions[tool.name] = args
    bound = {} if longest is None else {"maxLength": longest}
    thought: Parameters = {"thought": {"type": "string", **bound}} if prompt_spec.thought else {}
    action: Parameters = {"type": "string", "enum": [tool.name]}
    properties = {**thought, "action": action, "args": args}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class _Moved(msgspec.Struct):
    """Moves schemas from a tool's own parameters into the reply's, where references look from
    farther out. `refers_to_root` tells that one of them means the parameters themselves.
    """

    tool: str
    refers_to_root: bool = False

    def schema(self, value: Json) -> Json:
        """A schema with its references mended."""
        if isinstance(value, list):
            return [self.schema(each) for each in msgspec.convert(value, list[Any])]
        if not isinstance(value, dict):
            return value
        return {
            key: self._reference(inner)
            if key == "$ref" and isinstance(inner, str)
            else inner
            if key in _VALUES
            else self.schema(inner)
            for key, inner in msgspec.convert(value, dict[str, Any]).items()
        }

    def _reference(self, to: str) -> str:
        for key in _DEFINED:
            if to.startswith(f"#/{key}/"):
                return f"#/$defs/{self.tool}.{to.removeprefix(f'#/{key}/')}"
        if not to.startswith("#"):
            return to
        self.refers_to_root = True
        return f"#/$defs/{self.tool}{to.removeprefix('#')}"
