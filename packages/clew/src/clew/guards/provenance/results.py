"""What a call gave, taken apart once for all the rules that look at it."""

from collections.abc import Mapping

from clew.core.attachments import readable_text
from clew.core.contents import Observation
from clew.core.tools import ToolSpec
from clew.core.trajectory import Call
from clew.core.values import Json
from clew.guards.provenance.records import Record, records_of
from clew.guards.provenance.values import leaves, named_leaves


class Result:
    """A result that a model has read: of which call, and the records in it."""

    __slots__ = (
        "_named", "_seen", "_text", "args", "asked", "content", "records", "tool", "values",
        "where",
    )  # fmt: skip

    def __init__(self, tool: ToolSpec, call: Call, seen: Observation) -> None:
        self.tool = tool
        self.where = f"{tool.name} ({call.key})"
        self.args: Mapping[str, Json] = call.args
        self.values = leaves(self.args)
        """What was asked for: the values in the arguments."""
        self.asked = [it for it in self.values if isinstance(it, str) and it]
        """The texts among them."""
        self.content = content = seen.content
        self.records: list[Record] = records_of(content)
        self._seen, self._text = seen, ""
        self._named: list[tuple[str, Json]] | None = None

    @property
    def named(self) -> list[tuple[str, Json]]:
        """The values in it, each with the name of its field."""
        if self._named is None:
            self._named = named_leaves(self.content)
        return self._named

    @property
    def text(self) -> str:
        """What a model reads of it, and its values where JSON writes signs in them otherwise."""
        if not self._text:
            seen = self._seen
            self._text = readable_text(seen)
            if not isinstance(self.content, str) and "\\" in seen.text:
                texts = [it for _, it in self.named if isinstance(it, str)]
                self._text = "\n".join((self._text, *texts))
        return self._text
