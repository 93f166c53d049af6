"""What a call gave, taken apart once for all the rules that look at it."""

from collections.abc import Mapping

from clew.core.events import Json
from clew.core.interfaces import ToolSpec
from clew.core.trajectory import Call
from clew.guards.provenance.records import Record, records_of
from clew.guards.provenance.values import leaves


class Result:
    """A result that a model has read: of which call, and the records in it."""

    __slots__ = ("args", "asked", "content", "records", "tool", "values", "where")

    def __init__(self, tool: ToolSpec, call: Call, content: Json) -> None:
        self.tool = tool
        self.where = f"{tool.name} ({call.key})"
        self.args: Mapping[str, Json] = call.args
        self.values = leaves(call.args)
        """What was asked for: the values in the arguments."""
        self.asked = [it for it in self.values if isinstance(it, str) and it]
        """The texts among them."""
        self.content = content
        self.records: list[Record] = records_of(content)
